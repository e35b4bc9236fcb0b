"""log p(y | theta, phi) of a Gaussian process and all its gradients (A.2.1), by one factorisation.

With Kt the covariance of y, alpha = Kt^-1 y and A = alpha alpha' - Kt^-1, every derivative is

    d log p / d z = 1/2 <A, d Kt / d z>

(the printed formula lacks the 1/2). Cost n^3 for the factor and inverse, n^2 p for all inverse lengthscales.

Where the likelihood is not Gaussian, sites (gp/sites.py) take the place of y and its noise, log p is an approximation,
and A has the implicit part of its gradient too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ssvgp.gp.kernels.families import Evaluation, Kernel
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.sites import Settled, Worth, as_settled
from ssvgp.records import Likelihood, Parameters, Settling, Sites, has_sites, row_noise

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Information:
    """Curvature of log p in theta (p,) and the logs of scale, noise and background (p + 3, p + 3), of so many rows.

    `square` is y' Kt^-1 y, about the number of rows, copies counted, where the process fits them (gp/information.py).
    """

    forms: np.ndarray
    square: float
    rows: float


@dataclass(frozen=True)
class Gradient:
    """Value of log p and its derivatives in theta (p,) and in the logs of scale, noise, background and freedom.

    `sites` (n,) is the state that those of a relative may start from, None under Gaussian noise; `information` is there
    where it was asked for and the kernel knows it.
    """

    value: float
    theta: np.ndarray
    log_scale: float
    log_noise: float
    log_background: float
    jitter: float
    log_freedom: float = 0.0
    sites: np.ndarray | None = None
    information: Information | None = None


@dataclass(frozen=True)
class State:
    """What later stages ask of a fitted process: alpha (n,), Kt^-1 (n, n), the sparse kernel and log p.

    `settled` are the sites of a likelihood that is not Gaussian.
    """

    value: float
    alpha: np.ndarray
    factor: Factor
    kernel: Evaluation
    settled: Settled | None = None

    @cached_property
    def precision(self) -> np.ndarray:
        """Kt^-1 (n, n), worked out where it is asked for: it costs twice the factor."""
        known = None if self.settled is None else self.settled.precision
        return self.factor.inverse() if known is None else known

    @property
    def precisions(self) -> np.ndarray:
        """The diagonal (n,) of Kt^-1, at half the cost of the whole where that is not known."""
        if self.settled is not None or "precision" in self.__dict__:
            return np.diagonal(self.precision)
        return self.factor.inverse_diagonal()

    @property
    def side(self) -> np.ndarray:
        """alpha + 2 b (n,), where b is how sites move with the parameters: <A + Kt^-1, M> = (alpha + 2 b)' M alpha."""
        bend = None if self.settled is None else self.settled.bend
        return self.alpha if bend is None else self.alpha + 2.0 * bend

    @property
    def pull(self) -> np.ndarray:
        """A = alpha alpha' - Kt^-1 (n, n), and b alpha' + alpha b' where sites move with the parameters."""
        pull = np.outer(self.alpha, self.alpha)
        pull -= self.precision
        if self.settled is not None and self.settled.bend is not None:
            bent = np.outer(self.settled.bend, self.alpha)
            pull += bent
            pull += bent.T
        return pull


def of_process(
    sparse: np.ndarray, parameters: Parameters, gram: np.ndarray | None, out: np.ndarray | None = None
) -> np.ndarray:
    """K = scale C + background gram + mean, the covariance of f."""
    kt = np.multiply(sparse, parameters.scale, out=out)
    if parameters.mean:
        kt += parameters.mean
    if parameters.background and gram is not None:
        kt += parameters.background * gram
    return kt


def settled(
    sites: Sites,
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> Settled:
    """The sites at given parameters, for active inputs rows (n, p), without gradients."""
    sparse = kernel.matrix(rows, rows, parameters.theta)
    found: Settled = sites.settle(of_process(sparse, parameters, gram, sparse), y, parameters, start, Settling.VALUE)
    return found


def covariance(
    sparse: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None,
    jitter: float = 0.0,
    out: np.ndarray | None = None,
    rows_noise: Likelihood | None = None,
) -> np.ndarray:
    """Kt = scale C + background gram + mean + (noise + jitter) I, or what `rows_noise` makes of the noise."""
    kt = of_process(sparse, parameters, gram, out)
    noise, own = parameters.noise, row_noise(rows_noise)
    kt.flat[:: kt.shape[0] + 1] += noise + jitter if own is None else own.at(noise, jitter).variance
    return kt


def _value(chol: Factor, y: np.ndarray, square: float, log_terms: float) -> float:
    """log p from y' Kt^-1 y, and the terms that do not depend on f."""
    return -0.5 * (square + chol.log_determinant() + y.shape[0] * LOG_2PI) + log_terms


def _log_terms(rows_noise: Likelihood | None, parameters: Parameters, jitter: float) -> float:
    own = row_noise(rows_noise)
    return 0.0 if own is None else own.at(parameters.noise, jitter).log_terms


def log_likelihood(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: Likelihood | None = None,
    start: np.ndarray | None = None,
    worth: Worth = as_settled,
) -> float:
    """log p(y | theta, phi) alone, for active inputs rows (n, p). Cost n^3 / 3.

    Sites start from the state `start` (n,) of a relative, and are worth what `worth` makes of them.
    """
    if has_sites(rows_noise):
        here = settled(rows_noise, kernel, rows, y, parameters, gram, start)
        return worth(rows_noise, y, parameters, here)
    sparse = kernel.matrix(rows, rows, parameters.theta)
    chol = factor(covariance(sparse, parameters, gram, jitter, sparse, rows_noise), overwrite=True)
    half = chol.half_solve(y)
    return _value(chol, y, float(half @ half), _log_terms(rows_noise, parameters, jitter))


def state(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    floor: float = 0.0,
    rows_noise: Likelihood | None = None,
    start: np.ndarray | None = None,
    to: Settling = Settling.SLOPES,
) -> State:
    """The factored process at given parameters; sites start from the state `start` (n,) of a relative."""
    evaluation = kernel.evaluate(rows, parameters.theta, floor)
    if has_sites(rows_noise):
        prior = of_process(evaluation.matrix, parameters, gram)
        here: Settled = rows_noise.settle(prior, y, parameters, start, to)
        return State(here.value, here.alpha, here.factor, evaluation, here)
    chol = factor(covariance(evaluation.matrix, parameters, gram, jitter, None, rows_noise), overwrite=True)
    alpha = chol.solve(y)
    value = _value(chol, y, float(y @ alpha), _log_terms(rows_noise, parameters, jitter))
    return State(value, alpha, chol, evaluation)


def gradient(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: Likelihood | None = None,
    start: np.ndarray | None = None,
) -> Gradient:
    """log p(y | theta, phi) with its gradient in theta and in the logs of scale, noise and background."""
    at = state(kernel, rows, y, parameters, gram, jitter, rows_noise=rows_noise, start=start)
    return gradient_at(at, parameters, gram, jitter, rows_noise)


@dataclass(frozen=True)
class Moved:
    """What the parts of Kt make of alpha: dC / d theta (n, p), C (n,) and the background (n,), zeros without one."""

    theta: np.ndarray
    scale: np.ndarray
    background: np.ndarray


def gradient_at(
    at: State,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: Likelihood | None = None,
    moved: Moved | None = None,
    information: Information | None = None,
) -> Gradient:
    """The gradient of a process that has been factored; A need not be formed where it is known how alpha is `moved`."""
    held = at.pull if moved is None else at.precision
    theta, log_scale = at.kernel.pullback(held), float(np.vdot(held, at.kernel.matrix))
    beside = parameters.background and gram is not None
    log_background, diagonal = float(np.vdot(held, gram)) if beside else 0.0, np.diagonal(held)
    if moved is not None:  # <A, M> = (alpha + 2 b)' M alpha - <Kt^-1, M>
        side = at.side
        theta, log_scale = side @ moved.theta - theta, float(side @ moved.scale) - log_scale
        log_background, diagonal = float(side @ moved.background) - log_background, side * at.alpha - diagonal
    theta, log_scale = 0.5 * parameters.scale * theta, 0.5 * parameters.scale * log_scale
    log_background *= 0.5 * parameters.background
    if at.settled is not None:
        log_noise = at.settled.slopes.get("noise", 0.0)
    elif (own := row_noise(rows_noise)) is None:
        log_noise = 0.5 * parameters.noise * float(diagonal.sum())
    else:
        working = own.at(parameters.noise, jitter)
        log_noise = 0.5 * float(working.slope @ diagonal) + working.log_terms_slope
    slopes = (at.value, theta, log_scale, log_noise, log_background, at.factor.jitter)
    if at.settled is None:
        return Gradient(*slopes, information=information)
    return Gradient(*slopes, at.settled.slopes.get("freedom", 0.0), at.settled.state, information)
