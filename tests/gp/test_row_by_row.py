"""log p(y) with the likelihood of each row in place of its site: what a bound gives away comes back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from ssvgp.gp.sites import Settled, cavities, row_by_row
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import Parameters, Settling, Sites, has_sites

N = 60
RNG = np.random.default_rng(11)
X = RNG.standard_normal((N, 2))
F = np.sin(2.0 * X[:, 0]) + X[:, 1]
PRIOR = 1.5 * np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1.0
AT = Parameters(np.empty(0), 1.5, 0.1, 0.0, 1.0, 3.0)
FEW = Parameters(np.empty(0), 1.5, 0.1, 0.0, 1.0, 12.0)  # one row in thirteen is an error
TARGETS = {
    "student-t": F + 0.3 * RNG.standard_t(3, N),
    "outliers": F + 0.3 * RNG.standard_normal(N) + np.where(np.arange(N) % 12 == 0, 5.0, 0.0),
    "bernoulli": (RNG.uniform(size=N) < 1.0 / (1.0 + np.exp(-2.0 * F))).astype(float),
}


def built(name: str, weights: np.ndarray, some: np.ndarray) -> tuple[Sites, np.ndarray]:
    """The likelihood of some rows that count by weights, and their targets."""
    y = TARGETS[name][some]
    found = likelihood_named(name).build(Rows(y, weights, np.zeros(some.size), np.ones(some.size)))
    assert has_sites(found)
    return found, y


def truth(sites: Sites, y: np.ndarray, parameters: Parameters, at: Settled, draws: int = 4000) -> float:
    """log p(y) by importance draws from the posterior of f under the sites: unbiased whatever they are."""
    rng = np.random.default_rng(1)
    f = rng.multivariate_normal(np.zeros(N), PRIOR, size=draws, method="eigh")
    noisy = f + np.sqrt(at.variance) * rng.standard_normal(f.shape)
    kt = PRIOR + np.diag(at.variance)
    f = f + np.linalg.solve(kt, (at.target - noisy).T).T @ PRIOR
    own = sites.response([parameters] * draws).log_density(sites.shift + f, np.full(f.shape, 1e-12), y)
    ratio = own - norm.logpdf(at.target, f, np.sqrt(at.variance))
    evidence = multivariate_normal.logpdf(at.target, np.zeros(N), kt)
    return float(evidence + logsumexp(ratio.sum(axis=1)) - np.log(draws))


@pytest.mark.parametrize(("name", "parameters"), [("student-t", AT), ("outliers", FEW)])
def test_most_of_what_a_bound_gives_away_comes_back(name: str, parameters: Parameters) -> None:
    sites, y = built(name, np.ones(N), np.arange(N))
    at = sites.settle(PRIOR.copy(), y, parameters, None, Settling.VALUE)
    exact, found = truth(sites, y, parameters, at), row_by_row(sites, y, parameters, at)
    assert exact > at.value and abs(found - exact) < 0.25 * (exact - at.value) + 0.1
    if name == "student-t":
        assert exact - at.value > 1.0  # or there would be nothing to get back


def test_sites_that_match_moments_have_it_already() -> None:
    sites, y = built("bernoulli", np.ones(N), np.arange(N))
    at = sites.settle(PRIOR.copy(), y, AT, None, Settling.SLOPES)
    assert row_by_row(sites, y, AT, at) == pytest.approx(at.value, abs=1e-3)


@pytest.mark.parametrize("name", ["student-t", "outliers"])
def test_it_is_above_the_bound_and_a_weight_of_w_is_the_row_w_times(name: str) -> None:
    weights = 1.0 + (np.arange(N) % 3 == 0)
    copies = np.repeat(np.arange(N), weights.astype(int))
    one, y = built(name, weights, np.arange(N))
    counted = one.settle(PRIOR.copy(), y, AT, None, Settling.VALUE)
    two, written = built(name, np.ones(copies.size), copies)
    apart = two.settle(PRIOR[np.ix_(copies, copies)], written, AT, None, Settling.VALUE)
    here = row_by_row(one, y, AT, counted)
    assert here > counted.value
    assert here == pytest.approx(row_by_row(two, written, AT, apart), abs=0.05)


def test_what_the_others_say_of_a_row_is_what_they_say_without_it() -> None:
    """With sites held, a row that is taken away leaves the posterior of the rest."""
    sites, y = built("student-t", np.ones(N), np.arange(N))
    at = sites.settle(PRIOR.copy(), y, AT, None, Settling.VALUE)
    mean, variance = cavities(at, sites.weights)
    for row in (0, 17, 59):
        others = np.delete(np.arange(N), row)
        kt = PRIOR[np.ix_(others, others)] + np.diag(at.variance[others])
        cross = PRIOR[row, others]
        assert mean[row] == pytest.approx(cross @ np.linalg.solve(kt, at.target[others]), abs=1e-8)
        assert variance[row] == pytest.approx(PRIOR[row, row] - cross @ np.linalg.solve(kt, cross), abs=1e-8)
