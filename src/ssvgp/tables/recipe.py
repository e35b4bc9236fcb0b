"""How the columns of a table become inputs: which ones, texts as 0 and 1, what stands for a missing value.

A recipe is made once, from the table of a fit, and kept with the model, so that new tables are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ssvgp.tables.cells import Block, Odd
from ssvgp.tables.columns import TableError, listed, shown, suggestion
from ssvgp.tables.source import Table

MISSING_IN_FIT = ("error", "drop-rows", "drop-columns", "median")
MISSING_IN_PREDICT = ("error", "blank", "median")
# how a new table is treated where nothing else is asked for
FOLLOWS = {"error": "error", "drop-columns": "error", "drop-rows": "blank", "median": "median"}


@dataclass(frozen=True)
class Column:
    """One column of the table of a fit: numbers, or texts with `levels`; `fill` stands for a missing value.

    The fill is the median of numbers, and the place of the most frequent of the levels.
    """

    name: str
    fill: float
    levels: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that it becomes: two levels are one, more are one each."""
        if not self.levels:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in (self.levels[1:] if len(self.levels) == 2 else self.levels))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Values (t,), or places among the levels, as inputs (t, number of inputs)."""
        if not self.levels:
            return values[:, None]
        first = 1 if len(self.levels) == 2 else 0
        return (values[:, None] == np.arange(first, len(self.levels))).astype(float)


class Rows(NamedTuple):
    """Inputs X (t, d) of some rows; where `complete` (t,) is False a value was missing, and the fill stands there."""

    X: np.ndarray
    complete: np.ndarray


@dataclass(frozen=True)
class Recipe:
    """The target, the columns that become inputs, what the fit did about missing values, and a column of exposures."""

    target: str
    columns: tuple[Column, ...]
    missing: str = "error"
    exposure: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names (d,) of all inputs."""
        return tuple(name for column in self.columns for name in column.inputs)

    def encode(self, values: np.ndarray) -> Rows:
        """Values (t, c) of the columns as inputs, gaps filled."""
        gaps = np.isnan(values)
        if gaps.any():
            values = np.where(gaps, [column.fill for column in self.columns], values)
        if any(column.levels for column in self.columns):
            values = np.hstack([column.encode(values[:, j]) for j, column in enumerate(self.columns)])
        return Rows(np.ascontiguousarray(values), ~gaps.any(axis=1))

    def rows(self, table: Table, missing: str | None = None) -> Iterator[Rows]:
        """The inputs of a new table in blocks; its columns may stand in any order, and others are not looked at.

        `missing` is "error", "blank" or "median"; None follows the fit.
        """
        missing = missing or FOLLOWS[self.missing]
        places = self._places(table.names)
        words = {
            place: {level: float(k) for k, level in enumerate(column.levels)}
            for place, column in zip(places, self.columns, strict=True)
            if column.levels
        }
        for block in table.blocks(places, words):
            self._check(block, table, places, missing)
            yield self.encode(block.values)

    def _places(self, names: Sequence[str]) -> list[int]:
        where = {name: j for j, name in enumerate(names)}
        absent = [column.name for column in self.columns if column.name not in where]
        if absent:
            count = "a column" if len(absent) == 1 else f"{len(absent)} columns"
            near = suggestion(absent[0], names)
            raise TableError(f"the table lacks {count} that the model needs: {listed(absent)}; {near}")
        return [where[column.name] for column in self.columns]

    def _check(self, block: Block, table: Table, places: Sequence[int], missing: str) -> None:
        by_place = dict(zip(places, self.columns, strict=True))
        for place, odd in block.odd.items():
            if not by_place[place].levels:
                raise no_number(table, place, odd)
            if missing == "error":
                known = listed(by_place[place].levels)
                raise TableError(
                    f"{table.unit} {odd.line}, column {shown(table.names[place])}: {shown(odd.text)} was not in the "
                    f"table of the fit, which had {known}; --missing blank leaves such rows empty"
                )
        refuse_infinite(block, table, places)
        gaps = np.argwhere(np.isnan(block.values)) if missing == "error" else np.empty((0, 2))
        if gaps.size:
            row, column = gaps[0]
            raise TableError(
                f"{table.unit} {block.lines[row]}, column {shown(table.names[places[column]])}: value missing; "
                f"--missing blank leaves such rows empty, --missing median fills them"
            )


def no_number(table: Table, place: int, odd: Odd) -> TableError:
    """The error for text where a number is needed."""
    return TableError(f"{table.unit} {odd.line}, column {shown(table.names[place])}: {shown(odd.text)} is no number")


def refuse_infinite(block: Block, table: Table, places: Sequence[int]) -> None:
    """Raise where a value is infinite, or too large for a double."""
    found = np.argwhere(np.isinf(block.values))
    if found.size:
        row, column = found[0]
        raise TableError(
            f"{table.unit} {block.lines[row]}, column {shown(table.names[places[column]])}: an infinite value; "
            f"correct it or leave it empty"
        )


def refuse_below_zero(values: np.ndarray, lines: np.ndarray, table: Table, name: str) -> None:
    """Raise where one of the values (t,) of a column that says something of the rows is missing or negative."""
    wrong = np.flatnonzero(~(values >= 0.0))
    if wrong.size:
        what = "value missing" if np.isnan(values[wrong[0]]) else f"{values[wrong[0]]:g} is negative"
        raise TableError(
            f"{table.unit} {lines[wrong[0]]}, column {shown(name)}: {what}; a weight, a noise variance or an"
            " exposure is a number from zero up"
        )


def recipe_record(recipe: Recipe) -> dict[str, Any]:
    """A recipe as plain dictionaries and lists, for JSON."""
    return asdict(recipe)


def recipe_from(record: Mapping[str, Any]) -> Recipe:
    """The recipe of such a record."""
    columns = tuple(Column(one["name"], float(one["fill"]), tuple(one["levels"])) for one in record["columns"])
    return Recipe(str(record["target"]), columns, str(record["missing"]), str(record.get("exposure", "")))
