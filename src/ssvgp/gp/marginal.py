"""log p(y | theta, phi) of a Gaussian process and all its gradients (A.2.1), by one factorisation.

With Kt the covariance of y, alpha = Kt^-1 y and A = alpha alpha' - Kt^-1, every derivative is

    d log p / d z = 1/2 <A, d Kt / d z>

(the printed formula lacks the 1/2). Cost n^3 for the factor and inverse, n^2 p for all inverse lengthscales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.gp.batches import CACHED
from ssvgp.gp.kernels.families import Evaluation, Kernel
from ssvgp.gp.linalg import Factor, factor, stack_of_forms
from ssvgp.records import Parameters, RowNoise

LOG_2PI = float(np.log(2.0 * np.pi))


def stack_size(n: int) -> int:
    """How many covariance matrices of n rows make a stack."""
    return max(1, CACHED // n**2)


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
    rows_noise: RowNoise | None = None,
) -> np.ndarray:
    """Kt = scale C + background gram + mean + (noise + jitter) I, or what `rows_noise` makes of the noise."""
    kt = np.multiply(sparse, parameters.scale, out=out)
    if parameters.mean:
        kt += parameters.mean
    if parameters.background and gram is not None:
        kt += parameters.background * gram
    noise = parameters.noise
    kt.flat[:: kt.shape[0] + 1] += noise + jitter if rows_noise is None else rows_noise.at(noise, jitter).variance
    return kt


def _value(chol: Factor, y: np.ndarray, square: float, log_terms: float) -> float:
    """log p from y' Kt^-1 y, and the terms that do not depend on f."""
    return -0.5 * (square + chol.log_determinant() + y.shape[0] * LOG_2PI) + log_terms


def _log_terms(rows_noise: RowNoise | None, parameters: Parameters, jitter: float) -> float:
    return 0.0 if rows_noise is None else rows_noise.at(parameters.noise, jitter).log_terms


def log_likelihood(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: RowNoise | None = None,
) -> float:
    """log p(y | theta, phi) alone, for active inputs rows (n, p). Cost n^3 / 3."""
    sparse = kernel.matrix(rows, rows, parameters.theta)
    chol = factor(covariance(sparse, parameters, gram, jitter, sparse, rows_noise), overwrite=True)
    half = chol.half_solve(y)
    return _value(chol, y, float(half @ half), _log_terms(rows_noise, parameters, jitter))


def log_likelihoods(
    sparse: np.ndarray,
    y: np.ndarray,
    each: Sequence[Parameters],
    gram: np.ndarray | None = None,
    rows_noise: RowNoise | None = None,
) -> np.ndarray:
    """log p(y | theta, phi) (g,) for a stack of sparse kernel matrices (g, n, n) with their parameters.

    Only upper triangles are read, and the stack is used up. NaN where a matrix would need repair. Many matrices to a
    call leave threads little to wait for each other. Cost g n^3 / 3.
    """
    for matrix, parameters in zip(sparse, each, strict=True):
        covariance(matrix, parameters, gram, out=matrix, rows_noise=rows_noise)
    squares, log_determinants = stack_of_forms(sparse, y)
    values: np.ndarray = -0.5 * (squares + log_determinants + y.size * LOG_2PI)
    if rows_noise is not None:
        values += [rows_noise.at(parameters.noise).log_terms for parameters in each]
    return values


def state(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    floor: float = 0.0,
    rows_noise: RowNoise | None = None,
) -> State:
    """The factored process at given parameters."""
    evaluation = kernel.evaluate(rows, parameters.theta, floor)
    chol = factor(covariance(evaluation.matrix, parameters, gram, jitter, None, rows_noise), overwrite=True)
    alpha = chol.solve(y)
    value = _value(chol, y, float(y @ alpha), _log_terms(rows_noise, parameters, jitter))
    return State(value, alpha, chol.inverse(), evaluation, chol.jitter)


def gradient(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: RowNoise | None = None,
) -> Gradient:
    """log p(y | theta, phi) with its gradient in theta and in the logs of scale, noise and background."""
    at = state(kernel, rows, y, parameters, gram, jitter, rows_noise=rows_noise)
    pull = at.pull
    theta = 0.5 * parameters.scale * at.kernel.pullback(pull)
    log_scale = 0.5 * parameters.scale * float(np.vdot(pull, at.kernel.matrix))
    if rows_noise is None:
        log_noise = 0.5 * parameters.noise * float(np.trace(pull))
    else:
        working = rows_noise.at(parameters.noise, jitter)
        log_noise = 0.5 * float(working.slope @ np.diagonal(pull)) + working.log_terms_slope
    log_background = 0.0
    if parameters.background and gram is not None:
        log_background = 0.5 * parameters.background * float(np.vdot(pull, gram))
    return Gradient(at.value, theta, log_scale, log_noise, log_background, at.jitter)
