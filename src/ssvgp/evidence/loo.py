"""Leave-one-out predictive density of a member (A.3): exact, truncated to neighbours, on all rows or some.

The parameters of the member stay as they were fitted on all rows; only y_i is left out. A row that counts w times has
one of its copies left out: all of them first, as one row, then w - 1 are put back.

Under a likelihood that is not Gaussian a row is left out by taking its site away, those of the others held; mean and
variance are then those of f, and the density is that of the response.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ssvgp.gp.covariances import background_of, between, prior_variance, sites_of
from ssvgp.gp.linalg import factor
from ssvgp.gp.local import in_metric
from ssvgp.gp.marginal import LOG_2PI, covariance, state
from ssvgp.gp.neighbours import nearest
from ssvgp.gp.sites import cavities
from ssvgp.records import Member, Sites, Train, has_sites, row_noise


@dataclass(frozen=True)
class LeaveOneOut:
    """Mean, variance (with noise and kappa) and log density at the r rows left out in turn, of n.

    `weights` (r,) say how many times each row counts in a total, None for once each; `jitter` is what the covariance
    needed on its diagonal to be factored.
    """

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    log_density: np.ndarray
    n: int
    weights: np.ndarray | None = None
    jitter: float = 0.0

    @property
    def counted(self) -> np.ndarray:
        """What each row (r,) adds to a total."""
        return self.log_density if self.weights is None else self.weights * self.log_density

    @property
    def total(self) -> float:
        """The log density of all n rows: a sum over all, or n times the mean over a sample."""
        return self.n * float(self.counted.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of `total` from sampling without replacement: zero where all rows were scored."""
        return _standard_error(self.counted, self.n)

    def at(self, places: np.ndarray, numbers: np.ndarray) -> LeaveOneOut:
        """All rows as another table has them, in which row `numbers` (r,) is our row `places` (r,), each once."""
        mean, variance, log_density = (values[places] for values in (self.mean, self.variance, self.log_density))
        return LeaveOneOut(numbers, mean, variance, log_density, numbers.size)


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
    gap = left.counted[here] - right.counted[there]
    return Difference(left.n * float(gap.mean()), _standard_error(gap, left.n))


def joined(first: LeaveOneOut, second: LeaveOneOut) -> LeaveOneOut:
    """The scores of one member on two samples of rows that have no row in common, sorted by row."""
    rows = np.concatenate([first.rows, second.rows])
    order = np.argsort(rows)

    def both(name: str) -> np.ndarray:
        return np.concatenate([getattr(first, name), getattr(second, name)])[order]

    weights = None if first.weights is None else both("weights")
    return LeaveOneOut(rows[order], both("mean"), both("variance"), both("log_density"), first.n, weights)


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
    if has_sites(train.noise):
        return _without_sites(train, member, train.noise)
    gram = background_of(member, train.X)
    at = state(member.kernel, train.X[:, member.active], train.y, member.parameters, gram, rows_noise=train.noise)
    variance = 1.0 / at.precisions
    found = _scored(train, member, np.arange(train.n), train.y - at.alpha * variance, variance, kappa)
    return replace(found, jitter=at.factor.jitter)


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
    if has_sites(train.noise):
        return _from_neighbours(train, member, train.noise, rows, near)
    mean, variance = np.empty(rows.size), np.empty(rows.size)
    for index, row in enumerate(rows):
        block = np.append(near[index], row)
        mean[index], variance[index] = _last_given_others(train, member, active, block)
    return _scored(train, member, rows, mean, variance, kappa)


def _without_sites(train: Train, member: Member, sites: Sites) -> LeaveOneOut:
    """All n rows, each without the site of one of its copies."""
    at = sites_of(member, train.X, train.y, sites)
    mean, variance = cavities(at, sites.weights)
    return _of_latent(train, member, sites, np.arange(train.n), mean, variance, at.factor.jitter)


def _from_neighbours(train: Train, member: Member, sites: Sites, rows: np.ndarray, near: np.ndarray) -> LeaveOneOut:
    """The given rows (r,), each from the sites of its neighbours (r, m); one that counts w times is left out whole."""
    mean, variance = np.empty(rows.size), np.empty(rows.size)
    for index, (row, some) in enumerate(zip(rows, near, strict=True)):
        table, here = train.X[some], train.X[row : row + 1]
        at = sites_of(member, table, train.y[some], sites.rows(some))
        cross = between(member, here, table)[0]
        half = at.factor.half_solve(cross)
        mean[index] = cross @ at.alpha
        variance[index] = max(float(prior_variance(member, here)[0]) - float(half @ half), 0.0)
    return _of_latent(train, member, sites, rows, mean, variance)


def _of_latent(
    train: Train,
    member: Member,
    sites: Sites,
    rows: np.ndarray,
    process: np.ndarray,
    variance: np.ndarray,
    jitter: float = 0.0,
) -> LeaveOneOut:
    """Densities of y in rows (r,) where the others say this mean and variance (r,) of the process."""
    mean = process + sites.shift[rows]
    response = sites.response([member.parameters])
    log_density = response.log_density(mean[None], variance[None], train.y[rows])[0]
    weights = sites.weights[rows]
    return LeaveOneOut(rows, mean, variance, log_density, train.n, weights, jitter)


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
    gram = None if member.background is None else background_of(member, train.X[block])
    noise = None if train.noise is None else train.noise.rows(block)
    chol = factor(covariance(sparse, member.parameters, gram, rows_noise=noise))
    y = train.y[block]
    own = float(chol.lower[-1, -1])
    return float(y[-1] - own * chol.half_solve(y)[-1]), own * own


def _scored(
    train: Train, member: Member, rows: np.ndarray, mean: np.ndarray, variance: np.ndarray, kappa: float
) -> LeaveOneOut:
    """Densities from what the other rows (r,) say of y: mean and variance, noise of the row as it stands included."""
    y, weights = train.y[rows], None
    if train.noise is not None:
        weights = train.noise.weights[rows]
        mean, variance = _one_copy(train, member, rows, mean, variance)
    variance = variance + kappa
    log_density = -0.5 * (LOG_2PI + np.log(variance) + (y - mean) ** 2 / variance)
    return LeaveOneOut(rows, mean, variance, log_density, train.n, weights)


def _one_copy(
    train: Train, member: Member, rows: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same where one copy of each row is left out, and the other w - 1 are there.

    With c the variance of f given all other rows and s that of one copy, w - 1 copies of y turn N(mean, c) into a
    normal with mean (s mean + c (w - 1) y) / (s + c (w - 1)) and variance c s / (s + c (w - 1)). A row that counts
    less than once is left out whole.
    """
    noise = row_noise(train.noise.rows(rows) if train.noise is not None else None)
    assert noise is not None
    copy = noise.copy_variance(member.parameters.noise)
    latent = np.maximum(variance - noise.at(member.parameters.noise).variance, 0.0)
    back = latent * np.maximum(noise.weights - 1.0, 0.0)
    return (copy * mean + back * train.y[rows]) / (copy + back), latent * copy / (copy + back) + copy
