"""GAM with the spike-and-slab group LASSO in the steps of R's sparseGAM 1.0, which the paper ran (B.2).

It is here to explain the printed numbers; `additive_ssl` is the better method. What differs:

- The noise variance is 1 in the units of y, which is neither centred nor scaled: the penalty is much larger than the
  noise asks for wherever y is small.
- Spikes fall evenly from n to n / `spikes`. The chosen one is fitted again by itself, from no input.
- Each fit alternates: the chance of the slab for every group from the length of its raw B-spline coefficients, the
  inclusion rate from these chances, and a group LASSO with the mean of the two penalties. It does so 100 times, settled
  or not. At a spike that lets in no group the rate falls by a factor of about spike^-6 each time and reaches zero, from
  where it never returns: the rest of the path is a plain group LASSO.
- With `knots="new"` predictions too are those of sparseGAM, see `additive`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ssvgp.peers.additive import AdditivePeer, weighted_group_lasso
from ssvgp.peers.folds import choose
from ssvgp.peers.splines import Groups

ROUNDS = 100
START_RATE = 0.5
SETTLED = 1e-8  # change of a coefficient, in units of y


class Fit(NamedTuple):
    """Coefficients (p, m) of the orthonormal columns, and the inclusion rate."""

    coefficients: np.ndarray
    rate: float


@dataclass(frozen=True)
class Splines:
    """A fold's orthonormal design (n, p m) and the variances (p, m + 1) of all its B-splines, the omitted last."""

    groups: Groups
    design: np.ndarray
    variances: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray) -> Splines:
        """From raw columns (n, p, m): B-splines sum to one, which gives the one that the basis omits."""
        groups = Groups.fit(columns)
        whole = np.concatenate([columns, 1.0 - columns.sum(axis=2, keepdims=True)], axis=2)
        return cls(groups, groups.transform(columns), whole.var(axis=0))

    def empty(self) -> Fit:
        """No input, an even chance."""
        return Fit(np.zeros(self.groups.turn.shape[:2]), START_RATE)

    def raw_lengths(self, coefficients: np.ndarray) -> np.ndarray:
        """Norms (p,) of the m + 1 coefficients of raw B-splines that make the same functions.

        They are free up to a common constant; grpreg's choice is the one whose mean is zero, weighted by the variances.
        """
        raw = np.matmul(self.groups.turn, coefficients[:, :, None])[:, :, 0]
        whole = np.concatenate([raw, np.zeros((len(raw), 1))], axis=1)
        total = np.maximum(self.variances.sum(axis=1), 1e-300)
        whole -= (np.sum(self.variances * whole, axis=1) / total)[:, None]
        return np.sqrt(np.sum(whole**2, axis=1))


def alternate(splines: Splines, y: np.ndarray, spike: float, slab: float, start: Fit, rounds: int = ROUNDS) -> Fit:
    """All rounds at one spike from `start`, y (n,) centred; with Beta(1, p) the rate is sum of chances / (2 p - 1).

    A round that would solve the same problem again is not run; the rate goes on alone.
    """
    (coefficients, rate), solved = start, np.full(len(start.coefficients), np.nan)
    settled, lengths = False, splines.raw_lengths(start.coefficients)
    offset = (coefficients.shape[1] + 1) * np.log(slab / spike)
    for _ in range(rounds):
        with np.errstate(divide="ignore"):
            log_odds = np.log(rate) - np.log1p(-rate)
        chances = expit(log_odds + offset + (spike - slab) * lengths)
        rate = float(chances.sum()) / (2 * len(chances) - 1)
        weights = (slab * chances + spike * (1.0 - chances)) / len(y)
        if settled and np.allclose(weights, solved, rtol=1e-12, atol=0.0):
            continue
        found = weighted_group_lasso(splines.design, y, weights, coefficients, tol=1e-6)
        settled, solved = bool(np.max(np.abs(found - coefficients)) < SETTLED), weights
        coefficients, lengths = found, splines.raw_lengths(found)
    return Fit(coefficients, rate)


class SpikeSlabGroupLassoFixed(AdditivePeer):
    """Additive splines under the spike-and-slab group LASSO with a fixed noise variance and falling spikes."""

    def __init__(
        self,
        width: int = 5,
        folds: int = 3,
        spikes: int = 20,
        slab: float = 1.0,
        knots: str = "training",
        random_state: int = 0,
    ) -> None:
        super().__init__(width, folds, random_state, knots)
        self.spikes, self.slab = spikes, slab

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        columns, n = self._columns(X), len(y)
        units = self._spread * y  # y as it was given, less its mean, which the intercept takes
        ladder = np.linspace(n, max(n / self.spikes, self.slab + 1.0), self.spikes)
        choice = choose(self._held_out, columns, units, ladder, self.folds, self.random_state)
        splines = Splines.of(columns)
        fit = alternate(splines, units, choice.penalty, self.slab, splines.empty())
        self._groups, self._intercept = splines.groups, 0.0
        self._coefficients, self._error = fit.coefficients / self._spread, choice.error / self._spread**2
        self.notes = {"spike": choice.penalty, "rate": fit.rate}

    def _held_out(self, columns: np.ndarray, y: np.ndarray, new: np.ndarray, spikes: np.ndarray) -> np.ndarray:
        """Predictions (k, t) at new columns (t, p, m) of the whole path, each spike from the fit of the one before."""
        splines, path = Splines.of(columns), []
        fit = splines.empty()
        for spike in spikes:
            fit = alternate(splines, y - y.mean(), float(spike), self.slab, fit)
            path.append(fit.coefficients.ravel())
        return y.mean() + np.stack(path) @ splines.groups.transform(new).T
