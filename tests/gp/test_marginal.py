"""log p(y | theta, phi) against SciPy, and every gradient against finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference import central_difference
from scipy.stats import multivariate_normal

from ssvgp.gp.kernels.compose import KERNELS, kernel_named
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.linalg import NotPositiveDefiniteError
from ssvgp.gp.marginal import covariance, gradient, log_likelihood, state
from ssvgp.records import Parameters

NAMES = [*KERNELS, "se+linear", "se*rq"]
PHI = Parameters(np.array([0.6, 0.9, 0.3]), scale=1.3, noise=0.2, background=0.4, mean=0.7)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Active rows (12, 3), y (12,) and the gram of all 5 inputs (12, 12)."""
    generator = np.random.default_rng(5)
    X = generator.standard_normal((12, 5))
    return X[:, :3], generator.standard_normal(12), X @ X.T / 5


@pytest.mark.parametrize("name", NAMES)
def test_value_is_the_density_of_a_multivariate_normal(name, data) -> None:
    rows, y, gram = data
    kernel = kernel_named(name)
    of_y = 1.3 * kernel.matrix(rows, rows, PHI.theta) + 0.4 * gram + 0.7 + 0.2 * np.eye(12)
    expected = multivariate_normal(np.zeros(12), of_y).logpdf(y)
    assert log_likelihood(kernel, rows, y, PHI, gram) == pytest.approx(expected, rel=1e-9)
    assert gradient(kernel, rows, y, PHI, gram).value == pytest.approx(expected, rel=1e-9)
    assert state(kernel, rows, y, PHI, gram).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_in_theta(name, data) -> None:
    rows, y, gram = data
    kernel = kernel_named(name)
    expected = central_difference(
        lambda theta: log_likelihood(kernel, rows, y, replace(PHI, theta=theta), gram), PHI.theta
    )
    np.testing.assert_allclose(gradient(kernel, rows, y, PHI, gram).theta, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_rows_in_single_precision_lose_no_more_than_that(name, data) -> None:
    rows, y, gram = data
    kernel = kernel_named(name)
    double, single = (gradient(kernel, X, y, PHI, gram) for X in (rows, rows.astype(np.float32)))
    assert single.value == pytest.approx(double.value, rel=1e-4)
    np.testing.assert_allclose(single.theta, double.theta, rtol=1e-3, atol=1e-3 * np.abs(double.theta).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["scale", "noise", "background"])
def test_gradient_in_the_log_of(which, name, data) -> None:
    rows, y, gram = data
    kernel = kernel_named(name)

    def value(log: np.ndarray) -> float:
        return log_likelihood(kernel, rows, y, replace(PHI, **{which: float(np.exp(log[0]))}), gram)

    expected = central_difference(value, np.array([np.log(getattr(PHI, which))]))[0]
    actual = getattr(gradient(kernel, rows, y, PHI, gram), f"log_{which}")
    assert actual == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_without_background_and_mean_the_model_is_the_papers(data) -> None:
    rows, y, gram = data
    paper = replace(PHI, background=0.0, mean=0.0)
    kernel = squared_exponential()
    of_y = 1.3 * kernel.matrix(rows, rows, PHI.theta) + 0.2 * np.eye(12)
    expected = multivariate_normal(np.zeros(12), of_y).logpdf(y)
    assert log_likelihood(kernel, rows, y, paper) == pytest.approx(expected, rel=1e-10)
    assert log_likelihood(kernel, rows, y, paper, gram) == log_likelihood(kernel, rows, y, paper)
    assert gradient(kernel, rows, y, paper, gram).log_background == 0.0


def test_jitter_counts_as_noise_that_is_not_learned(data) -> None:
    rows, y, gram = data
    kernel = squared_exponential()
    more = replace(PHI, noise=PHI.noise + 0.05)
    expected = gradient(kernel, rows, y, more, gram)
    actual = gradient(kernel, rows, y, PHI, gram, jitter=0.05)
    assert actual.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(actual.theta, expected.theta, rtol=1e-10)
    assert actual.log_noise == pytest.approx(expected.log_noise * PHI.noise / more.noise, rel=1e-10)


def test_no_active_inputs_leave_a_constant_and_noise(data) -> None:
    _, y, _ = data
    nothing, at = np.zeros((12, 0)), replace(PHI, theta=np.zeros(0), background=0.0)
    expected = multivariate_normal(np.zeros(12), 1.3 + 0.7 + 0.2 * np.eye(12)).logpdf(y)
    result = gradient(squared_exponential(), nothing, y, at)
    assert result.value == pytest.approx(expected, rel=1e-10)
    assert result.theta.shape == (0,)


def test_state_holds_alpha_and_the_inverse(data) -> None:
    rows, y, gram = data
    kernel = squared_exponential()
    at = state(kernel, rows, y, PHI, gram)
    of_y = covariance(kernel.matrix(rows, rows, PHI.theta), PHI, gram)
    np.testing.assert_allclose(at.alpha, np.linalg.solve(of_y, y), rtol=1e-9)
    np.testing.assert_allclose(at.precision, np.linalg.inv(of_y), rtol=1e-8)
    np.testing.assert_allclose(at.pull, np.outer(at.alpha, at.alpha) - np.linalg.inv(of_y), rtol=1e-7)
    assert at.factor.jitter == 0.0


def test_covariance_leaves_its_arguments_alone(data) -> None:
    rows, _, gram = data
    sparse = squared_exponential().matrix(rows, rows, PHI.theta)
    before, gram_before = sparse.copy(), gram.copy()
    covariance(sparse, PHI, gram)
    np.testing.assert_array_equal(sparse, before)
    np.testing.assert_array_equal(gram, gram_before)


def test_repair_of_a_singular_covariance_is_reported(data) -> None:
    rows, y, _ = data
    twice, targets = np.concatenate([rows, rows]), np.concatenate([y, y])
    at = Parameters(PHI.theta, scale=1.0, noise=0.0)
    result = gradient(squared_exponential(), twice, targets, at)
    assert result.jitter > 0
    assert np.isfinite(result.value)


def test_parameters_that_are_not_numbers_are_refused(data) -> None:
    rows, y, _ = data
    with pytest.raises(NotPositiveDefiniteError, match="NaN or infinite"):
        log_likelihood(squared_exponential(), rows, y, replace(PHI, scale=np.nan))
