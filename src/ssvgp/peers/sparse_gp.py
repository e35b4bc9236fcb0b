"""The sparse Gaussian process of Titsias (2009): 512 inducing points, 100 steps of Adam at rate 0.1 (B.3).

With L L' the covariance of the inducing points and A = L^-1 K_uf (m, n) over the rows, the collapsed bound

    log N(y; 0, A'A + s I) - tr(K_ff - A'A) / 2s,   s the noise,

depends on the rows through P = A A' and r = A y alone. So a step is two passes over chunks of rows: one sums P and r;
then the slopes of the bound in P and r, G and g, give 2 G A + g y' as the slope in A, and the second pass carries it
on to the parameters. Exact, in memory that does not grow with n. Cost of a step n m (m + d).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from linear_operator.utils.cholesky import psd_safe_cholesky

from ssvgp.peers.checkpoint import Training
from ssvgp.peers.gpytorch_parts import tensor
from ssvgp.peers.inducing import BATCH, InducingPeer, factor, slope_through_factor

CHUNK = 1 << 20  # numbers of K_uf at a time


class SparseGP(InducingPeer):
    """SGP: the collapsed bound of Titsias over kernel, noise and the places of the inducing points."""

    def __init__(
        self,
        inducing: int = 512,
        iterations: int = 100,
        learning_rate: float = 0.1,
        dtype: str = "float64",
        max_seconds: float | None = None,
        checkpoint: str | Path | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(inducing, learning_rate, dtype, max_seconds, checkpoint, random_state)
        self.iterations = iterations
        self._sums: tuple[torch.Tensor, torch.Tensor] | None = None
        self._weights: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def _identity(self) -> dict[str, Any]:
        return {"sgp": self.inducing, "rate": self.learning_rate, "dtype": self.dtype, "seed": self.random_state}

    def _parts(self) -> dict[str, Any]:
        self._adam = torch.optim.Adam(self._surface.parameters(), lr=self.learning_rate)
        return {"surface": self._surface, "adam": self._adam}

    def _climb(self, inputs: torch.Tensor, target: torch.Tensor, training: Training) -> None:
        # The sums over all rows at the state reached serve the next step and whoever watches the error on the way.
        self._arrive(inputs, target)
        for step in range(training.step, self.iterations):
            if training.over():
                break
            self._adam.zero_grad()
            self.slopes(inputs, target, self._sums)
            self._adam.step()
            self._arrive(inputs, target)
            training.done(step + 1, lap=step + 1.0)

    def _arrive(self, inputs: torch.Tensor, target: torch.Tensor) -> None:
        self._sums = self._sums_over(factor(self._surface.among().detach()), inputs, target)
        self._weights = None

    def _progress(self, step: int, n: int) -> dict[str, float]:
        return {"iterations": step, "rows": n}

    def slopes(
        self, inputs: torch.Tensor, target: torch.Tensor, sums: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> float:
        """The bound of all rows divided by n; its negative slope is added to the gradients of the parameters.

        `sums` are those of `_sums_over` at these parameters, where they are known.
        """
        K_uu = self._surface.among()
        L = factor(K_uu.detach())
        P, r = (part.clone().requires_grad_() for part in sums or self._sums_over(L, inputs, target))
        loss = -self._bound(P, r, float(target @ target), len(target)) / len(target)
        loss.backward()
        with torch.no_grad():
            G, g = P.grad + P.grad.T, r.grad
            K_uu.backward(slope_through_factor(L, G @ P + torch.outer(g, r)).to(K_uu.dtype))
            # L^-T (G L^-1 K + g y') as one product with K
            left = torch.linalg.solve_triangular(L.T, G, upper=True)
            G = torch.linalg.solve_triangular(L, left, upper=False, left=False).to(K_uu.dtype)
            g = torch.linalg.solve_triangular(L.T, g[:, None], upper=True).squeeze(1).to(K_uu.dtype)
        for rows, y in self._chunks(inputs, target):
            K = self._surface.across(rows)
            K.backward(torch.addmm(y.to(K.dtype)[:, None] * g, K.detach().T, G).T)  # G is symmetric
        return -float(loss.detach())

    def _bound(self, P: torch.Tensor, r: torch.Tensor, yy: float, n: int) -> torch.Tensor:
        s, tau = self._surface.noise(), self._surface.scale()
        B = psd_safe_cholesky(torch.eye(len(P), dtype=P.dtype) + P / s)
        mean = torch.linalg.solve_triangular(B, r[:, None], upper=False) / s
        trace = (n * tau - P.trace()) / s
        return (
            -0.5 * (n * torch.log(2.0 * math.pi * s) + 2.0 * B.diagonal().log().sum() + yy / s + trace)
            + 0.5 * (mean**2).sum()
        )

    @torch.no_grad()
    def _sums_over(
        self, L: torch.Tensor, inputs: torch.Tensor, target: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """A A' (m, m) and A y (m,) of all rows: each chunk in the precision of the inputs, their sum in double."""
        P, r, low = torch.zeros_like(L), L.new_zeros(len(L)), L.to(inputs.dtype)
        for rows, y in self._chunks(inputs, target):
            A = torch.linalg.solve_triangular(low, self._surface.across(rows), upper=False)
            P += A @ A.T
            r += A @ y.to(A.dtype)
        return P, r

    def _chunks(self, inputs: torch.Tensor, target: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        size = max(1, CHUNK // len(self._surface.places))
        return zip(inputs.split(size), target.split(size), strict=True)

    @torch.no_grad()
    def _solved(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Factors L of K_uu and B of I + P / s, and the mean (m,) of L^-1 u."""
        if self._weights is None:
            s, L = self._surface.noise(), factor(self._surface.among())
            assert self._sums is not None, "nothing was trained yet"
            P, r = self._sums
            B = psd_safe_cholesky(torch.eye(len(L), dtype=L.dtype) + P / s)
            self._weights = (L, B, torch.cholesky_solve(r[:, None] / s, B).squeeze(1))
        return self._weights

    @torch.no_grad()
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        L, B, u = self._solved()
        means, variances = [], []
        for rows in tensor(X, self.dtype).split(BATCH):
            A = torch.linalg.solve_triangular(L, self._surface.across(rows).double(), upper=False)
            left = (A**2).sum(0) - (torch.linalg.solve_triangular(B, A, upper=False) ** 2).sum(0)
            means.append(A.T @ u)
            variances.append(self._surface.scale() - left + self._surface.noise())
        return torch.cat(means).numpy(), torch.cat(variances).numpy()
