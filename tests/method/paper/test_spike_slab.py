"""The exact updates maximise the ELBO, and the intersection point is where they give one half."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta, norm

from ssvgp.method.paper import spike_slab
from ssvgp.method.paper.spike_slab import Beliefs, SpikeSlab

PRIOR = SpikeSlab(v=50.0, c=1e-2, a=0.7, b=1.3)
SECOND_MOMENT = np.array([0.0, 0.01, 0.05, 0.1, 0.2, 0.5])


def bound(inclusion: np.ndarray, xi: tuple[float, float]) -> float:
    return spike_slab.elbo_terms(PRIOR, SECOND_MOMENT, Beliefs(inclusion, xi)).total


def test_the_update_of_inclusion_maximises_the_elbo() -> None:
    xi = (2.3, 4.1)
    found = minimize(lambda z: -bound(expit(z), xi), np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    assert expit(found.x) == pytest.approx(spike_slab.update_inclusion(PRIOR, SECOND_MOMENT, xi), abs=1e-4)


def test_the_update_of_pi_maximises_the_elbo() -> None:
    inclusion = np.array([0.1, 0.9, 0.5, 0.2, 0.99, 0.3])

    def loss(z: np.ndarray) -> float:
        return -bound(inclusion, (float(np.exp(z[0])), float(np.exp(z[1]))))

    found = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-7})
    assert np.exp(found.x) == pytest.approx(spike_slab.update_pi(PRIOR, inclusion), rel=1e-4)


def test_exact_updates_never_lower_the_elbo() -> None:
    beliefs = Beliefs(np.full(6, 0.9), (1.0, 1.0))
    values = [bound(beliefs.inclusion, beliefs.xi)]
    for _ in range(30):
        inclusion = spike_slab.update_inclusion(PRIOR, SECOND_MOMENT, beliefs.xi)
        beliefs = Beliefs(inclusion, spike_slab.update_pi(PRIOR, inclusion))
        values.append(bound(beliefs.inclusion, beliefs.xi))
    assert np.all(np.diff(values) >= -1e-10)


def test_elbo_terms_agree_with_integrals() -> None:
    beliefs = Beliefs(np.array([0.3]), (2.0, 3.5))
    terms = spike_slab.elbo_terms(PRIOR, np.array([0.04]), beliefs)
    posterior, prior = beta(*beliefs.xi), beta(PRIOR.a, PRIOR.b)

    def expected(function: Callable[[float], float]) -> float:
        return quad(lambda pi: posterior.pdf(pi) * function(pi), 0.0, 1.0)[0]

    slab, spike = norm(scale=(PRIOR.c * PRIOR.v) ** -0.5), norm(scale=PRIOR.v**-0.5)
    assert terms.theta == pytest.approx(0.3 * slab.logpdf(0.2) + 0.7 * spike.logpdf(0.2))
    assert terms.gamma == pytest.approx(expected(lambda pi: 0.3 * np.log(pi) + 0.7 * np.log1p(-pi)))
    assert terms.pi == pytest.approx(expected(prior.logpdf))
    assert terms.pi_entropy == pytest.approx(float(posterior.entropy()))
    assert terms.gamma_entropy == pytest.approx(-(0.3 * np.log(0.3) + 0.7 * np.log(0.7)))


def test_gaussian_entropy_is_that_of_the_normal() -> None:
    sd = np.array([0.1, 2.0])
    assert spike_slab.gaussian_entropy(np.log(sd)) == pytest.approx(float(norm(scale=sd).entropy().sum()))


@pytest.mark.parametrize("v", [10.0, 1e4, 1e7])
def test_inclusion_at_the_intersection_is_one_half(v: float) -> None:
    prior, xi = SpikeSlab(v), (3.0, 40.0)
    point = spike_slab.intersection(prior, xi)
    assert spike_slab.update_inclusion(prior, np.array([point**2]), xi) == pytest.approx(0.5)


def test_the_intersections_of_section_4_are_the_printed_ones_swapped() -> None:
    prior = SpikeSlab(1e4, 1e-8)
    assert spike_slab.intersection_at(prior, 0.001) == pytest.approx(0.0568, abs=5e-5)
    assert spike_slab.intersection_at(prior, 0.999) == pytest.approx(0.0215, abs=5e-5)


def test_there_is_no_intersection_where_everything_is_in() -> None:
    prior = SpikeSlab(1e4)
    assert spike_slab.intersection(prior, (100.0, 1e-3)) == 0.0
    assert spike_slab.update_inclusion(prior, np.zeros(1), (100.0, 1e-3))[0] > 0.5


def test_extreme_precisions_do_not_overflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        lam = spike_slab.update_inclusion(SpikeSlab(1e7), np.array([0.0, 1e-8, 100.0]), (1e-3, 5.0))
    assert np.isfinite(lam).all()
    assert lam[0] == pytest.approx(0.0)
    assert lam[2] == 1.0


def test_including_an_input_costs_half_log_one_over_c() -> None:
    prior = SpikeSlab(1e4, 1e-6)
    beliefs = [Beliefs(np.array([lam]), (1.0, 1.0)) for lam in (0.0, 1.0)]
    out, within = (spike_slab.elbo_terms(prior, np.zeros(1), each).theta for each in beliefs)
    assert out - within == pytest.approx(spike_slab.inclusion_cost(prior))
    assert spike_slab.inclusion_cost(prior) == pytest.approx(0.5 * np.log(1e6))


@pytest.mark.parametrize("bad", [{"v": 0.0}, {"v": 1.0, "c": 1.0}, {"v": 1.0, "a": 0.0}])
def test_a_prior_out_of_range_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="needs v, a, b > 0"):
        SpikeSlab(**bad)
