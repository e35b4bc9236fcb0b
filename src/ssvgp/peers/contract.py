"""What every baseline is asked: fit, predict a mean and a variance, rank the inputs, and say how long it took.

A baseline is a `Peer` that fills in three methods and never sees anything but standardised numbers: the base class
checks the arrays, leaves out constant columns, standardises inputs and target as the paper does for all of its methods
(B.1), undoes it at the end and keeps the time.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_X_y


class MissingPeer(ImportError):
    """The library that a baseline needs is not installed; the message names the command that installs it."""


@dataclass(frozen=True)
class Forecast:
    """Predictive moments of new targets, noise included: mean (t,) and variance (t,), in the units of y."""

    mean: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True)
class Relevance:
    """Scores (d,), the larger the more an input matters, and which inputs (d,) the method itself keeps."""

    scores: np.ndarray
    selected: np.ndarray


class Peer(ABC):
    """A baseline under the common contract. `seconds` is the time of the last fit, `notes` what it has to say of it."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.seconds = float("nan")
        self.notes: dict[str, Any] = {}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X (n, d) and y (n,)."""
        rows, targets = check_X_y(X, y, dtype=float, y_numeric=True, ensure_min_samples=2)
        self._centre, scale = rows.mean(axis=0), rows.std(axis=0)
        # A column whose spread is lost in rounding holds nothing to learn from.
        self._kept = scale > 1e-12 * np.maximum(np.abs(self._centre), 1.0)
        if not self._kept.any():
            raise ValueError("every column of X is constant: there is nothing to learn from")
        self._scale = np.where(self._kept, scale, 1.0)
        self._middle, self._spread = float(targets.mean()), float(targets.std()) or 1.0
        self.notes = {}
        self._true_seconds: float | None = None  # of a baseline that resumes, or that is watched, and knows better
        start = time.perf_counter()
        self._fit(self._standardised(rows), (targets - self._middle) / self._spread)
        self.seconds = time.perf_counter() - start if self._true_seconds is None else self._true_seconds
        return self

    def predict(self, X: ArrayLike) -> Forecast:
        """Mean and variance of new targets at the rows of X (t, d)."""
        self._check_fitted()
        rows = check_array(X, dtype=float)
        if rows.shape[1] != self._kept.size:
            raise ValueError(f"X has {rows.shape[1]} columns, the fit had {self._kept.size}")
        mean, variance = self._predict(self._standardised(rows))
        return Forecast(self._middle + self._spread * mean, self._spread**2 * np.maximum(variance, 1e-12))

    def relevance(self) -> Relevance:
        """The method's own ranking and selection of all d inputs; constant columns score 0."""
        self._check_fitted()
        inner = self._relevance()
        scores, selected = np.zeros(self._kept.size), np.zeros(self._kept.size, dtype=bool)
        scores[self._kept], selected[self._kept] = inner.scores, inner.selected
        return Relevance(scores, selected)

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train on standardised X (n, p) and y (n,)."""

    @abstractmethod
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (t,) and variance (t,) of standardised targets, noise included."""

    @abstractmethod
    def _relevance(self) -> Relevance:
        """Scores (p,) and selection (p,) of the columns that `_fit` saw."""

    def _standardised(self, X: np.ndarray) -> np.ndarray:
        return (X[:, self._kept] - self._centre[self._kept]) / self._scale[self._kept]

    def _check_fitted(self) -> None:
        if not hasattr(self, "_kept"):
            raise RuntimeError(f"{type(self).__name__} is not fitted yet: call fit first")
