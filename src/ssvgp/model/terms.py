"""The dense backgrounds: one fixed covariance over all inputs underneath the sparse part, its strength alone learned.

Each is one row of the table below, a name and what makes the term once the columns are known. All have mean variance
about one on standardised inputs, or say of small differences D that f(x) - f(x') has variance sum_j share_j D_j^2.

`linear` is ridge regression, X X' / d. `unscaled` is ridge regression on the inputs as they came: where all columns are
in the same unit (gene expression, absorbance), those that vary more tend to say more. `steep` goes further on that way:
each column counts by the square of its variance. `smooth` is one squared exponential of the distance over all inputs,
for data in which rows that are alike in everything have like targets; `wide` has four times the length: nearly linear,
with a little curvature, as spectra often want it. `rough` is a function that changes by leaps, as many rows can show
it. `evened` is a Matern kernel (3/2) along axes in which the small principal directions of the table count for more:
where columns repeat each other many times over, as in spectra, what matters often lies in them.

A term of your own joins by `register(name, build)`, and is looked at where `AutoSettings.backgrounds` has its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.gp.kernels.profiles import Matern12Profile, Matern32Profile, Profile, SquaredExponentialProfile
from ssvgp.gp.terms import Background, Linear, Radial
from ssvgp.model.registry import Registry


@dataclass(frozen=True, eq=False)
class Columns:
    """What a term may know of the d standardised columns before it is bound to them.

    `units` (d,) are their standard deviations before they were standardised, `axes` (d, k) those of `gp.axes`; None
    where they are not known, or not of use.
    """

    d: int
    units: np.ndarray | None = None
    axes: np.ndarray | None = None


BACKGROUNDS: Registry[Columns, Background] = Registry("background")
register, kind_named, from_plain = BACKGROUNDS.register, BACKGROUNDS.named, BACKGROUNDS.from_plain


def backgrounds_for(names: Iterable[str], columns: Columns) -> tuple[Background, ...]:
    """The terms of these names bound to the columns, without those that have nothing to say of them."""
    found = (kind_named(name).build(columns) for name in names)
    return tuple(term for term in found if term is not None)


# --- the table ------------------------------------------------------------------------------------------------


def _linear(name: str, power: int) -> None:
    """Ridge regression in which each column counts by a power of its standard deviation before standardising."""

    def build(columns: Columns) -> Background:
        if power == 0 or columns.units is None:
            return Linear(name)
        scaled = columns.units / columns.units.max()  # powers of huge units must not overflow
        return Linear(name, scaled**power / float((scaled**power).sum()))

    register(name, build, lambda values: Linear(name, values.get("weights")))


def _radial(name: str, profile: Profile, length: float, variance: float, along_axes: bool = False) -> None:
    """A profile of the distance: with this variance f(x) - f(x') has that of the linear kind for small differences."""

    def build(columns: Columns) -> Background | None:
        if along_axes and columns.axes is None:
            return None
        return Radial(name, profile, length, variance, columns.axes if along_axes else None)

    def restore(values: Mapping[str, Any]) -> Background:
        axes = values["axes"] if along_axes else None
        if axes is not None and axes.ndim != 2:
            raise ValueError(f"the axes of a background {name!r} are a table (d, k), not of shape {axes.shape}")
        return Radial(name, profile, length, variance, axes)

    register(name, build, restore)


_linear("linear", 0)
_linear("unscaled", 2)
_linear("steep", 4)
_radial("smooth", SquaredExponentialProfile(), 1.0, 1.0)
_radial("wide", SquaredExponentialProfile(), 4.0, 16.0)
_radial("rough", Matern12Profile(), 1.0, 1.0)
_radial("evened", Matern32Profile(), 8.0, 64.0 / 3.0, along_axes=True)
