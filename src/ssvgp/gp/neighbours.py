"""Nearest rows in scaled active inputs, and blocks of neighbouring rows: the only home of searches.

Two ways, both exact. A KD-tree where the rows vary in few directions. Elsewhere products of blocks of rows in single
precision, which tell within a known error which rows can be among the nearest; those alone have their distances
computed in double precision. `benchmarks/neighbours.py` measures both, and the rule that chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ssvgp.settings.machine import CACHED

QUERIES = 256  # rows that are sought together
COLUMNS = 2 * CACHED // QUERIES  # and among so many rows at a time: their products in single precision lie in the cache
MOST_CANDIDATES = 16  # candidates, times m, beyond which a query is searched by differences
SINGLE = np.finfo(np.float32)
UNIT32 = 0.5 * float(SINGLE.eps)  # relative rounding error of single precision
TINY32 = 2.0**9 * float(SINGLE.smallest_subnormal)  # more than what errors of underflow add up to
FARTHEST = 1e15  # in units of the table: beyond, sums of squares overflow in single precision
TREE_DIRECTIONS, TREE_INPUTS = 6.5, 20  # up to which a KD-tree wins over products


@dataclass(frozen=True)
class Tree:
    """A KD-tree over reference (n, p)."""

    tree: cKDTree

    def nearest(self, query: np.ndarray, m: int) -> np.ndarray:
        """Indices (t, m) of the reference rows nearest to each row of query (t, p), nearest first."""
        index = self.tree.query(query, k=min(m, self.tree.n), workers=1)[1]
        return np.asarray(index).reshape(query.shape[0], -1)


@dataclass(frozen=True)
class Everywhere:
    """Rows without inputs: all are equally near."""

    n: int

    def nearest(self, query: np.ndarray, m: int) -> np.ndarray:
        """The first m rows for every query."""
        return np.tile(np.arange(min(m, self.n)), (query.shape[0], 1))


class Pairs(NamedTuple):
    """Pairs of a query and a row that may be one of its nearest: numbers of both, and s."""

    query: np.ndarray
    row: np.ndarray
    s: np.ndarray


@dataclass(frozen=True)
class Products:
    """Brute force over reference (n, p).

    `rows` (n, p + 1) in single precision are the rows r of reference in a random `order` (n,), shifted by `centre` and
    multiplied by `unit`, beside their squared norms; `norms` (n,) are |r|. A product with (-2 q, 1) is s = |r - q|^2 -
    |q|^2. Its error is at most `_error`, so that a row whose s lies above a bound by more than that cannot be nearer
    than the bound. Ties go to the row that comes first in reference.
    """

    reference: np.ndarray
    order: np.ndarray
    rows: np.ndarray
    norms: np.ndarray
    centre: np.ndarray
    unit: float

    def nearest(self, query: np.ndarray, m: int) -> np.ndarray:
        """Indices (t, m) of the reference rows nearest to each row of query (t, p), nearest first. Cost n t p."""
        m = min(m, self.reference.shape[0])
        out = np.empty((query.shape[0], m), dtype=np.intp)
        for start in range(0, query.shape[0], QUERIES):
            part = query[start : start + QUERIES]
            pairs, hard = self._candidates(part, m)
            found = out[start : start + QUERIES]
            found[~hard] = _ranked(self.reference, part, pairs._replace(row=self.order[pairs.row]), m)
            for row in np.flatnonzero(hard):
                found[row] = _by_differences(self.reference, part[row], m)
        return out

    def _candidates(self, query: np.ndarray, m: int) -> tuple[Pairs, np.ndarray]:
        """All rows that may be among the m nearest to a few queries, and which queries have too many of them (t,)."""
        shifted = (query - self.centre) * self.unit
        size = np.sqrt(np.einsum("ij,ij->i", shifted, shifted))
        hard = ~(size < FARTHEST)
        shifted[hard], size[hard] = 0.0, 0.0
        left = np.concatenate([-2.0 * shifted, np.ones((size.size, 1))], axis=1).astype(np.float32)
        first = max(COLUMNS, 4 * m)  # rows are in random order, so these are a sample
        bound = self._bound(left @ self.rows[:first].T, self.norms[:first], size, m)
        bound[hard] = -np.inf
        pairs, waiting = Pairs(*(np.empty(0, dtype=kind) for kind in (np.intp, np.intp, np.float32))), []
        for start in range(0, self.rows.shape[0], COLUMNS):
            waiting.append(_within(left @ self.rows[start : start + COLUMNS].T, bound, start))
            last = start + COLUMNS >= self.rows.shape[0]
            if last or sum(new.s.size for new in waiting) > 4 * m * size.size:
                pairs, waiting = _joined([pairs, *waiting]), []
                pairs, bound = self._tightened(pairs, bound, size, m, hard)
        return pairs, hard

    def _tightened(
        self, pairs: Pairs, bound: np.ndarray, size: np.ndarray, m: int, hard: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """The pairs that are left under the bound (t,) that they themselves give; marks `hard` queries."""
        counts = np.bincount(pairs.query, minlength=size.size)
        enough = counts >= m
        if not enough.any():
            return pairs, bound
        table, where = _padded(pairs, counts)
        new = self._bound(table[enough], self.norms[where[enough]], size[enough], m)
        bound = bound.copy()
        bound[enough] = np.minimum(bound[enough], new)
        left = pairs.s <= bound[pairs.query]
        hard |= np.bincount(pairs.query[left], minlength=size.size) > max(MOST_CANDIDATES * m, COLUMNS)
        bound[hard] = -np.inf
        left &= ~hard[pairs.query]
        return Pairs(*(part[left] for part in pairs)), bound

    def _bound(self, values: np.ndarray, norms: np.ndarray, size: np.ndarray, m: int) -> np.ndarray:
        """For each query (t,) a value of s which none of its m nearest rows exceeds, from s (t, m or more) of any rows.

        Each of the m rows with least s is at most r = sqrt(s + error + |q|^2) away, so the m-th neighbour is too; and a
        row within r of q has norm at most |q| + r, which bounds its own error.
        """
        part = np.argpartition(values, m - 1, axis=1)[:, :m]
        length = norms[part] if norms.ndim == 1 else np.take_along_axis(norms, part, axis=1)
        p = self.reference.shape[1]
        most = (np.take_along_axis(values, part, axis=1) + _error(p, length, size[:, None])).max(axis=1)
        reach = size + np.sqrt(np.maximum(most + size**2, 0.0)) * (1.0 + UNIT32)
        return np.nextafter((most + _error(p, reach, size)).astype(np.float32), np.float32(np.inf))


def _within(values: np.ndarray, bound: np.ndarray, start: int) -> Pairs:
    """The pairs of query and row whose s (t, c) is within the bound (t,); rows are counted from `start`."""
    place = np.flatnonzero(values <= bound[:, None])
    query = place // values.shape[1]
    return Pairs(query, place - query * values.shape[1] + start, values.ravel()[place])


def _joined(parts: list[Pairs]) -> Pairs:
    return Pairs(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _error(p: int, length: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Most that s can be wrong by for rows of norm `length` and queries of norm `size`.

    Rounding the entries to single precision costs 2 u on |r| |q| and u on |r|^2, a sum of p + 1 products in any order
    (p + 1) u on the sum of their sizes, 2 |r| |q| + |r|^2; one more u and a little for products of these terms and for
    what is computed in double precision.
    """
    return (p + 5) * (1.0 + 2.0 * p * UNIT32) * UNIT32 * (2.0 * length * size + length**2) + (p + 1) * TINY32


def _padded(pairs: Pairs, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs as tables (t, most pairs of a query): s, infinite where there is no row, and the row."""
    order = np.argsort(pairs.query, kind="stable")
    query = pairs.query[order]
    column = np.arange(query.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((counts.size, int(counts.max())), np.inf, dtype=np.float32)
    where = np.zeros(table.shape, dtype=np.intp)
    table[query, column], where[query, column] = pairs.s[order], pairs.row[order]
    return table, where


def _ranked(reference: np.ndarray, query: np.ndarray, pairs: Pairs, m: int) -> np.ndarray:
    """The m nearest (q, m) of each query that has pairs, by distances in double precision; ties by row number."""
    square = np.empty(pairs.row.size)
    for at in _pieces(square.size, query.shape[1]):
        square[at] = _squares(reference[pairs.row[at]], query[pairs.query[at]])
    order = np.lexsort((pairs.row, square, pairs.query))
    counts = np.bincount(pairs.query, minlength=query.shape[0])
    first = (np.cumsum(counts) - counts)[counts > 0]
    return pairs.row[order[first[:, None] + np.arange(m)]]


def _squares(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Squared distances (a,) between rows (a, p) and queries (a, p) or (p,)."""
    difference = rows - query
    return np.einsum("ij,ij->i", difference, difference)


def _by_differences(reference: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """The m nearest rows (m,) of one query (p,) by all distances in double precision; ties by row number."""
    square = np.concatenate([_squares(reference[at], query) for at in _pieces(*reference.shape)])
    if m == square.size:
        return np.argsort(square, kind="stable")
    farthest = np.partition(square, m - 1)[m - 1]
    near = np.flatnonzero(square <= farthest)
    return near[np.argsort(square[near], kind="stable")[:m]]


# --- which way --------------------------------------------------------------------------------------------


Search = Tree | Products | Everywhere


def search_over(reference: np.ndarray, queries: int | None = None) -> Search:
    """What finds the nearest rows of reference (n, p), already multiplied by theta; made once, asked many times.

    `queries` is how many rows will be looked up, where that is known: for a few, a tree is not worth building.
    """
    n, p = reference.shape
    if p == 0:
        return Everywhere(n)
    if tree_wins(effective_dimension(reference), p, queries):
        return Tree(cKDTree(reference, balanced_tree=False))
    return products_over(reference)


def products_over(reference: np.ndarray) -> Products:
    """Rows of reference (n, p) in single precision, centred, in a power of two as unit that keeps them near one."""
    n, p = reference.shape
    centre = reference.mean(axis=0)
    # a table may be sorted: steps of the golden ratio around a circle put rows that follow each other far apart
    order = np.argsort(np.arange(n) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0)
    rows, norms = np.empty((n, p + 1), dtype=np.float32), np.empty(n)
    widest = max(float(np.abs(reference[at] - centre).max()) for at in _pieces(n, p))
    unit = float(2.0 ** -np.ceil(np.log2(widest))) if widest > 0 else 1.0
    for at in _pieces(n, p):
        shifted = (reference[order[at]] - centre) * unit
        square = np.einsum("ij,ij->i", shifted, shifted)
        rows[at, :p], rows[at, p], norms[at] = shifted, square, np.sqrt(square)
    return Products(reference, order, rows, norms, centre, unit)


def _pieces(n: int, p: int) -> list[slice]:
    step = max(1, CACHED // max(p, 1))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def effective_dimension(rows: np.ndarray) -> float:
    """How many directions the rows (n, p) vary in: (sum of the variances of all directions)^2 / sum of their squares.

    Between 1 and p: p columns of one range that are not correlated count p, and columns of small range next to nothing.
    About as many rows as a block of products has are a sample that is large enough.
    """
    some = rows[:: max(1, rows.shape[0] // COLUMNS)]
    some = some - some.mean(axis=0)
    widest = float(np.abs(some).max(initial=0.0))
    if widest == 0.0:
        return 1.0
    some = some / widest
    spread = some.T @ some
    return float(np.trace(spread) ** 2 / (spread**2).sum())


def tree_wins(dimension: float, p: int, queries: int | None = None) -> bool:
    """Whether a KD-tree is the faster for rows of p inputs that vary in so many directions.

    For fewer queries than one block of products has it is not worth building.

    Measured over 10^4 to 10^6 rows: both grow alike with the number of rows, so that it does not enter.
    """
    return dimension <= TREE_DIRECTIONS and p <= TREE_INPUTS and (queries is None or queries >= QUERIES)


def nearest(reference: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """Indices (t, m) of the m rows of reference (n, p) nearest to each row of query (t, p), nearest first.

    Inputs are already multiplied by theta. Exact, whichever way is taken.
    """
    return search_over(reference, query.shape[0]).nearest(query, m)


# --- rows that belong together ----------------------------------------------------------------------------


def close_together(rows: np.ndarray, size: int) -> np.ndarray:
    """An order (t,) of rows (t, p) in which those that follow each other are near: the leaves of a KD-tree."""
    if rows.shape[1] == 0 or rows.shape[0] <= size:
        return np.arange(rows.shape[0])
    return np.asarray(cKDTree(rows, leafsize=max(1, size // 2)).indices)


def block(scaled: np.ndarray, centre: int, m: int) -> np.ndarray:
    """A row and its m - 1 nearest (section 3.2): indices (m,) into scaled (n, p), the centre first."""
    difference = scaled - scaled[centre]
    distance = np.einsum("ij,ij->i", difference, difference)
    distance[centre] = -1.0
    m = min(m, scaled.shape[0])
    if m == scaled.shape[0]:
        return np.argsort(distance, kind="stable")
    part = np.argpartition(distance, m - 1)[:m]
    return part[np.argsort(distance[part], kind="stable")]
