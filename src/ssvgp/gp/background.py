"""The dense background: one fixed covariance over all inputs, whose variance alone is learned.

`linear` is ridge regression underneath the sparse part, X X' / d on standardised inputs. `unscaled` is ridge regression
on the inputs as they came: where all columns are in the same unit (gene expression, absorbance), those that vary more
tend to say more. `smooth` is one squared exponential of the distance over all inputs, exp(-||x - x'||^2 / (2 d)),
for data in which rows that are alike in everything have like targets. `wide` is the same with four times the length,
16 exp(-||x - x'||^2 / (32 d)): nearly linear, with a little curvature, as spectra often want it. `rough` is
exp(-||x - x'|| / sqrt(d)): a function that changes by leaps, as many rows can show it.
"""

from __future__ import annotations

import numpy as np

KINDS = ("linear", "unscaled", "smooth", "wide", "rough")
LENGTHS = {"smooth": 1.0, "wide": 4.0, "rough": 1.0}  # in units of sqrt(d), the usual distance of two rows


def gram(kind: str, left: np.ndarray, right: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
    """Background covariance (a, b) between rows of left (a, d) and right (b, d).

    For small differences D all kinds but `rough` say alike: the variance of f(x) - f(x') is sum_j share_j D_j^2. The
    `units` (d,) are the standard deviations that the columns had before they were standardised. Cost a b d.
    """
    d = left.shape[1]
    if kind == "linear":
        return left @ right.T / d
    if kind == "unscaled":
        return (left * _shares(units, d)) @ right.T
    if kind in LENGTHS:
        square = LENGTHS[kind] ** 2
        product = left @ right.T
        product *= -2.0
        product += (left * left).sum(1)[:, None]
        product += (right * right).sum(1)[None, :]
        np.maximum(product, 0.0, out=product)
        if left is right:  # rounding must not leave a row at a distance from itself: the root would make much of it
            np.fill_diagonal(product, 0.0)
        if kind == "rough":
            return square * np.exp(np.sqrt(product) / -np.sqrt(square * d))
        return square * np.exp(product * (-0.5 / (square * d)))
    raise ValueError(f"a background is one of {', '.join(KINDS)}, not {kind!r}")


def gram_diagonal(kind: str, rows: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
    """Background variance (a,) of each row."""
    if kind in LENGTHS:
        return np.full(rows.shape[0], LENGTHS[kind] ** 2)
    d = rows.shape[1]
    shares = np.full(d, 1.0 / d) if kind == "linear" else _shares(units, d)
    return (rows * rows) @ shares


def metric(
    active: np.ndarray, theta: np.ndarray, scale: float, background: float, kind: str, d: int, units: np.ndarray | None
) -> np.ndarray:
    """Weights (d,) of all columns such that nearest rows are those with which f has most in common.

    For small differences D the variance of f(x) - f(x') is scale |theta * D|^2 + background sum_j share_j D_j^2.
    """
    squares = background * (_shares(units, d) if kind == "unscaled" else np.full(d, 1.0 / d))
    squares[active] += scale * theta**2
    return np.sqrt(squares)


def repetition(X: np.ndarray) -> float:
    """How many times over the columns of X (n, d) say the same: 1 for independent columns, up to n d / (n + d).

    The participation ratio (sum of eigenvalues)^2 / (sum of squares) of X X' counts directions: n d / (n + d) of them
    where columns are independent, one where all are copies of each other.
    """
    n, d = X.shape
    gram = X @ X.T if n <= d else X.T @ X
    directions = float(np.trace(gram)) ** 2 / max(float(np.vdot(gram, gram)), np.finfo(float).tiny)
    return max(1.0, n * d / ((n + d) * max(directions, 1.0)))


def _shares(units: np.ndarray | None, d: int) -> np.ndarray:
    """The share of each column in the total variance of the table (d,)."""
    if units is None:
        return np.full(d, 1.0 / d)
    scaled = units / units.max()  # squares of huge units must not overflow
    return scaled**2 / float((scaled**2).sum())
