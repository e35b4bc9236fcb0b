"""PIPs of classes, counts and heavy tails beside all sets with f integrated without an approximation."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.pip_exact_sites import KINDS, Truth, compare
from ssvgp.evidence.laplace import Block, Problem, log_joint_value
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import log_likelihood
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import Parameters, has_sites
from ssvgp.settings import Prior


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_is_near_the_approximation_at_fixed_parameters(kind: str) -> None:
    """Many draws of f at one z: expectation propagation and Newton are within a tenth, the bound lies below."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = KINDS[kind](rng, X[:, 0])
    sites = likelihood_named(kind).build(Rows(y, np.ones(30), np.zeros(30)))
    assert has_sites(sites)
    prior = sites.adapted(Prior(rounding=0.0)).for_data(30, 2)
    problem = Problem((Block(X, y, {}, sites),), kernel_named("se"), prior)
    candidate = problem.candidate((0,))
    z = np.full(len(candidate.coordinates), -0.3)
    exact = Truth(problem, kind, rng, draws=4000).log_joint(candidate, z)
    found = log_joint_value(problem, candidate, z)
    if kind == "student-t":
        assert exact - 2.0 < found < exact + 0.05
    else:
        assert found == pytest.approx(exact, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_inclusion_probabilities_are_those_of_all_sets(kind: str) -> None:
    found = compare(kind, 7, n=60, d=3, draws=400)
    assert found["mean_error"] < 0.05 + 0.5 * found["reference_error"]


@pytest.mark.parametrize("kind", ["bernoulli", "poisson"])
def test_a_set_does_not_pay_for_the_constant_that_its_kernel_contains(kind: str) -> None:
    """With theta near zero a set of large scale says what the empty one does; beside a narrow level it lost a nat."""
    rng = np.random.default_rng(0)
    X, f = rng.standard_normal((120, 1)), np.zeros(120)
    y = KINDS[kind](rng, f)
    sites = likelihood_named(kind).build(Rows(y, np.ones(120), np.zeros(120)))
    assert has_sites(sites)

    def charge(prior: Prior) -> float:
        constant, empty = (Parameters(np.full(p, 1e-4), 9.0 * p, 1.0, mean=prior.level) for p in (1, 0))
        kernel = kernel_named("se")
        values = [log_likelihood(kernel, X[:, : at.theta.size], y, at, rows_noise=sites) for at in (constant, empty)]
        return values[0] - values[1]

    free, narrow = (Prior().for_data(120, 1, spread=1.0, together=one) for one in (True, False))
    assert charge(free) == pytest.approx(-0.5 * np.log1p(9.0 / free.level), abs=0.02) and charge(free) > -0.05
    assert charge(narrow) < -1.0
