"""From the table of a fit to inputs and target: columns chosen, texts and missing values treated as asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssvgp.tables.cells import MOST_LEVELS, Levels, Odd
from ssvgp.tables.columns import TableError, choose, find, listed, shown
from ssvgp.tables.outcome import Outcome, labels_of, outcome_of
from ssvgp.tables.recipe import Column, Recipe, no_number, refuse_below_zero, refuse_infinite
from ssvgp.tables.source import Table

CATEGORIES = ("error", "onehot", "drop")
LEAST_ROWS = 5
FEW_ROWS = 20  # rows below which a note warns
DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}")
ROW_LABELS = re.compile(r"__index_level_\d+__|column1|unnamed: 0|index", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """What is asked of a table: the target, which columns are inputs, what to do with gaps and texts.

    `weight`, `noise` and `exposure` name columns that are no inputs: how many times a row counts, its known noise
    variance, and what its count is a count of. `likelihood` is one of `outcome.ASKED`.
    """

    target: str
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "error"
    categories: str = "error"
    weight: str = ""
    noise: str = ""
    exposure: str = ""
    likelihood: str = "auto"

    @property
    def apart(self) -> tuple[str, ...]:
        """The named columns that are neither target nor inputs."""
        return tuple(name for name in (self.weight, self.noise, self.exposure) if name)


@dataclass(frozen=True)
class Prepared:
    """Inputs X (n, d), target y (n,), the recipe that made them, and notes on what was left out or assumed.

    The target has labels where the `outcome` says that it is one of classes. Weights, known noise variances and
    exposures of the rows (n,) where the table has them.
    """

    X: np.ndarray
    y: np.ndarray
    recipe: Recipe
    notes: tuple[str, ...]
    weights: np.ndarray | None = None
    noise: np.ndarray | None = None
    exposure: np.ndarray | None = None
    outcome: Outcome = field(default_factory=Outcome)
    data: Any = None  # in place of X, where it stands for more rows


@dataclass
class Reading:
    """A table in memory while it is treated: values (n, c) of the columns `places`, the target last."""

    table: Table
    places: list[int]
    values: np.ndarray
    lines: np.ndarray
    levels: dict[int, Levels] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def name(self, position: int | np.integer) -> str:
        return self.table.names[self.places[position]]

    def keep_columns(self, kept: np.ndarray) -> None:
        if not kept.all():
            self.values = self.values[:, kept]
            self.places = [place for place, keep in zip(self.places, kept, strict=True) if keep]

    def keep_rows(self, kept: np.ndarray) -> None:
        if not kept.all():
            self.values, self.lines = self.values[kept], self.lines[kept]


def prepare(table: Table, choice: Choice) -> Prepared:
    """Read a table for a fit; an error names line and column, and says what can be done."""
    places = [*_inputs(table, choice), find(choice.target, table.names)]
    outcome = outcome_of(table, places[-1], choice.likelihood)
    reading = read_rows(table, places, choice, outcome)
    if outcome.why:
        reading.notes.append(outcome.why)
    recipe = treated(reading, choice)
    X, y = recipe.encode(reading.values[:, :-1]).X, reading.values[:, -1].copy()
    if outcome.labels:
        y = labels_of(outcome, y, reading.levels.get(places[-1]))
    weights, noise, exposure = (of_rows(reading, name) for name in (choice.weight, choice.noise, choice.exposure))
    return Prepared(X, y, recipe, (*table.notes, *reading.notes), weights, noise, exposure, outcome)


def treated(reading: Reading, choice: Choice) -> Recipe:
    """Leave out and fill what was asked for, in place, and say how columns become inputs; the target comes last."""
    _drop_rows_without_target(reading)
    _drop_useless_columns(reading, choice)
    _treat_missing(reading, choice.missing)
    if len(reading.values) < LEAST_ROWS:
        raise TableError(f"{_rows(len(reading.values))} with a target: {LEAST_ROWS} are the least, 50 a start")
    if len(reading.places) == 1:
        raise TableError("no column is left as an input: --features, --drop and --missing leave none")
    if len(reading.values) < FEW_ROWS:
        reading.notes.append(f"only {_rows(len(reading.values))}: what was believed before weighs as much as the data")
    columns = tuple(_column(reading, j) for j in range(len(reading.places) - 1))
    return Recipe(choice.target, columns, choice.missing, choice.exposure)


def of_rows(reading: Reading, name: str) -> np.ndarray | None:
    """A column of numbers from zero up that is no input, for the rows that were kept (n,); None for no name."""
    if not name:
        return None
    table, place = reading.table, find(name, reading.table.names)
    found, _ = one_pass(table, [place], {}, stop=True)
    values = found.values[np.searchsorted(found.lines, reading.lines), 0]
    refuse_below_zero(values, reading.lines, table, name)
    return values


def _inputs(table: Table, choice: Choice) -> list[int]:
    """The places of the columns that are to be inputs."""
    target = find(choice.target, table.names)
    if f"{choice.target}.2" in table.names:
        raise TableError(f"more than one column is called {shown(choice.target)}: rename or --drop all but one")
    return inputs_beside(table, [target], choice)


def inputs_beside(table: Table, targets: Sequence[int], choice: Choice) -> list[int]:
    """The places of the columns that are to be inputs beside these targets."""
    names = table.names
    wanted = choose(choice.features, names) if choice.features else range(len(names))
    dropped = {*choose(choice.drop, names)}
    if dropped & {*targets}:
        raise TableError(f"--drop takes out the target {shown(names[min(dropped & {*targets})])}")
    apart = {*targets, *(find(name, names) for name in choice.apart)}
    if len(apart) < len(targets) + len(choice.apart):
        raise TableError("--target, --weight, --noise and --exposure name different columns")
    places = [j for j in wanted if j not in apart and j not in dropped]
    if not places:
        raise TableError(f"no column is left as an input beside the target {shown(choice.target)}")
    return places


def read_rows(table: Table, places: list[int], choice: Choice, outcome: Outcome | None = None) -> Reading:
    """All rows; where columns hold text and that is allowed, a second reading takes it in or leaves it out."""
    target = {places[-1]: Levels()} if outcome is not None and outcome.levels else {}
    reading, odd = one_pass(table, places, target, stop=choice.categories == "error")
    if not odd:
        return reading
    if choice.categories == "drop":
        reading.keep_columns(np.array([place not in odd for place in places]))
        reading.notes.append(f"left out {_columns(len(odd))} with text: {listed([table.names[j] for j in odd])}")
        return reading
    reading, many = one_pass(table, places, {**target, **{place: Levels() for place in odd}}, stop=False)
    if many:
        place = min(many)
        raise TableError(
            f"column {shown(table.names[place])} has more than {MOST_LEVELS} different texts, which is no category: "
            f"--drop {_argument(table.names[place])}"
        )
    return reading


def one_pass(table: Table, places: list[int], levels: dict[int, Levels], stop: bool) -> tuple[Reading, dict[int, Odd]]:
    """One reading, with the odd cells found; the first is an error where `stop` says so."""
    values, lines = [], []
    odd: dict[int, Odd] = {}
    for block in table.blocks(places, levels):
        if places[-1] in block.odd:
            raise no_number(table, places[-1], block.odd[places[-1]])
        if block.odd and stop:
            raise _text_error(table, block.odd)
        refuse_infinite(block, table, places)
        odd = block.odd | odd
        values.append(block.values)
        lines.append(block.lines)
    if not values:
        raise TableError("the table has a header and no rows")
    return Reading(table, places, np.concatenate(values), np.concatenate(lines), levels), odd


def _text_error(table: Table, odd: dict[int, Odd]) -> TableError:
    place, first = min(odd.items(), key=lambda item: (item[1].line, item[0]))
    name, text = table.names[place], first.text
    if DATE.match(text):
        advice = f"dates are no inputs: --drop {_argument(name)}, or write them as numbers"
    elif re.fullmatch(r"[+-]?\d+,\d+", text):
        advice = "is the comma a decimal point? --decimal ,"
    else:
        advice = f"--drop {_argument(name)}, or for every column with text --categories onehot or --categories drop"
    return TableError(f"{no_number(table, place, first)}: {advice}")


def _argument(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else shown(name)


def _drop_rows_without_target(reading: Reading) -> None:
    known = ~np.isnan(reading.values[:, -1])
    if not known.any():
        raise TableError(f"the target {shown(reading.name(-1))} has no value in any row")
    if not known.all():
        reading.notes.append(f"left out {_rows(int((~known).sum()))} without a value of {shown(reading.name(-1))}")
        reading.keep_rows(known)


def _drop_useless_columns(reading: Reading, choice: Choice) -> None:
    """Columns without any value, and, unless columns were named, one that only counts the rows."""
    kept = ~np.isnan(reading.values).all(axis=0)
    if not kept.all():
        empty = [reading.name(j) for j in np.flatnonzero(~kept)]
        reading.notes.append(f"left out {_columns(len(empty))} without a value: {listed(empty)}")
    for j in [] if choice.features else np.flatnonzero(kept[:-1]):
        if ROW_LABELS.fullmatch(reading.name(j)) and _counts_rows(reading.values[:, j]):
            kept[j] = False
            reading.notes.append(f"left out {shown(reading.name(j))}, which only counts the rows")
    reading.keep_columns(kept)


def _counts_rows(values: np.ndarray) -> bool:
    return len(values) > 1 and bool(np.all(np.diff(values) == 1.0))


def _treat_missing(reading: Reading, missing: str) -> None:
    gaps = np.isnan(reading.values)
    if not gaps.any():
        return
    if missing == "error":
        row, j = np.argwhere(gaps)[0]
        with_gaps = int(gaps.any(axis=1).sum()), int(gaps.any(axis=0).sum())
        raise TableError(
            f"{reading.table.unit} {reading.lines[row]}, column {shown(reading.name(j))}: value missing "
            f"({_rows(with_gaps[0])} and {_columns(with_gaps[1])} have gaps): "
            f"--missing drop-rows, drop-columns or median"
        )
    if missing == "drop-rows":
        reading.notes.append(f"left out {_rows(int(gaps.any(axis=1).sum()))} with missing values")
        reading.keep_rows(~gaps.any(axis=1))
    elif missing == "drop-columns":
        empty = [reading.name(j) for j in np.flatnonzero(gaps.any(axis=0))]
        reading.notes.append(f"left out {_columns(len(empty))} with missing values: {listed(empty)}")
        reading.keep_columns(~gaps.any(axis=0))
    else:
        reading.notes.append(f"{int(gaps.sum())} missing values filled with the median of their column")


def _column(reading: Reading, position: int) -> Column:
    """One column of the recipe; its levels are put in alphabetical order, and its values are changed to that."""
    values, place = reading.values[:, position], reading.places[position]
    known = values[~np.isnan(values)]
    if place not in reading.levels:
        return Column(reading.table.names[place], float(np.median(known)))
    texts = list(reading.levels[place])
    present = sorted(texts[int(code)] for code in np.unique(known))
    number_of = np.array([present.index(text) if text in present else -1 for text in texts], dtype=float)
    known = number_of[known.astype(int)]
    values[~np.isnan(values)] = known
    return Column(reading.table.names[place], float(np.bincount(known.astype(int)).argmax()), tuple(present))


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
