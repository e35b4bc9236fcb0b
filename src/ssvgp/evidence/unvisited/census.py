"""Few inputs: a price for every one of the 2^d sets, from the weighed sets below it.

A set T that was not weighed itself is priced from the largest weighed sets S inside it: the evidence of S times the
Bayes factors of the inputs that T adds, averaged over the slab scale they share. Where signals are weak this finds the
mass of the large sets, which no search would visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence.unvisited.cloud import LARGEST_FACTOR, Cloud
from ssvgp.model.priors import log_set_prior
from ssvgp.settings import Prior


@dataclass(frozen=True)
class Priced:
    """A weighed set: its inputs, log evidence, log Bayes factors (scales, d) of the others, and scale shares."""

    active: tuple[int, ...]
    log_evidence: float
    log_factors: np.ndarray
    scale_shares: np.ndarray


def census(sets: Sequence[Priced], d: int, prior: Prior) -> list[Cloud]:
    """For each weighed set, the mass and the joined inputs of all the sets that are priced from it."""
    members = (np.arange(2**d)[:, None] >> np.arange(d)) & 1 == 1
    own = np.array([sum(1 << j for j in s.active) for s in sets])
    log_prices = np.array([_prices(s, members, d, prior) for s in sets])  # (sets, 2^d)
    sizes = np.array([len(s.active) for s in sets])
    for row, code in enumerate(own):
        log_prices[:row, code] = log_prices[row + 1 :, code] = -np.inf  # a weighed set is its own price
        log_prices[row, code] = sets[row].log_evidence
    largest = np.where(np.isfinite(log_prices), sizes[:, None], -1).max(axis=0)
    log_prices[sizes[:, None] < largest] = -np.inf
    parents = np.maximum(np.isfinite(log_prices).sum(axis=0), 1)
    log_prices -= np.log(parents)  # several parents: the mean of their prices
    out = []
    for row, s in enumerate(sets):
        log_mass = float(logsumexp(log_prices[row]))
        share = np.exp(log_prices[row] - log_mass)
        joined = share @ members
        joined[list(s.active)] = 0.0
        out.append(Cloud(log_mass - s.log_evidence, joined, np.zeros(d)))
    return out


def _prices(s: Priced, members: np.ndarray, d: int, prior: Prior) -> np.ndarray:
    """log evidence (2^d,) of every set that contains s, minus infinity for the others."""
    inside = members[:, list(s.active)].all(axis=1)
    outside = np.setdiff1d(np.arange(d), s.active)
    factors = np.clip(s.log_factors[:, outside], -700.0, np.log(LARGEST_FACTOR))  # finite: 0 times -inf is no number
    products = members[:, outside] @ factors.T  # (2^d, scales)
    with np.errstate(divide="ignore"):
        gained = logsumexp(products + np.log(s.scale_shares), axis=1)
    by_size = np.array([log_set_prior(k, d, prior) for k in range(d + 1)]) - log_set_prior(len(s.active), d, prior)
    return np.where(inside, s.log_evidence + gained + by_size[members.sum(1)], -np.inf)
