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
from ssvgp.gp.covariances import of_target
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.local import in_metric
from ssvgp.gp.neighbours import close_together
from ssvgp.gp.weak import Features, Shapes
from ssvgp.records import Member, Train, row_noise
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
        alpha, noise = np.empty(part.n), _noise(part, member)
        shares: list[float] = []
        for at, chol in _groups(part, member, group):
            alpha[at] = _beside_level(chol, part.y[at])
            if not shares:  # one group of the part speaks for the others
                shares.append(float((np.diagonal(chol.inverse()) * noise[at]).mean()))
        return _scored(part, columns, alpha, shares[0] / noise, some, pairs)

    return Screened(columns, *_total(of_part, train, group, workers))


def sums(train: Train, member: Member, features: Features, group: int, workers: Executor = SERIAL) -> Sums:
    """The sums of the head over all rows. One pass; cost n (group^2 / 3 + group r + r^2)."""
    columns = _looked_at(train, member, features.columns)

    def of_part(rows: list[slice]) -> list[np.ndarray]:
        part = gathered(train, rows, columns)
        total, levels = np.zeros((features.count + 1, features.count + 1)), np.zeros(1)
        for some, chol in _groups(part, member, group):
            here = np.column_stack([features.values(part.X[some]), part.y[some], np.ones(some.size)])
            half = chol.half_solve(here)
            level, half = half[:, -1], half[:, :-1]
            half = half - np.outer(level, level @ half) / float(level @ level)
            total += half.T @ half
            levels += 1.0
        return [total, levels]

    both, levels = _total(of_part, train, group, workers)
    return Sums(both[:-1, -1], both[:-1, :-1], float(both[-1, -1]), train.n - int(levels[0]))


def _beside_level(chol: Factor, y: np.ndarray) -> np.ndarray:
    """alpha (m,) of a group whose level has a flat prior."""
    alpha, one = chol.solve(np.column_stack([y, np.ones(y.size)])).T
    out: np.ndarray = alpha - one * float(alpha.sum() / one.sum())
    return out


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


def _groups(part: Train, member: Member, size: int) -> Iterator[tuple[np.ndarray, Factor]]:
    """Numbers of near rows, about `size` at a time, and the factor of the covariance of their targets."""
    order = close_together(in_metric(member, part.X), size)
    for some in np.array_split(order, max(1, round(part.n / size))):
        some = np.sort(some)
        noise = None if part.noise is None else part.noise.rows(some)
        yield some, factor(of_target(member, part.X[some], noise), overwrite=True)


def _noise(part: Train, member: Member) -> np.ndarray:
    """Variance of the noise of every row (m,)."""
    noise, rows = member.parameters.noise, row_noise(part.noise)
    return np.full(part.n, noise) if rows is None else rows.at(noise).variance


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
