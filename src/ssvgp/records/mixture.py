"""The data of a fit, the members of its mixture, and what these predict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ssvgp.records.likelihood import Likelihood, Parameters, Response


@dataclass(frozen=True)
class Train:
    """Standardised training data: X (n, d), y (n,), and the noise of rows; None where all have the learned one.

    `memo` keeps what depends on X alone, where there are other targets; None where there is one.
    """

    X: Any  # an array, or a data.view.Standardised that stands for one
    y: np.ndarray
    noise: Likelihood | None = None
    memo: Any = field(default=None, repr=False, compare=False)  # a run.memo.Memo

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def count(self) -> float:
        """How many rows these stand for: the sum of their weights."""
        return self.n if self.noise is None else float(self.noise.weights.sum())

    def rows(self, some: np.ndarray) -> Train:
        """Some of the rows (r,)."""
        return Train(self.X[some], self.y[some], None if self.noise is None else self.noise.rows(some))

    def columns(self, some: np.ndarray) -> Train:
        """Some of the inputs (q,) alone."""
        return replace(self, X=np.ascontiguousarray(self.X[:, some]))


@dataclass(frozen=True)
class Member:
    """One component of the mixture: a set of active inputs (p,) with the parameters of its Gaussian process.

    `inclusion` (p,) holds the probabilities that the member itself gives its active inputs: all one for a set
    that was weighed by evidence, lambda of eq. 6 for a member of the paper's method. `kernel` is a kernel object,
    `background` a term over all inputs (gp/terms.py) or None: its strength is among the parameters.
    """

    active: np.ndarray
    parameters: Parameters
    kernel: Any
    inclusion: np.ndarray
    background: Any = None


@dataclass(frozen=True)
class Ensemble:
    """Members with weights (k,) that sum to one, and the marginal inclusion probabilities (d,).

    `weak` is the part of f that only all rows together show (gp/weak.py), common to all members, None where there is
    none: they are then conditioned on y less its mean.
    """

    members: tuple[Member, ...]
    weights: np.ndarray
    pip: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)
    weak: Any = None


@dataclass(frozen=True)
class Prediction:
    """Moments of every component at t rows: means, latent variances (k, t), noise and weights (k,).

    `response` says what y is given f; None for Gaussian noise of these variances.
    """

    means: np.ndarray
    variances: np.ndarray
    noises: np.ndarray
    weights: np.ndarray
    response: Response | None = None

    def mean(self) -> np.ndarray:
        """Mixture mean (t,) of f, A.4: that of y too, unless there is a response."""
        return self.weights @ self.means

    def variance(self, noise: bool = True) -> np.ndarray:
        """Mixture variance (t,) of y, or of f where `noise` is false, A.4."""
        within = self.variances + (self.noises[:, None] if noise else 0.0)
        spread = (self.means - self.mean()) ** 2
        return self.weights @ (within + spread)
