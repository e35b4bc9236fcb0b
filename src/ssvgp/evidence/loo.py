"""Leave-one-out predictive density of a member (A.3): exact, truncated to neighbours, on all rows or some.

The parameters of the member stay as they were fitted on all rows; only y_i is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ssvgp.gp import background
from ssvgp.gp.linalg import factor
from ssvgp.gp.local import in_metric
from ssvgp.gp.marginal import LOG_2PI, covariance, state
from ssvgp.gp.neighbours import nearest
from ssvgp.records import Member, Train


@dataclass(frozen=True)
class LeaveOneOut:
    """Mean, variance (with noise and kappa) and log density at the r rows left out in turn, of n."""

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    log_density: np.ndarray
    n: int

    @property
    def total(self) -> float:
        """The log density of all n rows: a sum over all, or n times the mean over a sample."""
        return self.n * float(self.log_density.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of `total` from sampling without replacement: zero where all rows were scored."""
        return _standard_error(self.log_density, self.n)


class Difference(NamedTuple):
    """An estimated difference of two totals, and its standard error."""

    value: float
    standard_error: float


def total_difference(left: LeaveOneOut, right: LeaveOneOut) -> Difference:
    """left.total - right.total from the rows that both have scored, both of which must be sorted and of one table.

    Its standard error is that of the differences by row, far smaller than that of each total where rows that are hard
    to predict for one are hard for the other.
    """
    _, here, there = np.intersect1d(left.rows, right.rows, assume_unique=True, return_indices=True)
    gap = left.log_density[here] - right.log_density[there]
    return Difference(left.n * float(gap.mean()), _standard_error(gap, left.n))


def joined(first: LeaveOneOut, second: LeaveOneOut) -> LeaveOneOut:
    """The scores of one member on two samples of rows that have no row in common, sorted by row."""
    rows = np.concatenate([first.rows, second.rows])
    order = np.argsort(rows)

    def both(name: str) -> np.ndarray:
        return np.concatenate([getattr(first, name), getattr(second, name)])[order]

    return LeaveOneOut(rows[order], both("mean"), both("variance"), both("log_density"), first.n)


def _standard_error(values: np.ndarray, n: int) -> float:
    """Standard error of n times the mean of a sample (r,) without replacement from n values."""
    r = values.size
    if r >= n:
        return 0.0
    if r < 2:
        return float("inf")
    return n * float(values.std(ddof=1)) * float(np.sqrt((1.0 - r / n) / r))


def exact(train: Train, member: Member, kappa: float = 0.0) -> LeaveOneOut:
    """All n rows from one factorisation: mean_i = y_i - alpha_i / P_ii, variance_i = 1 / P_ii, P = Kt^-1.

    kappa is added to the variances (A.3). Cost n^3.
    """
    at = state(member.kernel, train.X[:, member.active], train.y, member.parameters, _gram(train, member))
    variance = 1.0 / np.diagonal(at.precision)
    return _scored(train, np.arange(train.n), train.y - at.alpha * variance, variance + kappa)


def truncated(
    train: Train, member: Member, neighbours: int, kappa: float = 0.0, rows: np.ndarray | None = None
) -> LeaveOneOut:
    """The given rows (r,), or all, each predicted from its nearest in the metric of the member (section 4.2).

    With n - 1 neighbours this is `exact`. Cost r times (neighbours^3 + the search).
    """
    rows = np.arange(train.n) if rows is None else np.asarray(rows)
    active = train.X[:, member.active]
    scaled = in_metric(member, train.X)
    near = _others(nearest(scaled, scaled[rows], min(neighbours + 1, train.n)), rows)
    mean, variance = np.empty(rows.size), np.empty(rows.size)
    for index, row in enumerate(rows):
        block = np.append(near[index], row)
        mean[index], variance[index] = _last_given_others(train, member, active, block)
    return _scored(train, rows, mean, variance + kappa)


def with_more_noise(member: Member, kappa: float) -> Member:
    """The member with kappa added to its noise: the place that the authors' public code has for it.

    There kappa smooths the leave-one-out means as well; in A.3 it enters the variances alone.
    """
    parameters = replace(member.parameters, noise=member.parameters.noise + kappa)
    return replace(member, parameters=parameters)


def sample_rows(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """A random sample of row numbers (min(count, n),), sorted, to score members on the same rows."""
    return np.sort(rng.choice(n, min(count, n), replace=False))


def _others(near: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Neighbours (r, m) out of the m + 1 found, without the row itself.

    Among ties a row may be missing from its own list; then the farthest one goes.
    """
    itself = near == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return near[~itself].reshape(rows.size, near.shape[1] - 1)


def _last_given_others(train: Train, member: Member, active: np.ndarray, block: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the last row of the block given the others.

    With L the Cholesky factor, y_last = L_last (L^-1 y): the last term of that sum is what is not predicted.
    """
    rows = active[block]
    sparse = member.kernel.matrix(rows, rows, member.parameters.theta)
    gram = None
    if member.parameters.background:
        dense = train.X[block]
        gram = background.gram(member.parameters.background_kind, dense, dense, member.layout)
    chol = factor(covariance(sparse, member.parameters, gram))
    y = train.y[block]
    own = float(chol.lower[-1, -1])
    return float(y[-1] - own * chol.half_solve(y)[-1]), own * own


def _gram(train: Train, member: Member) -> np.ndarray | None:
    at = member.parameters
    return background.gram(at.background_kind, train.X, train.X, member.layout) if at.background else None


def _scored(train: Train, rows: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> LeaveOneOut:
    log_density = -0.5 * (LOG_2PI + np.log(variance) + (train.y[rows] - mean) ** 2 / variance)
    return LeaveOneOut(rows, mean, variance, log_density, train.n)
