"""The dense background: one fixed covariance over all inputs, whose variance alone is learned.

`linear` is ridge regression underneath the sparse part, X X' / d on standardised inputs. `unscaled` is ridge regression
on the inputs as they came: where all columns are in the same unit (gene expression, absorbance), those that vary more
tend to say more. `steep` goes further on that way: each column counts by the square of its variance.

`smooth` is one squared exponential of the distance over all inputs, exp(-||x - x'||^2 / (2 d)), for data in which rows
that are alike in everything have like targets. `wide` is the same with four times the length,
16 exp(-||x - x'||^2 / (32 d)): nearly linear, with a little curvature, as spectra often want it. `rough` is
exp(-||x - x'|| / sqrt(d)): a function that changes by leaps, as many rows can show it. `evened` is a Matern kernel
(3/2) of a distance in which the small principal directions of the table count for more: where columns repeat each
other many times over, as in spectra, what matters often lies in them.
"""

from __future__ import annotations

import numpy as np

from ssvgp.gp.linalg import principal_axes
from ssvgp.records import Layout

KINDS = ("linear", "unscaled", "steep", "smooth", "wide", "rough", "evened")
POWERS = {"linear": 0, "unscaled": 2, "steep": 4}  # of a column's standard deviation, by which it counts
LENGTHS = {"smooth": 1.0, "wide": 4.0, "rough": 1.0, "evened": 8.0}  # in units of sqrt(d), the usual distance of rows
VARIANCES = {"smooth": 1.0, "wide": 16.0, "rough": 1.0, "evened": 64.0 / 3.0}  # f(x) - f(x') has |x - x'|^2 / d, nearly
EVEN_FLOOR = 1e-5  # of the largest variance of a direction: below, directions are noise and are not raised further
LEAST_AXIS = 1e-5  # of the largest standard deviation: directions below are rounding


def evened_axes(X: np.ndarray) -> np.ndarray:
    """Directions (d, k) such that X A has standard deviations s / (s^2 + floor)^(1/4), nearly the roots of those of X.

    s are the standard deviations of the principal components of the standardised table X (n, d). All are scaled
    such that rows are as far from each other on average as they were. Cost n d min(n, d).
    """
    values, axes = principal_axes(X, LEAST_AXIS)
    relative = values / values[-1]
    weights = (relative + EVEN_FLOOR) ** -0.25
    weights *= np.sqrt(relative.sum() / (relative * weights**2).sum())
    return np.ascontiguousarray(axes * weights)  # a stored model has them so, and products differ in their last digits


def gram(kind: str, left: np.ndarray, right: np.ndarray, layout: Layout | None = None) -> np.ndarray:
    """Background covariance (a, b) between rows of left (a, d) and right (b, d).

    For small differences D all kinds but `rough` and `evened` say alike: the variance of f(x) - f(x') is
    sum_j share_j D_j^2. Cost a b d.
    """
    d = left.shape[1]
    if kind == "linear":
        return left @ right.T / d
    if kind in POWERS:
        return (left * _shares(kind, layout, d)) @ right.T
    if kind == "evened":
        return _of_distance(kind, *_projected(left, right, layout), d)
    if kind in LENGTHS:
        return _of_distance(kind, left, right, d)
    raise ValueError(f"a background is one of {', '.join(KINDS)}, not {kind!r}")


def _of_distance(kind: str, left: np.ndarray, right: np.ndarray, d: int) -> np.ndarray:
    """The kinds that are functions of the distance alone, between rows of left (a, k) and right (b, k)."""
    square, variance = LENGTHS[kind] ** 2 * d, VARIANCES[kind]
    product = left @ right.T
    product *= -2.0
    product += (left * left).sum(1)[:, None]
    product += (right * right).sum(1)[None, :]
    np.maximum(product, 0.0, out=product)
    if left is right:  # rounding must not leave a row at a distance from itself: the root would make much of it
        np.fill_diagonal(product, 0.0)
    if kind == "rough":
        return variance * np.exp(np.sqrt(product) / -np.sqrt(square))
    if kind == "evened":
        r = np.sqrt(product * (3.0 / square))
        return variance * (1.0 + r) * np.exp(-r)
    return variance * np.exp(product * (-0.5 / square))


def _projected(left: np.ndarray, right: np.ndarray, layout: Layout | None) -> tuple[np.ndarray, np.ndarray]:
    """Both in the coordinates (a, k) and (b, k) of the evened axes; one object stays one."""
    if layout is None or layout.axes is None:
        raise ValueError("an evened background needs the axes of the training table")
    here = left @ layout.axes
    return here, here if right is left else right @ layout.axes


def gram_diagonal(kind: str, rows: np.ndarray, layout: Layout | None = None) -> np.ndarray:
    """Background variance (a,) of each row."""
    if kind in VARIANCES:
        return np.full(rows.shape[0], VARIANCES[kind])
    return (rows * rows) @ _shares(kind, layout, rows.shape[1])


def metric(
    active: np.ndarray, theta: np.ndarray, scale: float, background: float, kind: str, d: int, layout: Layout | None
) -> np.ndarray:
    """Weights (d,) of all columns such that nearest rows are those with which f has most in common.

    For small differences D the variance of f(x) - f(x') is scale |theta * D|^2 + background sum_j share_j D_j^2.
    An `evened` background, which is for few rows, counts as a smooth one here.
    """
    squares = background * _shares(kind, layout, d)
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


def _shares(kind: str, layout: Layout | None, d: int) -> np.ndarray:
    """The share of each column in the background (d,), by a power of its standard deviation; else all alike."""
    power = POWERS.get(kind, 0)
    if power == 0 or layout is None or layout.units is None:
        return np.full(d, 1.0 / d)
    scaled = layout.units / layout.units.max()  # powers of huge units must not overflow
    return scaled**power / float((scaled**power).sum())
