"""Covariance functions of (x, x', theta): profiles of a scaled geometry, and their sums and products.

Every kernel here has unit scale; the scale tau of the paper (eq. 3) multiplies it in `likelihood`. Each is a
function g(M) of M = sum_j theta_j^2 M_j(x, x'), where M_j is the squared difference (stationary kernels), the
product (linear, polynomial) or the squared sine of the difference (periodic) of one input. All are therefore
even in theta, as appendix A.1 wants, and all their gradients follow from

    d <G, C> / d theta_j^2 = <G * g'(M), M_j>,

which costs two matrix products for all inputs at once and never forms an n x n x d array (`geometry`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ssvgp.gp.kernels.geometry import (
    contract_distance,
    contract_product,
    distance_along,
    own_distance,
    product_along,
    scaled,
    squared_distance,
    upper_only,
)
from ssvgp.gp.kernels.profiles import (
    CauchyProfile,
    Matern12Profile,
    Matern32Profile,
    Matern52Profile,
    Profile,
    RationalProfile,
    SquaredExponentialProfile,
)


class Evaluation(Protocol):
    """A kernel matrix C (n, n) at one theta together with its derivatives.

    One that has `along(vector, weights)`, the products (n, p) of weights * dC / d theta_j and a vector (n,), spares the
    ascent half of its steps (gp/information.py).
    """

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


Plain = dict[str, Any]  # a kernel as a file holds it: its kind, numbers, and the kernels it is made of


class OwnCodeError(TypeError):
    """A kernel that is code of the user's own, which no file can hold."""


def plain_of(kernel: Any) -> Plain:
    """The kernel as plain values, if it has `to_plain`, as all kernels of the package do."""
    own = getattr(kernel, "to_plain", None)
    if own is None:
        raise OwnCodeError(f"the kernel {kernel.name!r} is code of your own")
    found: Plain = own()
    return found


@dataclass(frozen=True)
class _Pointwise:
    """Evaluation of g(M): `derivative` is g'(M), `contract` sums weights against every M_j, `push` moves a vector."""

    matrix: np.ndarray
    derivative: np.ndarray
    rows: np.ndarray
    theta: np.ndarray
    contract: Callable[[np.ndarray, np.ndarray], np.ndarray]
    push: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    def pullback(self, weights: np.ndarray) -> np.ndarray:
        return 2.0 * self.theta * self.contract(weights * self.derivative, self.rows)

    def slopes(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.contract(weights * self.derivative, columns)

    def along(self, vector: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
        """weights * dC / d theta_j times a vector (n,), for each input (n, p)."""
        if isinstance(weights, float):
            return (2.0 * weights * self.theta) * self.push(self.derivative, vector, self.rows)
        return 2.0 * self.theta * self.push(weights * self.derivative, vector, self.rows)


# --- stationary kernels: k = h(r^2), r^2 = ||theta * (x - x')||^2 (eq. 3) -----------------------------------


@dataclass(frozen=True)
class Stationary:
    """h(r^2) with its derivative in r^2, given by `profile`."""

    name: str
    profile: Profile = field(repr=False)
    local: bool = True

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        if left is not right:
            return self.profile.value(squared_distance(scaled(left, theta), scaled(right, theta)))
        return self.profile.value(own_distance(scaled(left, theta)))

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.ones(rows.shape[0])

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> _Pointwise:
        value, slope = self.profile.with_derivative(own_distance(scaled(rows, theta)), floor)
        slope.flat[:: slope.shape[0] + 1] = 0.0  # it only ever multiplies M_j(x, x) = 0
        return _Pointwise(value, slope, rows, theta, contract_distance, distance_along)

    def upper_at_each(self, rows: np.ndarray, thetas: np.ndarray) -> np.ndarray:
        """As the function of that name: half of the exponentials are enough."""
        return upper_only(self.profile.value, np.stack([own_distance(rows * theta) for theta in thetas]))

    def with_groups(self, rows: np.ndarray, table: np.ndarray, theta: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """As the function of that name: distances add up, and those of one input are cheap."""
        p = rows.shape[1]
        m = np.empty((len(groups), rows.shape[0], rows.shape[0]))
        m[:] = own_distance(rows * theta[:p])
        for position, columns in enumerate(groups.T):
            inputs, where = np.unique(columns, return_inverse=True)
            one = (table[:, inputs] * theta[p + position]).T
            gaps = one[:, :, None] - one[:, None, :]
            gaps *= gaps
            for each, index in zip(m, where, strict=True):
                each += gaps[index]
        return upper_only(self.profile.value, m)

    def to_plain(self) -> Plain:
        if not hasattr(self.profile, "to_plain"):
            raise OwnCodeError(f"the kernel {self.name!r} is code of your own")
        found: Plain = self.profile.to_plain()
        return found


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


def upper_at_each(kernel: Kernel, rows: np.ndarray, thetas: np.ndarray) -> np.ndarray:
    """C (g, n, n) of rows (n, p) at each theta of thetas (g, p), of which only the upper triangles may be used.

    A kernel that knows a faster way has a method of this name.
    """
    fast = getattr(kernel, "upper_at_each", None)
    stack: np.ndarray = fast(rows, thetas) if fast else np.stack([kernel.matrix(rows, rows, at) for at in thetas])
    return stack


def along(evaluation: Evaluation, vector: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray | None:
    """weights * dC / d theta_j times a vector (n,), for each input (n, p); None where a kernel does not know it."""
    known = getattr(evaluation, "along", None)
    found: np.ndarray | None = None if known is None else known(vector, weights)
    return found


def with_groups(
    kernel: Kernel, rows: np.ndarray, table: np.ndarray, theta: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """C (g, n, n) of rows (n, p) with each group (g, k) of columns of the table (n, d) added, at theta (p + k,).

    Only the upper triangles may be used. A kernel that knows a faster way has a method of this name.
    """
    fast = getattr(kernel, "with_groups", None)
    if fast is None:
        grown = [np.column_stack([rows, table[:, group]]) for group in groups]
        return np.stack([kernel.matrix(one, one, theta) for one in grown])
    stack: np.ndarray = fast(rows, table, theta, groups)
    return stack


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
        own = rows * theta
        base = self.offset + own @ own.T
        derivative = self.degree * base ** (self.degree - 1)
        return _Pointwise(base**self.degree, derivative, rows, theta, contract_product, product_along)

    def to_plain(self) -> Plain:
        return {"kind": "poly", "degree": int(self.degree), "offset": float(self.offset), "name": self.name}


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
        both = contract_distance(weights, self._circle(columns))
        return both[: columns.shape[1]] + both[columns.shape[1] :]

    def _push(self, weights: np.ndarray, vector: np.ndarray, columns: np.ndarray) -> np.ndarray:
        both = distance_along(weights, vector, self._circle(columns))
        return both[:, : columns.shape[1]] + both[:, columns.shape[1] :]

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        circle = self._circle(left)
        return self.inner.matrix(circle, circle if right is left else self._circle(right), np.tile(theta, 2))

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.ones(rows.shape[0])

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        inner = self.inner.evaluate(self._circle(rows), np.tile(theta, 2), floor)
        return _Pointwise(inner.matrix, inner.derivative, rows, theta, self._contract, self._push)

    def to_plain(self) -> Plain:
        return {"kind": "periodic", "inner": plain_of(self.inner), "period": float(self.period), "name": self.name}
