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

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ssvgp.gp import newton
from ssvgp.gp.linalg import Factor, NotPositiveDefiniteError
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
    width = 2.0 * reach / (count - 1)
    steps = width * np.arange(count) - reach
    f = mode + sd * steps[:, None]
    each = power * likelihood.log_density(y, f, at)
    f -= mean
    f *= np.sqrt(0.5) / sd
    each -= np.square(f, out=f)
    top = each.max(axis=0)
    each -= top
    total = np.exp(each, out=each).sum(axis=0)
    gap = steps @ each / total
    spread = np.square(steps) @ each / total - gap**2
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
class Place:
    """The Gaussian that sites at a state (2 n,) make of K, and log N(z; 0, K + V).

    A state holds precision times target and precision of the sites: in these, damped steps always settled where in
    targets and log precisions they swing without end once f is large.
    """

    state: np.ndarray
    target: np.ndarray
    variance: np.ndarray
    factor: Factor
    alpha: np.ndarray
    gaussian: float


@dataclass(frozen=True, eq=False)
class Look:
    """Cavities (n,) of a place with the likelihood's moments in them, and the state that these lead to.

    `worth` (2 n,) is about by how many posterior standard deviations f moves for one unit of each number of a state.
    """

    cavity: np.ndarray
    spread: np.ndarray
    log_integral: np.ndarray
    led_to: np.ndarray
    worth: np.ndarray


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # what comes to no number is refused
def settle(
    likelihood: Concave, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
) -> Settled:
    """Sites of all rows at once. Cost 2 n^3 / 3 a step, and n^3 / 3 at the end.

    The value is stationary in cavities and in sites, each with the others fixed. So the sites that cavities lead to
    have a value without cavities of their own, and what the step to them brought is about all that was missing before:
    a tenth to a fortieth of it is left, up to half where classes are separated, and from wherever they started values
    rose to where they settle. Beside a relative 0.2 nats may have been brought to a value alone, whose draws and
    screens ask no more, and 0.02 to that of an ascent. Slopes whose differences are taken settle by how far sites move.
    """
    near = start is not None and start.size == 2 * y.size
    place = _placed(prior, start if start is not None and near else _beginning(likelihood, y, at))
    share, last = 1.0, None
    brought = 200.0 * ACCURACY[to] if near else 10.0 * ACCURACY[Settling.VALUE]
    for _ in range(MOST_STEPS):
        look = _looked(likelihood, place, y, at)
        change = look.worth * (look.led_to - place.state)
        moved = float(np.abs(change).max())
        share = _shortened(share, change, last)
        before, place, last = place, _placed(prior, place.state + share * (look.led_to - place.state)), change
        value = _value(likelihood, place, look)
        gained = abs(value - _value(likelihood, before, look))
        if moved < 10.0 * ACCURACY[to] or (gained < brought and to is not Settling.SLOPES):
            break
    if not np.isfinite(value):
        raise NotPositiveDefiniteError("sites did not settle: y is far from what the parameters allow")
    precision = place.factor.inverse() if to else None
    return Settled(value, place.target, place.variance, place.alpha, place.factor, place.state, precision)


def _placed(prior: np.ndarray, state: np.ndarray) -> Place:
    """Cost n^3 / 3."""
    pull, site = np.split(state, 2)
    variance = 1.0 / np.maximum(site, LEAST_CURVATURE)
    target = pull * variance
    chol = with_sites(prior, variance)
    alpha = chol.solve(target)
    gaussian = -0.5 * (float(target @ alpha) + chol.log_determinant() + target.size * LOG_2PI)
    return Place(state, target, variance, chol, alpha, gaussian)


def _looked(likelihood: Concave, at: Place, y: np.ndarray, parameters: Parameters) -> Look:
    """One look at all rows. Cost n^3 / 3."""
    pull, variance, copies = at.state[: y.size], at.variance, np.maximum(likelihood.weights, 1.0)
    spread = np.maximum(posterior_variance(variance, at.factor.inverse_diagonal()), LEAST_CURVATURE**2 * variance)
    mean = at.target - variance * at.alpha
    precision = np.maximum(1.0 / spread - 1.0 / (copies * variance), LEAST_CURVATURE / spread)
    cavity = (mean / spread - pull / copies) / precision
    if not np.isfinite(cavity).all():
        raise NotPositiveDefiniteError("sites are no numbers: the covariance of f is beyond reach")
    found = tilted(likelihood, y, cavity, 1.0 / precision, mean, parameters)
    sharper = copies * np.maximum(1.0 / found.variance - precision, LEAST_CURVATURE)
    moved = copies * (found.mean / found.variance - cavity * precision)
    worth = np.concatenate([np.sqrt(spread), spread])
    return Look(cavity, 1.0 / precision, found.log_integral, np.concatenate([moved, sharper]), worth)


def _value(likelihood: Concave, at: Place, look: Look) -> float:
    """log p(y) by the sites of a place and the cavities of a look, be it its own or the one before."""
    copies = np.maximum(likelihood.weights, 1.0)
    one = copies * at.variance
    height = (at.target - look.cavity) ** 2 / (look.spread + one) + np.log(look.spread + one) + LOG_2PI
    each = copies * (look.log_integral + 0.5 * height) - 0.5 * (copies - 1.0) * np.log(2.0 * np.pi * one)
    return at.gaussian + float(each.sum() - 0.5 * np.log(copies).sum())


def _beginning(likelihood: Concave, y: np.ndarray, at: Parameters) -> np.ndarray:
    """The state (2 n,) of sites that touch the likelihood where the process is nothing: no matrix is asked."""
    here = likelihood.derivatives(y, np.zeros(y.size), at)
    return np.concatenate([here.first, np.maximum(-here.second, LEAST_CURVATURE)])


def _shortened(share: float, change: np.ndarray, last: np.ndarray | None) -> float:
    """The share of the next step to take, from what the last share made of the change (2 n,) before.

    Rows that say the same overshoot together when all move at once, and swing about where they settle: a change that is
    r times the last one would have been nothing after a step of share / (1 - r). Never longer than the step itself.
    """
    if last is None:
        return share
    turned = float(change @ last) / max(float(last @ last), LEAST_CURVATURE**2)
    return float(np.clip(share / max(1.0 - turned, 1e-3), 0.3, 1.0))
