"""Selection by a threshold on inverse lengthscales, which Gaussian processes without a sparse prior need (B.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import matthews_corrcoef

# 0.1^{0, 0.5, 1, 1.5, 2}, the grid of the paper's appendix B.2.
THRESHOLDS = 0.1 ** np.array([0.0, 0.5, 1.0, 1.5, 2.0])
# The middle of that grid, fixed in advance. On standardised inputs a squared exponential effect this slow loses half a
# percent of its correlation over one standard deviation.
THRESHOLD = 0.1


@dataclass(frozen=True)
class Sweep:
    """Matthews correlation (5,) of the selections at the `thresholds` (5,) of the paper."""

    thresholds: np.ndarray
    mcc: np.ndarray

    @property
    def best_mcc(self) -> float:
        """The best case over the thresholds: the truth chose it, no user could."""
        return float(self.mcc.max())

    @property
    def best_threshold(self) -> float:
        return float(self.thresholds[np.argmax(self.mcc)])


def threshold_sweep(scores: np.ndarray, truth: np.ndarray) -> Sweep:
    """How well inverse lengthscales (d,) above each threshold of B.2 agree with the truth (d,)."""
    scores, truth = np.asarray(scores, dtype=float), np.asarray(truth, dtype=bool)
    if scores.shape != truth.shape or scores.ndim != 1:
        raise ValueError(f"scores {scores.shape} and truth {truth.shape} must be vectors of one length")
    return Sweep(THRESHOLDS, np.array([matthews_corrcoef(truth, scores > cut) for cut in THRESHOLDS]))
