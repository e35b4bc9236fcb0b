"""What one pass over all rows tells of every column, added up part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.data.inputs import ROUNDING, Scale


@dataclass(frozen=True, eq=False)
class Moments:
    """Of each of c columns (c,): values that are there, mean, sum of squares about it, least and greatest; all rows."""

    rows: int
    count: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Moments:
        """Those of a block of rows (t, c), NaN where a value is missing. Cost t c."""
        there = ~np.isnan(values)
        count = there.sum(axis=0)
        safe = np.maximum(count, 1)
        if there.all():
            mean = values.sum(axis=0) / safe
            low, high = values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)
            away = values - mean
        else:
            mean = np.where(there, values, 0.0).sum(axis=0) / safe
            low, high = np.where(there, values, np.inf).min(axis=0), np.where(there, values, -np.inf).max(axis=0)
            away = np.where(there, values - mean, 0.0)
        return cls(len(values), count, mean, np.einsum("ij,ij->j", away, away), low, high)

    @classmethod
    def none(cls, c: int) -> Moments:
        """Those of no rows."""
        zero = np.zeros(c)
        return cls(0, np.zeros(c, dtype=np.intp), zero, zero, np.full(c, np.inf), np.full(c, -np.inf))

    def __add__(self, other: Moments) -> Moments:
        """Those of both: sums of squares about the common mean (Chan, Golub and LeVeque)."""
        count = self.count + other.count
        share, gap = other.count / np.maximum(count, 1), other.mean - self.mean
        square = self.square + other.square + gap**2 * self.count * share
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Moments(self.rows + other.rows, count, self.mean + gap * share, square, low, high)

    @property
    def gaps(self) -> np.ndarray:
        """Missing values of each column (c,)."""
        return self.rows - self.count

    def scale(self) -> Scale:
        """Mean and standard deviation of each column, as `data.inputs.scale_of` has them of a table in memory."""
        half = np.maximum(self.high - self.mean, self.mean - self.low)
        constant = ~(half > ROUNDING * np.maximum(np.abs(self.low), np.abs(self.high)))
        spread = np.sqrt(self.square / np.maximum(self.count, 1))
        return Scale(self.mean, np.where(constant, 1.0, spread), constant)
