"""Tables that set our numbers beside printed ones, and how they look in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.summaries import Measured, Printed, apart

NOT_RUN, NOT_PRINTED = "not run", "–"
LEAST_TRIALS = 3  # fewer say nothing of their own spread


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
    """A table of the paper beside our numbers; `trials` are those behind the printed ones."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trials: int
    note: str = ""


def far(table: Table, limit: float = 2.0) -> list[tuple[Row, Column, Pair, float]]:
    """Numbers more than `limit` standard errors from print; run times are left out, since machines differ."""
    found = []
    for row in table.rows:
        for column, pair in zip(table.columns, row.pairs, strict=True):
            if pair.ours is None or pair.printed is None or column.timed or pair.ours.count < LEAST_TRIALS:
                continue
            errors = apart(pair.ours, pair.printed, table.trials, 10.0**-column.decimals)
            if abs(errors) > limit:
                found.append((row, column, pair, errors))
    return found


def markdown(table: Table) -> str:
    """The table as Markdown, three columns for each score, and the trials behind ours."""
    heads = [f"{c.heading} {part}" for c in table.columns for part in ("ours", "printed", "difference")]
    lines = [line(["", "trials", *heads]), line(["---"] * (2 + len(heads)))]
    for row in table.rows:
        cells = [cell for pair, c in zip(row.pairs, table.columns, strict=True) for cell in cells_of(pair, c.decimals)]
        lines.append(line([row.label, _trials(row), *cells]))
    return "\n".join([f"### {table.title}", "", *lines, *(["", table.note] if table.note else [])])


def _trials(row: Row) -> str:
    count = max((pair.ours.count for pair in row.pairs if pair.ours), default=0)
    return f"{count}" + (f", {row.failed} failed" if row.failed else "")


def cells_of(pair: Pair, decimals: int) -> tuple[str, str, str]:
    """Ours, what is printed, and the difference, as text."""
    ours, printed = NOT_RUN, NOT_PRINTED
    if pair.ours:
        ours = f"{pair.ours.value:.{decimals}f}" + (f" ± {pair.ours.sd:.{decimals}f}" if pair.ours.sd else "")
    if pair.printed:
        printed = f"{pair.printed.value:.{decimals}f}"
        printed += "" if pair.printed.sd is None else f" ± {pair.printed.sd:.{decimals}f}"
    gap = f"{pair.ours.value - pair.printed.value:+.{decimals}f}" if pair.ours and pair.printed else ""
    return ours, printed, gap


def line(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"
