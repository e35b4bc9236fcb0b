"""Scores of selections, predictions and probabilities, and their summary over draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

LOG_2PI = float(np.log(2.0 * np.pi))
HIGH_IS_GOOD = frozenset({"mcc", "mcc_best", "coverage", "coverage95", "precision", "recall", "exact", "r2", "clean"})


@dataclass(frozen=True)
class Summary:
    """Moments and extremes of one score over draws; `worst` is the extreme on the bad side."""

    count: int
    mean: float
    sd: float
    median: float
    lowest: float
    highest: float
    worst: float


def mcc(selected: ArrayLike, true: ArrayLike) -> float:
    """Matthews correlation of two boolean vectors (d,), 1 where they agree and 0 where else undefined.

    Exact agreement counts as 1 even if both are empty or both full, where the ratio is 0 / 0.
    """
    chosen, truth = _booleans(selected), _booleans(true)
    if chosen.shape != truth.shape:
        raise ValueError(f"selected has shape {chosen.shape}, true has {truth.shape}; they must be equal")
    if np.array_equal(chosen, truth):
        return 1.0
    hits, rejections = float(np.sum(chosen & truth)), float(np.sum(~chosen & ~truth))
    false_alarms, misses = float(np.sum(chosen & ~truth)), float(np.sum(~chosen & truth))
    scale = (hits + false_alarms) * (hits + misses) * (rejections + false_alarms) * (rejections + misses)
    return float((hits * rejections - false_alarms * misses) / np.sqrt(scale)) if scale > 0 else 0.0


def selection_scores(selected: np.ndarray, true: np.ndarray) -> dict[str, float]:
    """MCC, and how many inputs are selected falsely and missed, of two boolean vectors (d,)."""
    return {
        "mcc": mcc(selected, true),
        "false": float((selected & ~true).sum()),
        "missed": float((~selected & true).sum()),
    }


def nmse(y: ArrayLike, mean: ArrayLike) -> float:
    """Mean squared error of the predictions (t,) divided by the variance of the test targets (t,)."""
    targets, predictions = _pair(y, mean)
    return float(np.mean((targets - predictions) ** 2) / np.var(targets))


def coverage(y: ArrayLike, lo: ArrayLike, hi: ArrayLike) -> float:
    """Share of the targets (t,) that lie in their intervals [lo, hi], both (t,)."""
    targets, lower = _pair(y, lo)
    _, upper = _pair(y, hi)
    return float(np.mean((lower <= targets) & (targets <= upper)))


def negative_log_density(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean negative log density of targets (t,) under normals with the given mean and std, each (t,)."""
    targets, centres = _pair(y, mean)
    _, scales = _pair(y, std)
    return float(np.mean(-log_normal(targets, centres, scales)))


def mixture_negative_log_density(y: ArrayLike, weights: ArrayLike, means: ArrayLike, stds: ArrayLike) -> float:
    """Mean negative log density of targets (t,) under a mixture with weights (k,), means and stds (k, t)."""
    targets = np.asarray(y, dtype=float)
    shares = np.asarray(weights, dtype=float)[:, None]
    logs = log_normal(targets[None, :], np.asarray(means, dtype=float), np.asarray(stds, dtype=float))
    return float(-np.mean(logsumexp(logs, axis=0, b=shares)))


def baseline_negative_log_density(y_train: ArrayLike, y_test: ArrayLike) -> float:
    """The negative log density of who always predicts the mean and sd of the training targets (n,)."""
    train, test = np.asarray(y_train, dtype=float), np.asarray(y_test, dtype=float)
    return float(np.mean(-log_normal(test, train.mean(), train.std(ddof=1))))


def ece(pips: ArrayLike, truths: ArrayLike, bins: int = 10) -> float:
    """Expected calibration error: gap of mean probability and share of truths over equal bins of [0, 1].

    Each bin counts with its share of the pairs; `pips` and `truths` have any one common shape.
    """
    probabilities = np.ravel(np.asarray(pips, dtype=float))
    outcomes = np.ravel(_booleans(truths)).astype(float)
    if probabilities.shape != outcomes.shape:
        raise ValueError(f"found {probabilities.size} probabilities and {outcomes.size} truths; give as many")
    if probabilities.size and (probabilities.min() < 0.0 or probabilities.max() > 1.0):
        raise ValueError("probabilities must lie between 0 and 1")
    # The value 1 belongs to the last bin, not to one of its own.
    index = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = np.bincount(index, weights=probabilities - outcomes, minlength=bins)
    return float(np.sum(np.abs(gaps)) / probabilities.size)


def summary(values: ArrayLike, better: Literal["high", "low"] = "low") -> Summary:
    """Mean, sd, median and extremes of a score (draws,); a NaN shows in the result and is never dropped."""
    scores = np.asarray(values, dtype=float)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"values has shape {scores.shape}; give a vector with at least one entry")
    lowest, highest = float(scores.min()), float(scores.max())
    return Summary(
        count=scores.size,
        mean=float(scores.mean()),
        sd=float(scores.std(ddof=1)) if scores.size > 1 else 0.0,
        median=float(np.median(scores)),
        lowest=lowest,
        highest=highest,
        worst=lowest if better == "high" else highest,
    )


def log_normal(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Log density of the normal, elementwise."""
    return -0.5 * (LOG_2PI + ((y - mean) / std) ** 2) - np.log(std)


def _booleans(values: ArrayLike) -> np.ndarray:
    """A boolean array; numbers other than 0 and 1 are refused, since they are often probabilities."""
    array = np.asarray(values)
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        raise ValueError("expected true/false values; compare probabilities with a threshold first")
    return array.astype(bool)


def _pair(y: ArrayLike, other: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two float vectors of one length; a column vector would broadcast to a matrix without a word."""
    first, second = np.asarray(y, dtype=float), np.asarray(other, dtype=float)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"found shapes {first.shape} and {second.shape}; both must be the same (t,)")
    return first, second
