"""Gaussian noise whose precision is unknown in each row: Student-t noise as a scale mixture, by a variational bound.

Row i has variance c / lambda_i with lambda_i ~ Gamma(nu / 2, nu / 2). With q(lambda_i) = Gamma(a, a / m_i) for
a = (nu + 1) / 2 and any means m (n,), log p(y) is at least

    log N(y; 0, K + diag(c / m)) + sum_i (E log lambda_i - log m_i) / 2 - KL(q_i || p),

highest where m_i = (nu + 1) / (nu + E r_i^2 / c). There its slopes in all else are those at fixed q.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ssvgp.gp.linalg import Factor, least_squares
from ssvgp.gp.sites import ACCURACY, MOST_STEPS, Settled, posterior_variance, with_sites
from ssvgp.records import Parameters, Settling, Working

LOG_2PI = float(np.log(2.0 * np.pi))


class Mixture(Protocol):
    """Noise of variance c / lambda_i in row i; what is known of lambda_i is one number in a state (n,)."""

    def beginning(self, n: int, at: Parameters) -> np.ndarray:
        """The state before anything is known."""
        ...

    def with_precisions(self, at: Parameters, log_means: np.ndarray) -> Working:
        """Variances, and the terms of the bound that do not depend on f, at means exp(log_means) of lambda."""
        ...

    def settled_means(self, at: Parameters, squares: np.ndarray) -> np.ndarray:
        """log of the best means (n,) where residuals have these expected squares."""
        ...

    def freedom_slope(self, at: Parameters, log_means: np.ndarray) -> float:
        """d bound / d log nu at fixed q."""
        ...


def settle(
    likelihood: Mixture, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
) -> Settled:
    """The means of all precisions, by fixed-point steps that learn from the last ones. Cost 2 n^3 / 3 a step.

    The bound holds for any means. So where a value alone is asked for beside a relative, one step from its means is
    enough; and an ascent, which comes by again, climbs in the means too, a step of theirs with each of its own.
    """
    near = start is not None and start.size == y.size
    means = start if start is not None and near else likelihood.beginning(y.size, at)
    path: list[tuple[np.ndarray, np.ndarray]] = []
    few = near and to is not Settling.SLOPES
    for left in reversed(range(1 + to if few else MOST_STEPS)):
        working = likelihood.with_precisions(at, means)
        chol = with_sites(prior, working.variance)
        alpha, v = chol.solve(y), working.variance
        precision = None if left or not to else chol.inverse()  # has the diagonal too
        diagonal = chol.inverse_diagonal() if precision is None else np.diagonal(precision)
        squares = (v * alpha) ** 2 + posterior_variance(v, diagonal)
        found = likelihood.settled_means(at, squares)
        if not left or float(np.abs(found - means).max()) < 100.0 * ACCURACY[to]:
            break
        path = [*path[-4:], (means, found - means)]
        means = _extrapolated(path)
    if not to:
        return _at_means(likelihood, prior, y, at, found)
    value = _value(chol, y, alpha, working)
    if precision is None:
        precision = chol.inverse()
    pull = alpha**2 - np.diagonal(precision)
    slopes = {
        "noise": 0.5 * float(working.slope @ pull) + working.log_terms_slope,
        "freedom": likelihood.freedom_slope(at, means),
    }
    return Settled(value, y, v, alpha, chol, found, precision, None, slopes, bound=True)


def _at_means(likelihood: Mixture, prior: np.ndarray, y: np.ndarray, at: Parameters, means: np.ndarray) -> Settled:
    """Sites at given means. Cost n^3 / 3."""
    working = likelihood.with_precisions(at, means)
    chol = with_sites(prior, working.variance)
    alpha = chol.solve(y)
    return Settled(_value(chol, y, alpha, working), y, working.variance, alpha, chol, means, bound=True)


def _value(chol: Factor, y: np.ndarray, alpha: np.ndarray, working: Working) -> float:
    return -0.5 * (float(y @ alpha) + chol.log_determinant() + y.size * LOG_2PI) + working.log_terms


def _extrapolated(path: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Anderson's step: the mix of the last means whose changes cancel best, plus the change that is left of it."""
    means, change = path[-1]
    if len(path) == 1:
        return means + change
    moved = np.stack([means - one for one, _ in path[:-1]], axis=1)
    turned = np.stack([change - one for _, one in path[:-1]], axis=1)
    share = least_squares(turned, change)
    step = change - (moved + turned) @ share
    longest = 2.0 * float(np.abs(change).max()) + 1.0
    return means + np.clip(step, -longest, longest)
