"""Standardising the target, and undoing it in means, standard deviations, quantiles and densities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtri

from ssvgp.data.curves import TRANSFORMS, BoxCox, Curve, Straight, curve_of
from ssvgp.data.inputs import scale_of
from ssvgp.records import Prediction

NODES = 48  # of the Gauss-Hermite rule that undoes a curved transform in means


@dataclass(frozen=True)
class Target:
    """How y became a standardised target: z = (curve(y) - centre) / spread; y is held within [low, high].

    The bounds matter for curved transforms alone: Box-Cox of negative power reaches infinity at a finite w.
    """

    curve: Curve
    centre: float
    spread: float
    low: float
    high: float
    constant: bool

    def unscaled(self) -> Target:
        """The same curve, and then neither centred nor scaled."""
        return replace(self, centre=0.0, spread=1.0)

    @property
    def raw(self) -> bool:
        """Whether y is neither centred nor scaled."""
        return self.centre == 0.0 and self.spread == 1.0

    @property
    def curved(self) -> bool:
        """Whether y passed more than a change of scale."""
        return not isinstance(self.curve, Straight)

    def refuse_known_noise(self) -> None:
        """A noise variance that is known is one of y: under a curve it would be another in each row."""
        if self.curved:
            raise ValueError(
                f"noise_variance is known in units of y, but y passed a curve ({self.curve.description}): use"
                " target_transform=None, or transform y and its noise beforehand"
            )

    def standardise(self, y: np.ndarray) -> np.ndarray:
        """z (n,) of targets y (n,)."""
        return (self.curve.transform(y) - self.centre) / self.spread

    def restore(self, z: np.ndarray) -> np.ndarray:
        """y of standardised values of any shape; rising, so that it maps quantiles to quantiles."""
        y = self.curve.inverse(self.centre + self.spread * z)
        return np.clip(y, self.low, self.high) if self.curved else y

    def possible(self, y: np.ndarray) -> np.ndarray:
        """Whether each y (t,) lies where the curve is defined."""
        return y > 0 if isinstance(self.curve, BoxCox) else np.ones(y.shape, dtype=bool)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log dz/dy (n,), which turns a log density of z into one of y."""
        return self.curve.log_slope(y) - np.log(self.spread)

    def moments(self, prediction: Prediction, noise: bool = True) -> Restored:
        """Mean and standard deviation (t,) of y under the mixture; without `noise`, of f in units of y.

        Where a response ties y to f, f in units of y is E(y | f): a probability, a rate.
        """
        if prediction.response is not None and not self.curved:
            of = prediction.response.moments if noise else prediction.response.expected
            means, variances = of(prediction.means, prediction.variances)
            mean = prediction.weights @ means
            sd = np.sqrt(prediction.weights @ (variances + (means - mean) ** 2))
            return Restored(self.restore(mean), self.spread * sd)
        if not self.curved:
            sd = np.sqrt(prediction.variance(noise))
            return Restored(self.restore(prediction.mean()), self.spread * sd)
        nodes, shares = hermegauss(NODES)
        shares = shares / shares.sum()
        within = np.sqrt(prediction.variances + (prediction.noises[:, None] if noise else 0.0))
        means, squares = np.empty(within.shape), np.empty(within.shape)
        for k, (mean, sd) in enumerate(zip(prediction.means, within, strict=True)):
            values = self.restore(mean[:, None] + sd[:, None] * nodes)
            means[k] = values @ shares
            squares[k] = (values - means[k][:, None]) ** 2 @ shares
        mean = prediction.weights @ means
        return Restored(mean, np.sqrt(prediction.weights @ (squares + (means - mean) ** 2)))


class Restored(NamedTuple):
    """Mean and standard deviation (t,) in units of y."""

    mean: np.ndarray
    sd: np.ndarray


def target_of(y: np.ndarray, transform: str | Curve | None = None, weights: np.ndarray | None = None) -> Target:
    """The record that standardises training targets y (n,) and undoes it; a constant y stays as it is.

    Rows count by weights (n,).
    """
    if isinstance(transform, str) and transform not in TRANSFORMS:
        raise ValueError(f"target_transform is None, auto or one of {', '.join(TRANSFORMS)}; got {transform!r}")
    plain = scale_of(y, weights)
    if plain.constant:
        size = abs(float(plain.centre))
        return Target(Straight(), float(plain.centre), size if size > 0 else 1.0, -np.inf, np.inf, True)
    curve = curve_of(y, transform, weights) if transform is None or isinstance(transform, str) else transform
    scale = scale_of(curve.transform(y), weights)
    # a transformed prediction is not followed beyond one range of the training target on either side
    reach = float(y.max()) - float(y.min())
    low = 0.0 if isinstance(curve, BoxCox) else float(y.min()) - reach
    return Target(curve, float(scale.centre), float(scale.spread), low, float(y.max()) + reach, False)


def robust_target(y: np.ndarray, weights: np.ndarray | None = None) -> Target:
    """The same by median and quartiles, for targets with outliers: few of these must not set the scale of all others.

    Where the middle half of the rows has no spread it is `target_of`.
    """
    plain, (low, middle, high) = target_of(y, None, weights), quartiles(y, weights)
    spread = (high - low) / (2.0 * float(ndtri(0.75)))
    return plain if spread <= 0.0 else replace(plain, centre=middle, spread=spread)


def quartiles(y: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile of targets y (n,), each one of them; rows count by weights (n,)."""
    order = np.argsort(y, kind="stable")
    counted = np.cumsum(np.ones(y.size) if weights is None else weights[order])
    low, middle, high = (float(y[order][np.searchsorted(counted, q * counted[-1])]) for q in (0.25, 0.5, 0.75))
    return low, middle, high
