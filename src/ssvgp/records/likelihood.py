"""Parameters of a member, and what ties y to f: noise of rows, sites, and the response of y to f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol, TypeGuard, cast

import numpy as np


@dataclass(frozen=True)
class Parameters:
    """What a member's covariance is made of, for standardised inputs and target.

    The covariance of y is scale * C(theta) + background * G + mean + noise * I: the sparse part of the paper (tau,
    theta, sigma^2 there), a dense background G over all inputs (`Member.background`), the variance of an unknown
    constant, and noise. The paper's own method has background = mean = 0. Likelihoods that are not Gaussian read their
    own parameters here: `noise` is the squared scale of Student-t noise or the dispersion of counts, `freedom` the
    degrees of freedom of the first.
    """

    theta: np.ndarray  # (p,)
    scale: float
    noise: float
    background: float = 0.0
    mean: float = 0.0
    freedom: float = float("inf")


@dataclass(frozen=True, eq=False)
class Working:
    """What the algebra sees of a likelihood at one noise: a variance for each row (n,), with its slope in log noise.

    `log_terms` belong to log p and do not depend on f; `log_terms_slope` is their slope in log noise.
    """

    variance: np.ndarray
    slope: np.ndarray
    log_terms: float
    log_terms_slope: float


class RowNoise(Protocol):
    """What ties y to f in each of n rows; model/likelihoods.py has the kinds."""

    @property
    def weights(self) -> np.ndarray:
        """How many times each row (n,) counts."""
        ...

    def at(self, noise: float, jitter: float = 0.0) -> Working:
        """What the algebra sees where the learned noise has this variance, with jitter added to it."""
        ...

    def copy_variance(self, noise: float) -> np.ndarray:
        """Variance (n,) of one more measurement of each row: that of a row that is left out."""
        ...

    def rows(self, some: np.ndarray) -> RowNoise:
        """The same for some rows (r,)."""
        ...

    def to_plain(self) -> dict[str, np.ndarray]:
        """Arrays (n,) by name, as a file holds them."""
        ...


@dataclass(frozen=True, eq=False)
class Derivatives:
    """log p(y_i | f_i) of each row (n,) with its first three derivatives in f_i.

    `slope`, `first_slope` and `second_slope` (n,) are the slopes of the value and of its first two derivatives in the
    log of the parameter `Parameters.noise`; zero for a likelihood without one.
    """

    value: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    slope: np.ndarray
    first_slope: np.ndarray
    second_slope: np.ndarray


class Response(Protocol):
    """What y is at rows where the k components of a mixture say f ~ N(mean, variance), both (k, t)."""

    @property
    def discrete(self) -> bool:
        """Whether y is a whole number."""
        ...

    def moments(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (k, t) of y."""
        ...

    def expected(self, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (k, t) of E(y | f): a probability, a rate, or f itself."""
        ...

    def log_density(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        """log p(y) (k, t) of targets y (t,)."""
        ...

    def distribution(self, means: np.ndarray, variances: np.ndarray, y: np.ndarray) -> np.ndarray:
        """P(Y <= y) (k, t, ...) at y (t, ...)."""
        ...

    def draw(self, component: int, f: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A draw of y for each f (...) of one component."""
        ...


class Settling(IntEnum):
    """What sites are settled for: a value alone, the next step of an ascent, or slopes whose differences are taken."""

    VALUE = 0
    STEP = 1
    SLOPES = 2


class Sites(Protocol):
    """A likelihood that is not Gaussian: by an approximation it gives every row a working target and variance."""

    @property
    def name(self) -> str:
        """The name it is registered by."""
        ...

    @property
    def weights(self) -> np.ndarray:
        """How many times each row (n,) counts."""
        ...

    @property
    def slots(self) -> tuple[str, ...]:
        """Its learned parameters, by name: some of "noise" and "freedom"."""
        ...

    @property
    def level(self) -> float:
        """What the process is added to: f = level + process, where nothing else shifts a row."""
        ...

    @property
    def shift(self) -> np.ndarray:
        """What the process is added to in each row (n,), exposure included."""
        ...

    def settle(self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, to: Settling) -> Any:
        """The record `gp.sites.Settled` for the covariance (n, n) of the process: `gp.newton` or `gp.mixing` has it.

        `start` is the state of a settled relative, None for none; `to` what for: all but a value ask for gradients too.
        """
        ...

    def unexplained(self, y: np.ndarray, settled: Any, at: Parameters) -> float:
        """The share, between 0 and 1, of what there is to explain that is left."""
        ...

    def spread(self, at: Parameters) -> float:
        """The variance, in units of f, that noise stands for beside those of the terms."""
        ...

    def response(self, each: Sequence[Parameters]) -> Response:
        """What y is given f, under each of the members' parameters."""
        ...

    def adapted(self, prior: Any) -> Any:
        """The `settings.Prior` with what this likelihood believes of its own parameters."""
        ...

    def gaussian_view(self, y: np.ndarray) -> np.ndarray:
        """Targets (n,), standardised, that stand for y where a first look takes its noise for Gaussian."""
        ...

    def rows(self, some: np.ndarray) -> Sites:
        """The same for some rows (r,)."""
        ...

    def to_plain(self) -> dict[str, np.ndarray]:
        """Arrays (n,) by name, as a file holds them."""
        ...


Likelihood = RowNoise | Sites


def has_sites(likelihood: Likelihood | None) -> TypeGuard[Sites]:
    """Whether this is a likelihood that is not Gaussian."""
    return likelihood is not None and hasattr(likelihood, "settle")


def row_noise(likelihood: Likelihood | None) -> RowNoise | None:
    """The same as Gaussian noise of rows, which it must be."""
    assert not has_sites(likelihood), "sites have no variance before they have settled"
    return cast("RowNoise | None", likelihood)
