"""The cloud of unvisited sets around a visited one: the same set with idle inputs added.

An input without effect that joins a set S multiplies its evidence by a Bayes factor x_j near one or below, and idle
inputs do so independently of each other. The sets S + A for all groups A of idle inputs together weigh

    Z = sum_m  p(k + m) / p(k)  e_m(x),

with p(k) the prior of one particular set of k inputs and e_m the elementary symmetric polynomials of the x_j: thousands
or 2^d sets for the price of a recursion. Where signals are weak, most of the posterior lies there. All inputs of a set
have one slab scale in common, so Z is averaged over the scales, not each x_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ssvgp.model.priors import log_set_prior
from ssvgp.settings import Prior
from ssvgp.settings.regime import FEW_INPUTS

MOST_IDLE = FEW_INPUTS  # idle inputs that join at once, at most: of few inputs, all
LARGEST_FACTOR = 3.0  # an input worth more is no idler: it was fitted, or its factor is not to be trusted


@dataclass(frozen=True)
class Cloud:
    """log Z, and given that the set is S or one of its cloud, how probably each input (d,) has joined it or left it."""

    log_mass: float
    joined: np.ndarray
    left: np.ndarray

    @classmethod
    def alone(cls, d: int) -> Cloud:
        """Nothing around the set."""
        return cls(0.0, np.zeros(d), np.zeros(d))


def cloud(factors: np.ndarray, scale_shares: np.ndarray, size: int, prior: Prior) -> Cloud:
    """The cloud of a set of `size` inputs, for Bayes factors (scales, d), zero for inputs that may not join.

    `scale_shares` (scales,) are the probabilities of the slab scales given the set.
    """
    d = factors.shape[1]
    x = np.minimum(factors, LARGEST_FACTOR)
    most = min(MOST_IDLE, int((x > 0).any(0).sum()), d - size)
    steps = np.exp([log_set_prior(size + m, d, prior) - log_set_prior(size, d, prior) for m in range(most + 1)])
    e = symmetric_polynomials(x, most)
    joined = np.zeros_like(x)
    without = np.ones_like(x)  # e_{m-1} of the x without x_j, from e_m = e_m(without j) + x_j e_{m-1}(without j)
    for m in range(1, most + 1):
        without *= x
        joined += steps[m] * without
        np.maximum(e[:, m, None] - without, 0.0, out=without)
    mass = float(scale_shares @ (e @ steps))
    return Cloud(math.log(mass), scale_shares @ joined / mass, np.zeros(d))


def symmetric_polynomials(x: np.ndarray, most: int) -> np.ndarray:
    """e_0 ... e_most (s, most + 1) of each row of x (s, d): the coefficients of the product of all (1 + x_j t).

    They are multiplied in pairs. Cost s d most^2.
    """
    polynomials = np.stack([np.ones_like(x), x], axis=2)[:, :, : most + 1]
    while polynomials.shape[1] > 1:
        if polynomials.shape[1] % 2:
            one = np.broadcast_to(np.eye(1, polynomials.shape[2]), (len(x), 1, polynomials.shape[2]))
            polynomials = np.concatenate([polynomials, one], axis=1)
        polynomials = _products(polynomials[:, ::2], polynomials[:, 1::2], most)
    return np.pad(polynomials[:, 0], ((0, 0), (0, most + 1 - polynomials.shape[2])))


def _products(left: np.ndarray, right: np.ndarray, most: int) -> np.ndarray:
    """Each polynomial of left (s, r, p) times that of right (s, r, p), up to the power `most`."""
    width = left.shape[2]
    powers = min(2 * width - 1, most + 1)
    out = np.zeros((*left.shape[:2], powers))
    for power in range(width):
        reach = min(width, powers - power)
        out[:, :, power : power + reach] += left[:, :, power, None] * right[:, :, :reach]
    return out
