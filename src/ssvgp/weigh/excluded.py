"""The worth of adding each excluded input to a set, for all inputs at once and without a fit.

Along theta_j, with everything else at the mode, the log likelihood of a set with one more input is close to that of one
more random effect of variance rho = theta_j^2,

    L(rho) - L(0) = -1/2 log(1 + rho cost_j) + 1/2 rho gain_j / (1 + rho cost_j),

exact where d Kt / d rho has rank one. Its slope at zero, (gain_j - cost_j) / 2, is the exact one. Integrating it over
the slab gives the Bayes factor of every irrelevant input: small, but honest, and never zero.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ssvgp.records import Prior

NODES = np.exp(np.linspace(np.log(1e-3), np.log(4.0), 40))  # of theta_j


def log_bayes_factors(gain: np.ndarray, cost: np.ndarray, scale_shares: np.ndarray, prior: Prior) -> np.ndarray:
    """log of p(y | S + j) / p(y | S) (d,), for slab scales with posterior probabilities `scale_shares`.

    The second-order formula is kept sane where the kernel makes the cost negative or tiny: the slope stays exact.
    """
    slope = 0.5 * (gain - cost)
    cost = np.maximum(np.maximum(cost, gain / 25.0), 1e-6)
    gain = np.maximum(cost + 2.0 * slope, 0.0)
    rho = NODES[:, None] ** 2
    grown = 1.0 + rho * cost
    log_ratio = -0.5 * np.log(grown) + 0.5 * rho * gain / grown
    density = _slab_masses(scale_shares, prior)
    return logsumexp(log_ratio + np.log(density)[:, None], axis=0)


def _slab_masses(scale_shares: np.ndarray, prior: Prior) -> np.ndarray:
    """Probability of the slab near each node of theta (nodes,), summing to one: below the first nothing changes."""
    scales = np.asarray(prior.slab_scales)
    density = np.exp(-0.5 * (NODES[:, None] / scales) ** 2) / scales @ scale_shares
    masses = density * NODES
    return masses / masses.sum()
