"""Laplace's approximation at the mode f^ of a log-concave likelihood, and its gradient.

With g and W = -diag of the first and second derivatives of log p(y | f), Newton's step is a regression on working
targets z = f + g / W of variances 1 / W (Rasmussen & Williams, 3.4.1 and 5.5.1):

    log p(y) = log p(y | f^) - f^' K^-1 f^ / 2 - log |I + W^1/2 K W^1/2| / 2.

The process is climbed in alpha = K^-1 f, which a relative can hand on whatever its K was.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ssvgp.gp.linalg import NotPositiveDefiniteError
from ssvgp.gp.sites import ACCURACY, MOST_STEPS, Settled, posterior_variance, with_sites
from ssvgp.records import Derivatives, Parameters, Settling

LEAST_CURVATURE = float(np.sqrt(np.finfo(float).eps))  # a row that says nothing has a variance of one over it


class Differentiable(Protocol):
    """A likelihood that is log-concave in f."""

    @property
    def slots(self) -> tuple[str, ...]: ...

    def derivatives(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> Derivatives:
        """log p and its derivatives where f is the shift of the rows plus the process (n,)."""
        ...


def settle(
    likelihood: Differentiable, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
) -> Settled:
    """The mode of f under the covariance (n, n) of the process, started at alpha (n,). Cost n^3 / 3 a step."""
    alpha = _beginning(likelihood, prior, y, at, start)
    process = prior @ alpha
    here = likelihood.derivatives(y, process, at)
    for _ in range(MOST_STEPS):
        variance = 1.0 / np.maximum(-here.second, LEAST_CURVATURE)
        target = process + variance * here.first
        chol = with_sites(prior, variance)
        moved = chol.solve(target)
        ahead = target - variance * moved  # K alpha
        gap = float(np.abs(ahead - process).max())
        if gap < ACCURACY[to]:
            alpha, process = moved, ahead
            break
        alpha, process = _shortened(likelihood, y, at, (alpha, process, here), (moved, ahead))
        here = likelihood.derivatives(y, process, at)
    there = likelihood.derivatives(y, process, at)
    determinant = chol.log_determinant() - float(np.log(variance).sum())
    value = float(there.value.sum()) - 0.5 * float(process @ alpha) - 0.5 * determinant
    if not np.isfinite(value):
        raise NotPositiveDefiniteError("the mode of f is beyond reach: y is far from what the parameters allow")
    found = Settled(value, target, variance, alpha, chol, alpha)
    return _with_gradient(likelihood, found, there) if to else found


def _beginning(
    likelihood: Differentiable, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None
) -> np.ndarray:
    """The alpha of a relative, unless none at all is the better start."""
    nothing = np.zeros(y.size)
    if start is None or start.size != y.size:
        return nothing
    process = prior @ start
    own = _height(likelihood, y, at, start, process)
    return start if own > _height(likelihood, y, at, nothing, nothing) else nothing


def _height(likelihood: Differentiable, y: np.ndarray, at: Parameters, alpha: np.ndarray, process: np.ndarray) -> float:
    """log p(y | f) - f' K^-1 f / 2, which the mode maximises; minus infinity where it is no number."""
    value = float(likelihood.derivatives(y, process, at).value.sum()) - 0.5 * float(process @ alpha)
    return value if np.isfinite(value) else -np.inf


def _shortened(
    likelihood: Differentiable,
    y: np.ndarray,
    at: Parameters,
    old: tuple[np.ndarray, np.ndarray, Derivatives],
    new: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The step of Newton, halved until it does not lead down: alpha and the process, which is linear in it."""
    alpha, process, here = old
    before = float(here.value.sum()) - 0.5 * float(process @ alpha)
    share = 1.0
    for _ in range(MOST_STEPS // 4):
        tried = alpha + share * (new[0] - alpha)
        there = process + share * (new[1] - process)
        if _height(likelihood, y, at, tried, there) >= before - 1e-9 * abs(before):
            return tried, there
        share *= 0.5
    return tried, there


def _with_gradient(likelihood: Differentiable, found: Settled, there: Derivatives) -> Settled:
    """The same with Kt^-1, b = Kt^-1 (v u) for u = diag(S) third / 2, and slopes in its own parameters.

    S = V - V Kt^-1 V is the posterior covariance of f. d f^ / d z = (I - K Kt^-1) dK alpha = V Kt^-1 dK alpha.
    """
    v, precision = found.variance, found.factor.inverse()
    spread = posterior_variance(v, np.diagonal(precision))
    u = 0.5 * spread * there.third
    bend = precision @ (v * u)
    slopes = {}
    if "noise" in likelihood.slots:
        moved = v * there.first_slope - v * (precision @ (v * there.first_slope))  # d f^ / d log noise
        explicit = float(there.slope.sum()) + 0.5 * float(spread @ there.second_slope)
        slopes["noise"] = explicit + float(u @ moved)
    return Settled(found.value, found.target, v, found.alpha, found.factor, found.state, precision, bend, slopes)
