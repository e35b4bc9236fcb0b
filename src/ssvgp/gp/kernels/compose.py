"""Sums and products of kernels with common theta, and the registry of kernels by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssvgp.gp.kernels.families import (
    Evaluation,
    Kernel,
    Periodic,
    Plain,
    Polynomial,
    Stationary,
    along,
    cauchy,
    linear,
    matern,
    plain_of,
    rational_quadratic,
    squared_exponential,
)


@dataclass(frozen=True)
class _PairEvaluation:
    """Evaluation of a combination: `through` turns weights on the whole into weights on each part."""

    matrix: np.ndarray
    parts: tuple[Evaluation, Evaluation]
    through: tuple[np.ndarray | float, np.ndarray | float]

    def pullback(self, weights: np.ndarray) -> np.ndarray:
        first, second = self.parts
        return first.pullback(weights * self.through[0]) + second.pullback(weights * self.through[1])

    def slopes(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        parts = zip(self.parts, self.through, strict=True)
        first, second = (part.slopes(weights * through, columns) for part, through in parts)
        return first + second

    def along(self, vector: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray | None:
        parts = zip(self.parts, self.through, strict=True)
        first, second = (along(part, vector, weights * through) for part, through in parts)
        return None if first is None or second is None else first + second


@dataclass(frozen=True)
class Sum:
    """share * first + (1 - share) * second, with the same theta in both."""

    first: Kernel
    second: Kernel
    share: float = 0.5
    name: str = field(init=False)
    local: bool = field(init=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError(f"the share of a sum's first kernel lies between 0 and 1, but is {self.share!r}")
        object.__setattr__(self, "name", f"{self.first.name}+{self.second.name}")
        object.__setattr__(self, "local", self.first.local and self.second.local)

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        first, second = self.first.matrix(left, right, theta), self.second.matrix(left, right, theta)
        return self.share * first + (1.0 - self.share) * second

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        first, second = self.first.diagonal(rows, theta), self.second.diagonal(rows, theta)
        return self.share * first + (1.0 - self.share) * second

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        first, second = self.first.evaluate(rows, theta, floor), self.second.evaluate(rows, theta, floor)
        matrix = self.share * first.matrix + (1.0 - self.share) * second.matrix
        return _PairEvaluation(matrix, (first, second), (self.share, 1.0 - self.share))

    def to_plain(self) -> Plain:
        parts = {"first": plain_of(self.first), "second": plain_of(self.second)}
        return {"kind": "sum", **parts, "share": float(self.share)}


@dataclass(frozen=True)
class Product:
    """first * second, elementwise, with the same theta in both."""

    first: Kernel
    second: Kernel
    name: str = field(init=False)
    local: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.first.name}*{self.second.name}")
        object.__setattr__(self, "local", self.first.local and self.second.local)

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return self.first.matrix(left, right, theta) * self.second.matrix(left, right, theta)

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return self.first.diagonal(rows, theta) * self.second.diagonal(rows, theta)

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> Evaluation:
        first, second = self.first.evaluate(rows, theta, floor), self.second.evaluate(rows, theta, floor)
        return _PairEvaluation(first.matrix * second.matrix, (first, second), (second.matrix, first.matrix))

    def to_plain(self) -> Plain:
        return {"kind": "product", "first": plain_of(self.first), "second": plain_of(self.second)}


def partly_local(kernel: Kernel) -> bool:
    """Whether the kernel, or a part of it, falls with distance: near rows then say most about each other."""
    parts = [getattr(kernel, name) for name in ("first", "second") if hasattr(kernel, name)]
    return kernel.local or any(partly_local(part) for part in parts)


KERNELS: dict[str, Callable[[], Kernel]] = {
    "se": squared_exponential,
    "matern12": lambda: matern(1),
    "matern32": lambda: matern(3),
    "matern52": lambda: matern(5),
    "cauchy": cauchy,
    "rq": rational_quadratic,
    "linear": linear,
    "poly": Polynomial,
    "periodic": Periodic,
}

Reader = Callable[[Callable[[Any], Kernel], Plain], Kernel]  # of what reads inner kernels, and the plain values
READERS: dict[str, Reader] = {
    "rq": lambda read, plain: rational_quadratic(plain["shape"]),
    "poly": lambda read, plain: Polynomial(plain["degree"], plain["offset"], str(plain["name"])),
    "periodic": lambda read, plain: Periodic(_stationary(read(plain["inner"])), plain["period"], str(plain["name"])),
    "sum": lambda read, plain: Sum(read(plain["first"]), read(plain["second"]), plain["share"]),
    "product": lambda read, plain: Product(read(plain["first"]), read(plain["second"])),
}


def register(name: str, make: Callable[[], Kernel], reader: Reader | None = None) -> None:
    """Add a kernel by its name: `make` gives it to `kernel="name"`, and to a file whose `to_plain` has that kind.

    A kernel with numbers of its own has a `reader` that makes it of what its `to_plain` wrote.
    """
    if not name or name in KERNELS or set(name) & set("+*"):
        raise ValueError(f"a kernel needs a name of its own, without + and *; there are {', '.join(KERNELS)}: {name!r}")
    KERNELS[name] = make
    if reader is not None:
        READERS[name] = reader


def from_plain(plain: Any) -> Kernel:
    """The kernel that `to_plain` wrote."""
    if not isinstance(plain, dict):
        raise ValueError(f"{str(plain)[:80]} is no expression of a kernel")
    kind = plain.get("kind")
    if kind in READERS:
        return READERS[kind](from_plain, plain)
    if kind in KERNELS:
        return KERNELS[kind]()
    raise ValueError(f"the file names a kernel {kind!r} that this version of ssvgp does not know: upgrade ssvgp")


def _stationary(kernel: Kernel) -> Stationary:
    if not isinstance(kernel, Stationary):
        raise ValueError(f"a periodic kernel is made of a stationary one, not of {kernel.name!r}")
    return kernel


def kernel_named(kernel: str | Kernel) -> Kernel:
    """The kernel of that name; sums and products use + and *, sums in equal shares; objects stay."""
    if not isinstance(kernel, str):
        if isinstance(kernel, Kernel):
            return kernel
        wanted = "a name or an object with name, local, matrix, diagonal and evaluate"
        raise TypeError(f"a kernel is {wanted}; got {type(kernel).__name__}")
    if "+" in kernel:
        first, rest = kernel.split("+", 1)
        equal = 1.0 / (kernel.count("+") + 1)
        return Sum(kernel_named(first.strip()), kernel_named(rest.strip()), equal)
    if "*" in kernel:
        first, rest = kernel.split("*", 1)
        return Product(kernel_named(first.strip()), kernel_named(rest.strip()))
    if kernel not in KERNELS:
        known = f"{', '.join(KERNELS)}, and sums (+) and products (*) of them"
        raise ValueError(f"unknown kernel {kernel!r}; known names: {known}")
    return KERNELS[kernel]()
