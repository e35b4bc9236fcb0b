"""Which input is meant, and at which of its values it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvgp.data.view import needs_whole_table
from ssvgp.explain.fitted import Fitted
from ssvgp.settings.regime import SLIGHT

SINGLE = float(np.finfo(np.float32).eps)
FEW_VALUES = 10  # an input with at most this many is shown at each of them, and two inputs at as many of each


def check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of a band lies between 0 and 1, such as 0.9, but is {level!r}")


def number_of(feature: int | str, names: Sequence[str]) -> int:
    """The number of a column that is given by name or number."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"there is no input named {feature!r}; the first names are {', '.join(names[:5])}")
        return list(names).index(feature)
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool):
        if 0 <= feature < len(names):
            return int(feature)
        raise ValueError(f"there is no input number {feature}: the {len(names)} inputs are counted from 0")
    raise TypeError(f"an input is given by its name or number, not by {type(feature).__name__}")


def place_of(fitted: Fitted, feature: int | str) -> tuple[int, int]:
    """Number in the table, and among the columns that were kept; a copy has the place of the one it copies."""
    index = number_of(feature, fitted.names)
    stands = fitted.inputs.duplicate_of.get(index, index)
    place = np.flatnonzero(fitted.inputs.kept == stands)
    if not place.size:
        raise ValueError(f"input {fitted.names[index]!r} was constant in the training table, so it has no effect")
    return index, int(place[0])


def standardised(fitted: Fitted, place: int, values: np.ndarray) -> np.ndarray:
    return (values - fitted.inputs.centre[place]) / fitted.inputs.spread[place]


def grid_of(fitted: Fitted, place: int, grid: Any, count: int) -> np.ndarray:
    """The values that were asked for, else those of the input if few, else `count` across its middle 98%."""
    if grid is not None:
        values = np.atleast_1d(np.asarray(grid, dtype=float))
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ValueError(f"a grid is a list of finite numbers, but got {grid!r}")
        return values
    values = _column(fitted, place)
    distinct = np.unique(values)
    if distinct.size <= FEW_VALUES:
        return distinct
    low, high = np.quantile(values, [SLIGHT, 1.0 - SLIGHT])  # beyond, single rows decide
    if low == high:  # nearly all rows are alike: the few others are what there is to see
        low, high = distinct[0], distinct[-1]
    return np.linspace(low, high, count)


def _column(fitted: Fitted, place: int) -> np.ndarray:
    """Values (n,) of a kept column in units of the table, free of the rounding that standardising brings.

    A column that no member looks at need not be at hand in a fit read from a file; two standard deviations about
    its mean stand for it, before and after, and its effect is zero.
    """
    centre, spread = fitted.inputs.centre[place], fitted.inputs.spread[place]
    if not fitted.looked_at(place):
        return np.linspace(centre - 2.0 * spread, centre + 2.0 * spread, 2 * FEW_VALUES)
    scaled = fitted.train.X[:, np.array([place])][:, 0]
    values = scaled * spread + centre
    grain = 1e-12 * max(np.abs(values).max(), spread)
    if needs_whole_table(fitted.ensemble.members):  # then the table is held in single precision
        grain = max(grain, SINGLE * np.abs(scaled).max() * spread)
    digits = -int(np.ceil(np.log10(grain)))
    return np.round(values, digits) if abs(digits) < 300 else values
