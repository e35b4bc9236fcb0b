"""How kernels look at pairs of rows: squared distances, sums of weights against them, upper triangles.

Rows in single precision have their products in single precision; what is n x n is in double precision always.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssvgp.settings.machine import STRIP


def scaled(rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """theta * x for each row (a, p), in the precision of the rows."""
    return rows * (theta.astype(np.float32) if rows.dtype == np.float32 else theta)


def squared_distance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """||a - b||^2 for all pairs (a, b), never negative."""
    norms = np.einsum("ij,ij->i", left, left)
    right_norms = norms if right is left else np.einsum("ij,ij->i", right, right)
    if left.dtype == np.float32:
        m = (left @ right.T).astype(float)
        m *= -2.0
        m += norms[:, None]
        m += right_norms
    else:  # the norms as two more columns, (a, |a|^2, 1) and (-2 b, 1, |b|^2): two passes over memory instead of five
        m = _widened(left, 1.0, norms, 1.0) @ _widened(right, -2.0, 1.0, right_norms).T
    return np.maximum(m, 0.0, out=m)


def _widened(rows: np.ndarray, factor: float, *more: np.ndarray | float) -> np.ndarray:
    """factor times the rows (a, p), with more columns."""
    p = rows.shape[1]
    out = np.empty((rows.shape[0], p + len(more)))
    np.multiply(rows, factor, out=out[:, :p])
    for place, column in enumerate(more, start=p):
        out[:, place] = column
    return out


def own_distance(rows: np.ndarray) -> np.ndarray:
    """||a - b||^2 for all pairs of rows (n, p); rounding must not leave a row at a distance from itself."""
    m = squared_distance(rows, rows)
    m.flat[:: m.shape[0] + 1] = 0.0
    return m


def contract_distance(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_ab w_ab (z_aj - z_bj)^2 = 2 (w 1 . z_j^2 - z_j' w z_j) for symmetric w, each column j."""
    square = columns * columns
    totals = weights.sum(1)
    if columns.dtype == np.float32:
        totals, weights = totals.astype(np.float32), weights.astype(np.float32)
    return 2.0 * (totals @ square - np.einsum("aj,aj->j", columns, weights @ columns))


def contract_product(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_ab w_ab z_aj z_bj for each column j."""
    return np.einsum("aj,aj->j", columns, weights @ columns)


def distance_along(weights: np.ndarray, vector: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_b w_ab (z_aj - z_bj)^2 v_b (n, p) for symmetric w and a vector v (n,), each column j, by one product."""
    square, p = columns * columns, columns.shape[1]
    pushed = vector[:, None]
    moved = weights @ np.column_stack([pushed, columns * pushed, square * pushed])
    along: np.ndarray = square * moved[:, :1] - 2.0 * columns * moved[:, 1 : 1 + p] + moved[:, 1 + p :]
    return along


def product_along(weights: np.ndarray, vector: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_b w_ab z_aj z_bj v_b (n, p) for each column j."""
    return columns * (weights @ (columns * vector[:, None]))


def upper_only(function: Callable[[np.ndarray], np.ndarray], m: np.ndarray) -> np.ndarray:
    """function(m) for a stack of symmetric matrices (g, n, n), which is used up; right in the upper triangles only.

    Exponentials are a third of a likelihood: where that is all that is asked, half of them are enough.
    """
    for start in range(0, m.shape[1], STRIP):
        strip = m[:, start : start + STRIP, start:]
        value = function(strip)
        if value is not strip:
            strip[:] = value
    return m
