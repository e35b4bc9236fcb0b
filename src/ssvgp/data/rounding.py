"""The grid that targets lie on: rounding to it is noise of a known size.

A value that was rounded to multiples of g is off by up to g / 2 either way, with variance g^2 / 12. A process that does
not count this may follow the steps of the grid with hardly any noise, above all where few values are possible.
"""

from __future__ import annotations

import numpy as np

ALIKE = 1e-6  # of a step: two values that differ by less are one
FINEST = 1e-4  # of the standard deviation: finer grids are no rounding that anybody could see


def grid_of(y: np.ndarray) -> float:
    """The step g of the widest grid a + g Z that holds all targets y (n,); 0 where there is none to speak of."""
    gaps = np.diff(np.unique(y))
    finest = FINEST * float(np.std(y))
    step = 0.0
    while gaps.size:  # Euclid's algorithm for all gaps at once
        smallest = float(gaps.min())
        if smallest < finest:
            return 0.0
        step = smallest
        rest = np.abs(gaps - step * np.round(gaps / step))
        gaps = rest[rest > ALIKE * step]
    return step


def rounding_variance(y: np.ndarray) -> float:
    """The variance that rounding adds to targets y (n,)."""
    return grid_of(y) ** 2 / 12.0
