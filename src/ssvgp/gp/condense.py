"""Very many rows in few active inputs: rows that no kernel can tell apart are averaged into one.

Rows within a cell of side `SIDE` lengthscales have correlation above 1 - p SIDE^2 / 2 with each other: to the process
they are repeated measurements at one place. Their mean, with the noise variance divided by their number, carries the
same information, so that 256 neighbours stand for thousands of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIDE = 0.05  # of a cell, in lengthscales
MOST_INPUTS = 6  # beyond, cells are empty or hold one row
LEAST_GAIN = 2.0  # rows per occupied cell from which condensing pays


@dataclass(frozen=True)
class Condensed:
    """Means of cells: X (c, p), y (c,), and how many rows each stands for (c,)."""

    X: np.ndarray
    y: np.ndarray
    counts: np.ndarray


def condense(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> Condensed | None:
    """Cell means of rows X (n, p) and targets y (n,) in the metric theta; None where cells hold too few rows."""
    n, p = X.shape
    if not 0 < p <= MOST_INPUTS:
        return None
    place = np.floor(X * (theta / SIDE))
    place -= place.min(axis=0)
    spans = place.max(axis=0) + 1.0
    if np.prod(spans) > 2.0**52 or n < 2 * LEAST_GAIN:
        return None
    key = place @ np.concatenate([[1.0], np.cumprod(spans[:-1])])
    _, cell, counts = np.unique(key, return_inverse=True, return_counts=True)
    if n < LEAST_GAIN * counts.size:
        return None
    means = np.stack([np.bincount(cell, column) for column in X.T], axis=1) / counts[:, None]
    return Condensed(means, np.bincount(cell, y) / counts, counts.astype(float))
