"""Kernel matrices in stacks are those of single calls."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.kernels.families import upper_at_each, with_groups
from ssvgp.gp.terms import metric
from ssvgp.model.terms import BACKGROUNDS, Columns, backgrounds_for
from ssvgp.records import Member, Parameters

NAMES = ["se", "matern12", "matern32", "matern52", "cauchy", "rq", "linear", "periodic", "se+linear", "se*matern32"]


@pytest.mark.parametrize("n", [9, 64, 130])
@pytest.mark.parametrize("name", NAMES)
def test_upper_triangles_at_several_theta(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    rows, thetas, kernel = rng.standard_normal((n, 3)), rng.uniform(0.1, 2.0, (4, 3)), kernel_named(name)
    for found, theta in zip(upper_at_each(kernel, rows, thetas), thetas, strict=True):
        assert np.triu(found) == pytest.approx(np.triu(kernel.matrix(rows, rows, theta)), abs=1e-12)


@pytest.mark.parametrize("n", [20, 70])
@pytest.mark.parametrize("name", NAMES)
def test_groups_of_inputs_added_to_a_set(name: str, n: int) -> None:
    rng = np.random.default_rng(0)
    table, kernel, theta = rng.standard_normal((n, 6)), kernel_named(name), np.array([0.5, 1.2, 0.7, 0.3])
    groups = np.array([[2, 3], [5, 2], [2, 4], [3, 2]])
    stack = with_groups(kernel, table[:, :2], table, theta, groups)
    for found, group in zip(stack, groups, strict=True):
        rows = table[:, [0, 1, *group]]
        assert np.triu(found) == pytest.approx(np.triu(kernel.matrix(rows, rows, theta)), abs=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in BACKGROUNDS if kind not in ("rough", "evened")])
def test_the_metric_is_the_variance_of_a_small_difference(kind: str) -> None:
    # that of rough grows with the distance, that of evened is no sum over columns
    rng = np.random.default_rng(1)
    x, columns = rng.standard_normal(7), Columns(7, rng.uniform(0.5, 2.0, 7))
    step = 1e-4 * rng.standard_normal(7)
    both = np.stack([x, x + step])
    active, theta, scale, background = np.array([1, 4]), np.array([0.8, 0.3]), 1.7, 0.6
    sparse = kernel_named("se").matrix(both[:, active], both[:, active], theta)
    (term,) = backgrounds_for([kind], columns)
    dense, diagonal = term.matrix(both, both), term.diagonal(both)
    variance = scale * (2.0 - 2.0 * sparse[0, 1]) + background * (diagonal.sum() - 2.0 * dense[0, 1])
    parameters = Parameters(theta, scale, 0.1, background, 1.0)
    weights = metric(Member(active, parameters, kernel_named("se"), np.ones(2), term), 7)
    assert float(((weights * step) ** 2).sum()) == pytest.approx(variance, rel=1e-3)
