"""One screen for everything: products of shapes of up to four inputs, scored against a fitted set.

At a set with P = Kt^-1 and alpha = P y, one more random effect along a vector phi changes the log likelihood by what
g = (phi' alpha)^2 and c = phi' P phi say; without such an effect t = g / c is about chi-square(1). So a screen is a
dictionary of vectors phi. This one has the shapes of single inputs, and products of the slow shapes of two, three and
four inputs (search/shapes.py); those of one and two also times u_r, the leading directions of what the set explains
already (u_0 = 1): what acts through active inputs shows there.

For the first shapes of single inputs c is exact, else from the diagonal of P, which ranks as well. Triples and
quadruples are ranked by |phi' alpha| alone, on the rows with the largest |alpha|, and only the leaders meet all rows
with a c of their own.

Strengths are in nats: minus the log of the probability that one product without effect scores as high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb

import numpy as np
from scipy.special import ndtri

from ssvgp.run.workers import SERIAL, Executor
from ssvgp.search.scene import DIRECTIONS, THROUGH, Scene, tail_nats
from ssvgp.search.shapes import FINE, SLOW
from ssvgp.settings.machine import CACHED, STRIP

LOUD = 0.45  # of all rows, about, hold this share of alpha' alpha, and triples and quadruples are ranked on them
HELD = 0.8
KEPT = 3000  # leaders that meet all rows, about
SHOWN = 100  # groups that a look returns, at most
LOUDEST = 2.0  # root mean squares at which |alpha| is cut for ranking: a few wild rows must not choose the products
TABLE = 4 * CACHED  # products at a time, in single precision


@dataclass(frozen=True)
class Group:
    """Inputs that seem to do something together that the set does not have yet; how much, in nats."""

    inputs: tuple[int, ...]
    nats: float


@dataclass(frozen=True)
class Order:
    """A look at all products of `size` of the first so many inputs by slow shapes, pairs also times directions."""

    size: int
    inputs: int
    shapes: int
    directions: int = 0

    def chance(self) -> float:
        """Nats that the strongest product without effect has, about: the log of their number."""
        through = self.directions * min(self.shapes, THROUGH) ** self.size
        return float(np.log(max(1, comb(self.inputs, self.size) * (self.shapes**self.size + through))))

    def operations(self, n: int) -> float:
        """Multiplications and additions on n rows; pairs have a c of their own, others are ranked on a part of them."""
        q, kinds = self.inputs, self.shapes**self.size
        if self.size == 2:
            return 2.0 * n * q * q * (kinds + self.directions * min(self.shapes, THROUGH) ** 2)
        return 2.0 * LOUD * n * comb(q, self.size) * kinds * (2 if self.size == 3 else 1)


def affordable(size: int, n: int, d: int, operations: float) -> list[Order]:
    """Looks at products of that size within a number of operations each: all inputs, then some by finer shapes.

    With fewer operations a look at all inputs has fewer shapes. The second look, and the only one where all inputs are
    too many, is at as many of the most promising as can be paid for.
    """
    kinds = [(SLOW, DIRECTIONS), (SLOW - 1, DIRECTIONS), (SLOW - 1, 0), (1, 0)] if size == 2 else [(SLOW, 0), (2, 0)]
    looks = []
    for shapes, directions in ((FINE, kinds[0][1]), *kinds):
        whole = Order(size, d, shapes, directions)
        if whole.operations(n) <= operations:
            looks.append(whole)
            break
    if not looks or looks[0].shapes < FINE:
        looks.append(_widest(Order(size, d, FINE), n, operations))
    return [look for look in looks if look.inputs >= size]


def _widest(look: Order, n: int, operations: float) -> Order:
    """The same look at the most inputs that can be paid for."""
    low, high = 0, look.inputs
    while low < high:
        middle = (low + high + 1) // 2
        paid = replace(look, inputs=middle).operations(n) <= operations
        low, high = (middle, high) if paid else (low, middle - 1)
    return replace(look, inputs=low)


def groups(view: Scene, order: Order, columns: np.ndarray, workers: Executor = SERIAL) -> list[Group]:
    """The strongest products among the columns (q,), best first."""
    if columns.size < order.size or not view.alpha.any():
        return []
    if order.size == 2:
        return _strongest_pairs(view, columns, order)
    loud = _loud_rows(view)
    slow = view.shapes.slow(columns)[: order.shapes]
    some = np.ascontiguousarray(slow[:, loud])
    most = LOUDEST * float(np.sqrt((view.alpha**2).mean()))
    alpha = np.clip(view.alpha[loud], -most, most)
    # of products without effect about KEPT are above this bar
    chance = KEPT / (comb(columns.size, order.size) * order.shapes**order.size)
    bar = float(np.sqrt(alpha @ alpha)) * float(-ndtri(0.5 * min(chance, 0.5)))
    if order.size == 3:
        seen = workers.map(_triples, [(some, alpha, bar, c) for c in range(2, columns.size)])
    else:
        table = _pair_table(some)
        seen = workers.map(_quadruples, [(some, alpha, bar, b, *table) for b in range(1, columns.size - 2)])
    score, parts = _together(seen)
    found = parts[np.argsort(-score, kind="stable")[:KEPT]]
    return _rescored(view, columns, slow, found, order.size)


def _pairs(view: Scene, columns: np.ndarray, order: Order) -> tuple[np.ndarray, np.ndarray]:
    """The strongest pairs, places among the columns (., 2) and t, strip by strip, so that tables stay in the cache."""
    slow, found, scores = view.shapes.slow(columns)[: order.shapes], [], []
    squares = slow**2
    for start in range(0, columns.size, STRIP):
        part, rest = slice(start, start + STRIP), slice(start, None)
        best = np.zeros((min(STRIP, columns.size - start), columns.size - start), dtype=np.float32)
        for r, u in enumerate(view.directions[: 1 + order.directions]):
            kinds = range(order.shapes if r == 0 else min(order.shapes, THROUGH))
            pull, push = (view.alpha * u)[:, None], (view.weight * u * u)[:, None]
            for a, b in product(kinds, kinds):
                t = (slow[a, :, part] * pull).T @ slow[b, :, rest]
                t *= t
                t /= np.maximum((squares[a, :, part] * push).T @ squares[b, :, rest], 1e-30)
                np.maximum(best, t, out=best)
        best[np.tril_indices(len(best))] = 0.0
        flat = np.argpartition(-best, min(SHOWN, best.size - 1), axis=None)[:SHOWN]
        rows, others = np.divmod(flat, best.shape[1])
        found.append(np.stack([rows, others], axis=1) + start)
        scores.append(best[rows, others])
    return np.concatenate(found), np.concatenate(scores)


def _strongest_pairs(view: Scene, columns: np.ndarray, order: Order) -> list[Group]:
    places, t = _pairs(view, columns, order)
    best = [i for i in np.argsort(-t, kind="stable")[:SHOWN] if t[i] > 0.0]
    nats = tail_nats(t[best], 1)
    return [Group((int(columns[i]), int(columns[j])), float(x)) for (i, j), x in zip(places[best], nats, strict=True)]


def _loud_rows(view: Scene) -> np.ndarray:
    """The rows with the largest |alpha| that hold most of alpha' alpha: the others hardly move phi' alpha."""
    square = view.alpha.astype(float) ** 2
    order = np.argsort(-square, kind="stable")
    count = int(np.searchsorted(np.cumsum(square[order]), HELD * square.sum())) + 1
    return np.sort(order[:count])


Found = tuple[np.ndarray, np.ndarray]  # |sums| above the bar, and their inputs and shapes by turns (., 2 k)


def _triples(slow: np.ndarray, alpha: np.ndarray, bar: float, c: int) -> Found:
    """All products of the shapes of input c with those of two inputs before it."""
    before = np.concatenate(list(slow[:, :, :c]), axis=1)  # shape after shape, input after input
    left = np.concatenate([before * (alpha * own)[:, None] for own in slow[:, :, c]], axis=1)
    score, rows, columns = _above(left.T @ before, bar)
    once = rows % c < columns % c  # the same pair stands in the table twice
    (kind, a), (t, b) = np.divmod(rows[once], c), np.divmod(columns[once], c)
    k, s = np.divmod(kind, len(slow))
    return score[once], _by_turns(a, s, c, k, b, t)


def _pair_table(slow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (r, 2) of all pairs, the largest first input first, and the products (m, r f^2) of all shapes of each."""
    q = slow.shape[2]
    pairs = np.array([(c, e) for c in range(q - 2, -1, -1) for e in range(c + 1, q)])
    first, second = pairs.T
    kinds = product(range(len(slow)), repeat=2)
    table = np.stack([slow[s][:, first] * slow[t][:, second] for s, t in kinds], axis=2)
    return pairs, table.reshape(slow.shape[1], -1)


def _quadruples(slow: np.ndarray, alpha: np.ndarray, bar: float, b: int, pairs: np.ndarray, table: np.ndarray) -> Found:
    """All products of the shapes of input b with those of one input before it and of two behind it."""
    kinds = list(product(range(len(slow)), repeat=2))
    left = np.concatenate([slow[s][:, :b] * (alpha * slow[t][:, b])[:, None] for s, t in kinds], axis=1)
    behind, found = comb(slow.shape[2] - b - 1, 2) * len(kinds), []  # pairs of inputs behind b come first
    step = max(1, TABLE // left.shape[1])
    for start in range(0, behind, step):
        score, rows, columns = _above(left.T @ table[:, start : min(start + step, behind)], bar)
        (kind, a), (pair, other) = np.divmod(rows, b), np.divmod(start + columns, len(kinds))
        (s, t), (u, v), (c, e) = np.divmod(kind, len(slow)), np.divmod(other, len(slow)), pairs[pair].T
        found.append((score, _by_turns(a, s, b, t, c, u, e, v)))
    return _together(found)


def _by_turns(*columns: np.ndarray | int) -> np.ndarray:
    """Inputs and shapes (., 2 k), each an array or the same for all."""
    return np.stack(np.broadcast_arrays(*columns), axis=1)


def _above(table: np.ndarray, bar: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sums of a table that are above the bar either way, with their rows and columns; the largest, where many."""
    np.abs(table, out=table)
    rows, columns = np.divmod(np.flatnonzero(table > bar), table.shape[1])
    score = table[rows, columns]
    if score.size > KEPT:
        kept = np.argpartition(-score, KEPT)[:KEPT]
        rows, columns, score = rows[kept], columns[kept], score[kept]
    return score, rows, columns


def _together(found: Sequence[Found]) -> Found:
    """Several as one."""
    return np.concatenate([score for score, _ in found]), np.concatenate([parts for _, parts in found])


def _rescored(view: Scene, columns: np.ndarray, slow: np.ndarray, parts: np.ndarray, size: int) -> list[Group]:
    """The leaders with their strength on all rows."""
    phi = np.ones((view.n, len(parts)), dtype=np.float32)
    for i in range(size):
        phi *= slow[parts[:, 2 * i + 1], :, parts[:, 2 * i]].T
    # c from the products themselves: sums of heavy-tailed terms over their own size have tails like a normal's
    g = view.alpha @ phi
    nats = tail_nats(g * g / np.maximum((view.alpha**2) @ (phi * phi), 1e-30), 1)
    best: dict[tuple[int, ...], float] = {}
    for i in np.argsort(-nats, kind="stable"):
        best.setdefault(tuple(sorted(int(j) for j in columns[parts[i, ::2]])), float(nats[i]))
        if len(best) == SHOWN:
            break
    return [Group(inputs, strength) for inputs, strength in best.items()]
