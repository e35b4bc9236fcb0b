"""PIPs of classes, counts and heavy tails beside all sets with f integrated without an approximation."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.pip_exact_sites import KINDS, Truth, compare
from ssvgp.evidence.laplace import Block, Problem, log_joint_value
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import has_sites
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
