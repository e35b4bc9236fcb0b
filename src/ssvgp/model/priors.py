"""What is believed before any data: of sets of inputs, and of their parameters z = (log theta, log scale, ...).

Sets have a Beta-Binomial prior, theta a half-normal slab with a common scale that is averaged over, the logs of scale,
noise and background are normal (`settings.Prior`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from ssvgp.gp.marginal import LOG_2PI
from ssvgp.model.coordinates import Coordinates
from ssvgp.model.inputs import Inputs
from ssvgp.records import Parameters
from ssvgp.settings import Prior

LOG_LIMIT = 18.0  # |log parameter| beyond this is noise-free or unscaled data; keeps exp() finite
HALF_LOG_2_OVER_PI = 0.5 * float(np.log(2.0 / np.pi))


@dataclass(frozen=True)
class Candidate:
    """A set of inputs (sorted), with a background of some kind or without ("").

    `inputs` says which columns they have, None where every input is a column; `own` are the slots of the likelihood.
    """

    active: tuple[int, ...]
    background: str = ""
    inputs: Inputs | None = None
    own: tuple[str, ...] = ("noise",)

    @property
    def size(self) -> int:
        return len(self.active)

    @property
    def columns(self) -> list[int]:
        """The columns (c,) that a kernel sees of the set."""
        return list(self.active) if self.inputs is None else self.inputs.columns(self.active)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """A name for each of its inverse lengthscales (p,)."""
        return self.active if self.inputs is None else self.inputs.labels(self.active)

    @property
    def coordinates(self) -> Coordinates:
        """z of the candidate: log theta of its inputs, log scale if it has any, log noise, log background if any.

        In place of log noise there is what the likelihood has: nothing, or more.
        """
        return _coordinates(self.size if self.inputs is None else len(self.labels), bool(self.background), self.own)

    def spread(self, theta: np.ndarray) -> np.ndarray:
        """Inverse lengthscales (p,) of the set as those of its columns (c,)."""
        return theta if self.inputs is None else theta[self.inputs.places(self.active)]

    def gathered(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes (c,) in the inverse lengthscales of columns as those in the set's own (p,): tied ones add up."""
        if self.inputs is None:
            return slopes
        return np.bincount(self.inputs.places(self.active), weights=slopes, minlength=self.coordinates.size)


@lru_cache(maxsize=1024)
def _coordinates(size: int, background: bool, own: tuple[str, ...]) -> Coordinates:
    slots = ("scale",) * (size > 0) + own + ("background",) * background
    return Coordinates(size, slots)


def log_set_prior(size: int, d: int, prior: Prior) -> float:
    """log of B(a + k, b + d - k) / B(a, b): the prior of one particular set of k of d inputs."""
    assert prior.b is not None  # filled in by Prior.for_data
    return float(betaln(prior.a + size, prior.b + d - size) - betaln(prior.a, prior.b))


def unpack(z: np.ndarray, candidate: Candidate, prior: Prior) -> Parameters:
    """z (q,) of a candidate, see `Candidate.coordinates`, as parameters; theta is that of columns."""
    return unpack_all(z[None], candidate, prior)[0]


def unpack_all(z: np.ndarray, candidate: Candidate, prior: Prior) -> list[Parameters]:
    """The same for each row of z (r, q)."""
    return [_parameters(row, candidate, prior) for row in np.exp(_bounded(z))]


def _bounded(z: np.ndarray) -> np.ndarray:
    """z within the range of exponentials; written out, since np.clip costs more than what it does to a few numbers."""
    return np.minimum(np.maximum(z, -LOG_LIMIT), LOG_LIMIT)


def _parameters(values: np.ndarray, candidate: Candidate, prior: Prior) -> Parameters:
    """The exponentials (q,) of z by name."""
    where = candidate.coordinates
    scale = float(values[where.slot("scale")]) if "scale" in where else 0.0
    theta = candidate.spread(values[where.theta])
    noise = (float(values[where.slot("noise")]) if "noise" in where else 1.0) + (prior.rounding or 0.0)
    background = float(values[where.slot("background")]) if "background" in where else 0.0
    if "freedom" not in where:
        return Parameters(theta, scale, noise, background, prior.level)
    return Parameters(theta, scale, noise, background, prior.level, float(values[where.slot("freedom")]))


def learned_share(noise: float, prior: Prior) -> float:
    """The part of the noise that is learned: d log noise / d z, where rounding has the rest."""
    return 1.0 - (prior.rounding or 0.0) / noise


def log_slab(theta: np.ndarray, prior: Prior) -> tuple[float, np.ndarray, np.ndarray]:
    """log of the slab averaged over its scales, its gradient in theta (p,), and the posterior of the scales."""
    log_scales, precisions = _slab_constants(prior.slabs)
    each = theta.size * (HALF_LOG_2_OVER_PI - log_scales) - (0.5 * float(theta @ theta)) * precisions
    top = each.max()  # written out: scipy's logsumexp costs more than a small factorisation
    share = np.exp(each - top)
    total = float(share.sum())
    share /= total
    value = float(top) + math.log(total / share.size)
    return value, theta * -float(share @ precisions), share


@lru_cache(maxsize=64)
def _slab_constants(scales: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """log scales and their inverse squares; kept, since they are asked for at every evaluation."""
    table = np.asarray(scales)
    return np.log(table), table**-2.0


class PriorHeight(NamedTuple):
    """log p(z), its gradient (q,), and minus its second derivatives (q,), about."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray


def log_prior(z: np.ndarray, candidate: Candidate, prior: Prior) -> PriorHeight:
    """log p(z) with the Jacobian of log theta, its gradient, and a curvature for an ascent.

    The curvature is that at fixed shares of the slab's scales. In log theta it falls to zero with theta. But a weak
    input enters the kernel by theta^2, so that the likelihood curves by twice its slope, which the prior balances at a
    summit: together they are 2 there. Half of that is the least that is taken, since on the way there is less.
    """
    where = candidate.coordinates
    logs = z[where.theta]
    theta = np.exp(_bounded(logs))
    slab, slope, _ = log_slab(theta, prior)
    means, sds, constant = _normal_priors(where.slots, prior)
    standard = (z[where.rest] - means) / sds
    value = slab + float(logs.sum()) - 0.5 * float(standard @ standard) + constant
    falling = theta * slope
    gradient = np.concatenate([falling + 1.0, -standard / sds])
    return PriorHeight(value, gradient, np.concatenate([np.maximum(-2.0 * falling, 1.0), sds**-2.0]))


def log_priors(z: np.ndarray, candidate: Candidate, prior: Prior) -> np.ndarray:
    """log p(z) (r,) as in `log_prior`, at each row of z (r, q)."""
    where = candidate.coordinates
    logs = z[:, where.theta]
    theta = np.exp(_bounded(logs))
    log_scales, precisions = _slab_constants(prior.slabs)
    each = where.size * (HALF_LOG_2_OVER_PI - log_scales) - 0.5 * (theta * theta).sum(axis=1)[:, None] * precisions
    top = each.max(axis=1)
    slab = top + np.log(np.exp(each - top[:, None]).mean(axis=1))
    means, sds, constant = _normal_priors(where.slots, prior)
    standard = (z[:, where.rest] - means) / sds
    return slab + logs.sum(axis=1) - 0.5 * (standard * standard).sum(axis=1) + constant


@lru_cache(maxsize=64)
def _normal_priors(slots: tuple[str, ...], prior: Prior) -> tuple[np.ndarray, np.ndarray, float]:
    """Means, sds and log normaliser of the normal priors of the slots: log scale, log noise and log background."""
    table = np.asarray([prior.of_slot(name) for name in slots]).reshape(-1, 2)
    constant = -float(np.log(table[:, 1]).sum()) - 0.5 * len(slots) * LOG_2PI
    return table[:, 0], table[:, 1], constant
