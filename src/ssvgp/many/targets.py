"""The targets of a fit as they come: an array or a data frame of several columns, each with a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Targets:
    """Values Y (n, q) with NaN where one is missing, and names (q,), no two alike."""

    Y: np.ndarray
    names: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.Y.shape


def are_several(y: Any) -> bool:
    """Whether y has more than one column; a single column is one target, as scikit-learn has it."""
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def targets_of(y: Any) -> Targets:
    """Columns of numbers; those of a data frame have names, others are called y0, y1 and so on."""
    if isinstance(y, Targets):
        return y
    columns = getattr(y, "columns", None)
    names = [f"y{k}" for k in range(np.shape(y)[1])] if columns is None else [str(name) for name in columns]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"two targets are called {twice!r}: give each a name of its own")
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    return Targets(_numbers(values, names), tuple(names))


def _numbers(values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    if values.dtype.kind in "fiub":
        return np.asarray(values, dtype=float, order="F")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported in the targets: give their real and imaginary parts")
    out = np.empty(values.shape, order="F")
    for k, name in enumerate(names):
        try:
            out[:, k] = values[:, k].astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"target {name!r} is no column of numbers: {error}") from error
    return out
