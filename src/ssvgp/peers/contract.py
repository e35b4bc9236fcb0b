"""What every baseline is asked: fit, predict, rank the inputs, and say how long it took.

A baseline fills in three methods and never sees anything but standardised inputs: the base class checks the arrays,
leaves out constant columns, standardises and keeps the time. There are three kinds by what they predict: a `Peer` means
and variances of numbers, its target standardised as the paper does for all of its methods (B.1), a `ClassPeer`
probabilities of classes, a `CountPeer` means of counts.
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


@dataclass(frozen=True)
class Probabilities:
    """Probabilities (t, c) of the classes (c,) of new targets; rows sum to one, and none is zero."""

    classes: np.ndarray
    values: np.ndarray


class TablePeer(ABC):
    """A baseline that sees standardised columns. `seconds` is the time of the last fit, `notes` what it says of it."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.seconds = float("nan")
        self.notes: dict[str, Any] = {}

    def _start(self, rows: np.ndarray) -> np.ndarray:
        """Remember how the columns of the training rows (n, d) are standardised; they are given so (n, p)."""
        self._centre, scale = rows.mean(axis=0), rows.std(axis=0)
        # A column whose spread is lost in rounding holds nothing to learn from.
        self._kept = scale > 1e-12 * np.maximum(np.abs(self._centre), 1.0)
        if not self._kept.any():
            raise ValueError("every column of X is constant: there is nothing to learn from")
        self._scale = np.where(self._kept, scale, 1.0)
        self.notes = {}
        return self._standardised(rows)

    def _trained(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Train, and keep the time that it took."""
        self._true_seconds: float | None = None  # of a baseline that resumes, or that is watched, and knows better
        start = time.perf_counter()
        self._fit(X, y)
        self.seconds = time.perf_counter() - start if self._true_seconds is None else self._true_seconds
        return self

    def _new_rows(self, X: ArrayLike) -> np.ndarray:
        """New rows (t, d), checked and standardised."""
        self._check_fitted()
        rows = check_array(X, dtype=float)
        if rows.shape[1] != self._kept.size:
            raise ValueError(f"X has {rows.shape[1]} columns, the fit had {self._kept.size}")
        return self._standardised(rows)

    def relevance(self) -> Relevance:
        """The method's own ranking and selection of all d inputs; constant columns score 0."""
        self._check_fitted()
        inner = self._relevance()
        scores, selected = np.zeros(self._kept.size), np.zeros(self._kept.size, dtype=bool)
        scores[self._kept], selected[self._kept] = inner.scores, inner.selected
        return Relevance(scores, selected)

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train on standardised X (n, p) and targets (n,)."""

    @abstractmethod
    def _relevance(self) -> Relevance:
        """Scores (p,) and selection (p,) of the columns that `_fit` saw."""

    def _standardised(self, X: np.ndarray) -> np.ndarray:
        return (X[:, self._kept] - self._centre[self._kept]) / self._scale[self._kept]

    def _check_fitted(self) -> None:
        if not hasattr(self, "_kept"):
            raise RuntimeError(f"{type(self).__name__} is not fitted yet: call fit first")


class Peer(TablePeer):
    """A baseline of regression: `_fit` sees a standardised target."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X (n, d) and y (n,)."""
        rows, targets = check_X_y(X, y, dtype=float, y_numeric=True, ensure_min_samples=2)
        inner = self._start(rows)
        self._middle, self._spread = float(targets.mean()), float(targets.std()) or 1.0
        return self._trained(inner, (targets - self._middle) / self._spread)

    def predict(self, X: ArrayLike) -> Forecast:
        """Mean and variance of new targets at the rows of X (t, d)."""
        mean, variance = self._predict(self._new_rows(X))
        return Forecast(self._middle + self._spread * mean, self._spread**2 * np.maximum(variance, 1e-12))

    @abstractmethod
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (t,) and variance (t,) of standardised targets, noise included."""


class ClassPeer(TablePeer):
    """A baseline of classes: labels of any kind, which `_fit` sees as numbers 0 to c - 1."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X (n, d) and labels y (n,)."""
        rows, labels = check_X_y(X, y, dtype=float, ensure_min_samples=2)
        self.classes, codes = np.unique(labels, return_inverse=True)
        if self.classes.size < 2:
            raise ValueError(f"all {labels.size} labels are {self.classes[0]!r}: two classes are the least")
        return self._trained(self._start(rows), codes)

    def predict(self, X: ArrayLike) -> Probabilities:
        """Probabilities of the classes at the rows of X (t, d)."""
        raw = np.clip(self._predict(self._new_rows(X)), 1e-12, None)
        return Probabilities(self.classes, raw / raw.sum(axis=1, keepdims=True))

    @abstractmethod
    def _predict(self, X: np.ndarray) -> np.ndarray:
        """Probabilities (t, c), up to a factor for each row."""


class CountPeer(TablePeer):
    """A baseline of counts: whole numbers from zero up."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X (n, d) and counts y (n,)."""
        rows, counts = check_X_y(X, y, dtype=float, y_numeric=True, ensure_min_samples=2)
        if (counts < 0).any() or (counts != np.floor(counts)).any():
            raise ValueError("counts are whole numbers from zero up")
        inner = self._start(rows)
        self._trained(inner, counts)
        mean = np.maximum(self._predict(inner), 1e-9)
        # quasi-Poisson: Pearson's ratio, which a Poisson has at one
        self._dispersion = max(float(np.mean((counts - mean) ** 2 / mean)), 1.0)
        return self

    def predict(self, X: ArrayLike) -> Forecast:
        """Mean and variance of new counts at the rows of X (t, d)."""
        mean = np.maximum(self._predict(self._new_rows(X)), 1e-9)
        return Forecast(mean, self._dispersion * mean)

    @abstractmethod
    def _predict(self, X: np.ndarray) -> np.ndarray:
        """Means (t,) of counts."""


def shares(gains: np.ndarray) -> Relevance:
    """Gains (p,) as shares; selected are those above an equal share, 1 / p: a rule of thumb for trees."""
    parts = np.asarray(gains, dtype=float) / max(float(np.sum(gains)), 1e-300)
    return Relevance(parts, parts > 1.0 / parts.size)
