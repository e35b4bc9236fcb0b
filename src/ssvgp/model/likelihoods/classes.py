"""Two classes: y is 0 or 1, with P(y = 1 | f) the logistic function of f, or the normal distribution's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, logit, ndtr, ndtri

from ssvgp.gp.expectation import settle
from ssvgp.gp.marginal import LOG_2PI
from ssvgp.gp.sites import Settled
from ssvgp.model.likelihoods.quadrature import over_f
from ssvgp.model.likelihoods.rows import Rows, standardised
from ssvgp.records import Derivatives, Parameters, Settling


def _rate(rows: Rows) -> float:
    """Share of ones by weight, kept off 0 and 1 by half a row of each."""
    return float((rows.weights @ rows.y + 0.5) / (rows.weights.sum() + 1.0))


def _left(y: np.ndarray, weights: np.ndarray, log_p: float) -> float:
    """log p per row, in units of what the base rate alone would have."""
    rate = float(np.clip(weights @ y / weights.sum(), 1e-3, 1.0 - 1e-3))
    entropy = -(rate * np.log(rate) + (1.0 - rate) * np.log(1.0 - rate))
    return float(np.clip(-log_p / (weights.sum() * entropy), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class BernoulliLogit:
    """P(y = 1 | f) = 1 / (1 + exp(-f)); weights (n,) and the shift (n,) of f, the logit of the base rate."""

    weights: np.ndarray
    shift: np.ndarray
    name = "bernoulli"
    slots = ()

    @classmethod
    def of(cls, rows: Rows) -> BernoulliLogit:
        _check_classes(rows)
        return cls(rows.weights, np.full(rows.y.size, logit(_rate(rows))))

    @property
    def level(self) -> float:
        return float(self.shift[0])

    def log_density(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> np.ndarray:
        f = (2.0 * y - 1.0) * (self.shift + process)
        # log_expit, several times as fast
        return np.asarray(np.minimum(f, 0.0) - np.log1p(np.exp(-np.abs(f))))

    def derivatives(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> Derivatives:
        f, w = self.shift + process, self.weights
        sign = 2.0 * y - 1.0
        p = expit(f)
        curve = w * p * expit(-f)
        nothing = np.zeros(y.size)
        first = w * sign * expit(-sign * f)
        return Derivatives(w * log_expit(sign * f), first, -curve, -curve * (1.0 - 2.0 * p), *[nothing] * 3)

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return _left(y, self.weights, float(self.derivatives(y, settled.latent, at).value.sum()))

    def spread(self, at: Parameters) -> float:
        return np.pi**2 / 3.0

    def response(self, each: Sequence[Parameters]) -> LogitResponse:
        return LogitResponse()

    def adapted(self, prior: Any) -> Any:
        return prior

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        return standardised(y)

    def rows(self, some: np.ndarray) -> BernoulliLogit:
        return BernoulliLogit(self.weights[some], self.shift[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "shift": self.shift}


@dataclass(frozen=True, eq=False)
class BernoulliProbit:
    """P(y = 1 | f) = Phi(f); weights (n,) and the shift (n,) of f, the probit of the base rate."""

    weights: np.ndarray
    shift: np.ndarray
    name = "bernoulli-probit"
    slots = ()

    @classmethod
    def of(cls, rows: Rows) -> BernoulliProbit:
        _check_classes(rows)
        return cls(rows.weights, np.full(rows.y.size, ndtri(_rate(rows))))

    @property
    def level(self) -> float:
        return float(self.shift[0])

    def log_density(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> np.ndarray:
        return np.asarray(log_ndtr((2.0 * y - 1.0) * (self.shift + process)))

    def derivatives(self, y: np.ndarray, process: np.ndarray, at: Parameters) -> Derivatives:
        """With s = +-1 and h = N(s f) / Phi(s f): log Phi(s f)' = s h, '' = -h (h + s f), ''' = s h (...)."""
        w, sign = self.weights, 2.0 * y - 1.0
        f = sign * (self.shift + process)
        log_p = log_ndtr(f)
        h = np.exp(-0.5 * f * f - 0.5 * LOG_2PI - log_p)
        second = -h * (h + f)
        third = -(second * (h + f) + h * (second + 1.0))  # of h, whose derivative is `second`
        nothing = np.zeros(y.size)
        return Derivatives(w * log_p, w * sign * h, w * second, w * sign * third, *[nothing] * 3)

    def settle(
        self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling
    ) -> Settled:
        return settle(self, prior, y, at, start, to)

    def unexplained(self, y: np.ndarray, settled: Settled, at: Parameters) -> float:
        return _left(y, self.weights, float(self.derivatives(y, settled.latent, at).value.sum()))

    def spread(self, at: Parameters) -> float:
        return 1.0

    def response(self, each: Sequence[Parameters]) -> ProbitResponse:
        return ProbitResponse()

    def adapted(self, prior: Any) -> Any:
        return prior

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        return standardised(y)

    def rows(self, some: np.ndarray) -> BernoulliProbit:
        return BernoulliProbit(self.weights[some], self.shift[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "shift": self.shift}


def _check_classes(rows: Rows) -> None:
    if not np.isin(rows.y, (0.0, 1.0)).all():
        wrong = rows.y[~np.isin(rows.y, (0.0, 1.0))][0]
        raise ValueError(f"two classes are given as 0 and 1, but y holds {wrong:g}: use SSVGPClassifier for labels")


@dataclass(frozen=True)
class LogitResponse:
    """y is 1 with the probability E 1 / (1 + exp(-f))."""

    discrete = True

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = self.expected(means, variances)[0]
        return p, p * (1.0 - p)

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = over_f(expit, means, variances)
        square = over_f(lambda f: expit(f) ** 2, means, variances)
        return p, np.maximum(square - p * p, 0.0)

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        sign = 2.0 * y - 1.0
        return np.asarray(np.log(over_f(expit, sign * means, variances)))

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        zero = over_f(expit, -means, variances)
        return _steps(zero, y)

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.uniform(size=f.shape) < expit(f)).astype(float)


@dataclass(frozen=True)
class ProbitResponse:
    """y is 1 with the probability E Phi(f) = Phi(mean / sqrt(1 + variance))."""

    discrete = True

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = ndtr(means / np.sqrt(1.0 + variances))
        return p, p * (1.0 - p)

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = ndtr(means / np.sqrt(1.0 + variances))
        square = over_f(lambda f: ndtr(f) ** 2, means, variances)
        return p, np.maximum(square - p * p, 0.0)

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(log_ndtr((2.0 * y - 1.0) * means / np.sqrt(1.0 + variances)))

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _steps(ndtr(-means / np.sqrt(1.0 + variances)), y)

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.uniform(size=f.shape) < ndtr(f)).astype(float)


def _steps(zero: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P(Y <= y) (k, t, ...) of a variable that is 0 with probability `zero` (k, t), else 1."""
    wide = zero.reshape(*zero.shape, *(1,) * (y.ndim - 1))
    return np.where(y >= 1.0, 1.0, np.where(y >= 0.0, wide, 0.0))
