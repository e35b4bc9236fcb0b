"""What one pass over all rows tells of every column, added up part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.data.inputs import ROUNDING, Scale


@dataclass(frozen=True, eq=False)
class Moments:
    """Of each of c columns (c,): values that are there, what these weigh together, mean, sum of squares about it, least
    and greatest; of all rows. A value weighs one unless rows have weights, by which means and squares then count.
    """

    rows: int
    count: np.ndarray
    mass: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None = None) -> Moments:
        """Those of a block of rows (t, c), NaN where a value is missing, with weights (t,) above zero. Cost t c."""
        there = ~np.isnan(values)
        count = there.sum(axis=0)
        mass = count if weights is None else weights @ there
        known, low, high = values, values, values
        if not there.all():
            known, low, high = (np.where(there, values, fill) for fill in (0.0, np.inf, -np.inf))
        mean = (known.sum(axis=0) if weights is None else weights @ known) / _safe(mass)
        away = known - mean
        if known is not values:
            away[~there] = 0.0
        square = np.einsum("ij,ij->j", away, away if weights is None else weights[:, None] * away)
        low, high = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
        return cls(len(values), count, mass, mean, square, low, high)

    @classmethod
    def none(cls, c: int) -> Moments:
        """Those of no rows."""
        zero = np.zeros(c)
        return cls(0, np.zeros(c, dtype=np.intp), zero, zero, zero, np.full(c, np.inf), np.full(c, -np.inf))

    def __add__(self, other: Moments) -> Moments:
        """Those of both: sums of squares about the common mean (Chan, Golub and LeVeque)."""
        mass = self.mass + other.mass
        share, gap = other.mass / _safe(mass), other.mean - self.mean
        square = self.square + other.square + gap**2 * self.mass * share
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        rows, count = self.rows + other.rows, self.count + other.count
        return Moments(rows, count, mass, self.mean + gap * share, square, low, high)

    def columns(self, some: slice) -> Moments:
        """Those of some of the columns."""
        each = (self.count, self.mass, self.mean, self.square, self.low, self.high)
        return Moments(self.rows, *(one[some] for one in each))

    @property
    def gaps(self) -> np.ndarray:
        """Missing values of each column (c,)."""
        return self.rows - self.count

    def scale(self) -> Scale:
        """Mean and standard deviation of each column, as `data.inputs.scale_of` has them of a table in memory."""
        half = np.maximum(self.high - self.mean, self.mean - self.low)
        constant = ~(half > ROUNDING * np.maximum(np.abs(self.low), np.abs(self.high)))
        spread = np.sqrt(self.square / _safe(self.mass))
        return Scale(self.mean, np.where(constant, 1.0, spread), constant)


def _safe(mass: np.ndarray) -> np.ndarray:
    """A divisor: one where there is nothing to divide."""
    return np.where(mass > 0, mass, 1.0)
