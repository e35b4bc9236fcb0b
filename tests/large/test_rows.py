"""Passes over all rows: exact sums within groups, whatever the table is made of and whoever does the work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ssvgp.data.view import Standardised
from ssvgp.gp.covariances import of_target
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.weak import Features, Shapes
from ssvgp.large import rows as passes
from ssvgp.large.rows import parts, screened, sums
from ssvgp.model.likelihoods import GaussianNoise
from ssvgp.model.likelihoods.student import StudentT
from ssvgp.records import Member, Parameters, Train
from ssvgp.run.workers import SERIAL, Workers


def data(n: int = 120, d: int = 5, noisy: bool = False) -> Train:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 1]) + 0.2 * X[:, 3] + 0.5 * rng.standard_normal(n)
    noise = GaussianNoise(rng.integers(1, 4, n).astype(float), rng.uniform(0.0, 0.2, n)) if noisy else None
    return Train(X, y, noise)


MEMBER = Member(np.array([1]), Parameters(np.array([0.8]), 1.2, 0.3, mean=1.0), squared_exponential(), np.ones(1))

NONE = np.empty(0)


def features_of(train: Train) -> Features:
    shapes = Shapes.of(np.asarray(train.X[:, np.array([0, 3])]))
    return Features(np.array([0, 3]), shapes, np.array([[0, 0], [1, 0], [1, 1]]), np.array([[0, 1]]))


def precision(train: Train) -> np.ndarray:
    """P - P 1 1' P / 1' P 1 of the whole table: its level has a flat prior."""
    P = np.linalg.inv(of_target(MEMBER, train.X, train.noise))
    level = P.sum(1)
    return P - np.outer(level, level) / level.sum()


@pytest.mark.parametrize("noisy", [False, True])
def test_sums_of_one_group_are_exact(noisy: bool) -> None:
    train = data(noisy=noisy)
    P = precision(train)
    features = features_of(train)
    values, found = features.values(train.X), sums(train, MEMBER, features, train.n)
    assert np.allclose(found.C, values.T @ P @ values) and np.allclose(found.g, values.T @ P @ train.y)
    assert found.q == pytest.approx(train.y @ P @ train.y) and found.n == train.n - 1


@pytest.mark.parametrize("noisy", [False, True])
def test_a_screen_scores_every_shape_and_product(noisy: bool) -> None:
    train = data(noisy=noisy)
    P = precision(train)
    alpha, shapes = P @ train.y, Shapes.of(train.X)
    values = shapes.values(train.X)
    found = screened(train, MEMBER, shapes, np.arange(5), True, train.n, SERIAL)
    single = {"rtol": 1e-5, "atol": 1e-3}  # sums of numbers of about one hundred, in single precision
    assert np.allclose(found.gain, alpha @ values, **single)
    assert np.allclose(found.pairs, (values[0] * alpha[:, None]).T @ values[0], **single)
    exact = np.einsum("lnd,nm,lmd->ld", values, P, values)
    assert (np.abs(found.cost / exact - 1.0)[:, [0, 2, 3, 4]] < 0.3).all()  # good enough to rank
    alone = screened(train, MEMBER, shapes, np.array([0, 4]), False, train.n, SERIAL)
    assert np.allclose(alone.gain, found.gain[:, [0, 4]], **single) and alone.pairs.shape == (0, 0)


def test_levels_of_groups_are_no_evidence_for_inputs_that_go_with_the_strong_ones() -> None:
    """The strong part is one function: what its groups have in common with an idle input, they have once."""
    rng = np.random.default_rng(1)
    strong = rng.standard_normal(30_000)
    X = 0.7 * strong[:, None] + 0.7 * rng.standard_normal((30_000, 6))
    X[:, 1] = strong
    train = Train(X, strong + rng.standard_normal(30_000), None)
    idle = np.array([0, 2, 3, 4, 5])
    features = Features(
        idle, Shapes.of(X[:, idle]), np.stack([np.arange(5), np.zeros(5, int)], 1), np.empty((0, 2), int)
    )
    quiet = replace(MEMBER, parameters=replace(MEMBER.parameters, scale=0.2, noise=1.0, mean=0.0))
    found = sums(train, quiet, features, 20)
    assert np.abs(found.g / np.sqrt(np.diagonal(found.C))).max() < 3.5


def test_parts_have_every_row_once_from_all_over_the_table() -> None:
    for n in (7, 100, 1001):
        found = [np.concatenate([np.arange(n)[one] for one in rows]) for rows in parts(n, 40)]
        assert (np.sort(np.concatenate(found)) == np.arange(n)).all()
        assert all(np.ptp(one) > n // 2 for one in found)


def test_groups_share_no_function_but_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    train, features = data(600), features_of(data(600))
    one = sums(train, MEMBER, features, 600)
    many = sums(train, MEMBER, features, 60)
    # a few rows of each group pay for its function
    assert np.allclose(np.diagonal(many.C), np.diagonal(one.C), rtol=0.15)
    assert many.C[1, 1] < one.C[1, 1]
    monkeypatch.setattr(passes, "LARGE", 500)  # several parts
    parted = sums(train, MEMBER, features, 60)
    assert np.allclose(np.diagonal(parted.C), np.diagonal(many.C), rtol=0.1)


def test_views_maps_and_threads_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "LARGE", 500)
    train = data(600)
    np.save(tmp_path / "X.npy", train.X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    view = Train(Standardised(mapped, np.arange(5), np.zeros(5), np.ones(5)), train.y)
    features, shapes = features_of(train), Shapes.of(train.X)
    expected = sums(train, MEMBER, features, 50)
    scores = screened(train, MEMBER, shapes, np.arange(5), True, 50, SERIAL)
    with Workers(2) as workers:
        assert (sums(view, MEMBER, features, 50, workers).C == expected.C).all()
        assert (screened(view, MEMBER, shapes, np.arange(5), True, 50, workers).pairs == scores.pairs).all()


def test_a_weak_effect_shows_the_better_the_more_rows() -> None:
    """Ten times as many rows, ten times the squared ratio of gain and cost, however small the groups are."""
    ratios = []
    for n in (2000, 20_000):
        rng = np.random.default_rng(5)
        X = rng.standard_normal((n, 5))
        train = Train(X, np.sin(X[:, 1]) + 0.06 * X[:, 3] + 0.5 * rng.standard_normal(n))
        found = screened(train, MEMBER, Shapes.of(X), np.arange(5), False, 100, SERIAL)
        ratios.append(found.gain[0, 3] ** 2 / found.cost[0, 3])
        assert found.gain[0, [0, 2, 4]] ** 2 == pytest.approx(0.0, abs=12 * found.cost[0, [0, 2, 4]].max())
    assert 5.0 < ratios[1] / ratios[0] < 20.0


def test_heavy_tails_say_as_much_as_their_information() -> None:
    """(nu + 1) / (nu + 3) of what as many rows of Gaussian noise of the same scale say: 2/3 for three degrees."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    y = 0.5 * rng.standard_t(3.0, 6000) + 0.1 * X[:, 3]
    train = Train(X, y, StudentT(np.ones(6000), np.zeros(6000)))
    nothing = Member(np.array([], dtype=np.intp), Parameters(np.array([]), 0.0, 0.25, freedom=3.0), MEMBER.kernel, NONE)
    found = sums(train, nothing, features_of(train), 200)
    assert np.diagonal(found.C) == pytest.approx(np.full(4, 6000 * (4.0 / 6.0) / 0.25), rel=0.08)
    assert found.g[1] / found.C[1, 1] == pytest.approx(0.1, abs=0.02)
    assert found.q / found.n == pytest.approx(1.0, abs=0.05)


def test_screens_know_it_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    train = Train(X, 0.5 * rng.standard_t(3.0, 6000), StudentT(np.ones(6000), np.zeros(6000)))
    nothing = Member(np.array([], dtype=np.intp), Parameters(np.array([]), 0.0, 0.25, freedom=3.0), MEMBER.kernel, NONE)
    found = screened(train, nothing, Shapes.of(X), np.arange(5), True, 200, SERIAL)
    assert found.cost == pytest.approx(np.full((4, 5), 6000 * (4.0 / 6.0) / 0.25), rel=0.2)
    assert np.std(found.gain / np.sqrt(found.cost)) == pytest.approx(1.0, abs=0.35)
