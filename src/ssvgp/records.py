"""The records that travel down the line: frozen, with shapes fixed by letters.

n rows, d inputs, p active inputs, m neighbours, k members, t test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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

    def settle(self, prior: np.ndarray, y: np.ndarray, at: Parameters, start: np.ndarray | None, sharp: bool) -> Any:
        """The record `gp.sites.Settled` for the covariance (n, n) of the process: `gp.newton` or `gp.mixing` has it.

        `start` is the state of a settled relative, None for none; `sharp` asks for gradients too.
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


@dataclass(frozen=True)
class Train:
    """Standardised training data: X (n, d), y (n,), and the noise of rows; None where all have the learned one.

    `memo` keeps what depends on X alone, where there are other targets; None where there is one.
    """

    X: Any  # an array, or a data.view.Standardised that stands for one
    y: np.ndarray
    noise: Likelihood | None = None
    memo: Any = field(default=None, repr=False, compare=False)  # a run.memo.Memo

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def count(self) -> float:
        """How many rows these stand for: the sum of their weights."""
        return self.n if self.noise is None else float(self.noise.weights.sum())

    def rows(self, some: np.ndarray) -> Train:
        """Some of the rows (r,)."""
        return Train(self.X[some], self.y[some], None if self.noise is None else self.noise.rows(some))

    def columns(self, some: np.ndarray) -> Train:
        """Some of the inputs (q,) alone."""
        return replace(self, X=np.ascontiguousarray(self.X[:, some]))


@dataclass(frozen=True)
class Member:
    """One component of the mixture: a set of active inputs (p,) with the parameters of its Gaussian process.

    `inclusion` (p,) holds the probabilities that the member itself gives its active inputs: all one for a set
    that was weighed by evidence, lambda of eq. 6 for a member of the paper's method. `kernel` is a kernel object,
    `background` a term over all inputs (gp/terms.py) or None: its strength is among the parameters.
    """

    active: np.ndarray
    parameters: Parameters
    kernel: Any
    inclusion: np.ndarray
    background: Any = None


@dataclass(frozen=True)
class Ensemble:
    """Members with weights (k,) that sum to one, and the marginal inclusion probabilities (d,).

    `weak` is the part of f that only all rows together show (gp/weak.py), common to all members, None where there is
    none: they are then conditioned on y less its mean.
    """

    members: tuple[Member, ...]
    weights: np.ndarray
    pip: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)
    weak: Any = None


@dataclass(frozen=True)
class Rested:
    """What the evidence of sets rests on where that is part of a table: so many rows.

    There the best set is `ahead` of the next by so many nats, which have a standard `error`; None where no other set
    was in question, or blocks were too few to tell.
    """

    rows: int
    ahead: float | None = None
    error: float | None = None

    def __str__(self) -> str:
        said = f"What is strong was judged on {self.rows} rows"
        if self.ahead is not None:
            error = "" if self.error is None else f", give or take {self.error:.0f}"
            said += f", where the best set is ahead of the next by {self.ahead:.0f} nats{error}"
        return f"{said}; weak effects on all."


@dataclass(frozen=True)
class Searched:
    """How sure a fit is of its search: sets visited, and what was looked at beside the best of them.

    `orders` says for two, three and four inputs among how many of the `inputs` all products were looked at; none where
    no look was worth its time. `left_behind` is the share of the variance of y that is expected to be missed: what is
    unexplained times the chance that one more start would change the answer. `agreed` says whether the last independent
    starts led to the same best set; None where none was asked. `rested` is for evidence that rests on part
    of the rows; None where it rests on all.
    """

    visited: int
    inputs: int
    orders: dict[int, int]
    left_behind: float
    agreed: bool | None
    rested: Rested | None = None

    def to_plain(self) -> dict[str, Any]:
        """As values that a file can hold; `from_plain` reads them."""
        orders = {str(size): count for size, count in self.orders.items()}
        return {**vars(self), "orders": orders, "rested": None if self.rested is None else vars(self.rested)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Searched:
        """What `to_plain` gave."""
        orders = {int(size): int(count) for size, count in values["orders"].items()}
        rested = Rested(**values["rested"]) if values.get("rested") else None
        return cls(**{**values, "orders": orders, "rested": rested})

    def __str__(self) -> str:
        whole = [str(size) for size, count in self.orders.items() if count == self.inputs]
        part = [
            f"of {size} of the {count} most promising" for size, count in self.orders.items() if 0 < count < self.inputs
        ]
        looked = [f"effects of {' and of '.join(whole)} inputs together" if whole else "", *part]
        missed = [str(size) for size, count in self.orders.items() if count < self.inputs]
        said = f"The search fitted {self.visited} sets"
        if any(looked):
            said += " and looked at " + ", ".join(one for one in looked if one)
        if missed:
            said += f"; effects of {' or '.join(missed)} inputs that have no part of their own could be missed"
        starts = {True: "; independent starts agreed", False: "; independent starts did not agree", None: ""}
        said += f"{starts[self.agreed]}. About {100 * self.left_behind:.0f}% of the variation may still be found."
        return said if self.rested is None else f"{said} {self.rested}"


@dataclass(frozen=True)
class Prediction:
    """Moments of every component at t rows: means, latent variances (k, t), noise and weights (k,).

    `response` says what y is given f; None for Gaussian noise of these variances.
    """

    means: np.ndarray
    variances: np.ndarray
    noises: np.ndarray
    weights: np.ndarray
    response: Response | None = None

    def mean(self) -> np.ndarray:
        """Mixture mean (t,) of f, A.4: that of y too, unless there is a response."""
        return self.weights @ self.means

    def variance(self, noise: bool = True) -> np.ndarray:
        """Mixture variance (t,) of y, or of f where `noise` is false, A.4."""
        within = self.variances + (self.noises[:, None] if noise else 0.0)
        spread = (self.means - self.mean()) ** 2
        return self.weights @ (within + spread)
