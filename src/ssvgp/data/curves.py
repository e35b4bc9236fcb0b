"""Rising curves that a target may pass before it is standardised: Box-Cox (B.4), logarithm, Yeo-Johnson."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar

from ssvgp.data.inputs import scale_of

POWERS = (-3.0, 3.0)  # where lambda of Box-Cox and Yeo-Johnson is sought


class Curve(Protocol):
    """A rising function of the target; `description` names it to users."""

    @property
    def description(self) -> str: ...

    def transform(self, y: np.ndarray) -> np.ndarray: ...

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """The inverse of `transform`."""
        ...

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log of the derivative of `transform`."""
        ...


def _power(t: np.ndarray, power: float) -> np.ndarray:
    """(e^(power t) - 1) / power, and its limit t at power 0."""
    return np.expm1(power * t) / power if power else t


def _root(w: np.ndarray, power: float) -> np.ndarray:
    """Inverse of `_power`; minus infinity where w lies on the edge of its range."""
    with np.errstate(divide="ignore"):
        return np.log1p(np.maximum(power * w, -1.0)) / power if power else w


@dataclass(frozen=True)
class Straight:
    """No transform."""

    description = "none"

    def transform(self, y: np.ndarray) -> np.ndarray:
        return y

    def inverse(self, w: np.ndarray) -> np.ndarray:
        return w

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(np.shape(y))


@dataclass(frozen=True)
class BoxCox:
    """((y / unit)^power - 1) / power for positive y, the logarithm at power 0; unit is the geometric mean."""

    unit: float
    power: float

    @property
    def description(self) -> str:
        return "log" if self.power == 0.0 else f"Box-Cox of power {self.power:.2g}"

    def transform(self, y: np.ndarray) -> np.ndarray:
        return _power(np.log(y / self.unit), self.power)

    def inverse(self, w: np.ndarray) -> np.ndarray:
        return self.unit * np.exp(_root(w, self.power))

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        return self.power * np.log(y / self.unit) - np.log(y)


@dataclass(frozen=True)
class YeoJohnson:
    """Box-Cox of 1 + u above zero and of 1 - u below, with u = y / unit; unit is the standard deviation."""

    unit: float
    power: float

    @property
    def description(self) -> str:
        """Above zero these are (y + unit)^power, and the logarithm at power 0."""
        names = {0.0: "log", 0.25: "fourth root", 0.5: "root"}
        return f"{names[self.power]} of y + {self.unit:.2g}" if self.power in names else f"Yeo-Johnson {self.power:.2g}"

    def transform(self, y: np.ndarray) -> np.ndarray:
        size = np.log1p(np.abs(y) / self.unit)
        return np.where(y >= 0, _power(size, self.power), -_power(size, 2.0 - self.power))

    def inverse(self, w: np.ndarray) -> np.ndarray:
        size = np.abs(w)
        size = np.where(w >= 0, _root(size, self.power), _root(size, 2.0 - self.power))
        return self.unit * np.sign(w) * np.expm1(size)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        return (self.power - 1.0) * np.sign(y) * np.log1p(np.abs(y) / self.unit) - np.log(self.unit)


TRANSFORMS = ("box-cox", "log", "yeo-johnson")


def curve_of(y: np.ndarray, transform: str | None, weights: np.ndarray | None = None) -> Curve:
    """The named curve for training targets y (n,) that count by weights (n,), its power by maximum likelihood."""
    if transform is None:
        return Straight()
    if transform == "yeo-johnson":
        unit = float(scale_of(y, weights).spread)
        return YeoJohnson(unit, _likeliest(lambda power: YeoJohnson(unit, power), y, weights))
    least = float(y.min())
    if least <= 0:
        raise ValueError(
            f"target_transform={transform!r} needs y above zero, but its least is {least:g}: add a constant"
            f" above {-least:g} to y, or use target_transform='yeo-johnson'"
        )
    unit = float(np.exp(np.log(y).mean() if weights is None else np.average(np.log(y), weights=weights)))
    return BoxCox(unit, 0.0 if transform == "log" else _likeliest(lambda power: BoxCox(unit, power), y, weights))


def _likeliest(curve: Callable[[float], Curve], y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The power at which the transformed y (n,) is likeliest under a normal distribution."""

    def loss(power: float) -> float:
        curved = curve(power)
        with np.errstate(over="ignore"):
            w = curved.transform(y)
        if not np.isfinite(w).all():  # so strong a power overflows: never the likeliest
            return float(np.finfo(float).max)
        slope = curved.log_slope(y) if weights is None else weights * curved.log_slope(y)
        count = y.size if weights is None else float(weights.sum())
        return float(count * np.log(scale_of(w, weights).spread) - slope.sum())

    found = float(minimize_scalar(loss, bounds=POWERS, method="bounded", options={"xatol": 1e-6}).x)
    return 0.0 if abs(found) < 1e-5 else found  # near 0 the quotient loses the digits that its limit keeps
