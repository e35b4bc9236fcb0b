"""Passes over all rows of a table, and what they leave: sums over groups of near rows that share no function.

Given a member, groups of rows that are near in its metric are taken for independent: within a group the process of the
member is exact, with P the inverse of the covariance of its targets. A function Phi b that all groups have in common
adds nothing but

    g = sum Phi' P y,    C = sum Phi' P Phi,    q = sum y' P y,

to the likelihood: -(q - 2 b'g + b'C b) / 2. What the strong part can explain of Phi within a group is no evidence for
b, whatever the correlations between columns. Nor may levels of groups be: the strong part is one function, which
groups share in truth, and thousands of them would take its likeness to the mean of an idle input there for evidence
(z of 6 among inputs that go with the strong ones, a million rows). So every group has a level of its own with a flat
prior, P - P 1 1' P / 1' P 1 in place of P, at the price of a row for each group.

Noise of heavy tails gives rows targets and variances once its sites have settled in their group. Then g is what the
rows say of b, but C would be so only if it were known which of them are wild: it is less by as much as the squares of
scores, which on average are the information that there is (Bartlett's identity), fall short of the diagonal of P.

Tables are read once in each pass, in pieces, from several places at a time, so that neither the order of rows nor their
number matters to memory or to the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ssvgp.data.view import Columns
from ssvgp.gp.batches import pieces
from ssvgp.gp.covariances import of_target, sites_of
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.local import in_metric
from ssvgp.gp.neighbours import close_together
from ssvgp.gp.weak import Features, Shapes
from ssvgp.records import Likelihood, Member, Sites, Train, has_sites, row_noise
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings.machine import CACHED, LARGE

PLACES = 16  # of the table from which the rows of one piece come: sorted rows would be all alike in a column

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Screened:
    """What one pass shows of every shape (L, e) of the columns (e,), and of the products (e, e) of their first shapes.

    Gains are Phi' alpha, costs about Phi' P Phi; there are no products, (0, 0), where none were asked for.
    """

    columns: np.ndarray
    gain: np.ndarray
    cost: np.ndarray
    pairs: np.ndarray
    pair_costs: np.ndarray


@dataclass(frozen=True, eq=False)
class Sums:
    """g (r,), C (r, r) and q of the head of this module, over n rows, less one for each group."""

    g: np.ndarray
    C: np.ndarray
    q: float
    n: int


def screened(
    train: Train, member: Member, shapes: Shapes, columns: np.ndarray, pairs: bool, group: int, workers: Executor
) -> Screened:
    """The shapes of these columns (e,), and if asked for their products, against what a member leaves. One pass.

    Costs are those of diag(P) alone, which is good enough to rank. Cost n (group^2 / 3 + e), and n e^2 for products.
    """
    some, own = shapes.columns(columns), _looked_at(train, member, columns)

    def of_part(rows: list[slice]) -> list[np.ndarray]:
        part = gathered(train, rows, own)
        alpha, noise = np.empty((2, part.n))
        shares: list[float] = []
        for one in _groups(part, member, group):
            alpha[one.rows], noise[one.rows] = one.beside_level(), one.variance
            if not shares:  # one group of the part speaks for the others
                shares.append(float((np.diagonal(one.chol.inverse()) * one.variance).mean()))
        precision = shares[0] / noise
        if has_sites(part.noise):
            precision *= _squares(part.noise, alpha) / float(precision.sum())
        return _scored(part, columns, alpha, precision, some, pairs)

    return Screened(columns, *_total(of_part, train, group, workers))


def sums(train: Train, member: Member, features: Features, group: int, workers: Executor = SERIAL) -> Sums:
    """The sums of the head over all rows. One pass; cost n (group^2 / 3 + group r + r^2)."""
    columns = _looked_at(train, member, features.columns)

    def of_part(rows: list[slice]) -> list[np.ndarray]:
        part = gathered(train, rows, columns)
        total, counts = np.zeros((features.count + 1, features.count + 1)), np.zeros(3)
        for one in _groups(part, member, group):
            here = np.column_stack([features.values(part.X[one.rows]), one.target, np.ones(one.rows.size)])
            half = one.chol.half_solve(here)
            level, half = half[:, -1], half[:, :-1]
            half = half - np.outer(level, level @ half) / float(level @ level)
            total += half.T @ half
            counts += [1.0, *_claims(one, part)]
        return [total, counts]

    both, (levels, squares, diagonal) = _total(of_part, train, group, workers)
    g, C, q, n = both[:-1, -1], both[:-1, :-1], float(both[-1, -1]), train.n - int(levels)
    # what scores show and P claims, both in units of the scale that q shows
    return Sums(g, C * (float(squares / diagonal) / (q / n)) if diagonal else C, q, n)


def _claims(one: _Group, part: Train) -> tuple[float, float]:
    """The squares of the scores of a group, and the diagonal of P, summed; nothing where noise is Gaussian."""
    if not has_sites(part.noise):
        return 0.0, 0.0
    return _squares(part.noise.rows(one.rows), one.beside_level()), float(one.chol.inverse_diagonal().sum())


def _squares(sites: Sites, alpha: np.ndarray) -> float:
    """The sum of squares of scores alpha (m,): those of copies of a row are the same."""
    return float((alpha**2 / sites.weights).sum())


# --- pieces of the table, and groups within them ------------------------------------------------------------------


def parts(n: int, rows: int) -> Iterator[list[slice]]:
    """All n rows in parts of about so many, each from `PLACES` places that are spread over the table."""
    count = max(1, round(n / rows))
    ends = np.linspace(0, n, PLACES * count + 1).round().astype(int)
    for part in range(count):
        at = np.arange(part, PLACES * count, count)
        yield [slice(int(ends[i]), int(ends[i + 1])) for i in at if ends[i + 1] > ends[i]]


def gathered(train: Train, rows: list[slice], columns: np.ndarray) -> Train:
    """The rows of a part, all columns of them or some, which keep their numbers."""
    index = np.concatenate([np.arange(one.start, one.stop) for one in rows])
    noise = None if train.noise is None else train.noise.rows(index)
    whole = columns.size == train.d
    X: Any = np.concatenate([train.X[one] if whole else train.X[one, columns] for one in rows])
    return Train(X if whole else Columns(X, columns, train.d), train.y[index], noise)


def _looked_at(train: Train, member: Member, columns: np.ndarray) -> np.ndarray:
    """These columns and those that the member looks at, in rising order."""
    own = member.active if member.background is None else np.arange(train.d)
    return np.union1d(own, columns).astype(np.intp)


@dataclass(frozen=True, eq=False)
class _Group:
    """Rows (m,) of a part that are near, the factor of the covariance of their targets (m,), and variances of noise."""

    rows: np.ndarray
    chol: Factor
    target: np.ndarray
    variance: np.ndarray

    def beside_level(self) -> np.ndarray:
        """alpha (m,) where the level of the group has a flat prior."""
        alpha, one = self.chol.solve(np.column_stack([self.target, np.ones(self.rows.size)])).T
        out: np.ndarray = alpha - one * float(alpha.sum() / one.sum())
        return out


def _groups(part: Train, member: Member, size: int) -> Iterator[_Group]:
    """Near rows, about `size` at a time; sites settle in each group."""
    order = close_together(in_metric(member, part.X), size)
    for some in np.array_split(order, max(1, round(part.n / size))):
        some = np.sort(some)
        X, y, noise = part.X[some], part.y[some], None if part.noise is None else part.noise.rows(some)
        if has_sites(noise):
            at = sites_of(member, X, y, noise)
            yield _Group(some, at.factor, at.target, at.variance)
        else:
            chol = factor(of_target(member, X, noise), overwrite=True)
            yield _Group(some, chol, y, _variance(noise, member, some.size))


def _variance(noise: Likelihood | None, member: Member, m: int) -> np.ndarray:
    """Variance of Gaussian noise of m rows."""
    learned, rows = member.parameters.noise, row_noise(noise)
    return np.full(m, learned) if rows is None else rows.at(learned).variance


def _scored(
    part: Train, columns: np.ndarray, alpha: np.ndarray, precision: np.ndarray, shapes: Shapes, pairs: bool
) -> list[np.ndarray]:
    """Gains and costs of a part: shapes (L, e), then products; alpha and precision (m,) belong to its rows.

    Costs are sums over one of `PLACES` pieces, times what these stand for, and values are in single precision: enough
    to rank, and to price what is idle.
    """
    e = columns.size
    gain, cost = np.zeros((2, shapes.degrees, e))
    products, product_costs = np.zeros((2, e if pairs else 0, e if pairs else 0))
    step = max(1, CACHED // (shapes.degrees * (e + 1)))
    count = -(-part.n // step)
    share = count / len(range(0, count, PLACES))
    alpha, precision = alpha.astype(np.float32), (share * precision).astype(np.float32)
    for number, at in enumerate(pieces(part.n, step)):
        own = part.X[at] if e == part.d else part.X[at, columns]  # names of all columns would cost another copy
        values = shapes.values(own.astype(np.float32))
        gain += alpha[at] @ values
        if pairs:
            products += (values[0] * alpha[at, None]).T @ values[0]
        if number % PLACES == 0:
            np.square(values, out=values)
            cost += precision[at] @ values
            if pairs:
                product_costs += (values[0] * precision[at, None]).T @ values[0]
    return [gain, cost, products, product_costs]


def _total(
    of_part: Callable[[list[slice]], list[np.ndarray]], train: Train, group: int, workers: Executor
) -> list[np.ndarray]:
    """Sums over all parts, in their order, whoever works them out."""
    rows = max(LARGE // train.d, 2 * group)
    found = workers.map(of_part, [(one,) for one in parts(train.n, rows)])
    return [np.sum(each, axis=0) for each in zip(*found, strict=True)]
