"""Counts: Poisson with the rate exposure * exp(f), and the negative binomial, which is more spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc, digamma, gammaln, pdtr

from ssvgp.gp.newton import settle
from ssvgp.gp.sites import Settled
from ssvgp.model.likelihoods.quadrature import over_f
from ssvgp.model.likelihoods.rows import Rows, standardised
from ssvgp.model.priors import LOG_LIMIT
from ssvgp.records import Derivatives, Parameters, Settling


def _level(rows: Rows) -> np.ndarray:
    """log of the common rate (n,), with half a count more, and of the exposure of each row."""
    exposure = np.broadcast_to(rows.exposure, rows.y.shape)
    rate = (float(rows.weights @ rows.y) + 0.5) / float(rows.weights @ exposure)
    return np.full(rows.y.size, np.log(rate))


def _check_counts(rows: Rows) -> None:
    bad = (rows.y < 0.0) | (rows.y != np.round(rows.y))
    if bad.any():
        raise ValueError(f"counts are whole numbers from 0 on, but y holds {rows.y[bad][0]:g}")


def _explained_share(y: np.ndarray, weights: np.ndarray, shift: np.ndarray, latent: np.ndarray) -> float:
    """Poisson deviance at f over that at the shift alone."""
    rate, base = np.exp(np.minimum(shift + latent, LOG_LIMIT)), np.exp(shift)
    ratio = np.where(y > 0, y, 1.0)

    def deviance(mu: np.ndarray) -> float:
        return float(weights @ (y * np.log(ratio / mu) - (y - mu)))

    whole = deviance(base)
    return float(np.clip(deviance(rate) / whole, 0.0, 1.0)) if whole > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Poisson:
    """y ~ Poisson(exposure * exp(f)): weights, log of the common rate and log exposure (n,)."""

    weights: np.ndarray
    centre: np.ndarray
    log_exposure: np.ndarray
    name = "poisson"
    slots = ()

    @classmethod
    def of(cls, rows: Rows) -> Poisson:
        _check_counts(rows)
        return cls(rows.weights, _level(rows), np.log(np.broadcast_to(rows.exposure, rows.y.shape)))

    @property
    def level(self) -> float:
        return float(self.centre[0])

    @property
    def shift(self) -> np.ndarray:
        return self.centre + self.log_exposure

    def derivatives(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> Derivatives:
        f = np.minimum(self.shift + process, LOG_LIMIT)
        rate = self.weights * np.exp(f)
        value = self.weights * (y * f - gammaln(y + 1.0)) - rate
        return Derivatives(value, self.weights * y - rate, -rate, -rate, *[np.zeros(y.size)] * 3)

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return _explained_share(y, self.weights, self.shift, settled.latent)

    def spread(self, at: Parameters) -> float:
        """log(1 + 1 / rate): the variance that a lognormal of that mean and variance has on the scale of f."""
        return float(np.log1p(np.exp(-self.level)))

    def response(self, each: Sequence[Parameters]) -> CountResponse:
        return CountResponse(np.zeros(len(each)))

    def adapted(self, prior: Any) -> Any:
        return prior

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        return standardised(np.log(y + 0.5) - self.log_exposure)

    def rows(self, some: np.ndarray) -> Poisson:
        return Poisson(self.weights[some], self.centre[some], self.log_exposure[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "centre": self.centre, "log_exposure": self.log_exposure}


@dataclass(frozen=True, eq=False)
class NegativeBinomial:
    """Counts of mean mu = exposure * exp(f) and variance mu + dispersion mu^2; `Parameters.noise` is the dispersion."""

    weights: np.ndarray
    centre: np.ndarray
    log_exposure: np.ndarray
    name = "negative-binomial"
    slots = ("noise",)

    @classmethod
    def of(cls, rows: Rows) -> NegativeBinomial:
        _check_counts(rows)
        return cls(rows.weights, _level(rows), np.log(np.broadcast_to(rows.exposure, rows.y.shape)))

    @property
    def level(self) -> float:
        return float(self.centre[0])

    @property
    def shift(self) -> np.ndarray:
        return self.centre + self.log_exposure

    def derivatives(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> Derivatives:
        """With r = 1 / dispersion and p = mu / (r + mu): log p' = y - (y + r) p, '' = -(y + r) p (1 - p), and so on.

        d p / d log r = -p (1 - p), and log dispersion = -log r.
        """
        w, f = self.weights, np.minimum(self.shift + process, LOG_LIMIT)
        r = 1.0 / at.noise
        mu = np.exp(f)
        p, q = mu / (r + mu), r / (r + mu)
        value = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0) + y * np.log(p) + r * np.log(q)
        curve = (y + r) * p * q
        third = -curve * (q - p)
        by_r = r * (digamma(y + r) - digamma(r) + np.log(q) + 1.0 - (y + r) / (r + mu))
        first_r = -r * p + curve
        second_r = -r * p * q + curve * (q - p)
        return Derivatives(
            w * value, w * (y - (y + r) * p), -w * curve, w * third, -w * by_r, -w * first_r, -w * second_r
        )

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return _explained_share(y, self.weights, self.shift, settled.latent)

    def spread(self, at: Parameters) -> float:
        return float(np.log1p(np.exp(-self.level) + at.noise))

    def response(self, each: Sequence[Parameters]) -> CountResponse:
        return CountResponse(np.array([one.noise for one in each]))

    def adapted(self, prior: Any) -> Any:
        return prior

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        return standardised(np.log(y + 0.5) - self.log_exposure)

    def rows(self, some: np.ndarray) -> NegativeBinomial:
        return NegativeBinomial(self.weights[some], self.centre[some], self.log_exposure[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "centre": self.centre, "log_exposure": self.log_exposure}


@dataclass(frozen=True, eq=False)
class CountResponse:
    """Counts whose log rate is f, with the dispersion (k,) of each component; zero is Poisson."""

    dispersions: np.ndarray
    discrete = True

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of a lognormal."""
        mean = np.exp(np.minimum(means + 0.5 * variances, LOG_LIMIT))
        return mean, mean**2 * np.expm1(np.minimum(variances, LOG_LIMIT))

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, spread = self.expected(means, variances)
        return mean, mean + spread + self.dispersions[:, None] * (mean**2 + spread)

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(means.shape)
        for k, a in enumerate(self.dispersions):
            out[k] = np.log(np.maximum(over_f(partial(_probability, y, a), means[k], variances[k]), 1e-300))
        return out

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty((means.shape[0], *y.shape))
        extra = (1,) * (y.ndim - 1)
        for k, a in enumerate(self.dispersions):
            mean, variance = (np.broadcast_to(x[k].reshape(-1, *extra), y.shape) for x in (means, variances))
            out[k] = over_f(partial(_below, y, a), mean, variance)
        return out

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        a, rate = float(self.dispersions[component]), np.exp(np.minimum(f, LOG_LIMIT))
        if a > 0.0:
            rate = rng.gamma(1.0 / a, a * rate)
        return rng.poisson(rate).astype(float)


def _probability(y: np.ndarray, dispersion: float, f: np.ndarray) -> np.ndarray:
    f = np.minimum(f, LOG_LIMIT)
    mu = np.exp(f)
    if dispersion == 0.0:
        return np.asarray(np.exp(y * f - mu - gammaln(y + 1.0)))
    r = 1.0 / dispersion
    log_p = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0) - y * np.log1p(r / mu) - r * np.log1p(mu / r)
    return np.asarray(np.exp(log_p))


def _below(y: np.ndarray, dispersion: float, f: np.ndarray) -> np.ndarray:
    """P(Y <= y) at log rates f."""
    mu, whole = np.exp(np.minimum(f, LOG_LIMIT)), np.floor(y)
    if dispersion == 0.0:
        below = pdtr(np.maximum(whole, 0.0), mu)
    else:
        r = 1.0 / dispersion
        below = betainc(r, np.maximum(whole, 0.0) + 1.0, r / (r + mu))
    return np.where(whole >= 0.0, below, 0.0)
