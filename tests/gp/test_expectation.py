"""Sites by matching moments: the integrals they rest on, the evidence they give, and that they settle."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_expit, logsumexp
from scipy.stats import multivariate_normal, norm

from ssvgp.gp import expectation, newton
from ssvgp.gp.linalg import NotPositiveDefiniteError
from ssvgp.gp.sites import ACCURACY, Settled
from ssvgp.model.likelihoods import BernoulliLogit, BernoulliProbit
from ssvgp.records import Parameters, Settling

AT = Parameters(np.empty(0), 1.0, 0.1)


def separated(n: int = 40, scale: float = 60.0) -> tuple[BernoulliLogit, np.ndarray, np.ndarray]:
    """Classes that a function of five inputs separates, and a covariance under which log odds may be large."""
    X = np.random.default_rng(0).normal(size=(n, 5))
    prior = scale * np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1.0
    return BernoulliLogit(np.ones(n), np.zeros(n)), prior, (X.sum(axis=1) > 0).astype(float)


def truth(prior: np.ndarray, y: np.ndarray, sites: Settled, draws: int = 20_000) -> float:
    """log p(y) by importance sampling from the posterior under some sites: unbiased whatever they are."""
    rng, n = np.random.default_rng(1), y.size
    f = rng.multivariate_normal(np.zeros(n), prior, size=draws, method="eigh")
    noisy = f + np.sqrt(sites.variance) * rng.standard_normal(f.shape)
    kt = prior + np.diag(sites.variance)
    f = f + np.linalg.solve(kt, (sites.target - noisy).T).T @ prior
    ratio = log_expit((2.0 * y - 1.0) * f) - norm.logpdf(sites.target, f, np.sqrt(sites.variance))
    evidence = multivariate_normal.logpdf(sites.target, np.zeros(n), kt)
    return float(evidence + logsumexp(ratio.sum(axis=1)) - np.log(draws))


@pytest.mark.parametrize("kind", [BernoulliLogit, BernoulliProbit])
@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.3), (2.0, 1.0), (-6.0, 2.0), (-20.0, 9.0), (30.0, 12.0)])
def test_moments_of_a_cavity_times_the_likelihood_are_its_integrals(kind: type, mean: float, sd: float) -> None:
    likelihood, y = kind(np.ones(1), np.array([0.4])), np.ones(1)
    found = expectation.tilted(likelihood, y, np.array([mean]), np.array([sd**2]), np.array([mean]), AT)

    def moment(power: int) -> float:
        def value(f: float) -> float:
            return float(np.exp(likelihood.log_density(y, np.array([f]), AT)[0]) * norm.pdf(f, mean, sd) * f**power)

        ends = [mean - 10.0 * sd, -3.0, 0.0, 3.0, mean + 10.0 * sd]
        parts = sorted(np.clip(ends, ends[0], ends[-1]))
        return sum(quad(value, *pair, epsabs=0.0, epsrel=1e-11)[0] for pair in pairwise(parts))

    whole = moment(0)
    assert found.log_integral[0] == pytest.approx(np.log(whole), abs=1e-6)
    assert found.mean[0] == pytest.approx(moment(1) / whole, abs=1e-5)
    assert found.variance[0] == pytest.approx(moment(2) / whole - (moment(1) / whole) ** 2, rel=1e-4)


def test_evidence_of_separated_classes_is_the_integral_where_laplace_is_far_off() -> None:
    likelihood, prior, y = separated()
    found = expectation.settle(likelihood, prior, y, AT, None, Settling.VALUE)
    exact = truth(prior, y, found)
    assert found.value == pytest.approx(exact, abs=0.1)
    assert newton.settle(likelihood, prior, y, AT, None, Settling.VALUE).value < exact - 0.3


def test_sites_settle_however_large_f_may_be() -> None:
    for scale in (1.0, 100.0, 2000.0):
        likelihood, prior, y = separated(120, scale)
        found = expectation.settle(likelihood, prior, y, AT, None, Settling.SLOPES)
        again = expectation.settle(likelihood, prior, y, AT, found.state, Settling.SLOPES)
        assert again.value == pytest.approx(found.value, abs=1e-3)
        elsewhere = expectation.settle(likelihood, 0.1 * prior, y, AT, None, Settling.SLOPES)
        other = expectation.settle(likelihood, prior, y, AT, elsewhere.state, Settling.SLOPES)
        assert other.value == pytest.approx(found.value, abs=1e-3)


def test_a_row_that_counts_less_than_once_says_less() -> None:
    _, prior, y = separated(scale=4.0)
    values = [
        expectation.settle(
            BernoulliLogit(np.full(y.size, w), np.zeros(y.size)), prior, y, AT, None, Settling.VALUE
        ).value
        for w in (1.0, 0.5, 1e-6)
    ]
    assert values[0] < values[1] < values[2] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("to", [Settling.VALUE, Settling.STEP])
@pytest.mark.parametrize("kind", [BernoulliLogit, BernoulliProbit])
@pytest.mark.parametrize("louder", [0.7, 1.2, 3.0])
def test_beside_a_relative_a_value_is_short_of_a_fraction_of_the_last_step(
    louder: float, kind: type, to: Settling
) -> None:
    _, prior, y = separated(120)
    likelihood = kind(np.ones(y.size), np.zeros(y.size))
    there = expectation.settle(likelihood, prior, y, AT, None, Settling.SLOPES)
    exact = expectation.settle(likelihood, louder * prior, y, AT, None, Settling.SLOPES).value
    beside = expectation.settle(likelihood, louder * prior, y, AT, there.state, to)
    assert -120.0 * ACCURACY[to] < beside.value - exact < 1e-6
    alone = expectation.settle(likelihood, louder * prior, y, AT, None, to)
    assert -6.0 * ACCURACY[Settling.VALUE] < alone.value - exact < 1e-6


def test_fewer_looks_are_taken_for_a_step_than_for_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood, prior, y = separated()
    looks, looked = list[int](), expectation._looked

    def counted(*arguments: Any) -> expectation.Look:
        looks.append(1)
        return looked(*arguments)

    def taken(to: Settling) -> int:
        looks.clear()
        expectation.settle(likelihood, 1.02 * prior, y, AT, there, to)
        return len(looks)

    there = expectation.settle(likelihood, prior, y, AT, None, Settling.SLOPES).state
    monkeypatch.setattr(expectation, "_looked", counted)
    assert taken(Settling.VALUE) == 1
    assert taken(Settling.STEP) < taken(Settling.SLOPES)


def test_values_of_a_place_are_stationary_in_its_cavities() -> None:
    """So that a state has a value by the cavities of the one before: what is left of those is squared."""
    likelihood, prior, y = separated()
    state = expectation.settle(likelihood, prior, y, AT, None, Settling.SLOPES).state
    errors = []
    for far in (0.1, 0.01):
        place = expectation._placed(prior, state * (1.0 + far))
        look = expectation._looked(likelihood, place, y, AT)
        ahead = expectation._placed(prior, look.led_to)
        own = expectation._value(likelihood, ahead, expectation._looked(likelihood, ahead, y, AT))
        errors.append(abs(expectation._value(likelihood, ahead, look) - own))
    assert errors[1] < 0.02 * errors[0] < 0.02 * 0.05


def test_a_covariance_beyond_reach_is_refused_without_a_warning() -> None:
    likelihood, prior, y = separated()
    start = np.concatenate([np.full(y.size, 1e300), np.full(y.size, np.inf)])
    with pytest.raises(NotPositiveDefiniteError, match="no numbers"):
        expectation.settle(likelihood, prior, y, AT, start, Settling.STEP)
