"""Covariance functions of (x, x', theta): profiles of a scaled geometry, and their sums and products.

Every kernel here has unit scale; the scale tau of the paper (eq. 3) multiplies it in `likelihood`. Each is a
function g(M) of M = sum_j theta_j^2 M_j(x, x'), where M_j is the squared difference (stationary kernels), the
product (linear, polynomial) or the squared sine of the difference (periodic) of one input. All are therefore
even in theta, as appendix A.1 wants, and all their gradients follow from

    d <G, C> / d theta_j^2 = <G * g'(M), M_j>,

which costs two matrix products for all inputs at once and never forms an n x n x d array. Rows in single precision
have these products in single precision; what is n x n is in double precision always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np


class Profile(Protocol):
    """h(r^2) and its derivative in r^2; `floor` bounds r^2 from below in the derivative."""

    def value(self, m: np.ndarray) -> np.ndarray: ...

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray: ...


class Evaluation(Protocol):
    """A kernel matrix C (n, n) at one theta together with its derivatives."""

    @property
    def matrix(self) -> np.ndarray: ...

    def pullback(self, weights: np.ndarray) -> np.ndarray:
        """d <weights, C> / d theta (p,) for symmetric weights (n, n)."""
        ...

    def slopes(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """d <weights, C> / d theta_j^2 at theta_j = 0 (q,) for inputs outside the kernel, columns (n, q)."""
        ...


@runtime_checkable
class Kernel(Protocol):
    """A covariance function with unit scale; `local` says that it falls with ||theta * (x - x')||."""

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """C (a, b) between the rows of left (a, p) and right (b, p)."""
        ...

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """k(x, x) for each row (a,)."""
        ...

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        """C (n, n) with derivatives; `floor` bounds M from below in g' where it is not smooth at 0."""
        ...


# --- geometries: how M_j looks at a pair of rows ------------------------------------------------------------


def _scaled(rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """theta * x for each row (a, p), in the precision of the rows."""
    return rows * (theta.astype(np.float32) if rows.dtype == np.float32 else theta)


def _squared_distance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """||a - b||^2 for all pairs (a, b), never negative."""
    m = (left @ right.T).astype(float, copy=False)
    m *= -2.0
    m += (left * left).sum(1)[:, None]
    m += (right * right).sum(1)[None, :]
    return np.maximum(m, 0.0, out=m)


def _contract_distance(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_ab w_ab (z_aj - z_bj)^2 = 2 (w 1 . z_j^2 - z_j' w z_j) for symmetric w, each column j."""
    square = columns * columns
    totals = weights.sum(1)
    if columns.dtype == np.float32:
        totals, weights = totals.astype(np.float32), weights.astype(np.float32)
    return 2.0 * (totals @ square - np.einsum("aj,aj->j", columns, weights @ columns))


def _contract_product(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_ab w_ab z_aj z_bj for each column j."""
    return np.einsum("aj,aj->j", columns, weights @ columns)


@dataclass(frozen=True)
class _Pointwise:
    """Evaluation of g(M): `derivative` is g'(M), `contract` sums weights against every M_j."""

    matrix: np.ndarray
    derivative: np.ndarray
    rows: np.ndarray
    theta: np.ndarray
    contract: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def pullback(self, weights: np.ndarray) -> np.ndarray:
        return 2.0 * self.theta * self.contract(weights * self.derivative, self.rows)

    def slopes(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.contract(weights * self.derivative, columns)


# --- stationary kernels: k = h(r^2), r^2 = ||theta * (x - x')||^2 (eq. 3) -----------------------------------


@dataclass(frozen=True)
class Stationary:
    """h(r^2) with its derivative in r^2, given by `profile`."""

    name: str
    profile: Profile = field(repr=False)
    local: bool = True

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        m = _squared_distance(_scaled(left, theta), _scaled(right, theta))
        if left is right:
            m.flat[:: m.shape[0] + 1] = 0.0  # as in `evaluate`
        return self.profile.value(m)

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.ones(rows.shape[0])

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        scaled = _scaled(rows, theta)
        m = _squared_distance(scaled, scaled)
        m.flat[:: m.shape[0] + 1] = 0.0  # rounding must not leave a row at a distance from itself
        value = self.profile.value(m)
        derivative = self.profile.derivative(m, value, floor)
        derivative.flat[:: m.shape[0] + 1] = 0.0  # it only ever multiplies M_j(x, x) = 0
        return _Pointwise(value, derivative, rows, theta, _contract_distance)


@dataclass(frozen=True)
class SquaredExponentialProfile:
    """h = exp(-r^2 / 2)."""

    def value(self, m: np.ndarray) -> np.ndarray:
        value = -0.5 * m
        return np.exp(value, out=value)  # in place: fresh large arrays cost as much as the exponentials

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        return -0.5 * value


@dataclass(frozen=True)
class Matern12Profile:
    """h = exp(-r)."""

    def value(self, m: np.ndarray) -> np.ndarray:
        return np.exp(-np.sqrt(m))

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        # h' is infinite at r = 0, where M_j = 0 too for inputs inside the kernel: without a floor it counts
        # as 0 there, since a large number would cancel only up to rounding.
        bounded = np.sqrt(np.maximum(m, floor))
        return np.divide(-0.5 * value, bounded, out=np.zeros_like(m), where=bounded > 1e-10)


@dataclass(frozen=True)
class Matern32Profile:
    """h = (1 + s) exp(-s), s = sqrt(3) r."""

    def value(self, m: np.ndarray) -> np.ndarray:
        s = np.sqrt(3.0 * m)
        return (1.0 + s) * np.exp(-s)

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        return -1.5 * value / (1.0 + np.sqrt(3.0 * m))


@dataclass(frozen=True)
class Matern52Profile:
    """h = (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r."""

    def value(self, m: np.ndarray) -> np.ndarray:
        s = np.sqrt(5.0 * m)
        return (1.0 + s + (5.0 / 3.0) * m) * np.exp(-s)

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        s = np.sqrt(5.0 * m)
        return -(5.0 / 6.0) * (1.0 + s) / (1.0 + s + (5.0 / 3.0) * m) * value


@dataclass(frozen=True)
class CauchyProfile:
    """h = 1 / (1 + r^2)."""

    def value(self, m: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + m)

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        return -value * value


@dataclass(frozen=True)
class RationalProfile:
    """h = (1 + r^2 / (2 shape))^-shape."""

    shape: float

    def value(self, m: np.ndarray) -> np.ndarray:
        return (1.0 + m / (2.0 * self.shape)) ** -self.shape

    def derivative(self, m: np.ndarray, value: np.ndarray, floor: float) -> np.ndarray:
        return -0.5 * value / (1.0 + m / (2.0 * self.shape))


def squared_exponential() -> Stationary:
    """exp(-r^2 / 2), the kernel of the paper's experiments."""
    return Stationary("se", SquaredExponentialProfile())


def matern(twice_order: int) -> Stationary:
    """Matern kernel of order 1/2, 3/2 or 5/2, given as 1, 3 or 5."""
    profiles: dict[int, Profile] = {1: Matern12Profile(), 3: Matern32Profile(), 5: Matern52Profile()}
    if twice_order not in profiles:
        raise ValueError(f"a Matern kernel has order 1/2, 3/2 or 5/2: give 1, 3 or 5, not {twice_order!r}")
    return Stationary(f"matern{twice_order}2", profiles[twice_order])


def cauchy() -> Stationary:
    """1 / (1 + r^2)."""
    return Stationary("cauchy", CauchyProfile())


def rational_quadratic(shape: float = 1.0) -> Stationary:
    """(1 + r^2 / (2 shape))^-shape: a mixture of squared exponentials over many lengthscales."""
    if not shape > 0:
        raise ValueError(f"the shape of a rational quadratic kernel must be positive, not {shape!r}")
    return Stationary("rq", RationalProfile(float(shape)))


# --- kernels of the inner product ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Polynomial:
    """(offset + sum_j theta_j^2 x_j x'_j)^degree; degree 1 and offset 0 is the linear kernel."""

    degree: int = 2
    offset: float = 1.0
    name: str = "poly"
    local: bool = False

    def __post_init__(self) -> None:
        if self.degree < 1 or int(self.degree) != self.degree:
            raise ValueError(f"the degree of a polynomial is a whole number from 1 up, not {self.degree!r}")
        if self.offset < 0:
            raise ValueError(f"the offset of a polynomial kernel may not be negative, but is {self.offset!r}")

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return (self.offset + (left * theta) @ (right * theta).T) ** self.degree

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return (self.offset + ((rows * theta) ** 2).sum(1)) ** self.degree

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        scaled = rows * theta
        base = self.offset + scaled @ scaled.T
        derivative = self.degree * base ** (self.degree - 1)
        return _Pointwise(base**self.degree, derivative, rows, theta, _contract_product)


def linear() -> Polynomial:
    """sum_j theta_j^2 x_j x'_j."""
    return Polynomial(degree=1, offset=0.0, name="linear")


# --- periodic -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Periodic:
    """A stationary kernel of sin(pi (x_j - x'_j) / period) in place of the difference.

    `period` is in units of the standardised inputs. sin^2(pi u / period) is the squared distance of the
    points (cos, sin)(2 pi x / period) / 2 on a circle, so all sums over pairs stay matrix products.
    """

    inner: Stationary = field(default_factory=squared_exponential)
    period: float = 2.0
    name: str = "periodic"
    local: bool = False

    def __post_init__(self) -> None:
        if not self.period > 0:
            raise ValueError(f"the period must be positive, not {self.period!r}")

    def _circle(self, rows: np.ndarray) -> np.ndarray:
        angle = rows * (2.0 * np.pi / self.period)
        return 0.5 * np.concatenate([np.cos(angle), np.sin(angle)], axis=1)

    def _contract(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        both = _contract_distance(weights, self._circle(columns))
        return both[: columns.shape[1]] + both[columns.shape[1] :]

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        circle = self._circle(left)
        return self.inner.matrix(circle, circle if right is left else self._circle(right), np.tile(theta, 2))

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.ones(rows.shape[0])

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        inner = self.inner.evaluate(self._circle(rows), np.tile(theta, 2), floor)
        assert isinstance(inner, _Pointwise)
        return _Pointwise(inner.matrix, inner.derivative, rows, theta, self._contract)
