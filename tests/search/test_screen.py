"""The screen against obvious statistics: what each score is, what it sees and what it is blind to."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import State, state
from ssvgp.records import Parameters
from ssvgp.search import screen as module
from ssvgp.search.screen import PAIR_STRIP, pairs, screen, shapes

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


def log_density(residual: np.ndarray, of_y: np.ndarray) -> float:
    return -0.5 * float(residual @ np.linalg.solve(of_y, residual))


def test_shapes_are_orthonormal_to_each_other_and_to_the_constant_and_span_the_powers() -> None:
    x = np.random.default_rng(0).standard_normal(40)
    found = shapes(x[:, None])[:, :, 0]
    assert found @ found.T == pytest.approx(np.eye(3), abs=1e-10)
    assert found.sum(1) == pytest.approx(0.0, abs=1e-10)
    basis, _ = np.linalg.qr(np.stack([np.ones(40), x, x**2, x**3], axis=1))
    assert np.abs(found @ basis) == pytest.approx(np.eye(4)[1:], abs=1e-10)


def test_the_additive_score_is_the_score_statistic_of_an_effect_of_each_shape() -> None:
    """U^2 / I by differences of the density of y - beta phi, for three shapes, less the mean of a chi-square each."""
    X, y = data()
    found = screen([X], [member(X, y)], AT.scale)
    of_y, step = covariance(X[:, 0]), 1e-3
    for j in range(1, 5):
        powers = np.stack([np.ones(30), X[:, j], X[:, j] ** 2, X[:, j] ** 3], axis=1)
        total = 0.0
        for phi in np.linalg.qr(powers)[0][:, 1:].T:
            up, here, down = (log_density(y - beta * phi, of_y) for beta in (step, 0.0, -step))
            slope, information = (up - down) / (2 * step), -(up - 2 * here + down) / step**2
            total += slope**2 / information - 1.0
        assert found.additive[j] == pytest.approx(total, rel=1e-4, abs=1e-4)


def test_the_additive_score_has_mean_nothing_on_noise() -> None:
    """Over targets drawn from the member itself the chi-squares less their means average to zero."""
    X, _ = data(n=25, d=40)
    root = np.linalg.cholesky(covariance(X[:, 0]))
    rng = np.random.default_rng(1)
    scores = [screen([X], [member(X, root @ rng.standard_normal(25))], AT.scale).additive[1:] for _ in range(40)]
    assert np.mean(scores) == pytest.approx(0.0, abs=4.0 * np.sqrt(6.0 / 40))


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


def test_a_pure_square_is_found_to_which_the_slope_is_blind() -> None:
    rng = np.random.default_rng(0)
    half = rng.standard_normal((60, 30))
    X = np.concatenate([half, half])
    X[60:, 4] = -half[:, 4]  # symmetric, so that the square has no linear part at all
    y = X[:, 4] ** 2 + 0.3 * rng.standard_normal(120)
    y = (y - y.mean()) / y.std()
    found = screen([X], [empty(X, y)], 1.0)
    assert np.argmax(found.additive) == 4
    assert found.additive[4] > 50.0
    slope = found.gain - found.cost
    assert slope[4] < np.median(slope) + 2.0 * slope.std()
    assert np.argmax(slope) != 4


def test_an_interaction_with_the_member_shows_in_the_gain_and_not_in_the_additive_score() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 20))
    y = X[:, 0] * (1.0 + X[:, 7]) + 0.2 * rng.standard_normal(150)
    found = screen([X], [member(X, y)], AT.scale)
    ratio = found.gain / found.cost
    ratio[0] = -np.inf
    assert np.argmax(ratio) == 7
    assert found.additive[7] < found.gain[7] / found.cost[7]


def test_a_binary_column_has_one_shape_and_no_nan() -> None:
    X, y = data(n=40)
    X[:, 2] = np.repeat([-1.0, 1.0], 20)
    X[:, 3] = 0.0
    X[:, 4] = np.tile([-1.0, 0.0, 1.0, 0.0], 10)
    found = shapes(X)
    assert [(np.abs(found[:, :, j]).sum(1) > 0).tolist() for j in (2, 3, 4)] == [
        [True, False, False],
        [False, False, False],
        [True, True, False],
    ]
    scores = screen([X], [member(X, y)], AT.scale)
    assert all(np.isfinite(part).all() for part in (scores.additive, scores.gain, scores.cost))
    phi = X[:, 2] / np.sqrt(40)
    of_y = covariance(X[:, 0])
    alpha = np.linalg.solve(of_y, y)
    assert scores.additive[2] == pytest.approx((phi @ alpha) ** 2 / (phi @ np.linalg.solve(of_y, phi)) - 1.0)
    assert scores.additive[3] == 0.0


def test_scores_of_blocks_add_up_and_do_not_depend_on_how_columns_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    other_X, other_y = data(seed=1)
    one, two = (screen([a], [member(a, b)], AT.scale) for a, b in ((X, y), (other_X, other_y)))
    monkeypatch.setattr(module, "COLUMNS", 2)
    both = screen([X, other_X], [member(X, y), member(other_X, other_y)], AT.scale)
    for part in ("additive", "gain", "cost"):
        assert getattr(both, part) == pytest.approx(getattr(one, part) + getattr(two, part))


def test_the_product_of_two_inputs_is_the_first_pair() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 25))
    y = X[:, 3] * X[:, 11] + 0.3 * rng.standard_normal(120)
    found = pairs([X], [empty(X, y)], 10, np.arange(25))
    assert found.shape == (10, 2)
    assert sorted(found[0]) == [3, 11]
    assert len({tuple(sorted(pair)) for pair in found}) == 10


@pytest.mark.parametrize("inputs", [5, PAIR_STRIP, PAIR_STRIP + 1, 2 * PAIR_STRIP + 40])
@pytest.mark.parametrize("most", [1, 60])
def test_pairs_are_ranked_by_the_correlation_with_alpha(inputs: int, most: int) -> None:
    rng = np.random.default_rng(inputs)
    X, y = rng.normal(size=(30, inputs)), rng.normal(size=30)
    here, columns = empty(X, y), np.delete(np.arange(inputs), 1)
    alpha = here.alpha - here.alpha.mean()
    slow = {}
    for a in columns:
        for b in columns[columns > a]:
            product = X[:, a] * X[:, b]
            slow[int(a), int(b)] = abs(product @ alpha) / np.sqrt(product @ product)
    expected = sorted(slow, key=lambda pair: -slow[pair])
    assert [tuple(pair) for pair in pairs([X], [here], most, columns)] == expected[:most]


def test_pairs_come_from_the_given_columns_only_and_may_be_none() -> None:
    X, y = data()
    found = pairs([X], [empty(X, y)], 100, np.array([1, 4]))
    assert found.tolist() == [[1, 4]]
    assert pairs([X], [empty(X, y)], 100, np.array([1])).shape == (0, 2)
