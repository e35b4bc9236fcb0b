"""Gaussian noise, and a few rows that are gross errors: typing errors, broken sensors, mixed-up samples.

Row i has noise of variance c, or with probability epsilon one of variance c + WIDE, which reaches everywhere. As a
scale mixture with two precisions it goes the way of gp/mixing.py: rho_i is the probability that row i is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, xlogy

from ssvgp.gp.marginal import LOG_2PI
from ssvgp.gp.mixing import settle
from ssvgp.gp.sites import Settled
from ssvgp.model.likelihoods.rows import Rows, standardised
from ssvgp.model.priors import LOG_LIMIT
from ssvgp.records import Parameters, Settling, Working

WIDE = 100.0  # variance of a gross error: ten times the spread of all targets


@dataclass(frozen=True, eq=False)
class Outliers:
    """Noise of variance noise + known_i in row i, or that of an error; one row in 1 + `Parameters.freedom` is one."""

    weights: np.ndarray
    known: np.ndarray
    name = "outliers"
    slots = ("noise", "freedom")
    level = 0.0

    @classmethod
    def of(cls, rows: Rows) -> Outliers:
        return cls(rows.weights, rows.known)

    @property
    def shift(self) -> np.ndarray:
        return np.zeros(self.weights.size)

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def beginning(self, n: int, at: Parameters) -> np.ndarray:
        return np.full(n, -np.log(at.freedom))

    def with_precisions(self, at: Parameters, state: np.ndarray) -> Working:
        """Variances c / (w m) of rows, w copies of each, at log odds of errors, and the rest of the bound.

        With l = c / (c + WIDE) the mean precision is m = 1 - rho + rho l; its slope in log c is rho l (1 - l).
        """
        copy = at.noise + self.known
        wide, rho, error = copy / (copy + WIDE), expit(state), 1.0 / (1.0 + at.freedom)
        mean = 1.0 - rho + rho * wide
        divergence = xlogy(rho, rho / error) + xlogy(1.0 - rho, (1.0 - rho) / (1.0 - error))
        each = 0.5 * (rho * np.log(wide) - np.log(mean)) - divergence
        bent = rho * wide * (1.0 - wide) / mean
        variance, spare, learned = copy / mean, self.weights - 1.0, at.noise / copy
        copies = -0.5 * float((spare * np.log(2.0 * np.pi * variance)).sum() + np.log(self.weights).sum())
        slopes = self.weights * 0.5 * (rho * (1.0 - wide) - bent) - 0.5 * spare * (1.0 - bent)
        return Working(
            variance / self.weights,
            learned * (1.0 - bent) * variance / self.weights,
            copies + float(self.weights @ each),
            float(learned @ slopes),
        )

    def settled_means(self, at: Parameters, squares: np.ndarray) -> np.ndarray:
        copy = at.noise + self.known
        wide = copy / (copy + WIDE)
        odds = -np.log(at.freedom) + 0.5 * np.log(wide) + 0.5 * (1.0 - wide) * squares / copy
        return np.clip(odds, -LOG_LIMIT, LOG_LIMIT)

    def freedom_slope(self, at: Parameters, state: np.ndarray) -> float:
        """d (rho log epsilon + (1 - rho) log(1 - epsilon)) / d log freedom = epsilon - rho, summed over copies."""
        return float(self.weights @ (1.0 / (1.0 + at.freedom) - expit(state)))

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return min(1.0, at.noise)

    def spread(self, at: Parameters) -> float:
        return at.noise

    def response(self, each: Sequence[Parameters]) -> OutlierResponse:
        shares = np.array([1.0 / (1.0 + one.freedom) for one in each])
        return OutlierResponse(np.array([one.noise for one in each]), shares)

    def adapted(self, prior: Any) -> Any:
        """One row in twenty is an error, give or take a factor of three."""
        return replace(prior, log_freedom=(3.0, 1.0))

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        gap = y - np.median(y)
        reach = 3.0 * 1.4826 * float(np.median(np.abs(gap)))
        return standardised(np.clip(gap, -reach, reach) if reach > 0.0 else gap)

    def rows(self, some: np.ndarray) -> Outliers:
        return Outliers(self.weights[some], self.known[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "known": self.known}


@dataclass(frozen=True, eq=False)
class OutlierResponse:
    """y = f + noise of these variances (k,); a gross error, whose share (k,) is known, is no part of what is predicted.

    Intervals are those of a row without an error; the density of a target allows for one.
    """

    noises: np.ndarray
    shares: np.ndarray
    discrete = False

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return means, variances + self.noises[:, None]

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return means, variances

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        share = self.shares[:, None]
        near = variances + self.noises[:, None]
        good, bad = (-0.5 * ((y - means) ** 2 / v + np.log(v) + LOG_2PI) for v in (near, near + WIDE))
        return np.asarray(np.logaddexp(np.log1p(-share) + good, np.log(share) + bad))

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        shape = (*means.shape, *(1,) * (y.ndim - 1))
        spread = np.sqrt(variances + self.noises[:, None]).reshape(shape)
        return np.asarray(ndtr((y - means.reshape(shape)) / spread))

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return f + np.sqrt(self.noises[component]) * rng.standard_normal(f.shape)
