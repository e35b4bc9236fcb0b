"""log p(y | theta, phi) of a Gaussian process and all its gradients (A.2.1), by one factorisation.

With Kt the covariance of y, alpha = Kt^-1 y and A = alpha alpha' - Kt^-1, every derivative is

    d log p / d z = 1/2 <A, d Kt / d z>

(the printed formula lacks the 1/2). Cost n^3 for the factor and inverse, n^2 p for all inverse lengthscales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.gp.kernels.families import Evaluation, Kernel
from ssvgp.gp.linalg import Factor, factor, stack_of_forms
from ssvgp.records import Parameters

LOG_2PI = float(np.log(2.0 * np.pi))
STACKED = 2**18  # numbers in a stack of covariance matrices: what fits a cache


def stack_size(n: int) -> int:
    """How many covariance matrices of n rows make a stack."""
    return max(1, STACKED // n**2)


@dataclass(frozen=True)
class Gradient:
    """Value of log p and its derivatives in theta (p,) and in the logs of scale, noise and background."""

    value: float
    theta: np.ndarray
    log_scale: float
    log_noise: float
    log_background: float
    jitter: float


@dataclass(frozen=True)
class State:
    """What later stages ask of a fitted process: alpha (n,), Kt^-1 (n, n), the sparse kernel and log p."""

    value: float
    alpha: np.ndarray
    precision: np.ndarray
    kernel: Evaluation
    jitter: float

    @property
    def pull(self) -> np.ndarray:
        """A = alpha alpha' - Kt^-1 (n, n)."""
        pull = np.outer(self.alpha, self.alpha)
        pull -= self.precision
        return pull


def covariance(
    sparse: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None,
    jitter: float = 0.0,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Kt = scale C + background gram + mean + (noise + jitter) I, where gram = X X' / d over all inputs."""
    kt = np.multiply(sparse, parameters.scale, out=out)
    if parameters.mean:
        kt += parameters.mean
    if parameters.background and gram is not None:
        kt += parameters.background * gram
    kt.flat[:: kt.shape[0] + 1] += parameters.noise + jitter
    return kt


def _value(chol: Factor, y: np.ndarray, alpha: np.ndarray) -> float:
    return -0.5 * (float(y @ alpha) + chol.log_determinant() + y.shape[0] * LOG_2PI)


def log_likelihood(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
) -> float:
    """log p(y | theta, phi) alone, for active inputs rows (n, p). Cost n^3 / 3."""
    sparse = kernel.matrix(rows, rows, parameters.theta)
    chol = factor(covariance(sparse, parameters, gram, jitter, out=sparse), overwrite=True)
    half = chol.half_solve(y)
    return -0.5 * (float(half @ half) + chol.log_determinant() + y.shape[0] * LOG_2PI)


def log_likelihoods(
    sparse: np.ndarray, y: np.ndarray, each: Sequence[Parameters], gram: np.ndarray | None = None
) -> np.ndarray:
    """log p(y | theta, phi) (g,) for a stack of sparse kernel matrices (g, n, n) with their parameters.

    Only upper triangles are read, and the stack is used up. NaN where a matrix would need repair. Many matrices to a
    call leave threads little to wait for each other. Cost g n^3 / 3.
    """
    for matrix, parameters in zip(sparse, each, strict=True):
        covariance(matrix, parameters, gram, out=matrix)
    squares, log_determinants = stack_of_forms(sparse, y)
    return -0.5 * (squares + log_determinants + y.size * LOG_2PI)


def state(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    floor: float = 0.0,
) -> State:
    """The factored process at given parameters."""
    evaluation = kernel.evaluate(rows, parameters.theta, floor)
    chol = factor(covariance(evaluation.matrix, parameters, gram, jitter), overwrite=True)
    alpha = chol.solve(y)
    return State(_value(chol, y, alpha), alpha, chol.inverse(), evaluation, chol.jitter)


def gradient(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
) -> Gradient:
    """log p(y | theta, phi) with its gradient in theta and in the logs of scale, noise and background."""
    at = state(kernel, rows, y, parameters, gram, jitter)
    pull = at.pull
    theta = 0.5 * parameters.scale * at.kernel.pullback(pull)
    log_scale = 0.5 * parameters.scale * float(np.vdot(pull, at.kernel.matrix))
    log_noise = 0.5 * parameters.noise * float(np.trace(pull))
    log_background = 0.0
    if parameters.background and gram is not None:
        log_background = 0.5 * parameters.background * float(np.vdot(pull, gram))
    return Gradient(at.value, theta, log_scale, log_noise, log_background, at.jitter)
