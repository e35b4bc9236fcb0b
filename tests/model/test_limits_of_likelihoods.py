"""Limits that tie one likelihood to another, and what a row says of itself once its site is taken away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.evidence.loo import exact, truncated
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.marginal import log_likelihood
from ssvgp.gp.predict import predict, predict_member, predict_truncated
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import Ensemble, Member, Parameters, Sites, Train, has_sites

RNG = np.random.default_rng(5)
N = 40
X = RNG.standard_normal((N, 3))
F = np.sin(2.0 * X[:, 0]) + X[:, 1]
AT = Parameters(np.array([1.0, 0.6]), 1.2, 0.2, 0.0, 1.0, 4.0)
KERNEL = squared_exponential()
ACTIVE = np.array([0, 1])
TARGETS = {
    "student-t": F + 0.3 * RNG.standard_t(3, N),
    "outliers": F + 0.4 * RNG.standard_normal(N),
    "bernoulli": (RNG.uniform(size=N) < 1.0 / (1.0 + np.exp(-2.0 * F))).astype(float),
    "bernoulli-probit": (F + RNG.standard_normal(N) > 0).astype(float),
    "poisson": RNG.poisson(3.0 * np.exp(F)).astype(float),
    "negative-binomial": RNG.poisson(3.0 * np.exp(F) * RNG.gamma(4.0, 0.25, N)).astype(float),
}


def sites_for(name: str, y: np.ndarray, weights: np.ndarray | None = None) -> Sites:
    found = likelihood_named(name).build(Rows(y, np.ones(y.size) if weights is None else weights, np.zeros(y.size)))
    assert has_sites(found)
    return found


def train_for(name: str) -> Train:
    return Train(X, TARGETS[name], sites_for(name, TARGETS[name]))


MEMBER = Member(ACTIVE, AT, KERNEL, np.ones(2))


@pytest.mark.parametrize("name", ["student-t", "outliers"])
def test_many_degrees_of_freedom_or_no_errors_are_gaussian_noise(name: str) -> None:
    y, rows = TARGETS[name], X[:, ACTIVE]
    gaussian = log_likelihood(KERNEL, rows, y, AT)
    heavy = log_likelihood(KERNEL, rows, y, replace(AT, freedom=1e7), None, 0.0, sites_for(name, y))
    assert heavy == pytest.approx(gaussian, abs=1e-3)


def test_little_dispersion_is_poisson() -> None:
    y, rows = TARGETS["poisson"], X[:, ACTIVE]
    plain = log_likelihood(KERNEL, rows, y, AT, None, 0.0, sites_for("poisson", y))
    spread = log_likelihood(KERNEL, rows, y, replace(AT, noise=1e-6), None, 0.0, sites_for("negative-binomial", y))
    assert spread == pytest.approx(plain, abs=1e-2)


def test_large_counts_are_near_gaussian_on_the_log_scale() -> None:
    """log y has variance 1 / rate there, and densities of y and of log y differ by the slope 1 / y."""
    y = RNG.poisson(1e4 * np.exp(0.2 * F)).astype(float)
    sites = sites_for("poisson", y)
    small = replace(AT, scale=0.04, noise=1e-4)
    counted = log_likelihood(KERNEL, X[:, ACTIVE], y, small, None, 0.0, sites)
    rate = sites_for("poisson", y).shift
    known = likelihood_named("gaussian").build(Rows(np.log(y) - rate, np.ones(N), 1.0 / y))
    gaussian = log_likelihood(KERNEL, X[:, ACTIVE], np.log(y) - rate, replace(small, noise=1e-12), None, 0.0, known)
    assert counted == pytest.approx(gaussian - float(np.log(y).sum()), abs=0.3)


@pytest.mark.parametrize("name", TARGETS)
def test_leaving_a_row_out_is_near_a_fit_without_it(name: str) -> None:
    """The sites of the other rows would move a little: densities agree to a few hundredths, on average to less."""
    train = train_for(name)
    sites = train.noise
    assert has_sites(sites)
    left_out = exact(train, MEMBER).log_density
    refitted = np.empty(N)
    for row in range(N):
        others = np.delete(np.arange(N), row)
        moments = predict_member(MEMBER, train.rows(others), X[row : row + 1])
        mean = moments.mean + sites.shift[row]
        refitted[row] = sites.response([AT]).log_density(mean[None], moments.variance[None], train.y[row : row + 1])[
            0, 0
        ]
    gap = left_out - refitted
    assert abs(gap.mean()) < 0.03 and np.abs(gap).max() < 0.5
    nearby = truncated(train, MEMBER, N - 1).log_density
    np.testing.assert_allclose(nearby, refitted, atol=2e-2)


@pytest.mark.parametrize("name", TARGETS)
def test_all_neighbours_are_exact_and_few_are_near(name: str) -> None:
    train, new = train_for(name), np.random.default_rng(1).standard_normal((7, 3))
    whole = predict_member(MEMBER, train, new)
    near = predict_truncated(MEMBER, train, new, N - 1)
    np.testing.assert_allclose(near.mean, whole.mean, atol=0.05)
    ensemble = Ensemble((MEMBER,), np.ones(1), np.zeros(3))
    mixture = predict(ensemble, train, new)
    sites = train.noise
    assert has_sites(sites) and mixture.response is not None
    np.testing.assert_allclose(mixture.means[0], whole.mean + sites.level)
