"""Standardising columns, and leaving out those that cannot matter: constant ones and copies of others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ssvgp.data.mapped import let_go
from ssvgp.data.view import Standardised
from ssvgp.records import Member
from ssvgp.settings.machine import CACHED, LARGE

ROUNDING = 16.0 * float(np.finfo(float).eps)  # a column that varies by less than this of its size is constant


class DataWarning(UserWarning):
    """Part of the table cannot be used, and was left out."""


class Scale(NamedTuple):
    """Mean and standard deviation of a column, or of each; `constant` where only rounding moves it."""

    centre: np.ndarray
    spread: np.ndarray
    constant: np.ndarray


def scale_of(values: np.ndarray, weights: np.ndarray | None = None) -> Scale:
    """Mean and standard deviation down the rows of values (n,) or (n, d), be they very large or small.

    Three passes over the rows in pieces, so that a large table is never copied. Rows count by weights (n,).
    """
    total = float(len(values)) if weights is None else float(weights.sum())
    ends = [(part.min(axis=0), part.max(axis=0)) for part in row_pieces(values)]
    low, high = np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)
    # halves are added, since the difference of the two largest doubles is infinite
    weighed = _weighed(values, weights)
    centre = low + sum((share * (0.5 * part - 0.5 * low)).sum(axis=0) / total for part, share in weighed) * 2.0
    half = np.maximum(0.5 * high - 0.5 * centre, 0.5 * centre - 0.5 * low)
    constant = half <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    unit = np.where(half > 0, half, 1.0)
    # within -1 and 1, so that its square neither over- nor underflows
    weighed = _weighed(values, weights)
    square = sum((share * ((0.5 * part - 0.5 * centre) / unit) ** 2).sum(axis=0) / total for part, share in weighed)
    return Scale(centre, np.where(constant, 1.0, 2.0 * unit * np.sqrt(square)), constant)


def row_pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    """Successive rows of a table as doubles, so many at a time as stay in the cache.

    In one order in memory whatever that of the table, since sums in another order round otherwise.
    """
    step = max(1, CACHED // max(1, values[:1].size))
    for start in range(0, len(values), step):
        yield np.ascontiguousarray(values[start : start + step], dtype=float)
        let_go(values)


def _weighed(values: np.ndarray, weights: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray | float]]:
    """Successive rows with their weights, one where there are none."""
    start = 0
    for part in row_pieces(values):
        if weights is None:
            yield part, 1.0
        else:
            share = weights[start : start + len(part)]
            yield part, share if values.ndim == 1 else share[:, None]
        start += len(part)


@dataclass(frozen=True)
class Inputs:
    """Which of the d columns are kept (p,), how these are standardised, and why the others are left out.

    The first of several identical columns stands for all; `duplicate_of` leads from each copy to it.
    """

    d: int
    kept: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    constant: np.ndarray
    duplicate_of: dict[int, int]

    def standardise(self, X: np.ndarray) -> np.ndarray:
        """The kept columns (t, p) of rows X (t, d), in standard deviations from the training mean."""
        rows = np.ascontiguousarray(X[:, self.kept], dtype=float)  # a copy, changed in place: a wide table is large
        rows -= self.centre
        rows /= self.spread
        return rows

    def rows(self, X: np.ndarray, most: int | None = None) -> np.ndarray | Standardised:
        """The kept columns of X, standardised: a large table, of more than `most` numbers, when it is looked at."""
        return self.view(X) if X.size > (LARGE if most is None else most) else self.standardise(X)

    def view(self, X: np.ndarray) -> Standardised:
        """The kept columns of X, standardised when they are looked at."""
        return Standardised(X, self.kept, self.centre, self.spread)

    def widen(self, values: np.ndarray) -> np.ndarray:
        """Values of the kept columns (p,) with zeros for the others (d,)."""
        out = np.zeros(self.d)
        out[self.kept] = values
        return out

    def in_table(self, member: Member) -> Member:
        """A member whose active inputs are counted in the table instead of among the kept columns."""
        return replace(member, active=self.kept[member.active])


def inputs_of(X: np.ndarray, weights: np.ndarray | None = None) -> Inputs:
    """Scales, constant columns and exact duplicates of a training table X (n, d) whose rows count by weights (n,)."""
    scale = scale_of(X, weights)
    varying = np.flatnonzero(~scale.constant)
    copies = _duplicates(X, varying)
    kept = np.array([j for j in varying if j not in copies], dtype=np.intp)
    constant = np.flatnonzero(scale.constant)
    return Inputs(X.shape[1], kept, scale.centre[kept], scale.spread[kept], constant, copies)


def _duplicates(X: np.ndarray, columns: np.ndarray) -> dict[int, int]:
    """Each column that equals an earlier one, with that one: exact equality, by hashes of the bytes.

    Columns that are alike in the first rows alone are compared whole.
    """
    found: dict[int, int] = {}
    for alike in _groups(next(row_pieces(X)), columns):
        for same in _groups(X, alike):
            found |= {int(copy): int(same[0]) for copy in same[1:]}
    return dict(sorted(found.items()))


def _groups(X: np.ndarray, columns: np.ndarray) -> list[np.ndarray]:
    """Groups of two or more columns that are equal in the rows given, in order."""
    by_content: dict[bytes, list[int]] = {}
    for j in columns:
        by_content.setdefault((X[:, j] + 0.0).tobytes(), []).append(int(j))  # + 0.0 turns -0.0 into 0.0
    return [np.array(group) for group in by_content.values() if len(group) > 1]


def warn_of_columns(inputs: Inputs, names: Sequence[Any]) -> None:
    """Say which columns were left out of the fit, by name."""
    if inputs.constant.size:
        text = listed([names[j] for j in inputs.constant])
        warnings.warn(f"left out constant columns, their PIP is 0: {text}", DataWarning, stacklevel=3)
    if inputs.duplicate_of:
        text = listed([f"{names[j]} (copy of {names[first]})" for j, first in inputs.duplicate_of.items()])
        message = f"left out copies of other columns, which stand for them; the PIP of a copy is 0: {text}"
        warnings.warn(message, DataWarning, stacklevel=3)


def listed(items: Sequence[Any], most: int = 5) -> str:
    """Items for a message: the first few of them, and how many more there are."""
    text = ", ".join(str(item) for item in items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"


def text_columns(X: Any) -> str:
    """The columns of a table or data frame that do not turn into numbers, listed for an error message."""
    values = np.asarray(X, dtype=object)
    found = []
    for name, column in zip(getattr(X, "columns", range(values.shape[1])), values.T, strict=True):
        try:
            column.astype(float)
        except (TypeError, ValueError):
            found.append(name)
    return listed(found)
