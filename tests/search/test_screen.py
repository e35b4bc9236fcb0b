"""The slope through the kernel against differences of the covariance."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import State, state
from ssvgp.records import Parameters
from ssvgp.search import screen as module
from ssvgp.search.screen import screen

AT = Parameters(np.array([0.7]), scale=1.3, noise=0.3, mean=1.0)
NOTHING = Parameters(np.zeros(0), scale=0.0, noise=1.0, mean=1.0)


def covariance(x: np.ndarray) -> np.ndarray:
    return 1.3 * np.exp(-0.5 * 0.49 * (x[:, None] - x[None, :]) ** 2) + 1.0 + 0.3 * np.eye(x.size)


def member(X: np.ndarray, y: np.ndarray) -> State:
    """Input 0 in a squared exponential."""
    return state(kernel_named("se"), X[:, [0]], y, AT)


def empty(X: np.ndarray, y: np.ndarray) -> State:
    return state(kernel_named("se"), X[:, []], y, NOTHING)


def data(n: int = 30, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.3 * rng.standard_normal(n)


def test_gain_and_cost_are_the_two_halves_of_the_slope() -> None:
    X, y = data()
    here = member(X, y)
    found = screen([X], [here], AT.scale)
    of_y = covariance(X[:, 0])
    for j in range(1, 5):
        rho = 1e-5
        moved = of_y - 1.0 - 0.3 * np.eye(30)
        moved = moved * np.exp(-0.5 * rho * (X[:, j, None] - X[None, :, j]) ** 2) + 1.0 + 0.3 * np.eye(30)
        change = (moved - of_y) / rho
        alpha = np.linalg.solve(of_y, y)
        assert found.gain[j] == pytest.approx(alpha @ change @ alpha, rel=1e-3, abs=1e-3)
        assert found.cost[j] == pytest.approx(np.trace(np.linalg.solve(of_y, change)), rel=1e-3, abs=1e-3)


def test_columns_of_few_levels_have_finite_scores() -> None:
    X, y = data(n=40)
    X[:, 2] = np.repeat([-1.0, 1.0], 20)
    X[:, 3] = 0.0
    X[:, 4] = np.tile([-1.0, 0.0, 1.0, 0.0], 10)
    scores = screen([X], [member(X, y)], AT.scale)
    assert all(np.isfinite(part).all() for part in (scores.gain, scores.cost))


def test_scores_of_blocks_add_up_and_do_not_depend_on_how_columns_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    other_X, other_y = data(seed=1)
    one, two = (screen([a], [member(a, b)], AT.scale) for a, b in ((X, y), (other_X, other_y)))
    monkeypatch.setattr(module, "COLUMNS", 2)
    both = screen([X, other_X], [member(X, y), member(other_X, other_y)], AT.scale)
    for part in ("gain", "cost"):
        assert getattr(both, part) == pytest.approx(getattr(one, part) + getattr(two, part))
