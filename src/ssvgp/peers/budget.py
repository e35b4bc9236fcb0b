"""What a baseline may spend: seconds of training and rows of the table. Whatever it leaves out is said in its notes."""

from __future__ import annotations

import time

import numpy as np


def check_seconds(max_seconds: float | None) -> None:
    """Raise where a limit of time is none."""
    if max_seconds is not None and not max_seconds > 0:
        raise ValueError(f"max_seconds is {max_seconds}; give a positive number, or None for no limit")


class Clock:
    """Says when `max_seconds` since its making are over; None means never."""

    def __init__(self, max_seconds: float | None) -> None:
        check_seconds(max_seconds)
        self._end = None if max_seconds is None else time.perf_counter() + max_seconds

    def over(self) -> bool:
        return self._end is not None and time.perf_counter() >= self._end


def some_rows(X: np.ndarray, y: np.ndarray, rows: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (r, d) and y (r,) at r = min(n, rows) random rows, in their order in the table; all of them for rows=None."""
    if rows is not None and rows < 2:
        raise ValueError(f"rows is {rows}; a fit needs at least 2, or None for all rows")
    if rows is None or rows >= len(y):
        return X, y
    chosen = np.sort(np.random.default_rng(seed).choice(len(y), size=rows, replace=False))
    return X[chosen], y[chosen]
