"""Gaussian noise whose variance is learned, with weights and known variances of rows.

A row of weight w is the row w times: w copies under the variance c = noise + known each are one row under c / w, and

    log p(w copies | f) = log N(y; f, c / w) - (w - 1) / 2 log(2 pi c) - 1/2 log w,

for whole weights exactly, and by the same formula for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.records import Working


@dataclass(frozen=True, eq=False)
class GaussianNoise:
    """Noise of variance (noise + known_i) / w_i in row i: weights w and known variances (n,)."""

    weights: np.ndarray
    known: np.ndarray

    def at(self, noise: float, jitter: float = 0.0) -> Working:
        copy = noise + jitter + self.known
        spare = self.weights - 1.0
        terms = -0.5 * float((spare * np.log(2.0 * np.pi * copy)).sum() + np.log(self.weights).sum())
        slope = -0.5 * float((spare * noise / copy).sum())
        return Working(copy / self.weights, noise / self.weights, terms, slope)

    def copy_variance(self, noise: float) -> np.ndarray:
        return noise + self.known

    def rows(self, some: np.ndarray) -> GaussianNoise:
        return GaussianNoise(self.weights[some], self.known[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "known": self.known}
