"""The weak part of f: orthonormal shapes of columns, their products, and coefficients that are jointly normal."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.data.view import Columns, Standardised
from ssvgp.gp.functional import Averages, Blocks, weak_means, with_weak
from ssvgp.gp.weak import FAR, Features, Shapes, Weak


def table(n: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(n), rng.uniform(size=n), rng.exponential(size=n), rng.integers(0, 2, n)])
    return (X - X.mean(0)) / X.std(0)


def weak_part() -> Weak:
    rng = np.random.default_rng(1)
    X = table()
    singles, pairs = np.array([[0, 0], [0, 2], [2, 1], [3, 0]]), np.array([[0, 2], [1, 3]])
    features = Features(np.array([0, 2, 4, 5]), Shapes.of(X), singles, pairs)
    root = rng.standard_normal((6, 6))
    return Weak(features, rng.standard_normal(6), root @ root.T, np.full(4, 0.5), np.full(4, 0.2))


def wide(n: int = 50) -> np.ndarray:
    """Rows in which the columns of `weak_part` stand among others."""
    X = np.random.default_rng(2).standard_normal((n, 7))
    X[:, [0, 2, 4, 5]] = table()[:n]
    return X


def test_shapes_are_orthonormal_polynomials() -> None:
    X = table()
    shapes = Shapes.of(X)
    values = shapes.values(X)
    for j in range(3):
        gram = values[:, :, j] @ values[:, :, j].T / len(X)
        assert np.allclose(gram, np.eye(4), atol=1e-8) and np.allclose(values[:, :, j].mean(1), 0.0, atol=1e-8)
        powers = np.vander(np.clip(X[:, j], -FAR, FAR), 5)
        for k in range(4):  # a polynomial of degree k + 1, and of no less
            left = [np.linalg.lstsq(powers[:, -q:], values[k, :, j], rcond=None)[1] for q in (k + 1, k + 2)]
            assert left[1] < 1e-8 < left[0]


def test_normal_columns_have_the_polynomials_of_hermite() -> None:
    x = np.random.default_rng(0).standard_normal(200_000)[:, None]
    values = Shapes.of(x).values(np.array([[-1.5], [0.0], [0.7]]))[:, :, 0]
    x0 = np.array([-1.5, 0.0, 0.7])
    assert np.allclose(values[:2], [x0, (x0**2 - 1) / np.sqrt(2)], atol=0.02)
    assert np.allclose(values[2], (x0**3 - 3 * x0) / np.sqrt(6), atol=0.05)


def test_a_column_of_two_values_has_one_shape() -> None:
    X = table()
    values = Shapes.of(X).values(X)
    assert np.allclose(values[0, :, 3], X[:, 3]) and (values[1:, :, 3] == 0).all()


def test_rows_count_by_their_weights() -> None:
    X = table(300)
    weights = np.random.default_rng(3).integers(0, 3, 300).astype(float)
    one, other = Shapes.of(X, weights), Shapes.of(np.repeat(X, weights.astype(int), axis=0))
    assert np.allclose(one.centres, other.centres) and np.allclose(one.sizes, other.sizes)


def test_features_are_shapes_and_products_of_first_shapes() -> None:
    weak, X = weak_part(), wide()
    values = weak.features.shapes.values(X[:, [0, 2, 4, 5]])
    found = weak.features.values(X)
    assert np.allclose(found[:, :4].T, [values[0, :, 0], values[2, :, 0], values[1, :, 2], values[0, :, 3]])
    assert np.allclose(found[:, 4:].T, [values[0, :, 0] * values[0, :, 2], values[0, :, 1] * values[0, :, 3]])
    assert weak.features.inputs().tolist() == [[0, 0], [0, 0], [4, 4], [5, 5], [0, 4], [2, 5]]


def test_part_of_the_features_looks_at_fewer_columns() -> None:
    weak, X = weak_part(), wide()
    kept = np.array([True, False, True, False, True, False])
    some = weak.features.some(kept)
    assert some.columns.tolist() == [0, 4]
    assert np.allclose(some.values(X), weak.features.values(X)[:, kept])


@pytest.mark.parametrize("view", ["array", "standardised", "columns"])
def test_moments_are_those_of_the_coefficients(view: str) -> None:
    weak, X = weak_part(), wide()
    values = weak.features.values(X)
    seen: object = X
    if view == "standardised":
        seen = Standardised(2.0 * X + 1.0, np.arange(7), np.ones(7), np.full(7, 2.0))
    if view == "columns":
        seen = Columns(X[:, [0, 2, 4, 5]], np.array([0, 2, 4, 5]), 7)
    assert np.allclose(weak.at(seen), values @ weak.mean)
    assert np.allclose(weak.variance(seen), np.diagonal(values @ weak.covariance @ values.T))
    assert weak.at(X[:0]).shape == weak.variance(X[:0]).shape == (0,)


def test_a_file_holds_all_of_it() -> None:
    weak = weak_part()
    again = Weak.from_plain(weak.to_plain())
    assert all((again.to_plain()[name] == values).all() for name, values in weak.to_plain().items())


def test_averages_over_rows_are_linear_in_the_coefficients() -> None:
    weak, X = weak_part(), wide(12)
    blocks = Blocks(X, np.array([4]), np.array([np.nan, -1.0, 2.0])[:, None, None])
    contrasts = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
    nothing = Averages(np.zeros((2, 3)), np.zeros((2, 3)))
    found = with_weak(nothing, weak, blocks, contrasts)
    rows = [X.copy() for _ in range(3)]
    rows[1][:, 4], rows[2][:, 4] = -1.0, 2.0
    along = contrasts @ np.stack([weak.features.values(one).mean(0) for one in rows])
    assert np.allclose(found.means, along @ weak.mean)
    assert np.allclose(found.variances, np.diagonal(along @ weak.covariance @ along.T))
    assert np.allclose(weak_means(weak, blocks), [weak.at(one) for one in rows])
    assert with_weak(nothing, None, blocks, contrasts) is nothing
