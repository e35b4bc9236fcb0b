"""What every likelihood that is not Gaussian promises. A new one is one line in the table below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.marginal import gradient, log_likelihood, settled
from ssvgp.model.likelihoods import Rows, from_plain, likelihood_named
from ssvgp.records import Parameters, Sites, has_sites

N = 24
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, 2))
F = np.sin(2.0 * X[:, 0]) + X[:, 1]
WEIGHTS = RNG.integers(1, 4, N).astype(float)
EXPOSURE = RNG.uniform(0.5, 2.0, N)
AT = Parameters(np.array([0.9, 0.5]), 1.3, 0.4, 0.3, 1.0, 4.0)
CLASSES = (RNG.uniform(size=N) < 1.0 / (1.0 + np.exp(-2.0 * F))).astype(float)
COUNTS = RNG.poisson(2.0 * np.exp(F)).astype(float)
HEAVY = F + 0.3 * RNG.standard_t(2, N)

TARGETS: dict[str, np.ndarray] = {
    "student-t": HEAVY,
    "outliers": HEAVY,
    "bernoulli": CLASSES,
    "bernoulli-probit": CLASSES,
    "poisson": COUNTS,
    "negative-binomial": COUNTS,
}
KERNEL = squared_exponential()
GRAM = X @ X.T


def built(name: str, weights: np.ndarray | None = None) -> Sites:
    rows = Rows(TARGETS[name], np.ones(N) if weights is None else weights, np.zeros(N), EXPOSURE)
    found = likelihood_named(name).build(rows)
    assert has_sites(found)
    return found


@pytest.fixture(params=TARGETS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def slope(value: Callable[[float], float], step: float = 1e-4) -> float:
    return (value(step) - value(-step)) / (2.0 * step)


def test_gradients_are_those_of_the_value(name: str) -> None:
    sites, y = built(name, WEIGHTS), TARGETS[name]

    def value(at: Parameters) -> float:
        return gradient(KERNEL, X, y, at, GRAM, 0.0, sites).value

    found = gradient(KERNEL, X, y, AT, GRAM, 0.0, sites)
    for which in range(2):
        axis = np.eye(2)[which]
        numeric = slope(lambda t, axis=axis: value(replace(AT, theta=AT.theta + t * axis)))
        assert found.theta[which] == pytest.approx(numeric, rel=2e-4, abs=2e-5)
    for slot in ("scale", "background", *sites.slots):
        numeric = slope(lambda t, slot=slot: value(replace(AT, **{slot: getattr(AT, slot) * np.exp(t)})))
        assert getattr(found, f"log_{slot}") == pytest.approx(numeric, rel=2e-4, abs=2e-5)


def test_a_start_does_not_change_where_sites_settle(name: str) -> None:
    sites, y = built(name), TARGETS[name]
    cold = gradient(KERNEL, X, y, AT, GRAM, 0.0, sites)
    elsewhere = gradient(KERNEL, X, y, replace(AT, scale=3.0, theta=2.0 * AT.theta), GRAM, 0.0, sites)
    warm = gradient(KERNEL, X, y, AT, GRAM, 0.0, sites, elsewhere.sites)
    assert warm.value == pytest.approx(cold.value, abs=1e-4)
    np.testing.assert_allclose(warm.theta, cold.theta, atol=1e-3)


def test_a_value_alone_is_the_value_of_the_gradient(name: str) -> None:
    sites, y = built(name), TARGETS[name]
    quick = log_likelihood(KERNEL, X, y, AT, GRAM, 0.0, sites)
    assert quick == pytest.approx(gradient(KERNEL, X, y, AT, GRAM, 0.0, sites).value, abs=5e-3)


def test_a_weight_of_w_is_the_row_w_times(name: str) -> None:
    y = TARGETS[name]
    copies = np.repeat(np.arange(N), WEIGHTS.astype(int))
    once = log_likelihood(KERNEL, X, y, AT, GRAM, 0.0, built(name, WEIGHTS))
    rows = Rows(y[copies], np.ones(copies.size), np.zeros(copies.size), EXPOSURE[copies])
    written = likelihood_named(name).build(rows)
    twice = log_likelihood(KERNEL, X[copies], y[copies], AT, GRAM[np.ix_(copies, copies)], 0.0, written)
    assert once == pytest.approx(twice, abs=2e-2 if name == "student-t" else 2e-3)


def test_some_rows_are_those_rows_alone(name: str) -> None:
    sites, y, some = built(name, WEIGHTS), TARGETS[name], np.array([4, 1, 7, 20])
    part = sites.rows(some)
    np.testing.assert_array_equal(part.shift, sites.shift[some])
    one = settled(part, KERNEL, X[some], y[some], AT).value
    again = from_plain(name, part.to_plain())
    assert has_sites(again) and again.level == sites.level
    assert settled(again, KERNEL, X[some], y[some], AT).value == one


def test_densities_of_a_response_sum_to_one_and_agree_with_its_distribution(name: str) -> None:
    response = built(name).response([AT, replace(AT, noise=0.1)])
    mean, variance = np.array([[0.3], [0.8]]), np.array([[0.5], [0.2]])
    if response.discrete:
        values = np.arange(400.0)
        each = np.exp([response.log_density(mean, variance, np.array([v]))[:, 0] for v in values[:2]])
        if name.startswith("bernoulli"):
            np.testing.assert_allclose(each.sum(0), 1.0, rtol=1e-10)
            np.testing.assert_allclose(response.moments(mean, variance)[0][:, 0], each[1], rtol=1e-8)
        else:
            probabilities = np.exp([response.log_density(mean, variance, np.array([v]))[:, 0] for v in values])
            np.testing.assert_allclose(probabilities.sum(0), 1.0, rtol=1e-6)
            np.testing.assert_allclose(values @ probabilities, response.moments(mean, variance)[0][:, 0], rtol=1e-4)
        below = response.distribution(mean, variance, np.array([1.0]))[:, 0]
        np.testing.assert_allclose(below, each.sum(0), rtol=1e-8)
        return

    def density(y: float, k: int) -> float:
        return float(np.exp(response.log_density(mean, variance, np.array([y]))[k, 0]))

    for k in range(2):
        below = quad(density, -60.0, 1.0, args=(k,), limit=200)[0]
        above = quad(density, 1.0, 60.0, args=(k,), limit=200)[0]
        assert below + above == pytest.approx(1.0, abs=2e-3)
        if name == "outliers":  # intervals are those of rows without a gross error
            continue
        assert response.distribution(mean, variance, np.array([1.0]))[k, 0] == pytest.approx(below, abs=2e-3)


def test_the_approximation_is_near_the_integral_over_f(name: str) -> None:
    """Two rows, K diagonal enough that log p is a sum of integrals over one f each."""
    y, far = TARGETS[name][:2], np.array([[0.0, 0.0], [50.0, 50.0]])
    at = replace(AT, scale=0.4, background=0.0, mean=0.0)
    rows = Rows(y, np.ones(2), np.zeros(2), np.ones(2))
    sites = likelihood_named(name).build(rows)
    assert has_sites(sites)
    exact = sites.response([at]).log_density(sites.shift[None], np.full((1, 2), at.scale), y).sum()
    found = log_likelihood(KERNEL, far, y, at, None, 0.0, sites)
    if name in ("student-t", "outliers"):  # a bound: it is loosest where, as here, a row is all that is known of its f
        assert exact - 0.3 < found < exact
    else:
        assert found == pytest.approx(exact, abs=0.12)
