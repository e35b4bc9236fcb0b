"""How scale and noise are stepped in Algorithm 1: as s and sigma, their roots, or as logs.

The paper says only that they are positive; it stepped the roots, which decides experiment 1 (docs/method.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ssvgp.gp.marginal import Gradient
from ssvgp.records import Parameters
from ssvgp.settings import PaperSettings

SLOTS = ("scale", "noise")  # in this order


class ScaleNoise(Protocol):
    """What the slots of scale and noise hold, and the gradient in them."""

    def start(self) -> np.ndarray:
        """The two unknowns at scale = noise = 1 (B.1)."""
        ...

    def unknowns(self, scale: float, noise: float) -> np.ndarray:
        """The two unknowns of a scale and a noise."""
        ...

    def parameters(self, theta: np.ndarray, pair: np.ndarray) -> Parameters:
        """The process at theta (p,) and the two unknowns."""
        ...

    def slope(self, pair: np.ndarray, g: Gradient) -> np.ndarray:
        """The gradient of log p in the two unknowns."""
        ...


@dataclass(frozen=True)
class Roots:
    """scale = s^2 and noise = sigma^2; either may pass through zero and change its sign, which means nothing."""

    def start(self) -> np.ndarray:
        return np.ones(2)

    def unknowns(self, scale: float, noise: float) -> np.ndarray:
        return np.sqrt([scale, noise])

    def parameters(self, theta: np.ndarray, pair: np.ndarray) -> Parameters:
        return Parameters(theta, float(pair[0] ** 2), float(pair[1] ** 2))

    def slope(self, pair: np.ndarray, g: Gradient) -> np.ndarray:
        # d/ds = d/d log(s^2) 2/s, and at s = 0 it is the limit of that, zero
        logs = (g.log_scale, g.log_noise)
        return np.array([2.0 * log / root if root else 0.0 for log, root in zip(logs, pair, strict=True)])


@dataclass(frozen=True)
class Logs:
    """Logarithms of scale and noise."""

    def start(self) -> np.ndarray:
        return np.zeros(2)

    def unknowns(self, scale: float, noise: float) -> np.ndarray:
        return np.log([scale, noise])

    def parameters(self, theta: np.ndarray, pair: np.ndarray) -> Parameters:
        return Parameters(theta, float(np.exp(pair[0])), float(np.exp(pair[1])))

    def slope(self, pair: np.ndarray, g: Gradient) -> np.ndarray:
        return np.array([g.log_scale, g.log_noise])


def scale_noise_of(settings: PaperSettings) -> ScaleNoise:
    """The form that the settings name; roots where they were not asked for a number of rows."""
    forms: dict[str | None, ScaleNoise] = {"root": Roots(), "log": Logs(), None: Roots()}
    if settings.parametrisation not in forms:
        raise ValueError(f"parametrisation is 'root' or 'log', not {settings.parametrisation!r}")
    return forms[settings.parametrisation]
