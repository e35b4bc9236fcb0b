"""Forms of q(theta) for Algorithm 1, and the simplest: the point mass of the zero-temperature restriction (4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.gp.marginal import gradient, log_likelihood
from ssvgp.method.paper.scale_noise import SLOTS, ScaleNoise
from ssvgp.model.coordinates import Coordinates
from ssvgp.records import Parameters, RowNoise


@dataclass(frozen=True)
class Batch:
    """Rows (m, p) and y (m,) of a minibatch, and n / m by which its log likelihood counts (section 3.2).

    `noise` is that of the rows, None where all have the learned one.
    """

    rows: np.ndarray
    y: np.ndarray
    factor: float
    noise: RowNoise | None = None


class Family(Protocol):
    """A form of q(theta): numbers for each input, by the names of their stretches."""

    def coordinates(self, unknowns: np.ndarray) -> Coordinates:
        """What stands where in the unknowns."""
        ...

    def start(self, d: int) -> np.ndarray:
        """Unknowns of d inputs before the first step."""
        ...

    def centre(self, unknowns: np.ndarray) -> np.ndarray:
        """<theta> (p,)."""
        ...

    def spread(self, unknowns: np.ndarray) -> np.ndarray:
        """Standard deviations of theta (p,)."""
        ...

    def likelihood(
        self, kernel: Kernel, batch: Batch, unknowns: np.ndarray, jitter: float, noise: np.random.Generator
    ) -> float:
        """Estimate of <log p(y | theta)>, with the entropy of q(theta) where it has one."""
        ...

    def slope(
        self,
        kernel: Kernel,
        batch: Batch,
        unknowns: np.ndarray,
        precision: np.ndarray,
        jitter: float,
        noise: np.random.Generator,
    ) -> np.ndarray:
        """Gradient of the ELBO in the unknowns (eqs. 8, 9); precision (p,) is the pull of q(gamma)."""
        ...

    def parameters(self, theta: np.ndarray, unknowns: np.ndarray) -> Parameters:
        """The process at theta (p,) with the scale and noise that close the unknowns."""
        ...


@dataclass(frozen=True)
class PointMass:
    """q(theta) = delta_mu(theta): zero temperature."""

    form: ScaleNoise

    def coordinates(self, unknowns: np.ndarray) -> Coordinates:
        return Coordinates.of_length(unknowns.size, SLOTS)

    def start(self, d: int) -> np.ndarray:
        return np.concatenate([np.full(d, d**-0.5), self.form.start()])

    def centre(self, unknowns: np.ndarray) -> np.ndarray:
        return unknowns[self.coordinates(unknowns).theta]

    def spread(self, unknowns: np.ndarray) -> np.ndarray:
        return np.zeros(self.coordinates(unknowns).size)

    def likelihood(
        self, kernel: Kernel, batch: Batch, unknowns: np.ndarray, jitter: float, noise: np.random.Generator
    ) -> float:
        at = self.parameters(self.centre(unknowns), unknowns)
        return batch.factor * log_likelihood(kernel, batch.rows, batch.y, at, jitter=jitter, rows_noise=batch.noise)

    def slope(
        self,
        kernel: Kernel,
        batch: Batch,
        unknowns: np.ndarray,
        precision: np.ndarray,
        jitter: float,
        noise: np.random.Generator,
    ) -> np.ndarray:
        where, theta = self.coordinates(unknowns), self.centre(unknowns)
        at = self.parameters(theta, unknowns)
        g = gradient(kernel, batch.rows, batch.y, at, jitter=jitter, rows_noise=batch.noise)
        out = np.empty_like(unknowns)
        out[where.theta] = batch.factor * g.theta - precision * theta
        out[where.rest] = batch.factor * self.form.slope(unknowns[where.rest], g)
        return out

    def parameters(self, theta: np.ndarray, unknowns: np.ndarray) -> Parameters:
        return self.form.parameters(theta, unknowns[self.coordinates(unknowns).rest])
