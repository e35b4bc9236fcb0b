"""The rows of a user's table that take part in a fit: those with weight, equal ones as one row with their weights' sum.

A row of weight two is the row twice. Both are made the same table here, in one order, so that whatever is chosen on the
way (parts of rows, blocks, starts) is chosen alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows X (n, d) and y (n,) of a fit, with weights and known noise variances (n,), None where none matter.

    `numbers` (r,) are the user's rows that take part and `places` (r,) where each is among the n; None for all as they
    came.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None
    known: np.ndarray | None = None
    numbers: np.ndarray | None = None
    places: np.ndarray | None = None
    exposure: np.ndarray | None = None


def sample_of(X: np.ndarray, y: np.ndarray, weights: Any, known: Any, most_merged: int, exposure: Any = None) -> Sample:
    """The rows with weight; of at most `most_merged` rows, those that are equal in all are one.

    They are then in an order that depends on their content alone. A table of which every row counts once, and no two
    are equal, stays as it is.
    """
    if exposure is not None:
        return _exposed(X, y, weights, known, checked_exposure(exposure, y.size))
    given = checked_numbers(weights, "sample_weight", y.size)
    noise = checked_numbers(known, "noise_variance", y.size)
    if given is not None and (given == 1.0).all():
        given = None
    if noise is not None and (noise == 0.0).all():
        noise = None
    numbers = np.arange(y.size) if given is None else np.flatnonzero(given > 0.0)
    if not numbers.size:
        raise ValueError("every sample_weight is zero, so that there is no row to fit")
    if numbers.size > most_merged:
        if given is None:
            return Sample(X, y, None, noise)
        cut = numbers if numbers.size < y.size else slice(None)
        return Sample(
            X[cut], y[cut], given[cut], None if noise is None else noise[cut], numbers, np.arange(numbers.size)
        )
    first, places = _distinct(X, y, noise, numbers)
    if given is None and first.size == numbers.size:
        return Sample(X, y, None, noise)
    count = np.bincount(places, None if given is None else given[numbers], first.size).astype(float)
    return Sample(X[first], y[first], count, None if noise is None else noise[first], numbers, places)


def _exposed(X: np.ndarray, y: np.ndarray, weights: Any, known: Any, exposure: np.ndarray) -> Sample:
    """Rows of counts with an exposure each; equal ones stay apart."""
    whole = sample_of(X, y, weights, known, 0)
    return replace(whole, exposure=exposure if whole.numbers is None else exposure[whole.numbers])


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


def _distinct(
    X: np.ndarray, y: np.ndarray, noise: np.ndarray | None, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows `numbers` (r,) the first of each that are equal (n,), and the place (r,) of each among these.

    By a digest of their content, which also puts them in an order that is theirs and looks random. Row by row: a wide
    table is never copied.
    """
    own = y[:, None] if noise is None else np.column_stack([y, noise])
    digests = [_digest(X[row], own[row]) for row in numbers]
    order = {digest: place for place, digest in enumerate(sorted(set(digests)))}
    places = np.array([order[digest] for digest in digests])
    return numbers[np.unique(places, return_index=True)[1]], places


def _digest(*parts: np.ndarray) -> bytes:
    """The same for equal numbers, and for no others: 128 bits; + 0.0 turns -0.0 into 0.0."""
    return hashlib.blake2b(b"".join((part + 0.0).tobytes() for part in parts), digest_size=16).digest()
