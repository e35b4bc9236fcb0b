"""The principal axes of a table whose columns repeat each other, and how many times over they do."""

from __future__ import annotations

import numpy as np

from ssvgp.gp.linalg import principal_axes

# of the largest: directions of a smaller variance are noise and are not raised further, and those of a smaller standard
# deviation, which is far less, are rounding
LEAST = 1e-5


def evened_axes(X: np.ndarray) -> np.ndarray:
    """Directions (d, k) such that X A has standard deviations s / (s^2 + floor)^(1/4), nearly the roots of those of X.

    s are the standard deviations of the principal components of the standardised table X (n, d). All are scaled
    such that rows are as far from each other on average as they were. Cost n d min(n, d).
    """
    values, axes = principal_axes(X, LEAST)
    relative = values / values[-1]
    weights = (relative + LEAST) ** -0.25
    weights *= np.sqrt(relative.sum() / (relative * weights**2).sum())
    return np.ascontiguousarray(axes * weights)  # a stored model has them so, and products differ in their last digits


def repetition(X: np.ndarray) -> float:
    """How many times over the columns of X (n, d) say the same: 1 for independent columns, up to n d / (n + d).

    The participation ratio (sum of eigenvalues)^2 / (sum of squares) of X X' counts directions: n d / (n + d) of them
    where columns are independent, one where all are copies of each other.
    """
    n, d = X.shape
    gram = X @ X.T if n <= d else X.T @ X
    directions = float(np.trace(gram)) ** 2 / max(float(np.vdot(gram, gram)), np.finfo(float).tiny)
    return max(1.0, n * d / ((n + d) * max(directions, 1.0)))
