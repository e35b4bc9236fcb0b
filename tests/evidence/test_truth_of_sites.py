"""PIPs of classes, counts and heavy tails beside all sets with f integrated without an approximation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.pip_exact_sites import KINDS, Truth, compare
from ssvgp.evidence.importance import fair_evidence, refine
from ssvgp.evidence.laplace import (
    Block,
    Problem,
    fit,
    log_joint_value,
    log_joint_values,
    mode,
    with_curvature,
)
from ssvgp.evidence.unvisited.factors import THETAS, bayes_factors, slab_cells
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import log_likelihood
from ssvgp.gp.sites import as_settled, fair
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


def test_sets_are_weighed_without_what_a_bound_gives_away() -> None:
    """Two inputs that are free to move give away more than none: draws, prices and Laplace's figure get it back."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.4 * rng.standard_t(2, 80)
    sites = likelihood_named("student-t").build(Rows(y, np.ones(80), np.zeros(80)))
    problem = Problem((Block(X, y, {}, sites),), kernel_named("se"), Prior(rounding=0.0).for_data(80, 2))
    candidate = problem.candidate((0, 1))
    found = with_curvature(problem, fit(problem, candidate, np.full(len(candidate.coordinates), -0.3)))
    z = found.summit.z
    exact = Truth(problem, "student-t", rng, draws=2000).log_joint(candidate, z)
    bound, drawn = (log_joint_values(problem, candidate, z[None], worth=one)[0] for one in (as_settled, fair))
    assert bound < exact - 1.0 and abs(exact - drawn) < 0.25 * (exact - bound)
    assert fair_evidence(problem, found) - found.log_evidence == pytest.approx(drawn - bound, abs=0.1)
    given = refine(problem, [found], 128, seed=0)
    assert given.log_evidence > found.log_evidence + 1.0  # what Laplace makes of the bound

    below = fit(problem, problem.candidate((0,)), np.full(4, -0.3))
    price = bayes_factors(problem, below, np.ones(2), np.ones(2), most_measured=2)[:, 1]
    at = mode(problem, below)
    rest: dict[str, Any] = {"rows_noise": sites, "start": below.sites[0], "worth": fair}
    base = log_likelihood(problem.kernel, X[:, :1], y, at, **rest)
    joined = [replace(at, theta=np.append(at.theta, theta)) for theta in THETAS]
    gains = np.array([log_likelihood(problem.kernel, X, y, one, **rest) for one in joined]) - base
    assert price == pytest.approx(np.log(slab_cells(problem.prior.slabs).T @ np.exp(gains)), abs=0.02)
