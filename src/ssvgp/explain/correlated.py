"""Columns that go together with an input: whichever of them the model uses, the others could stand in for it.

They are looked for when a model is fitted, because a fitted model keeps only the columns that it predicts from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ssvgp.data.inputs import Inputs
from ssvgp.records import Train
from ssvgp.settings.machine import HELD, LARGE
from ssvgp.settings.regime import SLIGHT

ALIKE = 0.7  # correlation, of either sign, from which a column is worth a word
ROWS = (50, 2000)  # of the table that are looked at, at least and at most
MOST_OTHERS = 8


class Relative(NamedTuple):
    """A column of the table, by number, and its correlation with an input."""

    column: int
    correlation: float


def relatives_of(
    train: Train, inputs: Inputs, pip: np.ndarray, rng: np.random.Generator
) -> dict[int, tuple[Relative, ...]]:
    """The columns that go together with each input that may matter, strongest first; numbers are those of the table.

    pip (p,) belongs to the kept columns. Cost r p for each input, where r rows of p numbers are at most `HELD`.
    """
    most = max(1, LARGE // max(train.d, 1))  # whose correlations are held at a time
    places = np.argsort(-pip, kind="stable")[:most]
    places = places[pip[places] > SLIGHT]
    if not places.size:
        return {}
    correlation = _correlations(train, places, rng)
    found = {}
    for place, row in zip(places.tolist(), correlation, strict=True):
        row[place] = 0.0  # itself
        order = np.argsort(-np.abs(row), kind="stable")[:MOST_OTHERS]
        alike = order[np.abs(row[order]) >= ALIKE]
        if alike.size:
            others = (Relative(int(inputs.kept[other]), float(row[other])) for other in alike)
            found[int(inputs.kept[place])] = tuple(others)
    return found


def _correlations(train: Train, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Correlations (q, p) of some columns with all, over a random sample of rows."""
    count = int(np.clip(HELD // train.d, *ROWS))
    rows = np.sort(rng.permutation(train.n)[:count])
    step = max(1, LARGE // train.d)
    total, square, cross = np.zeros(train.d), np.zeros(train.d), np.zeros((places.size, train.d))
    for start in range(0, rows.size, step):
        part = train.X[rows[start : start + step]]  # standardised, so that sums of squares lose no digits
        total += part.sum(axis=0)
        square += (part**2).sum(axis=0)
        cross += part[:, places].T @ part
    mean = total / rows.size
    variance = np.maximum(square / rows.size - mean**2, 0.0)
    spread = np.sqrt(np.outer(variance[places], variance))
    covariance = cross / rows.size - np.outer(mean[places], mean)
    # a column that does not vary over the sample says nothing
    found = np.divide(covariance, spread, out=np.zeros_like(spread), where=spread > 1e-8)
    return np.clip(found, -1.0, 1.0)
