"""Tables that are mapped from disk: what was read of them is given back, so that it does not count as memory in use."""

from __future__ import annotations

import mmap

import numpy as np

SHARED_MODES = ("r", "r+", "w+")  # pages of these are those of the file; mode "c" has changes of its own to lose


def let_go(array: np.ndarray) -> None:
    """Drop the pages of a mapped array from this process; the file, and what the system has cached of it, stay."""
    found = _map_of(array)
    if found is not None and hasattr(mmap, "MADV_DONTNEED"):
        found.madvise(mmap.MADV_DONTNEED)


def _map_of(array: np.ndarray) -> mmap.mmap | None:
    base: object = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and getattr(base, "mode", None) not in SHARED_MODES:
            return None
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
