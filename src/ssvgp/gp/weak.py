"""The weak part of f: smooth effects that all rows together show and few do not, as coefficients of a few shapes.

    w(x) = sum_j sum_k b_jk phi_k(x_j) + sum_ab c_ab phi_1(x_a) phi_1(x_b)

phi_1 .. phi_L are polynomials that are orthonormal over the rows of the table. The coefficients are jointly normal, and
so certain, having met all rows, that the process of a member is simply conditioned on y less the mean of w.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.gp.batches import pieces
from ssvgp.settings.machine import HELD

SHAPES = 4  # of one input: what is rougher is large enough for blocks of rows to see, or is beyond a few shapes
FAR = 4.0  # standard deviations of a column: beyond, shapes go on as they are there


@dataclass(frozen=True, eq=False)
class Shapes:
    """Orthonormal polynomials of columns, by their recursion: q columns, degrees 1 to L.

    next = ((u - centre_k) now - size_(k-1) before) / size_k, with u the standardised column cut at `FAR`; centres and
    sizes are (L, q). A size of zero ends the recursion: a column of two values has one shape.
    """

    centres: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray | None = None, degrees: int = SHAPES) -> Shapes:
        """Shapes that are orthonormal over the rows of X (r, q), a sample of the table, counted by weights (r,)."""
        share = np.full(X.shape[0], 1.0 / X.shape[0]) if weights is None else weights / weights.sum()
        u = np.clip(X, -FAR, FAR)
        centres, sizes = np.zeros((degrees, X.shape[1])), np.zeros((degrees, X.shape[1]))
        before, now = np.zeros_like(u), np.ones_like(u)
        for k in range(degrees):
            centres[k] = share @ (u * now * now)
            new = (u - centres[k]) * now
            if k:
                new -= sizes[k - 1] * before
            square = share @ (new * new)
            tied = square < np.sqrt(np.finfo(np.float32).eps)  # next to nothing but rounding is left by so few values
            sizes[k] = np.where(tied, 0.0, np.sqrt(square))
            before, now = now, new * _inverse(sizes[k])
        return cls(centres, sizes)

    @property
    def degrees(self) -> int:
        return int(self.centres.shape[0])

    def columns(self, some: np.ndarray) -> Shapes:
        """The shapes of some of the columns."""
        return Shapes(self.centres[:, some], self.sizes[:, some])

    def values(self, X: np.ndarray, degrees: int | None = None) -> np.ndarray:
        """(L, n, q) at rows X (n, q) of these columns, or of the lowest degrees alone, in the precision of X."""
        u = np.clip(X, -FAR, FAR)
        centres, sizes, inverse = (one.astype(u.dtype) for one in (self.centres, self.sizes, _inverse(self.sizes)))
        out = np.empty((degrees or self.degrees, *u.shape), dtype=u.dtype)
        space = np.empty_like(u)
        for k, now in enumerate(out):
            np.subtract(u, centres[k], out=now)
            if k:
                now *= out[k - 1]
                now -= np.multiply(sizes[k - 1], out[k - 2], out=space) if k > 1 else sizes[0]
            now *= inverse[k]
        return out


def _inverse(sizes: np.ndarray) -> np.ndarray:
    """1 / size, and zero for zero: a shape that ties leave nothing of vanishes."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


@dataclass(frozen=True, eq=False)
class Features:
    """The functions that coefficients belong to: first single shapes, then products of two first shapes.

    `columns` (q,) of the table are looked at; `singles` (s, 2) have a place among them and a degree counted from 0,
    `pairs` (t, 2) two places.
    """

    columns: np.ndarray
    shapes: Shapes
    singles: np.ndarray
    pairs: np.ndarray

    @property
    def count(self) -> int:
        return len(self.singles) + len(self.pairs)

    def values(self, X: Any) -> np.ndarray:
        """(n, r) at standardised rows X (n, d)."""
        every = self.shapes.values(np.asarray(X[:, self.columns]))
        out = np.empty((every.shape[1], self.count))
        out[:, : len(self.singles)] = every[self.singles[:, 1], :, self.singles[:, 0]].T
        first = every[0]
        out[:, len(self.singles) :] = first[:, self.pairs[:, 0]] * first[:, self.pairs[:, 1]]
        return out

    def inputs(self) -> np.ndarray:
        """The columns (r, 2) of the table that each looks at: the same twice for a single shape."""
        single = self.columns[self.singles[:, 0]]
        return np.concatenate([np.stack([single, single], axis=1), self.columns[self.pairs]]).astype(np.intp)

    def some(self, kept: np.ndarray) -> Features:
        """Those that are kept (r,), and the columns that these look at."""
        singles, pairs = self.singles[kept[: len(self.singles)]], self.pairs[kept[len(self.singles) :]]
        used = np.unique(np.concatenate([singles[:, 0], pairs.ravel()])).astype(np.intp)
        singles = np.stack([np.searchsorted(used, singles[:, 0]), singles[:, 1]], axis=1)
        return Features(self.columns[used], self.shapes.columns(used), singles, np.searchsorted(used, pairs))


@dataclass(frozen=True, eq=False)
class Weak:
    """Features with the posterior of their coefficients: mean (r,) and covariance (r, r).

    `chance` (q,) is the probability that each column has a part in it, `theta` (q,) the mean of its inverse
    lengthscale, zero where it has none.
    """

    features: Features
    mean: np.ndarray
    covariance: np.ndarray
    chance: np.ndarray
    theta: np.ndarray

    @property
    def columns(self) -> np.ndarray:
        """The columns (q,) of the table that it looks at, in rising order."""
        return self.features.columns

    def at(self, X: Any) -> np.ndarray:
        """Mean of w (t,) at standardised rows X (t, d), an array or a view."""
        return np.concatenate([np.empty(0), *(values @ self.mean for values in self._in_pieces(X))])

    def variance(self, X: Any) -> np.ndarray:
        """Variance of w (t,) there."""
        parts = [np.einsum("tr,tr->t", values @ self.covariance, values) for values in self._in_pieces(X)]
        return np.maximum(np.concatenate([np.empty(0), *parts]), 0.0)

    def _in_pieces(self, X: Any) -> Iterator[np.ndarray]:
        """The features (a, r) of all rows, some at a time: of a table on disk so many as are worth a read."""
        own, width = replace(self.features, columns=np.arange(self.columns.size)), max(X.shape[1], self.features.count)
        for part in pieces(X.shape[0], max(1, HELD // (SHAPES * width))):
            yield own.values(np.asarray(X[part, self.columns]))

    def to_plain(self) -> dict[str, np.ndarray]:
        """Arrays by name, as a file holds them; `from_plain` reads them."""
        f = self.features
        shapes = {"centres": f.shapes.centres, "sizes": f.shapes.sizes}
        own = {"columns": f.columns, "singles": f.singles, "pairs": f.pairs}
        inputs = {"chance": self.chance, "theta": self.theta}
        return {**own, **shapes, **inputs, "mean": self.mean, "covariance": self.covariance}

    @classmethod
    def from_plain(cls, values: dict[str, np.ndarray]) -> Weak:
        """What `to_plain` gave."""
        shapes = Shapes(values["centres"], values["sizes"])
        features = Features(values["columns"], shapes, values["singles"], values["pairs"])
        return cls(features, *(values[name] for name in ("mean", "covariance", "chance", "theta")))
