"""Where randomness comes from: one generator for each call of the estimator, which hands children of it down."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator_of(random_state: Any) -> np.random.Generator:
    """The generator of a seed, a RandomState or None; one that is a generator already is used as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))


def evenly(n: int) -> np.ndarray:
    """Numbers (n,) spread evenly over [0, 1), the first few as all: multiples of the golden ratio, less wholes.

    Rows chosen by them need no seed, so that answers of two seeds differ by their draws alone.
    """
    return np.asarray((np.arange(1, n + 1) * 0.5 * (np.sqrt(5.0) - 1.0)) % 1.0)


def spread_rows(n: int, count: int) -> np.ndarray:
    """At most `count` of n rows, in rising order, from all over the table."""
    return np.sort(np.argsort(evenly(n), kind="stable")[:count])
