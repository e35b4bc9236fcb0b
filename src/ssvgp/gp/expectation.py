"""Expectation propagation: sites whose posterior has the mean and variance in each row that the likelihood gives.

Row i has w copies of one site N(z_i; f_i, c_i), v_i = c_i / w together. Without one copy, f_i ~ N(m, s) (its cavity);
with the likelihood in the place of that copy f_i has moments that are integrals over one number, and a site is settled
where the posterior has the same ones. Then

    log p(y) = log N(z; 0, K + V)
        + sum_i [w (log Z_i - log N(z_i; m_i, s_i + c_i)) - (w - 1)/2 log(2 pi c_i) - log(w)/2],

Z_i being the integral of p(y_i | f) over the cavity. It is stationary in the sites: its slopes are those at fixed ones.
Laplace's approximation (gp/newton.py) stands at the mode of f, which for labels is far smaller than its mean: where
classes are well separated it is off by many nats, always against what separates them (Kuss & Rasmussen, 2005).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ssvgp.gp import newton
from ssvgp.gp.linalg import NotPositiveDefiniteError
from ssvgp.gp.newton import LEAST_CURVATURE
from ssvgp.gp.sites import ACCURACY, MOST_STEPS, Settled, posterior_variance, with_sites
from ssvgp.records import Parameters, Settling

LOG_2PI = float(np.log(2.0 * np.pi))


class Concave(newton.Differentiable, Protocol):
    """A likelihood that is log-concave in f and known in closed form."""

    @property
    def weights(self) -> np.ndarray: ...

    def log_density(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> np.ndarray:
        """log p (..., n) of one copy of each row at values of the process (..., n)."""
        ...


@dataclass(frozen=True, eq=False)
class Tilted:
    """log of the integral, mean and variance (n,) of a cavity times the likelihood."""

    log_integral: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def tilted(
    likelihood: Concave,
    y: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    centre: np.ndarray,
    at: Parameters,
    reach: float = 7.0,
    most: int = 256,
) -> Tilted:
    """Cavities N(mean, variance) (n,) times p(y | f)^power, by sums at equal steps. Cost n times the steps.

    Sums of smooth functions that fall off at both ends are as good as integrals once a step is below the standard
    deviation. `centre` is the mean of f in each row as far as it is known: from there Newton finds the mode. A density
    that is log-concave has nothing left beyond `reach` standard deviations of the cavity; on either side there are at
    `most` so many steps.
    """
    power = np.minimum(likelihood.weights, 1.0)
    sd = np.sqrt(variance)
    mode, narrow = _mode(likelihood, y, mean, variance, centre, at)
    count = 2 * int(np.ceil(min(reach * float((sd / narrow).max()), most))) + 1
    steps = np.linspace(-reach, reach, count)[:, None]
    f = mode + sd * steps
    log_each = power * likelihood.log_density(y, f, at) - 0.5 * ((f - mean) / sd) ** 2
    top = log_each.max(axis=0)
    each = np.exp(log_each - top)
    total = each.sum(axis=0)
    each /= total
    gap = (each * steps).sum(axis=0)
    spread = (each * (steps - gap) ** 2).sum(axis=0)
    width = steps[1, 0] - steps[0, 0]
    log_integral = top + np.log(total * width) - 0.5 * LOG_2PI
    return Tilted(log_integral, mode + sd * gap, variance * spread)


def _mode(
    likelihood: Concave, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, f: np.ndarray, at: Parameters
) -> tuple[np.ndarray, np.ndarray]:
    """About the mode (n,) of cavities times the likelihood, and the step (n,) below which sums are integrals.

    No density here changes within less than a unit of f, but where many counts make it narrower. The steps are few and
    short: beside a wide cavity Newton's would swing from end to end, and sums reach far beyond where these stop.
    """
    share, sd = np.minimum(1.0, 1.0 / likelihood.weights), np.sqrt(variance)
    for _ in range(MOST_STEPS // 20):
        here = likelihood.derivatives(y, f, at)
        curve = 1.0 / variance - share * here.second
        move = (share * here.first - (f - mean) / variance) / curve
        f = f + np.clip(move, -sd, sd)
        if float((np.abs(move) * np.sqrt(curve)).max()) < 0.5:
            break
    return f, np.minimum(1.0 / np.sqrt(curve), 1.0)


@dataclass(frozen=True, eq=False)
class Sweep:
    """What sites come to at a state (2 n,), and the state that one step from there leads to.

    A state holds precision times target and precision of the sites: in these, damped steps always settled where in
    targets and log precisions they swing without end once f is large. `worth` (2 n,) is about by how many posterior
    standard deviations f moves for one unit of each.
    """

    at: Settled
    led_to: np.ndarray
    worth: np.ndarray


def settle(
    likelihood: Concave, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
) -> Settled:
    """Sites of all rows at once. Cost 2 n^3 / 3 a step.

    Where a value alone is asked for beside a relative, few steps from its sites are enough: it is stationary in them.
    At draws from the posterior of z four steps from the sites of its mode leave 0.02 nats on separable digits (standard
    deviation; two leave 0.15), and nothing on a small table.
    A slope beside a relative is wanted for the next step, or for its difference to the relative's: sites need be
    settled to a thousandth of what they have moved since.
    """
    near = start is not None and start.size == 2 * y.size
    state = start if start is not None and near else _from_mode(likelihood, prior, y, at)
    share, last, enough = 1.0, None, 10.0 * ACCURACY[to]
    for _ in range(4 if near and not to else MOST_STEPS):
        step = _swept(likelihood, prior, y, at, state)
        change = step.worth * (step.led_to - state)
        moved = float(np.abs(change).max())
        if last is None and near:
            enough = max(enough, ACCURACY[Settling.VALUE] * moved)
        if moved < enough:
            break
        share = _shortened(share, change, last)
        state, last = state + share * (step.led_to - state), change
    if not np.isfinite(step.at.value):
        raise NotPositiveDefiniteError("sites did not settle: y is far from what the parameters allow")
    return replace(step.at, state=state, precision=step.at.factor.inverse() if to else None)


def _swept(likelihood: Concave, prior: np.ndarray, y: np.ndarray, at: Parameters, state: np.ndarray) -> Sweep:
    """One step of all sites. Cost 2 n^3 / 3."""
    pull, site = np.split(state, 2)
    variance = 1.0 / np.maximum(site, LEAST_CURVATURE)
    target, copies = pull * variance, np.maximum(likelihood.weights, 1.0)
    chol = with_sites(prior, variance)
    alpha = chol.solve(target)
    spread = np.maximum(posterior_variance(variance, chol.inverse_diagonal()), LEAST_CURVATURE**2 * variance)
    mean = target - variance * alpha
    precision = np.maximum(1.0 / spread - 1.0 / (copies * variance), LEAST_CURVATURE / spread)
    cavity = (mean / spread - pull / copies) / precision
    if not np.isfinite(cavity).all():
        raise NotPositiveDefiniteError("sites are no numbers: the covariance of f is beyond reach")
    found = tilted(likelihood, y, cavity, 1.0 / precision, mean, at)
    one = copies * variance
    height = (target - cavity) ** 2 / (1.0 / precision + one) + np.log(1.0 / precision + one) + LOG_2PI
    each = copies * (found.log_integral + 0.5 * height) - 0.5 * (copies - 1.0) * np.log(2.0 * np.pi * one)
    gaussian = -0.5 * (float(target @ alpha) + chol.log_determinant() + y.size * LOG_2PI)
    value = gaussian + float(each.sum() - 0.5 * np.log(copies).sum())
    sharper = copies * np.maximum(1.0 / found.variance - precision, LEAST_CURVATURE)
    moved = copies * (found.mean / found.variance - cavity * precision)
    worth = np.concatenate([np.sqrt(spread), spread])
    settled = Settled(value, target, variance, alpha, chol, state)
    return Sweep(settled, np.concatenate([moved, sharper]), worth)


def _from_mode(likelihood: Concave, prior: np.ndarray, y: np.ndarray, at: Parameters) -> np.ndarray:
    """The sites of Laplace's approximation as a state (2 n,)."""
    found = newton.settle(likelihood, prior, y, at, None, Settling.VALUE)
    return np.concatenate([found.target / found.variance, 1.0 / found.variance])


def _shortened(share: float, change: np.ndarray, last: np.ndarray | None) -> float:
    """The share of the next step to take, from what the last share made of the change (2 n,) before.

    Rows that say the same overshoot together when all move at once, and swing about where they settle: a change that is
    r times the last one would have been nothing after a step of share / (1 - r). Never longer than the step itself.
    """
    if last is None:
        return share
    turned = float(change @ last) / max(float(last @ last), LEAST_CURVATURE**2)
    return float(np.clip(share / max(1.0 - turned, 1e-3), 0.3, 1.0))
