"""Cells of a table turned into numbers, with NaN for what is missing and a record of what is no number."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ssvgp.tables.columns import legible

MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "?"))  # in any case
WORDS = {"true": 1.0, "false": 0.0}
MOST_LEVELS = 50  # different texts beyond which a column is no category


class Odd(NamedTuple):
    """A cell that could not be read: its line in the file and its text."""

    line: int
    text: str


@dataclass(frozen=True)
class Block:
    """Successive rows of a table: values (t, c), their lines (t,), the first odd cell of each column that has one."""

    values: np.ndarray
    lines: np.ndarray
    odd: dict[int, Odd]


class Levels(dict[str, float]):
    """The numbers that stand for the texts of a column; a new text gets the next number until there are many."""

    def __missing__(self, text: str) -> float:
        if len(self) >= MOST_LEVELS:
            raise KeyError(text)
        self[text] = float(len(self))
        return self[text]


@dataclass
class Cells:
    """Turns rows of cells into rows of numbers, block by block.

    `columns` are the places of the cells in a row, `vocabularies` has the numbers of the texts of some of them.
    """

    columns: Sequence[int]
    vocabularies: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    decimal: str = "."

    def __post_init__(self) -> None:
        self._values, self._lines = array("d"), array("q")
        self._odd: dict[int, Odd] = {}
        self._plain = not self.vocabularies and self.decimal == "."

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: int, row: Sequence[str]) -> None:
        """Read one row, in full (its cells may be of any number of columns)."""
        cells = [row[j] for j in self.columns]
        self._lines.append(line)
        start = len(self._values)
        # float takes 1_000 for a number, which in a table is a name
        if self._plain and "_" not in "".join(cells):
            try:
                self._values.extend(map(float, cells))
                return
            except ValueError:
                del self._values[start:]
        self._values.extend([self._one(line, j, cell) for j, cell in zip(self.columns, cells, strict=True)])

    def _one(self, line: int, column: int, cell: str) -> float:
        text = cell.strip()
        if text.casefold() in MISSING:
            return np.nan
        if column in self.vocabularies:
            return self._level(line, column, legible(text))
        value = number(text, self.decimal)
        if value is None:
            self._odd.setdefault(column, Odd(line, text))
            return np.nan
        return value

    def _level(self, line: int, column: int, text: str) -> float:
        try:
            return self.vocabularies[column][text]
        except KeyError:
            self._odd.setdefault(column, Odd(line, text))
            return np.nan

    def block(self) -> Block:
        """What was added since the last block."""
        values = np.frombuffer(self._values, dtype=float).reshape(len(self._lines), len(self.columns))
        made = Block(values, np.frombuffer(self._lines, dtype=np.int64), self._odd)
        self._values, self._lines, self._odd = array("d"), array("q"), {}
        return made


def number(text: str, decimal: str = ".") -> float | None:
    """The number that a stripped cell holds, or None."""
    if "_" in text or (decimal != "." and "." in text):
        return None
    try:
        return float(text.replace(decimal, "."))
    except ValueError:
        return WORDS.get(text.casefold())
