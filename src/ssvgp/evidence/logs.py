"""log of a sum of exponentials for small arrays, where the checks of a general routine cost more than the sum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

NOTICED = 0.5  # nats by which something must be better, or the weight of all grow, to be worth a further step
NEGLIGIBLE = 12.0  # nats behind the best from which nothing carries weight any more


def log_sum(values: Sequence[float] | np.ndarray) -> float:
    """log sum_i exp(values_i) of a vector; minus infinity where all are."""
    row = np.asarray(values)
    top = float(row.max())
    return top + math.log(float(np.exp(row - top).sum())) if math.isfinite(top) else top


def log_mean(rows: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """log of the mean of exp over the first axis."""
    table = np.asarray(rows)
    top = np.maximum(table.max(0), -np.finfo(float).max)  # a column of minus infinities stays one
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(table - top).mean(0))
