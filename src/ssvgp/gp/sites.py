"""What a likelihood that is not Gaussian comes to at given parameters: a working target and variance for each row.

With the covariance K of the process, targets z and variances v of sites, Kt = K + diag(v) takes the place of K + noise,
and alpha = Kt^-1 z that of Kt^-1 y: screens, predictions, effects and leave-one-out know nothing else. `gp/newton.py`
has sites at the mode of f (classes, counts), `gp/mixing.py` those of Gaussian noise whose variance is unknown in each
row (Student-t).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ssvgp.gp.linalg import Factor, factor
from ssvgp.records import Parameters, Settling, Sites

# change at which sites have settled
ACCURACY = {Settling.VALUE: 1e-3, Settling.STEP: 1e-4, Settling.SLOPES: 1e-6}
MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class Settled:
    """Sites (n,) at given parameters, and the approximate log p(y) with what its gradient is made of.

    `state` (n,) is where the sites of a relative may start. `precision` is Kt^-1 (n, n), `bend` (n,) the vector b of
    the implicit part of the gradient, d log p / d z = 1/2 <alpha alpha' - Kt^-1 + b alpha' + alpha b', d K / d z>, and
    `slopes` hold d log p / d log of the likelihood's own parameters; all three only where they were asked for. `bound`
    says that the value lies below log p(y), and by how much depends on how free f is.
    """

    value: float
    target: np.ndarray
    variance: np.ndarray
    alpha: np.ndarray
    factor: Factor
    state: np.ndarray
    precision: np.ndarray | None = None
    bend: np.ndarray | None = None
    slopes: dict[str, float] = field(default_factory=dict)
    bound: bool = False

    @property
    def latent(self) -> np.ndarray:
        """The process (n,) at the training rows: K alpha = z - v alpha."""
        return self.target - self.variance * self.alpha


Worth = Callable[[Sites, np.ndarray, Parameters, Settled], float]


def as_settled(sites: Sites, y: np.ndarray, parameters: Parameters, at: Settled) -> float:
    """log p(y) as an ascent climbs it."""
    return at.value


def fair(sites: Sites, y: np.ndarray, parameters: Parameters, at: Settled) -> float:
    """The same with what a bound gives away, for sets that are weighed beside each other."""
    return row_by_row(sites, y, parameters, at) if at.bound else at.value


def with_sites(prior: np.ndarray, variance: np.ndarray) -> Factor:
    """The factor of K + diag(v). Cost n^3 / 3."""
    kt = prior.copy()
    kt.flat[:: kt.shape[0] + 1] += variance
    return factor(kt, overwrite=True)


def posterior_variance(variance: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Variance (n,) of the process given all rows: the diagonal of V - V Kt^-1 V, never negative."""
    return np.maximum(variance - variance**2 * diagonal, 0.0)


def cavities(at: Settled, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (n,) of the process given all rows but one copy of this one: its site is taken away.

    With S and m the posterior variance and mean, v and z the variance and target of all w copies together, what is left
    has precision 1 / S - 1 / (w v).
    """
    spread = np.maximum(posterior_variance(at.variance, at.factor.inverse_diagonal()), 1e-12 * at.variance)
    share = 1.0 / np.maximum(weights, 1.0)
    precision = np.maximum(1.0 / spread - share / at.variance, 1e-9 / spread)
    return (at.latent / spread - share * at.target / at.variance) / precision, 1.0 / precision


def row_by_row(sites: Sites, y: np.ndarray, parameters: Parameters, at: Settled) -> float:
    """log p(y) with the likelihood of each row in place of its site, one row at a time. Cost n^3 / 3.

    q(f) is N(f; 0, K) prod N(z_i; f_i, v_i) over N(z; 0, Kt), so that p(y) = N(z; 0, Kt) E_q prod p(y_i | f_i) /
    N(z_i; f_i, v_i). The mean of the product is taken for the product of the means, each an integral over what the
    other rows say of f_i. Where sites came from a bound, this is what it gave away; sites that match moments have it
    already.
    """
    w, variance = sites.weights, at.variance * sites.weights  # of a copy
    mean, cavity = cavities(at, w)
    own = sites.response([parameters]).log_density((mean + sites.shift)[None], cavity[None], y)[0]
    site = -0.5 * ((at.target - mean) ** 2 / (cavity + variance) + np.log(2.0 * np.pi * (cavity + variance)))
    # N(z; f, v / w) is the product of w copies N(z; f, v) but for these factors
    copies = -0.5 * ((w - 1.0) * np.log(2.0 * np.pi * variance) + np.log(w))
    square = float(at.target @ at.alpha) + at.factor.log_determinant() + y.size * float(np.log(2.0 * np.pi))
    return -0.5 * square + float(w @ (own - site) + copies.sum())
