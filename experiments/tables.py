"""Tables that set our numbers beside printed ones, and how they look in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.summaries import Measured, Printed

NOT_RUN, NOT_PRINTED = "not run", "–"
SPREAD = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
BESIDE = "†"  # a time of trials that ran beside other work
LONG = 12  # rows; a longer table is folded


@dataclass(frozen=True)
class Column:
    """A score: its key in paper.json, its heading, its key in our results, and the decimals that are printed."""

    key: str
    heading: str
    score: str
    decimals: int

    @property
    def timed(self) -> bool:
        """Whether it depends on the machine, so that a difference says little."""
        return "seconds" in self.score or "minutes" in self.score


@dataclass(frozen=True)
class Pair:
    """Ours and the printed number; either may be missing."""

    ours: Measured | None
    printed: Printed | None


@dataclass(frozen=True)
class Row:
    """One method: a pair for each column."""

    label: str
    method: str
    pairs: tuple[Pair, ...]
    failed: int = 0


@dataclass(frozen=True)
class Table:
    """A table of the paper beside our numbers.

    `place` is where the paper has it, `at` our experiment and design, `trials` are those behind the printed numbers.
    """

    name: str
    place: str
    title: str
    at: tuple[str, str]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trials: int
    note: str = ""


def markdown(table: Table) -> str:
    """The table as Markdown, ours and printed for each score, and the trials behind ours; folded where it is long."""
    sides = ("ours", "printed") if any(pair.printed for row in table.rows for pair in row.pairs) else ("ours",)
    heads = [f"{column.heading} {side}" for column in table.columns for side in sides]
    lines = []
    for row in table.rows:
        pairs = zip(row.pairs, table.columns, strict=True)
        cells = [cell for pair, column in pairs for cell in cells_of(pair, column.decimals)[: len(sides)]]
        lines.append([row.label, _trials(row), *cells])
    shown = grid(["", "trials", *heads], lines)
    return folded(f"Show all {len(lines)} rows", shown) if len(lines) > LONG else shown


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])


def folded(summary: str, content: str) -> str:
    """Content behind a line of plain text that opens it, in the repository's pages as in the site."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def _trials(row: Row) -> str:
    count = max((pair.ours.count for pair in row.pairs if pair.ours), default=0)
    return f"{count}" + (f", {row.failed} failed" if row.failed else "")


def cells_of(pair: Pair, decimals: int) -> tuple[str, str]:
    """Ours and what is printed, as text."""
    ours, printed = NOT_RUN, NOT_PRINTED
    if pair.ours:
        ours = f"{pair.ours.value:.{decimals}f}" + (f"{SPREAD}{pair.ours.sd:.{decimals}f}" if pair.ours.sd else "")
        ours += BESIDE if pair.ours.beside else ""
    if pair.printed:
        printed = f"{pair.printed.value:.{decimals}f}"
        printed += "" if pair.printed.sd is None else f"{SPREAD}{pair.printed.sd:.{decimals}f}"
    return ours, printed


def line(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"
