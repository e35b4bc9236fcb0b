"""The grid of a rounded target: found where there is one, and counted as noise of a known size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference import central_difference

from ssvgp.data.rounding import grid_of, rounding_variance
from ssvgp.evidence.laplace import Block, Problem, log_joint, log_joint_value
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.priors import Candidate, unpack
from ssvgp.settings import Prior


@pytest.mark.parametrize("step", [1.0, 0.1, 0.25, 5.0, 1e-2])
@pytest.mark.parametrize("offset", [0.0, 0.037, -1000.0])
def test_the_step_of_rounded_targets_is_found_wherever_the_grid_begins(step: float, offset: float) -> None:
    y = 10.0 * np.random.default_rng(0).standard_normal(200)
    assert grid_of(step * np.round(y / step) + offset) == pytest.approx(step, rel=1e-4)


def test_the_widest_grid_that_holds_all_values_counts() -> None:
    assert grid_of(np.array([0.0, 6.0, 10.0, 16.0])) == pytest.approx(2.0)
    assert grid_of(np.array([3.0, 6.0, 12.0, 3.0])) == pytest.approx(3.0)


def test_targets_on_no_grid_have_no_rounding() -> None:
    for seed in range(5):
        y = np.random.default_rng(seed).standard_normal(100)
        assert grid_of(y) == 0.0 and rounding_variance(y) == 0.0
    assert grid_of(np.full(10, 3.0)) == 0.0


def test_its_variance_is_that_of_the_error_of_rounding() -> None:
    y = np.random.default_rng(1).uniform(-50.0, 50.0, 20_000)
    error = np.round(y) - y
    assert rounding_variance(np.round(y)) == pytest.approx(np.var(error), rel=0.03)


def test_it_is_part_of_the_noise_and_the_gradient_knows_that_it_is_not_learned() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 3))
    y = np.sin(X[:, 1]) + 0.2 * rng.standard_normal(30)
    prior = replace(Prior().for_data(30, 3), rounding=0.05)
    problem = Problem((Block(X, y),), kernel_named("se"), prior)
    for candidate in (Candidate((1, 2)), Candidate(())):
        z = np.append(np.full(len(candidate.coordinates) - 1, -0.5), -3.0)
        assert unpack(z, candidate, prior).noise == pytest.approx(np.exp(-3.0) + 0.05)
        value, slope = log_joint(problem, candidate)(z)
        assert value == pytest.approx(log_joint_value(problem, candidate, z))
        expected = central_difference(lambda at, c=candidate: log_joint_value(problem, c, at), z)
        assert slope == pytest.approx(expected, rel=1e-4, abs=1e-5)
