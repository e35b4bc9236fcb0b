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
