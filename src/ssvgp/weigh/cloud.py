"""The cloud of unvisited sets around a visited one: the same set with idle inputs added.

An input without effect that joins a set S multiplies its evidence by a Bayes factor x_j near one or below, and idle
inputs do so independently of each other. The sets S + A for all groups A of idle inputs together weigh

    Z = sum_m  p(k + m) / p(k)  e_m(x),

with p(k) the prior of one particular set of k inputs and e_m the elementary symmetric polynomials of the x_j: thousands
or 2^d sets for the price of a recursion. Where signals are weak, most of the posterior lies there. All inputs of a set
have one slab scale in common, so Z is averaged over the scales, not each x_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.records import Prior
from ssvgp.weigh.priors import log_set_prior

MOST_IDLE = 12  # idle inputs that join at once, at most
LARGEST_FACTOR = 3.0  # an input worth more is no idler: it was fitted, or its factor is not to be trusted


@dataclass(frozen=True)
class Cloud:
    """log Z, and the probability (d,) of each input to have joined, given that the set is S or one of its cloud."""

    log_mass: float
    joined: np.ndarray


def cloud(factors: np.ndarray, scale_shares: np.ndarray, size: int, prior: Prior) -> Cloud:
    """The cloud of a set of `size` inputs, for Bayes factors (scales, d), zero for inputs that may not join.

    `scale_shares` (scales,) are the probabilities of the slab scales given the set.
    """
    parts = [_at_scale(row, size, prior) for row in factors]
    masses = scale_shares * np.exp([part.log_mass for part in parts])
    joined = masses @ np.array([part.joined for part in parts])
    return Cloud(float(np.log(masses.sum())), joined / masses.sum())


def _at_scale(factors: np.ndarray, size: int, prior: Prior) -> Cloud:
    d = factors.size
    x = np.minimum(factors, LARGEST_FACTOR)
    most = min(MOST_IDLE, int((x > 0).sum()), d - size)
    steps = np.exp([log_set_prior(size + m, d, prior) - log_set_prior(size, d, prior) for m in range(most + 1)])
    e = symmetric_polynomials(x, most)
    mass = float(steps @ e)
    joined = np.zeros(d)
    without = np.ones(d)  # e_{m-1} of the x without x_j, from e_m = e_m(without j) + x_j e_{m-1}(without j)
    for m in range(1, most + 1):
        joined += steps[m] * x * without
        without = np.maximum(e[m] - x * without, 0.0)
    return Cloud(float(np.log(mass)), joined / mass)


def symmetric_polynomials(x: np.ndarray, most: int) -> np.ndarray:
    """e_0 ... e_most of x: the coefficients of the product of all (1 + x_j t), multiplied in pairs. Cost d most^2."""
    x = x[x > 0]
    polynomials = np.stack([np.ones_like(x), x], axis=1)[:, : most + 1] if x.size else np.ones((1, 1))
    while polynomials.shape[0] > 1:
        if polynomials.shape[0] % 2:
            polynomials = np.vstack([polynomials, np.eye(1, polynomials.shape[1])])  # times one
        polynomials = _products(polynomials[::2], polynomials[1::2], most)
    return np.pad(polynomials[0], (0, most + 1 - polynomials.shape[1]))


def _products(left: np.ndarray, right: np.ndarray, most: int) -> np.ndarray:
    """Each polynomial of left (r, p) times that of right (r, p), up to the power `most`."""
    width = left.shape[1]
    power = np.arange(min(2 * width - 1, most + 1))
    other = power - np.arange(width)[:, None]  # (p, powers): the power of right that completes each of left
    padded = np.pad(right, ((0, 0), (0, 1)))
    factors = padded[:, np.where((other >= 0) & (other < width), other, width)]
    return np.matmul(left[:, None, :], factors)[:, 0]
