"""Inputs that blocks propose, checked by rows they have not met."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.evidence.entry import Entry
from ssvgp.evidence.laplace import Problem, fit
from ssvgp.evidence.unvisited.cloud import Cloud
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.large.blocks import block_of, polished
from ssvgp.large.check import checked
from ssvgp.large.polish import Polished
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.settings import AutoSettings, Prior, Regime, regime_for

SETTINGS = AutoSettings(exact_rows=200, blocks=4, block_rows=80, polish_rows=200)
MET = [np.arange(200), np.arange(200, 400)]


def table(seed: int = 0, n: int = 1600) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = np.sin(2.0 * X[:, 0]) + 0.8 * np.cos(2.0 * X[:, 1]) + 0.5 * rng.standard_normal(n)
    y[:400] += 0.5 * np.sin(3.0 * X[:400, 2])  # what looks like an effect in the rows that were met
    return Train(X, (y - y.mean()) / y.std())


def regime(train: Train) -> Regime:
    return regime_for(train.n, train.d, SETTINGS)


def entry(train: Train, active: tuple[int, ...]) -> Entry:
    problem = Problem((block_of(train, MET[0]),), kernel_named("se"), Prior().for_data(train.n, train.d))
    found = fit(problem, Candidate(active), np.array([0.0] * len(active) + [0.0, -1.0]))
    better = polished(train, problem, found, MET)
    return Entry(problem, better, None, better.log_evidence)


def proposal(train: Train, *sets: tuple[int, ...]) -> Polished:
    pairs = [(entry(train, active), Cloud.alone(4)) for active in sets]
    pairs.sort(key=lambda pair: -pair[0].log_evidence)
    weights = np.exp([one.log_evidence - pairs[0][0].log_evidence for one, _ in pairs])
    return Polished(pairs, weights / weights.sum(), MET)


def sets_of(found: Polished) -> list[tuple[int, ...]]:
    return [one.fit.candidate.active for one, _ in found.pairs]


def test_an_input_that_other_rows_refute_is_left_out() -> None:
    train = table()
    before = proposal(train, (0, 1), (0, 1, 2))
    assert sets_of(before)[0] == (0, 1, 2) and before.weights[0] > 0.99
    found = checked(before, train, np.concatenate(MET), regime(train), np.random.default_rng(0))
    assert sets_of(found) == [(0, 1)] and found.weights.tolist() == [1.0]
    assert np.intersect1d(found.rows[-1], np.concatenate(MET)).size == 0
    assert found.error is not None and 0.0 < found.error < 50.0
    assert found.rests_on().rows == np.concatenate(found.rows).size and found.rests_on().ahead is None
    assert before.rests_on().ahead == pytest.approx(before.pairs[0][0].log_evidence - before.pairs[1][0].log_evidence)


def test_inputs_that_other_rows_confirm_stay_with_the_parameters_they_have() -> None:
    train = table()
    before = proposal(train, (0, 1))
    found = checked(before, train, np.concatenate(MET), regime(train), np.random.default_rng(0))
    assert sets_of(found) == [(0, 1)]
    assert (found.pairs[0][0].fit.summit.z == before.pairs[0][0].fit.summit.z).all()


def test_what_lesser_sets_have_beside_the_best_is_left_to_all_rows() -> None:
    """Else it would count twice: with the weight of that set, and beside the best."""
    train = table()
    before = proposal(train, (0, 1), (0, 1, 2))
    found = checked(before, train, np.arange(train.n), regime(train), np.random.default_rng(0))
    assert sets_of(found) == [(0, 1)] and found.weights.tolist() == [1.0]


@pytest.mark.parametrize("active", [(), (3,)])
def test_a_set_that_explains_nothing_ends_with_nothing(active: tuple[int, ...]) -> None:
    train = table()
    if active:
        before = proposal(train, active)
    else:
        empty = Entry(
            entry(train, (3,)).problem, fit(entry(train, (3,)).problem, Candidate(()), np.array([-1.0])), None, 0.0
        )
        before = Polished([(empty, Cloud.alone(4))], np.ones(1), MET)
    found = checked(before, train, np.concatenate(MET), regime(train), np.random.default_rng(0))
    assert sets_of(found) == [()]
