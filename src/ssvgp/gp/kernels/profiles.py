"""Profiles h(r^2) of stationary kernels, with their derivative in r^2.

A profile is handed the squared distances m for good: it may overwrite them, since fresh large arrays cost as much
as the arithmetic. `to_plain` is what a file holds of a profile: its kind, and numbers where it has any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Profile(Protocol):
    """h(m) and its derivative; `floor` bounds m from below in the derivative where that is infinite at zero."""

    def value(self, m: np.ndarray) -> np.ndarray: ...

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class SquaredExponentialProfile:
    """h = exp(-r^2 / 2)."""

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "se"}

    def value(self, m: np.ndarray) -> np.ndarray:
        m *= -0.5
        return np.exp(m, out=m)

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        value = self.value(m)
        return value, -0.5 * value


@dataclass(frozen=True)
class Matern12Profile:
    """h = exp(-r)."""

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "matern12"}

    def value(self, m: np.ndarray) -> np.ndarray:
        r = np.sqrt(m, out=m)
        np.negative(r, out=r)
        return np.exp(r, out=r)

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        # h' is infinite at r = 0, where M_j = 0 too for inputs inside the kernel: without a floor it counts
        # as 0 there, since a large number would cancel only up to rounding.
        bounded = np.sqrt(np.maximum(m, floor))
        value = self.value(m)
        return value, np.divide(-0.5 * value, bounded, out=np.zeros_like(m), where=bounded > 1e-10)


@dataclass(frozen=True)
class Matern32Profile:
    """h = (1 + s) exp(-s), s = sqrt(3) r."""

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "matern32"}

    def value(self, m: np.ndarray) -> np.ndarray:
        s, decay = _decay(m, 3.0)
        s += 1.0
        s *= decay
        return s

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        s, decay = _decay(m, 3.0)
        s += 1.0
        s *= decay
        decay *= -1.5
        return s, decay


@dataclass(frozen=True)
class Matern52Profile:
    """h = (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r."""

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "matern52"}

    def value(self, m: np.ndarray) -> np.ndarray:
        s, decay = _decay(m, 5.0)
        out = s * s
        out *= 1.0 / 3.0
        out += s
        out += 1.0
        out *= decay
        return out

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        s, decay = _decay(m, 5.0)
        value = s * s
        value *= 1.0 / 3.0
        s += 1.0
        value += s
        value *= decay
        s *= decay
        s *= -5.0 / 6.0
        return value, s


def _decay(m: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """s = sqrt(factor m), in the place of m, and exp(-s)."""
    m *= factor
    s = np.sqrt(m, out=m)
    decay = np.negative(s)
    return s, np.exp(decay, out=decay)


@dataclass(frozen=True)
class CauchyProfile:
    """h = 1 / (1 + r^2)."""

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "cauchy"}

    def value(self, m: np.ndarray) -> np.ndarray:
        m += 1.0
        return np.divide(1.0, m, out=m)

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        value = self.value(m)
        return value, -value * value


@dataclass(frozen=True)
class RationalProfile:
    """h = (1 + r^2 / (2 shape))^-shape."""

    shape: float

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "rq", "shape": self.shape}

    def value(self, m: np.ndarray) -> np.ndarray:
        return (1.0 + m / (2.0 * self.shape)) ** -self.shape

    def with_derivative(self, m: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
        base = 1.0 + m / (2.0 * self.shape)
        value = base**-self.shape
        return value, -0.5 * value / base
