"""What is selected, and the columns it has: sets, priors, PIPs and screens count inputs, kernels see columns.

An input has one or several columns. Tied, they share one inverse lengthscale (the levels of a category, a value and the
indicator of its gaps); untied, each has one of its own (a declared group of columns that come and go together). A table
whose inputs are its columns needs none of this: there `None` stands for the map, and nothing is gathered or spread.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Input:
    """The columns of one input, and whether they have their inverse lengthscale in common."""

    columns: tuple[int, ...]
    tied: bool = True

    @property
    def thetas(self) -> int:
        """How many inverse lengthscales it has."""
        return 1 if self.tied else len(self.columns)


@dataclass(frozen=True)
class Inputs:
    """All inputs of a table, in the order in which sets and PIPs number them; each column belongs to one of them."""

    each: tuple[Input, ...]

    def __post_init__(self) -> None:
        columns = sorted(c for one in self.each for c in one.columns)
        if columns != list(range(len(columns))) or not all(one.columns for one in self.each):
            raise ValueError(
                f"every column must belong to one input, and every input have one: found columns {columns}"
            )

    def __len__(self) -> int:
        return len(self.each)

    def columns(self, active: Sequence[int]) -> list[int]:
        """The columns (c,) of a set of inputs, input by input."""
        return [c for j in active for c in self.each[j].columns]

    def labels(self, active: Sequence[int]) -> tuple[Hashable, ...]:
        """A name for each inverse lengthscale (q,) of a set: the input, with a column of its own where it is untied."""
        own = [[j] if self.each[j].tied else [(j, c) for c in self.each[j].columns] for j in active]
        return tuple(label for labels in own for label in labels)

    def places(self, active: tuple[int, ...]) -> np.ndarray:
        """Which inverse lengthscale of a set each of its columns (c,) has."""
        return _places(self, active)

    def owners(self) -> np.ndarray:
        """The input that each column (d,) of the table belongs to."""
        return _owners(self)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sums over the columns of each input, of values (d,) of columns."""
        return np.bincount(self.owners(), weights=values, minlength=len(self))

    def largest(self, values: np.ndarray) -> np.ndarray:
        """The largest of the values (d,) over the columns of each input."""
        out = np.full(len(self), -np.inf)
        np.maximum.at(out, self.owners(), values)
        return out

    def narrowed(self, active: Sequence[int]) -> Inputs:
        """The inputs of a set alone, for a table of its columns in their order."""
        starts = np.cumsum([0, *(len(self.each[j].columns) for j in active)]).tolist()
        own = zip(active, starts[:-1], starts[1:], strict=True)
        return Inputs(tuple(Input(tuple(range(start, end)), self.each[j].tied) for j, start, end in own))


@lru_cache(maxsize=1024)
def _places(inputs: Inputs, active: tuple[int, ...]) -> np.ndarray:
    places: list[int] = []
    for j in active:
        one, first = inputs.each[j], (places[-1] + 1 if places else 0)
        places += [first] * len(one.columns) if one.tied else range(first, first + len(one.columns))
    return np.array(places, dtype=np.intp)


@lru_cache(maxsize=64)
def _owners(inputs: Inputs) -> np.ndarray:
    owners = np.empty(sum(len(one.columns) for one in inputs.each), dtype=np.intp)
    for j, one in enumerate(inputs.each):
        owners[list(one.columns)] = j
    return owners
