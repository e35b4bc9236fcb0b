"""Tables that are mapped from disk: what was read of them is given back, so that it does not count as memory in use."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from ssvgp.settings.machine import LARGE

SHARED_MODES = ("r", "r+", "w+")  # pages of these are those of the file; mode "c" has changes of its own to lose
SCATTERED = 8 * LARGE // 2**19  # rows far apart that are read before they are let go, half a megabyte each


def let_go(array: np.ndarray) -> None:
    """Drop the pages of a mapped array from this process; the file, and what the system has cached of it, stay."""
    found = _map_of(array)
    if found is not None and hasattr(mmap, "MADV_DONTNEED"):
        found.madvise(mmap.MADV_DONTNEED)


def take_rows(array: np.ndarray, rows: Any) -> np.ndarray:
    """Rows of a table by a slice, a number or an index array; scattered rows of a mapped one are read a few at a time.

    A system may make half a megabyte around each row resident, so that a thousand rows would take as much as a table.
    """
    if isinstance(rows, slice) or np.ndim(rows) != 1 or _map_of(array) is None:
        return np.asarray(array[rows])
    index = np.arange(array.shape[0])[rows] if np.asarray(rows).dtype == bool else np.asarray(rows, dtype=np.intp)
    out = np.empty((index.size, array.shape[1]), dtype=array.dtype)
    for start in range(0, index.size, SCATTERED):
        out[start : start + SCATTERED] = array[index[start : start + SCATTERED]]
        let_go(array)
    return out


def _map_of(array: np.ndarray) -> mmap.mmap | None:
    base: object = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and getattr(base, "mode", None) not in SHARED_MODES:
            return None
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
