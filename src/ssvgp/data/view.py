"""A large table standardised on the fly: rows and columns are scaled when asked for, X itself is never copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.data.mapped import let_go, take_rows

PIECE = 2**22  # numbers of the table that are read together


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
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            return self._read(rows, kept, columns)
        first, last, _ = rows.indices(len(self))
        out = np.empty((max(0, last - first), kept.size))
        step = max(1, PIECE // self.raw.shape[1])
        for start in range(0, len(out), step):
            part = slice(first + start, min(first + start + step, last))
            out[start : start + step] = self._read(part, kept, columns)
        return out

    def _read(self, rows: Any, kept: np.ndarray, columns: Any) -> np.ndarray:
        part = take_rows(self.raw, rows)
        if kept.size < part.shape[-1] or (kept != np.arange(kept.size)).any():
            part = part[..., kept]
        out = np.ascontiguousarray(part - self.centre[columns])
        out /= self.spread[columns]
        let_go(self.raw)
        return out
