"""Prediction from nearest neighbours (section 3.2), for any number of new rows in bounded memory.

The training side of a member is prepared once: its active inputs, averaged where rows lie too dense to be told apart,
and what finds neighbours among them. New rows are put into an order in which those that follow each other are near, cut
into batches, and within a batch into groups that share one system of all their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ssvgp.gp.batches import Work, pieces
from ssvgp.gp.condense import condense
from ssvgp.gp.covariances import between, near, of_target, prior_variance, sites_of
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.neighbours import QUERIES, Search, close_together, search_over
from ssvgp.gp.terms import metric
from ssvgp.records import Member, Train, has_sites, row_noise

CELL_FACTOR = 8.0  # condensed neighbours stand for this many times the rows asked for
GROUP = QUERIES  # new rows that are tried together first: their neighbours are sought together too
SHARED = 2  # a system that many share has up to 2 m rows, with the nearest m / 2 of every new row; cells are no fewer


class Moments(NamedTuple):
    """Mean (t,) and latent variance (t,)."""

    mean: np.ndarray
    variance: np.ndarray


def joined(parts: Sequence[Moments]) -> Moments:
    """The moments of successive rows as one; of no rows, if there are no parts."""
    nothing = np.empty(0)
    mean = np.concatenate([nothing, *(one.mean for one in parts)])
    return Moments(mean, np.concatenate([nothing, *(one.variance for one in parts)]))


@dataclass(frozen=True)
class Local:
    """A member prepared for prediction from its m nearest training rows.

    `member` counts its inputs among the `columns` of a table, `train` has these columns alone; `variance` (n,) is that
    of the noise of its rows, None where all have the learned one; `condensed` says that rows stand for several.
    `search` is None where no input matters: all new rows are then given the same m rows, spread over the table.
    """

    member: Member
    train: Train
    columns: Any
    variance: np.ndarray | None
    condensed: bool
    search: Search | None
    m: int

    def neighbours(self, X_new: np.ndarray) -> np.ndarray:
        """Indices (t, m) of the training rows nearest in theta * (x - x'), the metric of the kernel."""
        if self.search is not None:
            return self.search.nearest(in_metric(self.member, X_new), self.m)
        # rows spread over the table, since the first m may be all alike in a sorted one
        spread = np.linspace(0, self.train.n - 1, self.m).round().astype(np.intp)
        return np.broadcast_to(spread, (X_new.shape[0], self.m))


def local_of(member: Member, train: Train, m: int, queries: int | None = None, condensing: bool = True) -> Local:
    """The training side of a member, ready to predict `queries` rows, or any number where that is None."""
    columns: Any = slice(None)
    if member.background is None:  # the other inputs have no part: all later gathers are small
        columns = member.active
        member = replace(member, active=np.arange(columns.size))
        train = train.columns(columns)
    found, variance = None, None
    if not has_sites(train.noise):  # whose targets and variances are known only once the neighbours are
        found = condense(train, member) if condensing and member.background is None else None
        own = row_noise(train.noise)
        variance = None if own is None else own.at(member.parameters.noise).variance
    if found is not None:  # a few cells stand for many rows
        train, variance = Train(found.X, found.y), found.variance
        m = int(np.clip(m * CELL_FACTOR / found.counts.mean(), max(1, m // SHARED), m))
    m = min(m, train.n)
    scaled = in_metric(member, train.X)
    search = search_over(scaled, queries) if scaled.shape[1] else None
    return Local(member, train, columns, variance, found is not None, search, m)


def predict_local(given: Local, X_new: Any, work: Work | None = None) -> Moments:
    """Moments at standardised rows X_new (t, d), each given its m nearest training rows or more. Cost t m^3 / 3.

    Groups do not depend on the size of batches or the number of threads, so that nothing in the answer does.
    """
    work = Work() if work is None else work
    t = X_new.shape[0]
    mean, variance = np.empty(t), np.empty(t)
    width = max(1, X_new.shape[1] if isinstance(given.columns, slice) else given.columns.size)
    for part in pieces(t, max(GROUP, work.sorted_numbers() // width)):
        rows = near(np.asarray(X_new[part, given.columns]))
        order = close_together(in_metric(given.member, rows), GROUP)
        rows = rows[order]
        found = work.over_batches(partial(_batch, given, rows), len(rows), 32 * given.m, GROUP)
        place = part.start + order
        mean[place], variance[place] = joined(found)
    return Moments(mean, variance)


def in_metric(member: Member, X: np.ndarray) -> np.ndarray:
    """The columns (n, p) in which rows are near each other: active inputs times theta, or all with a background."""
    if member.background is not None:
        return X[:] * metric(member, X.shape[1])
    return X[:, member.active] * member.parameters.theta if member.active.size else np.empty((X.shape[0], 0))


def _batch(given: Local, rows: np.ndarray, at: slice) -> Moments:
    """Moments at a slice of rows (t, p) that lie in order, group by group.

    A row takes 32 m bytes: the numbers of its neighbours and their distances, twice while they are sorted.
    """
    rows = rows[at]
    index = given.neighbours(rows)
    mean, explained = np.empty(rows.shape[0]), np.empty(rows.shape[0])
    for group, some in _groups(index):
        chol, target = _system(given, some)
        half = chol.half_solve(between(given.member, rows[group], given.train.X[some]).T)
        mean[group] = half.T @ chol.half_solve(target)
        explained[group] = np.einsum("ij,ij->j", half, half)
    return Moments(mean, np.maximum(prior_variance(given.member, rows) - explained, 0.0))


def _system(given: Local, some: np.ndarray) -> tuple[Factor, np.ndarray]:
    """The factor of Kt of some training rows (u,), and their targets; sites settle among these rows alone."""
    noise = given.train.noise
    if has_sites(noise):
        settled = sites_of(given.member, given.train.X[some], given.train.y[some], noise.rows(some))
        return settled.factor, settled.target
    kt = of_target(given.member, given.train.X[some])
    if given.variance is not None:
        kt.flat[:: some.size + 1] += given.variance[some] - given.member.parameters.noise
    return factor(kt), given.train.y[some]


def _groups(index: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """New rows that share one system, and the training rows (u,) of it, from neighbours (b, m), nearest first.

    Rows close to each other have most neighbours in common. A group of g rows shares u rows, at most SHARED m of them
    and so few that u^3 is less than g m^3, the cost of one system for each. Each row of a group has at least the
    nearest m / SHARED of its own m among them, and so many more as there is room for; where these do not fit, because
    training rows are dense or new rows far apart, the group is halved, down to single rows with exactly their own m.
    """
    m = index.shape[1]
    waiting = list(pieces(index.shape[0], GROUP))[::-1]
    while waiting:
        group = waiting.pop()
        size = group.stop - group.start
        if size < SHARED**3:
            some = _widest(index[group], m, int(m * size ** (1.0 / 3.0)))
        else:
            some = _widest(index[group], int(np.ceil(m / SHARED)), SHARED * m)
        if some is not None:
            yield group, some
        else:
            middle = group.start + size // 2
            waiting += [slice(middle, group.stop), slice(group.start, middle)]


def _widest(index: np.ndarray, low: int, limit: int) -> np.ndarray | None:
    """The distinct rows (u,) among the nearest q of each, u at most `limit`; None where q would be below m / SHARED."""
    high = index.shape[1]
    found = _union(index[:, :low])
    if found.size > limit:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        some = _union(index[:, :middle])
        if some.size <= limit:
            low, found = middle, some
        else:
            high = middle - 1
    return found


def _union(index: np.ndarray) -> np.ndarray:
    """The distinct numbers (u,) in index, in order; sorting is faster here than the hashes of np.unique."""
    ordered = np.sort(index, axis=None)
    new = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]
