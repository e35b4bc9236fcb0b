"""Minibatches hold a row and its nearest neighbours in the metric of theta, among the candidates."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.data.view import Standardised
from ssvgp.method.paper import minibatch
from ssvgp.method.paper.minibatch import draw, pool, squared_distances
from ssvgp.records import Train


def data(n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((n, d))
    return X, np.arange(n, dtype=float)


@pytest.mark.parametrize("large", [2**24, 16])
def test_neighbours_are_those_of_the_obvious_search(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minibatch, "HELD", large)
    monkeypatch.setattr(minibatch, "CACHED", 28)  # several pieces, the last one shorter
    X, y = data()
    theta = np.array([1.0, -0.3, 0.0, 2.0])
    active = np.array([0, 1, 2, 4])
    source = pool(Train(X, y), active, 10, "nearest", 1000, np.random.default_rng(1))
    rows, targets, _ = draw(source, theta, np.random.default_rng(2))
    centre = int(np.random.default_rng(2).integers(60))
    distance = (((X[:, active] - X[centre, active]) * theta) ** 2).sum(1)
    assert set(targets) == set(np.argsort(distance)[:10].astype(float))
    assert rows == pytest.approx(X[targets.astype(int)][:, active], rel=1e-7 if large == 16 else 0.0)
    found = squared_distances(source, theta, centre)
    assert np.argmin(found) == centre


@pytest.mark.parametrize("large", [2**24, 16])
@pytest.mark.parametrize("candidates", [20, 1000])
def test_the_pool_of_a_view_is_that_of_the_table_it_stands_for(
    candidates: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minibatch, "HELD", large)
    X, y = data()
    kept, active = np.array([0, 2, 3, 4]), np.array([1, 3])
    view = Standardised(X, kept, X[:, kept].mean(0), X[:, kept].std(0))
    for chosen in (active, np.arange(4)):
        lazy, plain = (
            pool(Train(table, y), chosen, 8, "nearest", candidates, np.random.default_rng(0))
            for table in (view, view[:])
        )
        assert lazy.X.dtype == (np.float64 if large == 2**24 else np.float32)
        assert np.array_equal(lazy.X, plain.X)
        assert np.array_equal(lazy.y, plain.y)


def test_a_whole_batch_is_all_rows_in_order() -> None:
    X, y = data()
    source = pool(Train(X, y), np.arange(5), 60, "nearest", 10, np.random.default_rng(0))
    rows, targets, _ = draw(source, np.ones(5), np.random.default_rng(0))
    assert np.array_equal(rows, X)
    assert np.array_equal(targets, y)


def test_neighbours_come_from_the_candidates_only() -> None:
    X, y = data()
    source = pool(Train(X, y), np.arange(5), 8, "nearest", 20, np.random.default_rng(0))
    assert source.X.shape == (20, 5)
    seen = {value for seed in range(30) for value in draw(source, np.ones(5), np.random.default_rng(seed))[1]}
    assert seen <= set(source.y)


@pytest.mark.parametrize("kind", ["nearest", "uniform"])
def test_without_active_inputs_rows_are_drawn_at_random(kind: str) -> None:
    X, y = data()
    source = pool(Train(X, y), np.array([], dtype=int), 7, kind, 1000, np.random.default_rng(0))
    rows, targets, _ = draw(source, np.zeros(0), np.random.default_rng(1))
    assert rows.shape == (7, 0)
    assert np.unique(targets).size == 7


def test_an_unknown_kind_is_refused() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="'nearest' or 'uniform'"):
        pool(Train(X, y), np.arange(5), 7, "far", 1000, np.random.default_rng(0))
