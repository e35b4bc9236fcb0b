"""The last steps on a large table: idle backgrounds go, parameters are chosen and calibrated by leave-one-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.evidence import loo
from ssvgp.evidence.entry import Entry, member_at
from ssvgp.evidence.laplace import Problem, fit
from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.predict import predict_member
from ssvgp.gp.terms import Linear
from ssvgp.large.blocks import block_of, fitting, local_rows
from ssvgp.large.polish import _calibrated, _judged, finished_members, without_idle_background
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.run.workers import SERIAL
from ssvgp.settings import AutoSettings, Prior, regime_for


def table(n: int = 500, d: int = 4, seed: int = 0) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    return Train(X, (y - y.mean()) / y.std())


def entry(train: Train, active: tuple[int, ...] = (0,), kind: str = "", evidence: float | None = None) -> Entry:
    terms = (Linear(kind),) if kind else ()
    block = block_of(train, np.arange(200), terms)
    problem = Problem((block,), kernel_named("se"), Prior().for_data(train.n, train.d), terms)
    start = np.array([0.0] * len(active) + [0.0, -1.0] + ([-2.0] if kind else []))
    found = fit(problem, Candidate(active, kind), start)
    return Entry(problem, found, None, found.log_evidence if evidence is None else evidence)


def test_a_background_must_be_worth_its_price() -> None:
    train = table()
    plain, dense = entry(train, evidence=0.0), entry(train, kind="linear", evidence=NEGLIGIBLE - 1.0)
    assert without_idle_background([dense, plain]) == [plain]
    needed = replace(dense, log_evidence=NEGLIGIBLE + 1.0)
    assert without_idle_background([needed, plain]) == [needed, plain]
    assert without_idle_background([needed]) == [needed]


@pytest.mark.parametrize("factor", [0.2, 4.0])
def test_variances_are_scaled_to_what_held_out_rows_show_and_means_stay(factor: float) -> None:
    train = table()
    here = entry(train)
    right = member_at(here, here.fit.summit.z)
    at = right.parameters
    wrong = replace(
        right, parameters=replace(at, scale=factor * at.scale, noise=factor * at.noise, mean=factor * at.mean)
    )
    rows = np.arange(0, train.n, 2)
    mended = _calibrated(wrong, loo.truncated(train, wrong, 60, 0.0, rows), train)
    assert mended.parameters.noise == pytest.approx(at.noise, rel=0.2)
    new = np.random.default_rng(1).standard_normal((7, 4))
    before, after = predict_member(wrong, train, new), predict_member(mended, train, new)
    assert after.mean == pytest.approx(before.mean, abs=1e-8)
    assert after.variance / before.variance == pytest.approx(np.full(7, 1.0 / factor), rel=0.2)


def test_a_member_that_is_right_is_left_alone() -> None:
    train = table()
    here = entry(train)
    member = member_at(here, here.fit.summit.z)
    assert _calibrated(member, loo.truncated(train, member, 60, 0.0, np.arange(400)), train) is member


def test_the_parameters_that_predict_best_from_neighbours_are_chosen() -> None:
    """Of a fit that is far off, the one on blocks of neighbours is taken instead."""
    train = table(800)
    here = entry(train)
    off = replace(here.fit, summit=replace(here.fit.summit, z=here.fit.summit.z + np.array([-4.0, 0.0, 1.5])))
    settings = AutoSettings(blocks=4, block_rows=100)
    rng, regime = np.random.default_rng(0), regime_for(800, train.d, settings, exact_limit=700, predict_neighbours=50)
    (member,), weights = finished_members([replace(here, fit=off)], np.ones(1), train, regime, rng)
    rows = np.arange(0, 800, 5)
    bad = loo.truncated(train, member_at(here, off.summit.z), 50, 0.0, rows)
    assert loo.truncated(train, member, 50, 0.0, rows).total > bad.total + 50.0
    assert weights == pytest.approx([1.0])


def test_the_judge_predicts_as_the_model_will() -> None:
    """All rows are left out in turn where predictions condition on all of them, a sample given neighbours beyond."""
    train = table(300)
    member = member_at(entry(train), entry(train).fit.summit.z)
    for limit, rows in ((300, 300), (299, 120)):
        regime = replace(regime_for(300, train.d, exact_limit=limit), check_rows=120)
        (score,) = _judged([member], train, regime, np.random.default_rng(0), SERIAL)
        assert score.rows.size == rows
    assert np.allclose(score.mean, loo.exact(train, member).mean[score.rows], atol=0.05)


def test_blocks_together_hold_no_more_rows_than_the_table() -> None:
    train = table(300)
    assert fitting(train, 16, 250) == (2, 150)
    assert fitting(table(5000, 1), 16, 250) == (16, 250)
    here = entry(train)
    rows = local_rows(train, here.problem, here.fit, 16, 100, np.random.default_rng(0))
    assert sum(r.size for r in rows) <= 300


def test_a_share_of_one_gives_nearest_neighbours_alone() -> None:
    train = table(2000, 1)
    here = entry(train)
    for rows in local_rows(train, here.problem, here.fit, 3, 40, np.random.default_rng(0), share=1.0):
        assert np.ptp(train.X[rows, 0]) < 1.5
        assert rows.size == 40
