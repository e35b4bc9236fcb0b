"""Tables that stand for an array: one standardised on the fly, one that keeps only the columns that are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.data.mapped import let_go, take_rows
from ssvgp.records import Member, Train
from ssvgp.settings.machine import LARGE


@dataclass(frozen=True)
class Standardised:
    """The kept columns (p,) of a raw table (n, d), in standard deviations from their means.

    Behaves like an array (n, p) towards `view[rows]`, `view[:, columns]` and `shape`; what is returned is a new array
    of doubles. The raw table may be of any float type, read-only, or mapped from disk. `rounded` values are what a
    float32 can hold.
    """

    raw: np.ndarray
    kept: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    rounded: bool = False

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
        step = max(1, LARGE // self.raw.shape[1])
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
        return out.astype(np.float32).astype(float) if self.rounded else out


@dataclass(frozen=True)
class Columns:
    """The columns `stored` (q,), in rising order, of a table (n, p): all that members without a background look at.

    Behaves like the whole table towards `view[rows]`, `view[:, columns]` and `shape`; only stored columns can be asked
    for.
    """

    values: np.ndarray
    stored: np.ndarray
    p: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.p

    def __len__(self) -> int:
        return self.values.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return Columns(self.values[key], self.stored, self.p)
        rows, columns = key
        place = np.searchsorted(self.stored, columns)
        if (place >= self.stored.size).any() or (self.stored[place] != columns).any():
            raise KeyError(f"columns {columns} are asked for, but only {self.stored} are kept")
        return self.values[rows][..., place]


def needs_whole_table(members: Sequence[Member]) -> bool:
    """Whether some member looks at all inputs: one with a background does."""
    return any(member.background is not None for member in members)


def kept_rows(train: Train, members: Sequence[Member]) -> Train:
    """The training rows as a fitted model keeps them: rounded to single precision where it keeps the whole table.

    Then a file that holds them in single precision holds exactly what predictions are made of. The rounding moves
    standardised values by less than one part in ten million, far below what the noise of y leaves open.
    """
    if not needs_whole_table(members):
        return train
    if isinstance(train.X, Standardised):
        return replace(train, X=replace(train.X, rounded=True))
    whole = np.asarray(train.X[:, np.arange(train.d)], order="C")
    return replace(train, X=whole.astype(np.float32).astype(float))
