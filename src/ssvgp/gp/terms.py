"""Terms of a covariance: cov(y) = sum of strength x term + noise, each term a function of the columns it looks at.

A member is a sum of these: its sparse part (the kernel of the active inputs), an unknown constant, and often one dense
background over all inputs. A term is bound to its table: what it knows of the columns it carries with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.gp.kernels.geometry import own_distance, squared_distance
from ssvgp.gp.kernels.profiles import Profile
from ssvgp.records import Member


class Term(Protocol):
    """One summand of the covariance of f, with unit strength, between standardised rows of all d inputs."""

    @property
    def name(self) -> str: ...

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Covariance (a, b) between the rows of left (a, d) and right (b, d)."""
        ...

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """Variance (a,) of each row."""
        ...

    def shares(self, d: int) -> np.ndarray:
        """s (d,) such that f(x) - f(x') has variance sum_j s_j D_j^2, nearly, for small differences D: who is near."""
        ...


@runtime_checkable
class Background(Term, Protocol):
    """A term over all inputs whose strength alone is learned, and which can be written to a file."""

    def to_plain(self) -> dict[str, Any]:
        """What it carries, as numbers and arrays by name; `model.terms.from_plain` makes the term of it again."""
        ...


# --- what backgrounds are made of ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Linear:
    """sum_j w_j x_j x'_j, ridge regression on all inputs; weights (d,) sum to one, None for 1 / d each."""

    name: str
    weights: np.ndarray | None = None

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        if self.weights is None:
            return left @ right.T / left.shape[1]
        return (left * self.weights) @ right.T

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return (rows * rows) @ self.shares(rows.shape[1])

    def shares(self, d: int) -> np.ndarray:
        return np.full(d, 1.0 / d) if self.weights is None else self.weights.copy()

    def to_plain(self) -> dict[str, Any]:
        return {} if self.weights is None else {"weights": self.weights}


@dataclass(frozen=True, eq=False)
class Radial:
    """variance * h(r^2 / (length^2 d)), a profile h of the distance r over all inputs, or along axes (d, k).

    sqrt(d) is the usual distance of two rows, so that a length counts in units of it.
    """

    name: str
    profile: Profile
    length: float
    variance: float
    axes: np.ndarray | None = None

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        d, same = left.shape[1], left is right
        if self.axes is not None:
            left = left @ self.axes
            right = left if same else right @ self.axes
        square = own_distance(left) if same else squared_distance(left, right)
        square /= self.length**2 * d
        value = self.profile.value(square)
        value *= self.variance
        return value

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.full(rows.shape[0], self.variance)

    def shares(self, d: int) -> np.ndarray:
        """As if all columns counted alike, which for axes is rough, but those are for few rows."""
        return np.full(d, 1.0 / d)

    def to_plain(self) -> dict[str, Any]:
        return {} if self.axes is None else {"axes": self.axes}


# --- what every member has ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sparse:
    """The paper's term: a kernel of the active inputs (p,) with inverse lengthscales theta (p,)."""

    kernel: Kernel
    active: np.ndarray
    theta: np.ndarray
    name: str = "sparse"

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        rows = left[:, self.active]
        # a kernel that is shown the same object twice knows that its diagonal has distance zero
        others = rows if right is left else right[:, self.active]
        return self.kernel.matrix(rows, others, self.theta)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return self.kernel.diagonal(rows[:, self.active], self.theta)

    def shares(self, d: int) -> np.ndarray:
        out = np.zeros(d)
        out[self.active] = self.theta**2
        return out


@dataclass(frozen=True, eq=False)
class Constant:
    """An unknown constant: one to all pairs of rows."""

    name: str = "constant"

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.ones((left.shape[0], right.shape[0]))

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(rows.shape[0])

    def shares(self, d: int) -> np.ndarray:
        return np.zeros(d)


def terms_of(member: Member) -> Iterator[tuple[float, Term]]:
    """The terms of a member with their strengths: the sparse part first, always, then those it has beside it."""
    at = member.parameters
    yield at.scale, Sparse(member.kernel, member.active, at.theta)
    if member.background is not None:
        yield at.background, member.background
    if at.mean:
        yield at.mean, Constant()


def metric(member: Member, d: int) -> np.ndarray:
    """Weights (d,) of all columns such that nearest rows are those with which f has most in common."""
    return np.sqrt(sum((strength * term.shares(d) for strength, term in terms_of(member)), np.zeros(d)))
