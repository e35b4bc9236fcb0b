"""Cross-validation of a path of penalties, shared by the linear and the additive baselines.

A path is a function of training rows, training targets, new rows and penalties that returns the fits at all penalties.
The predictive variance of these baselines is the mean squared error of out-of-fold predictions at the chosen penalty:
it holds noise and the error of the mean together and is the same for every new row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold

# Rows X (n, p), targets y (n,), new rows (t, p), penalties (k,) -> predictions (k, t); NaN where a path stopped early.
Path = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Choice:
    """The penalty with the smallest out-of-fold error: its place in the path, its value and that error."""

    place: int
    penalty: float
    error: float


def choose(path: Path, X: np.ndarray, y: np.ndarray, penalties: np.ndarray, folds: int, random_state: int) -> Choice:
    """The penalty (k,) with the smallest mean squared error on held-out rows of X (n, p), rows shuffled by the seed."""
    held_out = np.empty((len(penalties), len(y)))
    for train, test in splits(len(y), folds, random_state):
        held_out[:, test] = path(X[train], y[train], X[test], penalties)
    errors = np.mean((held_out - y) ** 2, axis=1)
    if np.all(np.isnan(errors)):
        raise RuntimeError("no penalty was reached in every fold: give penalties that are larger at the start")
    place = int(np.nanargmin(errors))
    return Choice(place, float(penalties[place]), float(errors[place]))


def splits(n: int, folds: int, random_state: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and held-out rows of every fold; with few rows there are as many folds as rows at most."""
    return list(KFold(min(folds, n), shuffle=True, random_state=random_state).split(np.arange(n)))


def falling(largest: float, n: int, p: int, count: int) -> np.ndarray:
    """Penalties (count,) falling geometrically from the largest that matters, as ncvreg and grpreg space theirs.

    The last is 0.05 of the first where there are more columns than rows, 0.001 of it otherwise.
    """
    return max(largest, 1e-12) * np.geomspace(1.0, 0.05 if n <= p else 1e-3, count)
