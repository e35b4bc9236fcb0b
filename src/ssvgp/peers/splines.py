"""Additive designs: a group of orthonormal cubic spline columns for every input.

Groups lie side by side and have the same width m; a column that an input cannot support (an input with two values has
one effect, not six) is zero, and the width that is left is the group's rank. Within a group the columns Z_g that are
not zero satisfy 1'Z_g = 0 and Z_g'Z_g = n I on the rows they were made from, so that the Euclidean norm of a group's
coefficients is the standard deviation of its effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.preprocessing import SplineTransformer

DEGREE = 3


class SplineBasis:
    """Raw cubic B-splines of every input, knots at quantiles, linear beyond the ends: R's `bs(x, df)`, no intercept.

    `width` columns need width - 1 knots, ends included. Inputs whose quantiles coincide get fewer knots.
    """

    def __init__(self, width: int = 6) -> None:
        if width < DEGREE:
            raise ValueError(f"width is {width}; cubic splines need at least {DEGREE} columns")
        self.width = width

    def fit(self, X: np.ndarray) -> Self:
        """Place the knots at the quantiles of the columns of X (n, p)."""
        quantiles = np.quantile(X, np.linspace(0.0, 1.0, self.width - 1), axis=0)
        gaps, spread = np.diff(quantiles, axis=0).min(axis=0), np.ptp(X, axis=0)
        self._smooth = np.flatnonzero(gaps > 1e-9 * spread)
        self._coarse = {j: self._expansion(_distinct(quantiles[:, j])) for j in np.flatnonzero(gaps <= 1e-9 * spread)}
        self._common = self._expansion(quantiles[:, self._smooth]) if self._smooth.size else None
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Columns (t, p, width) of the rows X (t, p); narrower inputs are filled up with zeros."""
        columns = np.zeros((*X.shape, self.width))
        if self._common is not None:
            smooth = self._common.transform(X[:, self._smooth])
            columns[:, self._smooth] = smooth.reshape(len(X), self._smooth.size, self.width)
        for j, expansion in self._coarse.items():
            narrow = expansion.transform(X[:, [j]])
            columns[:, j, : narrow.shape[1]] = narrow
        return columns

    def _expansion(self, knots: np.ndarray) -> SplineTransformer:
        transformer = SplineTransformer(degree=DEGREE, knots=knots, extrapolation="linear", include_bias=False)
        return transformer.fit(knots)


@dataclass(frozen=True)
class Groups:
    """Turns raw columns (t, p, m) into orthonormal ones: subtract `centre` (p, m), multiply by `turn` (p, m, m)."""

    centre: np.ndarray
    turn: np.ndarray
    ranks: np.ndarray

    @classmethod
    def fit(cls, columns: np.ndarray) -> Self:
        """Orthonormalise the groups of columns (n, p, m) by Gram and Schmidt, for all groups at once."""
        n, p, m = columns.shape
        centre = columns.mean(axis=0)
        # (p, n, m) and the same combinations of the unit matrix, which make the turn.
        work = np.moveaxis(columns - centre, 1, 0).copy()
        turn = np.broadcast_to(np.eye(m), (p, m, m)).copy()
        sizes = np.sqrt(np.einsum("pnm,pnm->pm", work, work))
        for k in range(m):
            # Twice is enough: the second pass removes what rounding left of the first.
            for _ in range(2 * (k > 0)):
                overlap = np.einsum("pnk,pn->pk", work[:, :, :k], work[:, :, k]) / n
                work[:, :, k] -= np.einsum("pnk,pk->pn", work[:, :, :k], overlap)
                turn[:, :, k] -= np.einsum("pmk,pk->pm", turn[:, :, :k], overlap)
            length = np.sqrt(np.einsum("pn,pn->p", work[:, :, k], work[:, :, k]))
            # What is left of a column that the others hold already is rounding.
            kept = length > 1e-6 * np.maximum(sizes[:, k], 1e-300)
            factor = np.where(kept, np.sqrt(n) / np.where(kept, length, 1.0), 0.0)
            work[:, :, k] *= factor[:, None]
            turn[:, :, k] *= factor[:, None]
        return cls(centre, turn, np.any(turn != 0, axis=1).sum(axis=1))

    def transform(self, columns: np.ndarray) -> np.ndarray:
        """The design (t, p m) in Fortran order, so that a group is one contiguous block."""
        turned = np.matmul(np.moveaxis(columns - self.centre, 1, 0), self.turn)
        return np.asfortranarray(np.moveaxis(turned, 0, 1).reshape(len(columns), -1))


def _distinct(quantiles: np.ndarray) -> np.ndarray:
    """Knots (k, 1) of one input without repetitions; its two ends differ because it is not constant."""
    knots = np.unique(quantiles)
    apart = np.concatenate([[True], np.diff(knots) > 1e-9 * np.ptp(knots)])
    return knots[apart][:, None]
