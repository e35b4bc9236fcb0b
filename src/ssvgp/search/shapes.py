"""Shapes that one input may act by, whatever its units and tails: functions of its ranks, bounded and of one size.

    waves   cos(pi k u), k = 1 .. K:  rises, rises and falls, oscillates; u is the rank among the rows, between 0 and 1
    slow    for products: cos(pi u); the square of the normal score, cut at 1.4; cos(3 pi u)

Shapes are centred and have mean square one. The second slow shape has correlations of 0.8 and more with x^2, |x|, a
bump and cos(2 x) of a normal input, where the second wave has 0.74 with x^2; the first has 0.95 with x and 0.9 with a
step, the third 0.63 and 0.88 with sin(2 x) and sin(3 x). Bounded shapes make products that are alike in size, so that
hundreds of millions of them can be ranked by their sum against alpha alone (search/dictionary.py).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

CUT = 1.4  # of normal scores, before they are squared
LEAST = 0.05  # root mean square of a shape that ties leave of it, below which it is left out
SLOW = 3
KEPT = 2**22  # numbers of a table up to which its slow shapes are kept


class Shapes:
    """Shapes of the columns of a table X (n, d), made when asked for, from ranks that are worked out once.

    `keep` waves too, where other targets will ask for them and they are not too many.
    """

    def __init__(self, X: np.ndarray, waves: int, keep: bool = False) -> None:
        self.count = waves
        self._waves: dict[tuple[int, int], np.ndarray] | None = {} if keep and waves * X.size <= KEPT else None
        self._u = ((rankdata(X, axis=0) - 0.5) / X.shape[0]).astype(np.float32)
        self._slow: np.ndarray | None = None

    @property
    def d(self) -> int:
        return int(self._u.shape[1])

    def waves(self, columns: slice) -> np.ndarray:
        """(K, n, q) for q columns, by the recursion of the cosine: one cosine for all of them."""
        if self._waves is None:
            return self._made(columns)
        key = columns.indices(self.d)[:2]
        if key not in self._waves:
            self._waves[key] = self._made(columns)
        return self._waves[key]

    def _made(self, columns: slice) -> np.ndarray:
        first = np.cos(np.pi * self._u[:, columns])
        out = np.empty((self.count, *first.shape), dtype=np.float32)
        before, now = np.ones_like(first), first
        for k in range(self.count):
            out[k] = _of_size_one(now)
            before, now = now, 2.0 * first * now - before
        return out

    def slow(self, columns: np.ndarray) -> np.ndarray:
        """(3, n, q) of these columns (q,)."""
        if self._u.size > KEPT:
            return _slow(self._u[:, columns])
        if self._slow is None:
            self._slow = _slow(self._u)
        return self._slow if columns.size == self.d else self._slow[:, :, columns]


def _slow(u: np.ndarray) -> np.ndarray:
    arch = np.minimum(np.abs(ndtri(u)), CUT) ** 2
    return np.stack([_of_size_one(one) for one in (np.cos(np.pi * u), arch, np.cos(3.0 * np.pi * u))])


def _of_size_one(shape: np.ndarray) -> np.ndarray:
    """Columns centred and scaled to mean square one; zero where ties leave next to nothing."""
    centred = shape - shape.mean(0)
    size = np.sqrt((centred * centred).mean(0))
    return np.where(size > LEAST, centred / np.maximum(size, LEAST), 0.0).astype(np.float32)
