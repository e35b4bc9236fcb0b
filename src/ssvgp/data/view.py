"""A large table standardised on the fly: rows and columns are scaled when asked for, X itself is never copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Standardised:
    """The kept columns (p,) of a raw table (n, d), in standard deviations from their means.

    Behaves like an array (n, p) towards `view[rows]`, `view[:, columns]` and `shape`; what is returned is a new array
    of doubles. The raw table may be of any float type, read-only, or mapped from disk.
    """

    raw: np.ndarray
    kept: np.ndarray
    centre: np.ndarray
    spread: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.raw.shape[0], self.kept.size

    def __len__(self) -> int:
        return self.raw.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        kept = self.kept[columns]
        if isinstance(rows, slice) and rows == slice(None):
            part = self.raw[:, kept]
        else:
            part = np.asarray(self.raw[rows])
            if kept.size < self.raw.shape[1]:
                part = part[..., kept]
        out = part - self.centre[columns]
        out /= self.spread[columns]
        return out
