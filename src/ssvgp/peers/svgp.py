"""The stochastic variational Gaussian process of Hensman et al. (2013), as B.3 has it.

1024 inducing points, 100 epochs over batches of 1024 rows. q(v) = N(mean, precision^-1) is over v = L^-1 u, with L L'
the covariance of the inducing points. As GPyTorch's documentation advises, q takes natural gradient steps of size 0.1
and Adam at rate 0.01 moves the kernel, the noise and the places of the inducing points. With A = L^-1 K_ub for a batch
of b rows and noise s, a natural step is a mean of old and new,

    precision <- (1 - rate) precision + rate (I + n/b A A' / s),   shift <- (1 - rate) shift + rate n/b A y / s,

where shift = precision mean. The cost of a step, m^2 b + m^3 + m (m + b) d, does not depend on n.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from linear_operator.utils.cholesky import psd_safe_cholesky

from ssvgp.peers.checkpoint import Training
from ssvgp.peers.gpytorch_parts import tensor
from ssvgp.peers.inducing import BATCH, InducingPeer, factor, slope_through_factor

LAPS = 50  # points of the curve of errors over a whole training, at most


class Variational(torch.nn.Module):
    """q(v) by its precision (m, m) and shift (m,); starts at the prior N(0, I)."""

    precision: torch.Tensor
    shift: torch.Tensor

    def __init__(self, m: int) -> None:
        super().__init__()
        self.register_buffer("precision", torch.eye(m, dtype=torch.float64))
        self.register_buffer("shift", torch.zeros(m, dtype=torch.float64))

    def factor_and_mean(self) -> tuple[torch.Tensor, torch.Tensor]:
        R = psd_safe_cholesky(self.precision)
        return R, torch.cholesky_solve(self.shift[:, None], R).squeeze(1)

    def natural_step(self, AA: torch.Tensor, Ay: torch.Tensor, s: torch.Tensor, times: float, rate: float) -> None:
        """A step from A A' (m, m) and A y (m,) of a batch that stands for `times` as many rows."""
        share = rate * times / float(s)
        self.precision.mul_(1.0 - rate).add_(AA, alpha=share)
        self.precision.diagonal().add_(rate)
        self.shift.mul_(1.0 - rate).add_(Ay, alpha=share)


class StochasticVariationalGP(InducingPeer):
    """SVGP in minibatches: natural gradients for q, Adam for everything else."""

    def __init__(
        self,
        inducing: int = 1024,
        epochs: int = 100,
        batch: int = 1024,
        learning_rate: float = 0.01,
        natural_rate: float = 0.1,
        dtype: str = "float64",
        max_seconds: float | None = None,
        checkpoint: str | Path | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(inducing, learning_rate, dtype, max_seconds, checkpoint, random_state)
        self.epochs, self.batch, self.natural_rate = epochs, batch, natural_rate

    def _identity(self) -> dict[str, Any]:
        sizes = {"svgp": self.inducing, "batch": self.batch, "dtype": self.dtype, "seed": self.random_state}
        return sizes | {"rate": self.learning_rate, "natural": self.natural_rate}

    def _parts(self) -> dict[str, Any]:
        self._q = Variational(len(self._surface.places))
        self._adam = torch.optim.Adam(self._surface.parameters(), lr=self.learning_rate, fused=True)
        return {"surface": self._surface, "q": self._q, "adam": self._adam}

    def _climb(self, inputs: torch.Tensor, target: torch.Tensor, training: Training) -> None:
        n = len(target)
        each = math.ceil(n / self.batch)
        lap = max(1, self.epochs // LAPS)
        for step in range(training.step, self.epochs * each):
            if training.over():
                return
            epoch, place = divmod(step, each)
            if place == 0 or step == training.step:
                # The order of an epoch depends on its number alone, so that a resumed run meets the same batches.
                order = torch.randperm(n, generator=torch.Generator().manual_seed(self.random_state * 100_003 + epoch))
            rows = order[place * self.batch : (place + 1) * self.batch]
            self.step(inputs[rows], target[rows], n)
            whole = place + 1 == each and (epoch + 1) % lap == 0
            training.done(step + 1, lap=epoch + 1.0 if whole else None)

    def step(self, rows: torch.Tensor, y: torch.Tensor, n: int) -> None:
        """One step of all parameters on a batch.

        The slopes are written out: with S the covariance of q(v) and r = y - A'mean, the fit below has the slope
        (A - S A + mean r') / (b s) in A, which serves K_ub and K_uu both. The divergence has none: it is over v.
        """
        self._adam.zero_grad()
        K_uu, K_ub = self._surface.among(), self._surface.across(rows)
        s, tau = self._surface.noise(), self._surface.scale()
        with torch.no_grad():
            L = factor(K_uu)
            A = torch.linalg.solve_triangular(L, K_ub.double(), upper=False)
            AA, (R, mean) = A @ A.T, self._q.factor_and_mean()
            SA, r = torch.cholesky_solve(A, R), y - A.T @ mean
            wrong = r**2 + tau + ((SA - A) * A).sum(0)
            # Slopes of the negative fit, in the precision of K from here on.
            down = SA.sub_(A).sub_(torch.outer(mean, r)).div_(len(y) * s).to(K_ub.dtype)
            low = L.to(K_ub.dtype)
            across = torch.linalg.solve_triangular(low.T, down, upper=True)
            among = slope_through_factor(low, down @ A.to(K_ub.dtype).T)
            noise = 0.5 * (1.0 / s - (wrong / s**2).mean())
            self._q.natural_step(AA, A @ y, s, n / len(y), self.natural_rate)
        torch.autograd.backward([K_ub, K_uu, s, tau], [across, among, noise, 0.5 / s.detach()])
        self._adam.step()

    def bound(self, rows: torch.Tensor, y: torch.Tensor, n: int) -> torch.Tensor:
        """The bound on log p(y) divided by n, estimated on a batch."""
        s, (R, mean) = self._surface.noise(), self._q.factor_and_mean()
        A = self._whitened(rows)
        gained = (torch.linalg.solve_triangular(R, A, upper=False) ** 2).sum(0)
        wrong = (y - A.T @ mean) ** 2 + self._surface.scale() - (A**2).sum(0) + gained
        fit = -0.5 * (torch.log(2.0 * math.pi * s) + wrong / s).mean()
        return fit - self._divergence(R, mean) / n

    @staticmethod
    def _divergence(R: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        """KL(q(v) || N(0, I))."""
        trace = torch.cholesky_inverse(R).trace()
        return 0.5 * (trace + mean @ mean - len(mean)) + R.diagonal().log().sum()

    def _whitened(self, rows: torch.Tensor) -> torch.Tensor:
        """L^-1 K_ub (m, b)."""
        L = factor(self._surface.among())
        return torch.linalg.solve_triangular(L, self._surface.across(rows).double(), upper=False)

    def _progress(self, step: int, n: int) -> dict[str, float]:
        return {"epochs": step / math.ceil(n / self.batch)}

    @torch.no_grad()
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R, mean = self._q.factor_and_mean()
        L = factor(self._surface.among())
        means, variances = [], []
        for rows in tensor(X, self.dtype).split(BATCH):
            A = torch.linalg.solve_triangular(L, self._surface.across(rows).double(), upper=False)
            gained = (torch.linalg.solve_triangular(R, A, upper=False) ** 2).sum(0)
            means.append(A.T @ mean)
            variances.append(self._surface.scale() - (A**2).sum(0) + gained + self._surface.noise())
        return torch.cat(means).numpy(), torch.cat(variances).numpy()
