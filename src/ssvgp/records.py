"""The records that travel down the line: frozen, with shapes fixed by letters.

n rows, d inputs, p active inputs, m neighbours, k members, t test rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Parameters:
    """What a member's covariance is made of, for standardised inputs and target.

    The covariance of y is scale * C(theta) + background * G + mean + noise * I: the sparse part of the paper (tau,
    theta, sigma^2 there), a dense background over all inputs (G is X X' / d or as `background_kind` says, see
    gp/background.py), the variance of an unknown constant, and noise. The paper's own method has background = mean = 0.
    """

    theta: np.ndarray  # (p,)
    scale: float
    noise: float
    background: float = 0.0
    mean: float = 0.0
    background_kind: str = "linear"


@dataclass(frozen=True, eq=False)
class Layout:
    """What backgrounds know of the columns: their sds (d,) before they were standardised, and axes (d, k).

    The axes are those of an evened background (gp/background.py), None where it is not considered.
    """

    units: np.ndarray | None = None
    axes: np.ndarray | None = None


@dataclass(frozen=True)
class Train:
    """Standardised training data: X (n, d), y (n,), and what backgrounds know of the columns of X."""

    X: Any  # an array, or a data.view.Standardised that stands for one
    y: np.ndarray
    layout: Layout | None = None

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]


@dataclass(frozen=True)
class Member:
    """One component of the mixture: a set of active inputs (p,) with the parameters of its Gaussian process.

    `inclusion` (p,) holds the probabilities that the member itself gives its active inputs: all one for a set
    that was weighed by evidence, lambda of eq. 6 for a member of the paper's method. `kernel` is a kernel object.
    """

    active: np.ndarray
    parameters: Parameters
    kernel: Any
    inclusion: np.ndarray
    layout: Layout | None = None  # for the background


@dataclass(frozen=True)
class Ensemble:
    """Members with weights (k,) that sum to one, and the marginal inclusion probabilities (d,)."""

    members: tuple[Member, ...]
    weights: np.ndarray
    pip: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Prediction:
    """Moments of every component at t rows: means, latent variances (k, t), noise and weights (k,)."""

    means: np.ndarray
    variances: np.ndarray
    noises: np.ndarray
    weights: np.ndarray

    def mean(self) -> np.ndarray:
        """Mixture mean (t,), A.4."""
        return self.weights @ self.means

    def variance(self, noise: bool = True) -> np.ndarray:
        """Mixture variance (t,) of y, or of f where `noise` is false, A.4."""
        within = self.variances + (self.noises[:, None] if noise else 0.0)
        spread = (self.means - self.mean()) ** 2
        return self.weights @ (within + spread)
