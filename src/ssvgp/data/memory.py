"""A limit on memory, as a user writes it."""

from __future__ import annotations

import re
import warnings
from numbers import Real
from typing import Any

UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
MATRICES = 8  # of the largest block of rows that a fit holds at a time
LEAST = 10**8  # bytes: below, not even the blocks of a fit have room


class MemoryLimitWarning(UserWarning):
    """More memory is needed than `max_memory` allows."""


def bytes_of(max_memory: Any) -> int | None:
    """Bytes from a number or from text such as "2GB" or "512 MiB"; None for no limit."""
    if max_memory is None:
        return None
    found = None
    if isinstance(max_memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", max_memory)
        if match and match[2].upper() in UNITS:
            found = float(match[1]) * UNITS[match[2].upper()]
    elif isinstance(max_memory, Real) and not isinstance(max_memory, bool):
        found = float(max_memory)
    if found is None or not found < float("inf"):
        raise ValueError(f"max_memory is None, bytes, or text such as '2GB' or '512MiB', not {max_memory!r}")
    if found < LEAST:
        raise ValueError(f"max_memory={max_memory!r} is {found:.0f} bytes; a fit needs {LEAST} or more")
    return int(found)


def threads(n_jobs: int, max_memory: Any, rows: int) -> int:
    """Threads of a fit that have room for the matrices of their largest block of rows, and at least one."""
    limit = bytes_of(max_memory)
    return n_jobs if limit is None else max(1, min(n_jobs, limit // (MATRICES * 8 * rows**2)))


def warn_of_memory(needed: int, max_memory: Any, what: str) -> None:
    """Say so where more is needed than the limit."""
    limit = bytes_of(max_memory)
    if limit is not None and needed > limit:
        message = f"{what} needs about {needed / 1e6:.0f} MB beside X, more than max_memory={max_memory!r}"
        warnings.warn(message, MemoryLimitWarning, stacklevel=4)
