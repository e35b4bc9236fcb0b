"""The predictive mixture against Monte Carlo, quadrature and its own inverse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from ssvgp.gp import mixture
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.mixture import distribution, log_density, mixture_covariance, quantiles, sample
from ssvgp.gp.predict import predict
from ssvgp.records import Ensemble, Member, Parameters, Prediction, Train

LEVELS = np.array([1e-9, 1e-4, 0.025, 0.3, 0.5, 0.77, 0.975, 0.9999, 1 - 1e-9])


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    generator = np.random.default_rng(3)
    return Prediction(
        means=generator.standard_normal((4, 6)) * 2.0,
        variances=generator.uniform(0.05, 1.0, (4, 6)),
        noises=np.array([0.1, 0.2, 0.05, 0.4]),
        weights=np.array([0.4, 0.3, 0.2, 0.1]),
    )


def single(mean: float, variance: float) -> Prediction:
    return Prediction(np.array([[mean]]), np.array([[variance]]), np.zeros(1), np.ones(1))


@pytest.fixture(scope="module")
def fitted() -> tuple[Ensemble, Train, np.ndarray]:
    generator = np.random.default_rng(4)
    X = generator.standard_normal((25, 3))
    train = Train(X, X[:, 0] + 0.3 * generator.standard_normal(25))
    members = tuple(
        Member(
            np.array(active),
            Parameters(0.6 * np.ones(p), 1.0, noise, 0.2, 0.5),
            kernel_named(name),
            np.ones(p),
        )
        for active, p, noise, name in [
            ([0], 1, 0.1, "se"),
            ([1, 2], 2, 0.5, "matern32"),
            ([0, 1], 2, 0.2, "rq"),
        ]
    )
    return Ensemble(members, np.array([0.6, 0.4, 0.0]), np.zeros(3)), train, generator.standard_normal((5, 3))


# --- row by row ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [True, False])
def test_moments_equal_those_of_many_draws(prediction, noise) -> None:
    generator = np.random.default_rng(0)
    picked = generator.choice(4, 200_000, p=prediction.weights)
    spread = np.sqrt(prediction.variances + (prediction.noises[:, None] if noise else 0.0))
    draws = prediction.means[picked] + spread[picked] * generator.standard_normal((200_000, 6))
    np.testing.assert_allclose(prediction.mean(), draws.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(prediction.variance(noise), draws.var(axis=0), rtol=0.02)
    levels = [0.1, 0.5, 0.9]
    expected = np.quantile(draws, levels, axis=0).T
    np.testing.assert_allclose(quantiles(prediction, levels, noise), expected, atol=0.06)


@pytest.mark.parametrize("noise", [True, False])
def test_quantiles_invert_the_distribution(prediction, noise) -> None:
    found = quantiles(prediction, LEVELS, noise)
    assert found.shape == (6, 9)
    for level, column in zip(LEVELS, found.T, strict=True):
        within = 1e-9 * min(level, 1 - level) + 1e-15
        np.testing.assert_allclose(distribution(prediction, column, noise), level, rtol=0, atol=within)


def test_quantiles_rise_with_the_level_in_whatever_order_they_are_asked(prediction) -> None:
    levels = np.linspace(1e-6, 1 - 1e-6, 501)
    found = quantiles(prediction, levels)
    assert (np.diff(found, axis=1) >= 0).all()
    shuffled = np.random.default_rng(0).permutation(501)
    np.testing.assert_array_equal(quantiles(prediction, levels[shuffled]), found[:, shuffled])


def test_quantiles_of_one_component_are_exact() -> None:
    expected = norm.ppf(LEVELS, 1.5, 0.5)
    np.testing.assert_allclose(quantiles(single(1.5, 0.25), LEVELS)[0], expected, rtol=1e-15)


def test_a_component_without_weight_changes_nothing(prediction) -> None:
    more = Prediction(
        np.vstack([prediction.means, np.full(6, 1e6)]),
        np.vstack([prediction.variances, np.ones(6)]),
        np.append(prediction.noises, 0.1),
        np.append(prediction.weights, 0.0),
    )
    np.testing.assert_array_equal(quantiles(more, LEVELS), quantiles(prediction, LEVELS))
    y = np.zeros(6)
    np.testing.assert_allclose(log_density(more, y), log_density(prediction, y), rtol=1e-13)


def test_components_far_apart_have_their_median_between_them() -> None:
    apart = Prediction(np.array([[-1e3], [1e3]]), np.ones((2, 1)), np.zeros(2), np.array([0.5, 0.5]))
    found = quantiles(apart, [0.25, 0.4999, 0.5001, 0.75])[0]
    np.testing.assert_allclose(found[[0, 3]], [-1e3, 1e3], atol=1e-9)
    assert found[1] == pytest.approx(-1e3 + norm.ppf(0.9998), abs=1e-6)
    assert found[2] == pytest.approx(1e3 - norm.ppf(0.9998), abs=1e-6)


def test_components_without_spread_are_point_masses() -> None:
    points = Prediction(np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.zeros(2), np.array([0.3, 0.7]))
    np.testing.assert_allclose(quantiles(points, [0.1, 0.2, 0.5, 0.9])[0], [0, 0, 1, 1], atol=1e-12)
    assert log_density(points, np.array([0.5]))[0] < -1e6


def test_batches_do_not_change_quantiles(prediction, monkeypatch) -> None:
    expected = quantiles(prediction, LEVELS)
    monkeypatch.setattr(mixture, "BATCH_BYTES", 1)
    np.testing.assert_allclose(quantiles(prediction, LEVELS), expected, rtol=1e-13)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, [0.5, 2.0], [[0.5]]])
def test_levels_outside_the_unit_interval_are_refused(prediction, q) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        quantiles(prediction, q)


def test_density_is_the_slope_of_the_distribution_and_integrates_to_one(prediction) -> None:
    grid = np.linspace(-15.0, 15.0, 4001)
    density = np.exp([log_density(prediction, np.full(6, y)) for y in grid])
    np.testing.assert_allclose(trapezoid(density, grid, axis=0), 1.0, atol=1e-8)
    up, down = (distribution(prediction, np.full(6, 0.3 + step)) for step in (1e-5, -1e-5))
    slope = np.exp(log_density(prediction, np.full(6, 0.3)))
    np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6)


def test_log_density_survives_far_out() -> None:
    assert log_density(single(0.0, 1.0), np.array([1e4]))[0] == pytest.approx(norm.logpdf(1e4), rel=1e-12)


# --- joint over rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("neighbours", [None, 8])
def test_covariance_has_the_variance_on_its_diagonal(fitted, noise, neighbours) -> None:
    ensemble, train, X_new = fitted
    joint = mixture_covariance(ensemble, train, X_new, neighbours, noise)
    marginal = predict(ensemble, train, X_new, neighbours)
    np.testing.assert_allclose(joint.mean, marginal.mean(), atol=1e-12)
    np.testing.assert_allclose(np.diagonal(joint.covariance), marginal.variance(noise), atol=1e-12)
    assert np.linalg.eigvalsh(joint.covariance).min() > -1e-10


@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("neighbours", [None, 8])
def test_draws_have_the_moments_of_the_mixture(fitted, noise, neighbours) -> None:
    ensemble, train, X_new = fitted
    draws = sample(ensemble, train, X_new, 100_000, np.random.default_rng(1), neighbours, noise)
    joint = mixture_covariance(ensemble, train, X_new, neighbours, noise)
    assert draws.shape == (100_000, 5)
    np.testing.assert_allclose(draws.mean(axis=0), joint.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), joint.covariance, atol=0.03)


def test_draws_repeat_with_the_seed(fitted) -> None:
    ensemble, train, X_new = fitted
    first, second = (sample(ensemble, train, X_new, 7, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_repeated_rows_draw_the_same_function(fitted) -> None:
    ensemble, train, X_new = fitted
    draws = sample(ensemble, train, X_new[[0, 0, 1]], 50, np.random.default_rng(2), noise=False)
    np.testing.assert_allclose(draws[:, 0], draws[:, 1], atol=1e-6)
