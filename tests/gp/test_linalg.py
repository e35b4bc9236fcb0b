"""Factorisations: identities against NumPy, and the jitter policy."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.linalg import (
    JITTERS,
    NotPositiveDefiniteError,
    completed_upper,
    factor,
    forms_along,
    leading_directions,
    principal_axes,
    symmetric_square_root,
    symmetric_square_root_inverse,
)


def positive_definite(generator: np.random.Generator, n: int) -> np.ndarray:
    root = generator.standard_normal((n, n))
    return root @ root.T + 0.1 * np.eye(n)


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_factor_solves_inverts_and_measures(generator) -> None:
    covariance, b = positive_definite(generator, 8), generator.standard_normal((8, 3))
    before = covariance.copy()
    chol = factor(covariance)
    np.testing.assert_array_equal(covariance, before)
    assert chol.jitter == 0.0
    np.testing.assert_allclose(chol.lower @ chol.lower.T, covariance, atol=1e-12)
    np.testing.assert_allclose(chol.solve(b), np.linalg.solve(covariance, b), rtol=1e-9)
    np.testing.assert_allclose(chol.solve(b[:, 0]), np.linalg.solve(covariance, b[:, 0]), rtol=1e-9)
    np.testing.assert_allclose(chol.inverse(), np.linalg.inv(covariance), rtol=1e-8)
    assert chol.log_determinant() == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-12)
    half = chol.half_solve(b)
    np.testing.assert_allclose(half.T @ half, b.T @ np.linalg.solve(covariance, b), rtol=1e-9)


def test_a_matrix_of_one_row_is_no_special_case() -> None:
    chol = factor(np.array([[4.0]]))
    assert chol.inverse() == pytest.approx(0.25)
    assert chol.log_determinant() == pytest.approx(np.log(4.0))


def test_a_singular_matrix_is_repaired_by_a_little_and_says_so() -> None:
    ones = np.full((6, 6), 2.0)
    ones[0, 0] -= 1e-9  # not even semi-definite
    chol = factor(ones)
    assert JITTERS[0] <= chol.jitter / 2.0 <= 1e-6
    np.testing.assert_allclose(chol.lower @ chol.lower.T, ones, atol=2e-6)


def test_the_least_jitter_that_works_is_used(generator) -> None:
    vectors = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    covariance = (vectors * np.array([1.0, 1.0, 1.0, -3e-5])) @ vectors.T
    size = np.trace(covariance) / 4
    assert factor(covariance).jitter == pytest.approx(1e-4 * size)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (np.array([[1.0, 3.0], [3.0, 1.0]]), f"even with {JITTERS[1]:g}"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN or infinite"),
        (np.array([[np.inf, 0.0], [0.0, 1.0]]), "NaN or infinite"),
        (np.zeros((3, 3)), "not positive definite"),
        (-np.eye(3), "not positive definite"),
    ],
    ids=["indefinite", "nan", "infinite", "zero", "negative"],
)
def test_a_hopeless_matrix_is_refused(matrix, says) -> None:
    with pytest.raises(NotPositiveDefiniteError, match=says):
        factor(matrix)


def test_square_root_squares_to_the_matrix_even_if_singular(generator) -> None:
    thin = generator.standard_normal((5, 2))
    root = symmetric_square_root(thin @ thin.T)
    np.testing.assert_allclose(root @ root, thin @ thin.T, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-13)
    np.testing.assert_array_equal(symmetric_square_root(np.zeros((3, 3))), 0.0)


def test_inverse_square_root_raises_flat_directions_to_the_floor(generator) -> None:
    hessian = positive_definite(generator, 4)
    root, log_determinant = symmetric_square_root_inverse(hessian, 1e-6)
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(hessian), rtol=1e-8)
    assert log_determinant == pytest.approx(np.linalg.slogdet(hessian)[1])
    root, log_determinant = symmetric_square_root_inverse(np.diag([4.0, -1.0]), 0.5)
    np.testing.assert_allclose(root @ root.T, np.diag([0.25, 2.0]), atol=1e-14)
    assert log_determinant == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("shape", [(7, 20), (20, 7), (9, 9)])
def test_principal_axes_are_those_of_the_singular_value_decomposition(generator, shape: tuple[int, int]) -> None:
    X = generator.standard_normal(shape) @ np.diag(np.geomspace(1.0, 1e-8, shape[1]))
    values, axes = principal_axes(X, 1e-2)
    _, expected, right = np.linalg.svd(X, full_matrices=False)
    expected, right = expected[expected > 1e-2 * expected[0]], right[expected > 1e-2 * expected[0]]
    assert 0 < expected.size < min(shape)
    np.testing.assert_allclose(np.sqrt(values[::-1]), expected, rtol=1e-9)
    np.testing.assert_allclose(np.abs(right @ axes[:, ::-1]), np.eye(expected.size), atol=1e-7)


@pytest.mark.parametrize("theta", [0.4, 1.0])
def test_directions_are_the_leading_eigenvectors_beside_the_constant(theta: float) -> None:
    x = np.random.default_rng(0).standard_normal((70, 1))
    matrix = kernel_named("se").matrix(x, x, np.array([theta]))
    found = leading_directions(matrix, 5)
    centring = np.eye(70) - 1.0 / 70
    _, vectors = np.linalg.eigh(centring @ matrix @ centring)
    assert found.shape == (5, 70)
    assert found.mean(1) == pytest.approx(0.0, abs=1e-9)
    assert found @ found.T / 70 == pytest.approx(np.eye(5), abs=1e-9)
    cosines = np.abs(found @ vectors[:, ::-1][:, :5]) / np.sqrt(70)
    assert np.diagonal(cosines).min() > 0.999


def test_directions_of_few_rows_are_as_many_as_there_are() -> None:
    x = np.random.default_rng(0).standard_normal((4, 1))
    found = leading_directions(kernel_named("se").matrix(x, x, np.ones(1)), 5)
    assert found.shape == (3, 4) and np.isfinite(found).all()


def test_forms_along_directions_are_those_of_the_inverse_and_count_copies_once() -> None:
    rng = np.random.default_rng(3)
    root, g = rng.standard_normal((4, 6, 3)), rng.standard_normal((4, 3))
    forms = np.einsum("qns,qnt->qst", root, root)
    total, count = forms_along(forms, g, 1e-9)
    assert total == pytest.approx([one @ np.linalg.solve(form, one) for form, one in zip(forms, g, strict=True)])
    assert count.tolist() == [3] * 4
    twice = np.concatenate([root, root], axis=2)  # every part once more
    again, count = forms_along(np.einsum("qns,qnt->qst", twice, twice), np.concatenate([g, g], axis=1), 1e-9)
    assert again == pytest.approx(total) and count.tolist() == [3] * 4


@pytest.mark.parametrize("n", [1, 63, 64, 65, 150, 300])
def test_an_upper_triangle_is_completed_whatever_lies_below(generator, n: int) -> None:
    upper = generator.standard_normal((n, n))
    expected = np.triu(upper) + np.triu(upper, 1).T
    np.testing.assert_array_equal(completed_upper(upper), expected)
