"""What kind of target a column is: numbers, classes or counts, and the words that say why.

| the column has | it is taken for |
|---|---|
| texts alone, or two different values | classes |
| whole numbers from zero up, with zeros or a long tail from one | counts |
| anything else | numbers |

`--likelihood` overrides it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.tables.cells import MOST_LEVELS, WORDS, Levels, Odd
from ssvgp.tables.columns import TableError, listed, shown
from ssvgp.tables.recipe import no_number
from ssvgp.tables.source import Table

CLASSES = {"classes": "bernoulli", "classes-probit": "bernoulli-probit"}  # what is asked for: the engine's name
COUNTS = ("poisson", "negative-binomial")
ASKED = ("auto", "gaussian", "student-t", "outliers", *CLASSES, *COUNTS)
FEW_CLASSES = 20  # different texts beyond which nobody means classes unless they say so
RATING = 10  # whole numbers from one up to here may be marks, which are no counts


@dataclass(frozen=True)
class Outcome:
    """What a target was taken for: the likelihood, the labels of its classes (none for numbers), and why.

    `levels` says that labels are texts of the table, which a second reading numbers as they come; numbers otherwise.
    """

    likelihood: str = "auto"
    labels: tuple[str, ...] = ()
    levels: bool = False
    why: str = ""

    @property
    def counts(self) -> bool:
        """Whether the target is one of counts."""
        return self.likelihood in COUNTS


def outcome_of(table: Table, place: int, asked: str) -> Outcome:
    """What the column at a place of a table is as a target; `asked` is one of `ASKED`."""
    numbers, odd = _numbers(table, place)
    name = shown(table.names[place])
    if asked != "auto" and asked not in CLASSES:
        if odd is not None:
            raise no_number(table, place, odd)
        if asked in COUNTS and not _whole(numbers):
            raise TableError(f"the target {name} holds {_example(numbers)}: counts are whole numbers from zero up")
        return Outcome(asked)
    if asked == "auto" and odd is None:
        return _of_numbers(table, place, numbers)
    if asked == "auto" and numbers.size:  # a number with a slip is no class
        raise TableError(f"{no_number(table, place, odd)}; --likelihood classes takes every text as a class")  # type: ignore[arg-type]
    return _of_texts(table, place, asked, "was asked for" if asked in CLASSES else "it holds text")


def _of_numbers(table: Table, place: int, numbers: np.ndarray) -> Outcome:
    """The kind of a target without text."""
    distinct, name = np.unique(numbers), shown(table.names[place])
    if distinct.size == 2:
        return _of_texts(table, place, "auto", "it has two different values")
    if distinct.size > 2 and _whole(numbers) and (distinct[0] == 0 or (distinct[0] == 1 and distinct[-1] > RATING)):
        if np.mean(numbers) > np.median(numbers) or distinct[-1] <= RATING:
            why = f"target {name} is taken for counts, since it holds whole numbers from {distinct[0]:g} up"
            return Outcome("negative-binomial", why=f"{why}; --likelihood gaussian takes it for numbers")
    return Outcome()


def _of_texts(table: Table, place: int, asked: str, reason: str) -> Outcome:
    """Classes, by their texts; numbers among them count by their value: 1 and 1.0 are one class."""
    levels, odd = Levels(), None
    for block in table.blocks([place], {place: levels}):
        odd = odd or block.odd.get(place)
    name = shown(table.names[place])
    if odd is not None or (asked == "auto" and len(levels) > FEW_CLASSES):
        count = f"more than {MOST_LEVELS}" if odd is not None else str(len(levels))
        raise TableError(f"the target {name} has {count} different texts, which are no classes: name another --target")
    numbers, first = _numbers(table, place)
    words = {text.casefold() for text in levels} <= set(WORDS)
    by_value = first is None and not words
    labels = tuple(f"{value:.15g}" for value in np.unique(numbers)) if by_value else tuple(sorted(levels))
    if len(labels) < 2:
        raise TableError(f"the target {name} is the same in all rows ({listed(labels)}): two classes are the least")
    why = f"target {name} is taken for {len(labels)} classes ({listed(labels)}), since {reason}"
    if asked == "auto" and by_value:
        why += "; --likelihood gaussian takes it for numbers"
    return Outcome(CLASSES.get(asked, "bernoulli"), labels, not by_value, why)


def labels_of(outcome: Outcome, values: np.ndarray, levels: Levels | None) -> np.ndarray:
    """The labels (n,) of a target that was read as numbers, or as places among its texts."""
    if outcome.levels and levels is not None:
        return np.array(list(levels), dtype=object)[values.astype(int)]
    return np.array([f"{value:.15g}" for value in values], dtype=object)


def _numbers(table: Table, place: int) -> tuple[np.ndarray, Odd | None]:
    """The numbers of a column, without gaps, and the first cell that is none."""
    found, odd = [], None
    for block in table.blocks([place], {}):
        found.append(block.values[:, 0])
        odd = odd or block.odd.get(place)
    numbers = np.concatenate(found) if found else np.empty(0)
    return numbers[~np.isnan(numbers)], odd


def _whole(numbers: np.ndarray) -> bool:
    return bool(numbers.size and np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers % 1 == 0).all())


def _example(numbers: np.ndarray) -> str:
    wrong = numbers[(numbers < 0) | (numbers % 1 != 0)]
    return f"{wrong[0]:g}" if wrong.size else "no value"
