"""The bound of paired mean field and its gradients: closed forms, enumeration of gamma, common random numbers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from reference import central_difference, squared_exponential
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from ssvgp import peers
from ssvgp.peers.pmf_bound import (
    SlabPrior,
    Unknowns,
    divergence,
    draw,
    estimate,
    initial,
    likelihoods,
    path_slope,
    read,
    score_slope,
)

pytestmark = pytest.mark.peers
PRIOR = SlabPrior(inclusion=0.1, precision=0.3)


def random_vector(d: int, seed: int, sd: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=d), np.log(sd) + 0.3 * rng.normal(size=d), rng.normal(size=d), [0.3, -1.2]])


def data(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.4 * X[:, 1] + 0.3 * rng.normal(size=n)


def slow_likelihood(X, y, at: Unknowns, theta) -> float:
    covariance = math.exp(at.log_scale) * squared_exponential(X, X, theta)
    covariance += (math.exp(at.log_noise) + PRIOR.jitter) * np.eye(len(y))
    return float(multivariate_normal.logpdf(y, np.zeros(len(y)), covariance))


def test_the_start_is_that_of_the_paper():
    at = read(initial(4))
    np.testing.assert_allclose(at.mu, 0.5)
    np.testing.assert_allclose(np.exp(at.log_sd), 2e-3)
    np.testing.assert_allclose(at.inclusion, 0.5)
    assert (at.log_scale, at.log_noise) == (0.0, 0.0)


def test_the_divergence_is_the_mean_of_its_log_ratio():
    at, rng = read(random_vector(3, 0)), np.random.default_rng(1)
    draws = draw(at, 40_000, rng)
    slab = norm.logpdf(draws.theta, at.mu, np.exp(at.log_sd)) - norm.logpdf(draws.theta, 0.0, PRIOR.precision**-0.5)
    included = np.log(at.inclusion) - np.log(PRIOR.inclusion) + slab
    excluded = np.log1p(-at.inclusion) - np.log1p(-PRIOR.inclusion)
    ratios = np.where(draws.gamma, included, excluded).sum(1)
    assert abs(ratios.mean() - divergence(at, PRIOR)[0]) < 4.0 * ratios.std() / 200.0
    nothing = Unknowns(np.zeros(2), np.full(2, -0.5 * np.log(PRIOR.precision)), np.full(2, math.log(1 / 9)), 0.0, 0.0)
    assert divergence(nothing, PRIOR)[0] == pytest.approx(0.0, abs=1e-12)  # q is the prior


def test_the_slope_of_the_divergence_is_that_of_differences():
    vector = random_vector(4, 2)
    numeric = central_difference(lambda v: divergence(read(v), PRIOR)[0], vector)
    np.testing.assert_allclose(divergence(read(vector), PRIOR)[1], numeric, atol=1e-8)


def test_draws_have_the_chances_and_moments_of_q():
    at = read(random_vector(3, 3))
    draws = draw(at, 20_000, np.random.default_rng(0))
    spread = np.sqrt(at.inclusion * (1.0 - at.inclusion) / 20_000)
    assert np.all(np.abs(draws.gamma.mean(0) - at.inclusion) < 4.5 * spread)
    assert np.all(draws.theta[~draws.gamma] == 0.0)
    for j in range(3):
        inside = draws.theta[draws.gamma[:, j], j]
        assert abs(inside.mean() - at.mu[j]) < 4.5 * np.exp(at.log_sd[j]) / math.sqrt(inside.size)


@pytest.mark.parametrize("n", [9, 140])
def test_likelihoods_in_stacks_are_those_one_by_one(n):
    """Both below and above the number of rows where stacks are factored in another way; one draw holds no input."""
    X, y = data(n, 4)
    at = read(random_vector(4, 4))
    theta = draw(at, 5, np.random.default_rng(2)).theta
    theta[3] = 0.0
    slow = [slow_likelihood(X, y, at, one) for one in theta[: 5 if n < 100 else 4]]
    np.testing.assert_allclose(likelihoods(X, y, at, theta, PRIOR)[: len(slow)], slow, rtol=1e-8)


def test_the_path_slope_is_that_of_differences_with_the_draw_held():
    X, y = data(12, 4)
    vector = random_vector(4, 5)
    draws = draw(read(vector), 1, np.random.default_rng(8))
    gamma, epsilon = draws.gamma[0], draws.epsilon[0]
    assert 0 < gamma.sum() < 4

    def value(v):  # common random numbers: the same epsilon and gamma
        at = read(v)
        return slow_likelihood(X, y, at, np.where(gamma, at.mu + np.exp(at.log_sd) * epsilon, 0.0))

    found = path_slope(X, y, read(vector), epsilon, draws.theta[0], PRIOR)
    np.testing.assert_allclose(found, central_difference(value, vector), rtol=1e-5, atol=1e-6)


def all_gammas(at: Unknowns) -> tuple[np.ndarray, np.ndarray]:
    """Every gamma (2^d, d) and its chance (2^d,)."""
    gammas = np.array(list(product((False, True), repeat=at.mu.size)))
    return gammas, np.prod(np.where(gammas, at.inclusion, 1.0 - at.inclusion), axis=1)


def exact_expectation(X, y, vector: np.ndarray) -> float:
    """<log p> over all 2^d values of gamma, for a q(theta | gamma) so narrow that theta = mu."""
    at = read(vector)
    gammas, chances = all_gammas(at)
    return float(chances @ [slow_likelihood(X, y, at, gamma * at.mu) for gamma in gammas])


def test_the_score_slope_has_the_mean_of_an_enumeration():
    """The estimator from one draw, averaged over all 2^5 draws with their chances, is the slope of <log p> itself."""
    X, y = data(8, 5)
    vector = random_vector(5, 6, sd=1e-9)
    at = read(vector)
    exact = central_difference(lambda v: exact_expectation(X, y, v), vector)[10:15]
    gammas, chances = all_gammas(at)
    values = likelihoods(X, y, at, gammas * at.mu, PRIOR)
    each = [score_slope(values[s : s + 1], gammas[s : s + 1], at) for s in range(len(gammas))]
    np.testing.assert_allclose(chances @ each, exact, atol=1e-7)
    assert np.max(np.abs(exact)) > 0.1
    # and of several draws it is the mean
    np.testing.assert_allclose(score_slope(values, gammas, at), np.mean(each, axis=0))


def test_the_estimate_puts_its_parts_where_they_belong():
    """The same draws by hand: bound = mean log p - KL; slope = path + score - slope of KL."""
    X, y = data(10, 3)
    vector = random_vector(3, 7)
    at, found = read(vector), estimate(X, y, vector, 4, PRIOR, np.random.default_rng(5))
    draws = draw(at, 4, np.random.default_rng(5))
    values = np.array([slow_likelihood(X, y, at, one) for one in draws.theta])
    cost, slope = divergence(at, PRIOR)
    assert found.bound == pytest.approx(values.mean() - cost)
    expected = path_slope(X, y, at, draws.epsilon[0], draws.theta[0], PRIOR) - slope
    expected[6:9] += np.mean([v * (g - expit(at.logit)) for v, g in zip(values, draws.gamma, strict=True)], axis=0)
    np.testing.assert_allclose(found.slope, expected, rtol=1e-7)


def test_the_rival_gives_up_inputs_that_the_prior_does_not_want():
    """After one step lambda is still near 1/2; after many steps on pure noise a prior of 0.001 has won."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3)), rng.normal(size=10)
    short = peers.make("pmf_bbvi_10", steps=1, samples=20).fit(X, y).relevance().scores
    np.testing.assert_allclose(short, 0.5, atol=0.02)
    prior = SlabPrior(inclusion=1e-3)
    long = peers.make("pmf_bbvi_10", steps=300, samples=20, prior=prior).fit(X, y)
    assert long.relevance().scores.max() < 0.2 and not long.relevance().selected.any()


@pytest.mark.parametrize("settings", [{"samples": 0}, {"steps": 0}, {"learning_rate": 0.0}, {"predictive": 0}])
def test_settings_that_make_no_run_are_refused(settings):
    with pytest.raises(ValueError, match="needs"):
        peers.make("pmf_bbvi_10", **settings)


def test_the_two_names_differ_in_their_samples_alone():
    ten, hundred = peers.make("pmf_bbvi_10"), peers.make("pmf_bbvi_100")
    assert (ten.samples, hundred.samples) == (10, 100)
    assert (ten.steps, ten.rates, ten.prior) == (hundred.steps, hundred.rates, hundred.prior)


def test_one_draw_of_q_holds_inputs_that_no_probability_selects():
    """Every lambda is still near 1/2 after a few steps of a slow learner: a draw holds about half of the inputs."""
    X, y = data(20, 30)
    fitted = [
        peers.make("pmf_bbvi_10", steps=3, learning_rate=1e-3, predictive=1, selection="draw", random_state=seed)
        .fit(X, y)
        .relevance()
        for seed in range(4)
    ]
    counts = [found.selected.sum() for found in fitted]
    assert all(5 < count < 25 for count in counts) and len({tuple(found.selected) for found in fitted}) > 1
    with pytest.raises(ValueError, match="selection"):
        peers.make("pmf_bbvi_10", selection="all")
