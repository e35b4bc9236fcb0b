"""The mean-field Gaussian form of q(theta) for Algorithm 1, and draws from it for prediction (eq. 11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.gp.marginal import gradient, log_likelihood
from ssvgp.method.paper import spike_slab
from ssvgp.method.paper.acavi import Fit
from ssvgp.method.paper.pointmass import Batch
from ssvgp.method.paper.scale_noise import SLOTS, ScaleNoise
from ssvgp.model.coordinates import Coordinates
from ssvgp.records import Member, Parameters


@dataclass(frozen=True)
class MeanField:
    """q(theta) = N(mu, diag(sigma^2)) with S = `samples` draws behind each gradient.

    The unknowns are mu (p,), log sigma (p,), and two for scale and noise. theta = mu + sigma * epsilon with
    epsilon standard normal, so that the gradient passes through the draw (A.2.1). A pruned input leaves
    q(theta), and with it the entropy.
    """

    form: ScaleNoise
    samples: int = 1
    initial_sd: float = 2e-3

    def coordinates(self, unknowns: np.ndarray) -> Coordinates:
        return Coordinates.of_length(unknowns.size, SLOTS, ("theta", "log_sd"))

    def start(self, d: int) -> np.ndarray:
        return np.concatenate([np.full(d, d**-0.5), np.full(d, np.log(self.initial_sd)), self.form.start()])

    def centre(self, unknowns: np.ndarray) -> np.ndarray:
        return unknowns[self.coordinates(unknowns).theta]

    def spread(self, unknowns: np.ndarray) -> np.ndarray:
        return np.exp(self._log_sd(unknowns))

    def _log_sd(self, unknowns: np.ndarray) -> np.ndarray:
        return unknowns[self.coordinates(unknowns).stretch("log_sd")]

    def likelihood(
        self, kernel: Kernel, batch: Batch, unknowns: np.ndarray, jitter: float, noise: np.random.Generator
    ) -> float:
        mu, sd = self.centre(unknowns), self.spread(unknowns)
        total = 0.0
        for epsilon in noise.standard_normal((self.samples, mu.size)):
            at = self.parameters(mu + sd * epsilon, unknowns)
            total += log_likelihood(kernel, batch.rows, batch.y, at, jitter=jitter, rows_noise=batch.noise)
        return batch.factor * total / self.samples + spike_slab.gaussian_entropy(self._log_sd(unknowns))

    def slope(
        self,
        kernel: Kernel,
        batch: Batch,
        unknowns: np.ndarray,
        precision: np.ndarray,
        jitter: float,
        noise: np.random.Generator,
    ) -> np.ndarray:
        mu, sd = self.centre(unknowns), self.spread(unknowns)
        where, out = self.coordinates(unknowns), np.zeros_like(unknowns)
        theta, log_sd = where.theta, where.stretch("log_sd")
        for epsilon in noise.standard_normal((self.samples, mu.size)):
            at = self.parameters(mu + sd * epsilon, unknowns)
            g = gradient(kernel, batch.rows, batch.y, at, jitter=jitter, rows_noise=batch.noise)
            out[theta] += g.theta
            out[log_sd] += g.theta * epsilon * sd
            out[where.rest] += self.form.slope(unknowns[where.rest], g)
        out *= batch.factor / self.samples
        out[theta] -= precision * mu
        out[log_sd] += 1.0 - precision * sd**2  # 1: the entropy of q(theta) is the sum of the log sd
        return out

    def parameters(self, theta: np.ndarray, unknowns: np.ndarray) -> Parameters:
        return self.form.parameters(theta, unknowns[self.coordinates(unknowns).rest])


def draw_members(fit: Fit, kernel: Kernel, count: int, rng: np.random.Generator) -> tuple[Member, ...]:
    """S* = `count` members with theta drawn from q(theta), to be mixed with equal weights (eq. 11)."""
    epsilon = rng.standard_normal((count, fit.active.size))
    return tuple(
        Member(fit.active, replace(fit.parameters, theta=theta), kernel, fit.inclusion[fit.active])
        for theta in fit.theta + fit.sd * epsilon
    )
