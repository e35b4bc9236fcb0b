"""Expectations over a Gaussian f, by the rule of Gauss and Hermite."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from ssvgp.data.target import NODES


@lru_cache(maxsize=4)
def hermite(nodes: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and shares (r,) of the rule for a standard normal."""
    at, shares = hermegauss(nodes)
    return at, shares / shares.sum()


def over_f(value: Callable[[np.ndarray], np.ndarray], means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """E value(f) for f ~ N(mean, variance), of the shape of means."""
    out = np.zeros(np.shape(means))
    sd = np.sqrt(variances)
    for at, share in zip(*hermite(), strict=True):
        out += share * value(means + sd * at)
    return out
