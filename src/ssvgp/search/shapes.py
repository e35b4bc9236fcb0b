"""Shapes that one input may act by, whatever its units and tails: functions of its ranks, bounded and of one size.

    waves   cos(pi k u), k = 1 .. K:  rises, rises and falls, oscillates; u is the rank among the rows, between 0 and 1
    slow    for products: cos(pi u); the square of the normal score, cut at 1.4; cos(3 pi u); then faster waves
    plain   the column as it is: what a kernel sees of it at a long lengthscale, outliers and all

Shapes are centred and have mean square one. The second slow shape has correlations of 0.8 and more with x^2, |x|, a
bump and cos(2 x) of a normal input, where the second wave has 0.74 with x^2; the first has 0.95 with x and 0.9 with a
step, the third 0.63 and 0.88 with sin(2 x) and sin(3 x). Bounded shapes make products that are alike in size, so that
hundreds of millions of them can be ranked by their sum against alpha alone (search/dictionary.py). Waves of a column
without ties are orthogonal; those of a column of few levels are made so, and zero where nothing is left: a column of
two levels has one shape, not twelve copies of it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ssvgp.settings.machine import LARGE

CUT = 1.4  # of normal scores, before they are squared
LEAST = 0.05  # root mean square of a shape that ties leave of it, below which it is left out
TIED = 0.5  # of the rows: a column of fewer levels has waves that are not orthogonal
SLOW = 3  # shapes for products that are enough for most, and with faster waves behind them
FINE = 2 * SLOW


class Shapes:
    """Shapes of the columns of a table X (n, d), made when asked for, from ranks that are worked out once."""

    def __init__(self, X: np.ndarray, waves: int) -> None:
        self.count = waves
        self._waves: dict[tuple[int, int], np.ndarray] | None = {} if waves * X.size <= LARGE else None
        self._x = X.astype(np.float32)
        self._u = ((rankdata(X, axis=0) - 0.5) / X.shape[0]).astype(np.float32)
        ordered = np.sort(self._u, axis=0)
        self._tied = (np.diff(ordered, axis=0) > 0.0).sum(0) < TIED * X.shape[0]
        self._slow: np.ndarray | None = None

    @property
    def d(self) -> int:
        return int(self._u.shape[1])

    def plain(self, columns: slice | np.ndarray) -> np.ndarray:
        """(n, q), the columns themselves."""
        return _of_size_one(self._x[:, columns])

    def waves(self, columns: slice | np.ndarray) -> np.ndarray:
        """(K, n, q) for q columns, by the recursion of the cosine: one cosine for all of them."""
        if self._waves is None or not isinstance(columns, slice):
            return self._made(columns)
        key = columns.indices(self.d)[:2]
        if key not in self._waves:
            self._waves[key] = self._made(columns)
        return self._waves[key]

    def _made(self, columns: slice | np.ndarray) -> np.ndarray:
        first = np.cos(np.pi * self._u[:, columns])
        out = np.empty((self.count, *first.shape), dtype=np.float32)
        before, now = np.ones_like(first), first
        for k in range(self.count):
            out[k] = _of_size_one(now)
            before, now = now, 2.0 * first * now - before
        if (tied := self._tied[columns]).any():
            out[:, :, tied] = _independent(out[:, :, tied])
        return out

    def slow(self, columns: np.ndarray) -> np.ndarray:
        """(FINE, n, q) of these columns (q,), the slowest first."""
        if self._u.size > LARGE:
            return _slow(self._u[:, columns])
        if self._slow is None:
            self._slow = _slow(self._u)
        return self._slow if columns.size == self.d else self._slow[:, :, columns]


def _slow(u: np.ndarray) -> np.ndarray:
    arch = np.minimum(np.abs(ndtri(u)), CUT) ** 2
    waves = [np.cos(np.pi * k * u) for k in range(SLOW, FINE + 1)]
    return np.stack([_of_size_one(one) for one in (np.cos(np.pi * u), arch, *waves)])


def _independent(waves: np.ndarray) -> np.ndarray:
    """Waves (K, n, q) less what earlier ones have of them, by Gram and Schmidt."""
    out = np.zeros_like(waves)
    for k, wave in enumerate(waves):
        rest = wave.copy()
        for earlier in out[:k]:
            rest -= (earlier * rest).mean(0) * earlier
        out[k] = _of_size_one(rest)
    return out


def _of_size_one(shape: np.ndarray) -> np.ndarray:
    """Columns centred and scaled to mean square one; zero where ties leave next to nothing."""
    centred = shape - shape.mean(0)
    size = np.sqrt((centred * centred).mean(0))
    return np.where(size > LEAST, centred / np.maximum(size, LEAST), 0.0).astype(np.float32)
