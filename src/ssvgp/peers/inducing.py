"""What SGP and SVGP share: GPyTorch's parameters of kernel and noise, inducing points, and their training.

The parameters, their constraints and their starts are GPyTorch's, as in the paper; the algebra of both bounds is
written out here. GPyTorch would need the whole table of rows by inducing points several times over (40 GB at 10^6
rows) and the kernel of inducing points and batch in one square. Products over the inputs are in `dtype`, everything
that is factored in double precision, as GPyTorch has it.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from linear_operator.utils.cholesky import psd_safe_cholesky

from ssvgp.peers.checkpoint import Training, fingerprint
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.gpytorch_parts import inverse_lengthscales, paper_kernel, paper_likelihood, tensor

JITTER = {"float32": 1e-4, "float64": 1e-6}  # GPyTorch's own, on the diagonal of inducing points by inducing points
TEST_ROWS = 2000  # whose error is watched
BATCH = 4096  # rows to a batch of predictions


class _Covariance(torch.autograd.Function):
    """K = tau exp(-|theta (z - x)|^2 / 2) between places z (m, d) and rows x (r, d); only the rows have no slope.

    `sides` is 2 where the rows are the places themselves and the slope in K is symmetric: both sides move then.
    With W = slope in K * K, all slopes follow from the one product W x: autograd would form two and several tables of
    the size of the rows, which at 10^4 inputs is most of a step. For the same reason theta goes with one side only,
    and the squares of either are formed once.
    """

    @staticmethod
    def forward(
        ctx: Any, places: torch.Tensor, rows: torch.Tensor, theta: torch.Tensor, tau: torch.Tensor, sides: int
    ) -> torch.Tensor:
        weights, zz = theta * theta, places * places
        xx = zz if sides == 2 else rows * rows
        # Column by column in memory, as the triangular solver wants it: else it would turn K around each time.
        squares = torch.addmm(zz @ weights + (xx @ weights)[:, None], rows, (places * weights).T, alpha=-2.0)
        K = squares.clamp_min_(0.0).mul_(-0.5).exp_().mul_(tau).T
        ctx.save_for_backward(places, rows, theta, tau, K, zz, xx)
        ctx.sides = sides
        return K

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        places, rows, theta, tau, K, zz, xx = ctx.saved_tensors
        W = slope * K
        a, b, Wx = W.sum(1), W.sum(0), W @ rows
        # sum_ir W_ir (z_ij - x_rj)^2, expanded
        spread = a @ zz + b @ xx - 2.0 * (places * Wx).sum(0)
        moved = Wx.addcmul_(a[:, None], places, value=-1.0).mul_(ctx.sides * theta**2)
        return moved, None, -theta * spread, W.sum() / tau, None


class Surface(torch.nn.Module):
    """tau exp(-|theta (x - x')|^2 / 2), noise, and inducing points (m, d)."""

    def __init__(self, places: torch.Tensor) -> None:
        super().__init__()
        self.kernel = paper_kernel(places.shape[1]).to(places)
        self.likelihood = paper_likelihood().to(places)
        self.places = torch.nn.Parameter(places)

    def noise(self) -> torch.Tensor:
        return self.likelihood.noise.double().squeeze()

    def scale(self) -> torch.Tensor:
        return self.kernel.outputscale.double()

    def among(self) -> torch.Tensor:
        """Covariance (m, m) of the inducing points; a slope in it must be symmetric."""
        return self._covariance(self.places.detach(), sides=2)

    def across(self, rows: torch.Tensor) -> torch.Tensor:
        """Covariance (m, r) between inducing points and rows (r, d). Cost m r d."""
        return self._covariance(rows, sides=1)

    def _covariance(self, rows: torch.Tensor, sides: int) -> torch.Tensor:
        theta = 1.0 / self.kernel.base_kernel.lengthscale.squeeze(0)
        return _Covariance.apply(self.places, rows, theta, self.kernel.outputscale, sides)


def factor(K: torch.Tensor) -> torch.Tensor:
    """Factor (m, m) in double precision of a covariance of inducing points, with the jitter of its own precision."""
    jitter = JITTER[str(K.dtype).removeprefix("torch.")]
    both = (0.5 * (K + K.T)).double()
    both.diagonal().add_(jitter)
    return psd_safe_cholesky(both)


def slope_through_factor(L: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    """The slope (m, m) in K = L L' of what depends on it by A = L^-1 B alone, from `inner` = (slope in A) A'.

    The slope in L is -tril(L^-T inner), and tril(L' tril(M)) = tril(L' M): so no product with L is left of the usual
    formula, L^-T Phi(L' slope) L^-1 with Phi the lower half, its diagonal halved. Symmetric.
    """
    half = inner.tril()
    half.diagonal().mul_(0.5)
    left = torch.linalg.solve_triangular(L.T, half, upper=True)
    both = torch.linalg.solve_triangular(L.T, left.T, upper=True)
    return -0.5 * (both + both.T)


class InducingPeer(Peer):
    """A process by inducing points that may train for hours, see `checkpoint.Training`.

    `monitor`, test rows and their targets, may be set before a fit: the curve of the error is then in the notes.
    Nothing is selected: every input moves the predictions, as the paper's "variables used" counts them (B.4).
    """

    monitor: tuple[np.ndarray, np.ndarray] | None = None

    def __init__(
        self,
        inducing: int,
        learning_rate: float,
        dtype: str,
        max_seconds: float | None,
        checkpoint: str | Path | None,
        random_state: int,
    ) -> None:
        super().__init__(random_state)
        self.inducing, self.learning_rate, self.dtype = inducing, learning_rate, dtype
        self.max_seconds, self.checkpoint = max_seconds, checkpoint

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        inputs, target = tensor(X, self.dtype), tensor(y, "float64")
        generator = torch.Generator().manual_seed(self.random_state)
        chosen = torch.randperm(len(y), generator=generator)[: self.inducing]
        self._surface = Surface(inputs[chosen].clone())
        identity = fingerprint(self._identity(), X, y)
        watch = None if self.monitor is None else self._error
        training = Training(self._parts(), self.checkpoint, identity, self.max_seconds, watch)
        self._climb(inputs, target, training)
        training.save()
        self.notes = {**self._progress(training.step, len(y)), "inducing": len(chosen)}
        if training.curve:
            self.notes["curve"] = [list(point) for point in training.curve]
        self._true_seconds = training.seconds

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """The settings that shape the training, without those that only end it."""

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """Everything that changes in training: modules and optimisers."""

    @abstractmethod
    def _climb(self, inputs: torch.Tensor, target: torch.Tensor, training: Training) -> None:
        """Train from `training.step` on."""

    @abstractmethod
    def _progress(self, step: int, n: int) -> dict[str, float]:
        """What so many steps are, for the notes."""

    def _error(self) -> float:
        """Normalised error of the test rows at the state reached."""
        assert self.monitor is not None
        rows, y = self.monitor
        few = np.linspace(0, len(y) - 1, min(len(y), TEST_ROWS)).astype(int)
        wrong = self.predict(rows[few]).mean - y[few]
        return float(np.mean(wrong**2) / np.var(y[few]))

    def _relevance(self) -> Relevance:
        scores = inverse_lengthscales(self._surface.kernel)
        return Relevance(scores, np.ones(scores.size, dtype=bool))
