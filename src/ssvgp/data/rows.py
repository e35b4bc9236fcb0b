"""The rows of a user's table that take part in a fit: those with weight, equal ones as one row with their weights' sum.

A row of weight two is the row twice. Both are made the same table here, in one order, so that whatever is chosen on the
way (parts of rows, blocks, starts) is chosen alike. What their weights are worth is said in data/copies.py.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ssvgp.data.copies import equal_rows, measured_again


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows X (n, d) and y (n,) of a fit, with weights and known noise variances (n,), None where none matter.

    `numbers` (r,) are the user's rows that take part and `places` (r,) where each is among the n; None for all as they
    came. `measured`: a row of weight two may have been measured twice, else it is a copy.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None
    known: np.ndarray | None = None
    numbers: np.ndarray | None = None
    places: np.ndarray | None = None
    exposure: np.ndarray | None = None
    measured: bool = True

    def counted(self) -> Sample:
        """The same with weights as they count under noise that is learned: copies are no more rows than there are."""
        if self.weights is None or self.measured:
            return self
        weights = self.weights * (self.y.size / float(self.weights.sum()))
        return replace(self, weights=None if np.ptp(self.weights) == 0.0 else weights)


def sample_of(X: np.ndarray, y: np.ndarray, weights: Any, known: Any, most_sorted: int, exposure: Any = None) -> Sample:
    """The rows with weight, of which those that are equal in all are one; but a map of a file is taken as it is.

    At most `most_sorted` of them are then in an order that depends on their content alone. A table of which every row
    counts once, and no two are equal, stays as it is.
    """
    exposure = None if exposure is None else checked_exposure(exposure, y.size)
    given = checked_numbers(weights, "sample_weight", y.size)
    noise = checked_numbers(known, "noise_variance", y.size)
    if given is not None and (given == 1.0).all():
        given = None
    if noise is not None and (noise == 0.0).all():
        noise = None
    numbers = np.arange(y.size) if given is None else np.flatnonzero(given > 0.0)
    if not numbers.size:
        raise ValueError("every sample_weight is zero, so that there is no row to fit")
    own = y[:, None] if noise is None else np.column_stack([y, noise])
    mapped = isinstance(X, np.memmap) and numbers.size > most_sorted
    apart = mapped or exposure is not None
    first, places = (numbers, np.arange(numbers.size)) if apart else equal_rows(X, own, numbers)
    if given is None and first.size == numbers.size:
        return Sample(X, y, None, noise, exposure=exposure)
    if not apart and first.size <= most_sorted:
        first, places = _sorted(X, own, first, places)
    count = np.bincount(places, None if given is None else given[numbers], first.size).astype(float)
    cut = slice(None) if np.array_equal(first, np.arange(y.size)) else first
    known, own_exposure = (None if one is None else one[cut] for one in (noise, exposure))
    again = exposure is not None or (not mapped and measured_again(X, y, numbers))
    return Sample(X[cut], y[cut], count, known, numbers, places, own_exposure, again)


def checked_exposure(values: Any, n: int) -> np.ndarray:
    """Exposures (n,), above zero."""
    found = checked_numbers(values, "exposure", n)
    assert found is not None
    if found.min() <= 0.0:
        raise ValueError("exposure holds a zero: every row needs time, area or people in which counts could occur")
    return found


def checked_numbers(values: Any, name: str, n: int) -> np.ndarray | None:
    """Numbers (n,) that are finite and not negative, or None."""
    if values is None:
        return None
    if isinstance(values, Real):  # the same for all
        values = np.full(n, values)
    found = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if found.shape != (n,):
        raise ValueError(f"{name} has shape {found.shape}, but there are {n} rows: give one number for each")
    if found.min() < 0.0:
        raise ValueError(f"{name} holds a negative number, {found.min():g}: each must be zero or more")
    return found


def _sorted(X: np.ndarray, own: np.ndarray, first: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows (n,) and the places of all (r,) among them, in an order that is theirs and looks random.

    By a digest of their content. Row by row: a wide table is never copied.
    """
    order = np.argsort(np.array([_digest(X[row], own[row]) for row in first]), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[places]


def _digest(*parts: np.ndarray) -> bytes:
    """The same for equal numbers, and for no others: 128 bits; + 0.0 turns -0.0 into 0.0."""
    return hashlib.blake2b(b"".join((part + 0.0).tobytes() for part in parts), digest_size=16).digest()
