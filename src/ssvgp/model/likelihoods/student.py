"""Student-t noise: heavy tails, so that an outlier is believed to be one; the bound is in gp/mixing.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import digamma, gammainccinv, gammaincinv, gammaln, logsumexp, ndtr

from ssvgp.data.target import NODES
from ssvgp.gp.marginal import LOG_2PI
from ssvgp.gp.mixing import settle
from ssvgp.gp.sites import Settled
from ssvgp.model.likelihoods.rows import Rows, standardised
from ssvgp.records import Parameters, Settling, Working


@dataclass(frozen=True, eq=False)
class StudentT:
    """Noise of squared scale noise + known_i and nu degrees of freedom in row i: weights and known variances (n,)."""

    weights: np.ndarray
    known: np.ndarray
    name = "student-t"
    slots = ("noise", "freedom")
    level = 0.0

    @classmethod
    def of(cls, rows: Rows) -> StudentT:
        return cls(rows.weights, rows.known)

    @property
    def shift(self) -> np.ndarray:
        return np.zeros(self.weights.size)

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def beginning(self, n: int, at: Parameters) -> np.ndarray:
        return np.zeros(n)

    def with_precisions(self, at: Parameters, log_means: np.ndarray) -> Working:
        """Variances c / (w m) of rows, w copies of each, and the terms of the bound that do not depend on f.

        KL(Gamma(a, b) || Gamma(h, h)) = (a - h) digamma(a) - log Gamma(a) + log Gamma(h) + h log(b / h) + a (h - b) / b
        with h = nu / 2, a = h + 1/2 and b = a / m.
        """
        h = 0.5 * at.freedom
        a, means = h + 0.5, np.exp(log_means)
        copy = at.noise + self.known
        variance = copy / means
        b = a / means
        divergence = (a - h) * digamma(a) - gammaln(a) + gammaln(h) + h * np.log(b / h) + a * (h / b - 1.0)
        each = 0.5 * (digamma(a) - np.log(a)) - divergence
        spare = self.weights - 1.0
        copies = -0.5 * float((spare * np.log(2.0 * np.pi * variance)).sum() + np.log(self.weights).sum())
        learned = at.noise / copy
        slope = -0.5 * float(spare @ learned)
        return Working(
            variance / self.weights, learned * variance / self.weights, copies + float(self.weights @ each), slope
        )

    def settled_means(self, at: Parameters, squares: np.ndarray) -> np.ndarray:
        nu = at.freedom
        return np.log((nu + 1.0) / (nu + squares / (at.noise + self.known)))

    def freedom_slope(self, at: Parameters, log_means: np.ndarray) -> float:
        """sum of w E_q d log Gamma(lambda; h, h) / d log nu = w h (log h + 1 - digamma(h) + E log lambda - m)."""
        h = 0.5 * at.freedom
        a = h + 0.5
        expected = digamma(a) - np.log(a) + log_means
        each = h * (np.log(h) + 1.0 - digamma(h) + expected - np.exp(log_means))
        return float(self.weights @ each)

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return min(1.0, at.noise)

    def spread(self, at: Parameters) -> float:
        return at.noise

    def response(self, each: Sequence[Parameters]) -> StudentResponse:
        return StudentResponse(np.array([one.noise for one in each]), np.array([one.freedom for one in each]))

    def adapted(self, prior: Any) -> Any:
        return prior

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        """Outliers are moved to where the others end: three robust standard deviations from the median."""
        gap = y - np.median(y)
        reach = 3.0 * 1.4826 * float(np.median(np.abs(gap)))
        return standardised(np.clip(gap, -reach, reach) if reach > 0.0 else gap)

    def rows(self, some: np.ndarray) -> StudentT:
        return StudentT(self.weights[some], self.known[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "known": self.known}


@lru_cache(maxsize=256)
def _precisions(freedom: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (r,) that stand for lambda ~ Gamma(nu / 2, nu / 2): equal steps of log lambda.

    The density of log lambda is smooth and falls off at both ends, where sums at equal steps are as good as integrals.
    """
    h = 0.5 * freedom
    low, high = np.log(gammaincinv(h, 1e-7)), np.log(gammainccinv(h, 1e-12))
    logs = np.linspace(low, high, NODES)
    shares = np.exp(h * logs - np.exp(logs) - (h * np.log(h) - h))
    return np.exp(logs) / h, shares / shares.sum()


def log_t(square: np.ndarray, noise: float, nu: float) -> np.ndarray:
    """log density of Student-t noise at squared residuals."""
    constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi * noise)
    return np.asarray(constant - 0.5 * (nu + 1.0) * np.log1p(square / (nu * noise)))


@dataclass(frozen=True, eq=False)
class StudentResponse:
    """y = f + Student-t noise of squared scales and degrees of freedom (k,): a mixture of Gaussians over lambda."""

    noises: np.ndarray
    freedoms: np.ndarray
    discrete = False

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Up to two degrees of freedom the variance is infinite: it is given as that of three."""
        nu = np.maximum(self.freedoms, 3.0)
        return means, variances + (self.noises * nu / (nu - 2.0))[:, None]

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return means, variances

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(means.shape)
        for k, (noise, nu) in enumerate(zip(self.noises, self.freedoms, strict=True)):
            nodes, shares = _precisions(float(nu))
            variance = variances[k] + (noise / nodes)[:, None]
            each = -0.5 * ((y - means[k]) ** 2 / variance + np.log(variance) + LOG_2PI)
            mixed = logsumexp(each, axis=0, b=shares[:, None])
            # far out, where no node reaches, it is the noise alone that does
            square = (y - means[k]) ** 2
            far = square > 36.0 * (variances[k] + noise)
            out[k] = np.where(far, np.maximum(mixed, log_t(square, noise, float(nu))), mixed)
        return out

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty((means.shape[0], *y.shape))
        extra = (1,) * (y.ndim - 1)
        for k, (noise, nu) in enumerate(zip(self.noises, self.freedoms, strict=True)):
            nodes, shares = _precisions(float(nu))
            mean, variance = means[k].reshape(-1, *extra), variances[k].reshape(-1, *extra)
            out[k] = sum(
                s * ndtr((y - mean) / np.sqrt(variance + noise / x)) for x, s in zip(nodes, shares, strict=True)
            )
        return out

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scale, nu = np.sqrt(self.noises[component]), self.freedoms[component]
        return f + scale * rng.standard_t(nu, size=f.shape)
