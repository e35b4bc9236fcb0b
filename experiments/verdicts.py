"""What became of every printed row: reproduced, better, or not and why; and the one table that says so.

A row is a method in a table of the paper. Each of its numbers but times is reproduced where it lies within two standard
errors of print, both spreads counted, and better where it lies further off on the good side. What is neither needs a
remark in experiments/remarks.json, under "table/row" or "table": without one there is no page. Why a table was not run
may stand there under "not run/table".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.methods import METHODS
from experiments.paper_tables import cut_short
from experiments.scores import HIGH_IS_GOOD
from experiments.summaries import LOW_IS_GOOD, Stored, apart
from experiments.tables import Column, Pair, Row, Table, cells_of, grid

LIMIT = 2.0  # standard errors
REPRODUCED, BETTER, NOT, NOT_RUN, TIMES = "reproduced", "better", "not", "not run", "times only"
EVERY_ROW = "*"  # the remark on rows that have none of their own: a smoke run proves nothing


class MissingRemark(ValueError):
    """Rows that differ from print, and nothing says why."""


@dataclass(frozen=True)
class Verdict:
    """What became of one printed row; `text` is the verdict in words, `kind` its first word."""

    table: Table
    name: str
    rows: tuple[Row, ...]
    kind: str
    text: str

    @property
    def own(self) -> bool:
        """Whether the row is one of the paper's method itself, not of a rival."""
        return not METHODS[self.rows[0].method].peer


def verdicts(tables: Sequence[Table], remarks: Mapping[str, str], stored: Stored) -> list[Verdict]:
    """The verdict on every printed row; an error that names the rows which need a remark and have none."""
    found, missing = [], []
    for table in tables:
        for name, rows in printed_rows(table).items():
            kind, text = _judged(table, name, rows, remarks, stored)
            found.append(Verdict(table, name, rows, kind, text))
            if kind == NOT and not text:
                missing.append(f"{table.name}/{name}: {_cell(table, rows, 0)}, printed {_cell(table, rows, 1)}")
    if missing:
        listed = "\n  ".join(missing)
        raise MissingRemark(f"these rows differ from print; say why in experiments/remarks.json:\n  {listed}")
    return found


def printed_rows(table: Table) -> dict[str, tuple[Row, ...]]:
    """Rows of a table that the paper has, by the name in front of the comma: the percentiles of a method are one."""
    out: dict[str, tuple[Row, ...]] = {}
    for row in table.rows:
        if any(pair.printed for pair in row.pairs):
            name = row.label.partition(", ")[0]
            out[name] = (*out.get(name, ()), row)
    return out


def remark_of(remarks: Mapping[str, str], table: str, name: str) -> str:
    """What is known of a row, or of its table; empty where nothing is."""
    return remarks.get(f"{table}/{name}") or remarks.get(table) or remarks.get(EVERY_ROW, "")


def _judged(
    table: Table, name: str, rows: Sequence[Row], remarks: Mapping[str, str], stored: Stored
) -> tuple[str, str]:
    """Kind and text of a verdict; the text is empty where a remark is missing."""
    if all(pair.ours is None for row in rows for pair in row.pairs):
        return NOT_RUN, f"not run: {_why_not_run(table, rows[0], remarks)}"
    if all(column.timed for column in table.columns):
        return TIMES, _how_fast(table, rows)
    kinds = _kinds_of_scores(table, rows)
    reasons = (_training_of(table, rows[0], stored), remark_of(remarks, table.name, name))
    remark = " ".join(reason for reason in reasons if reason)
    if NOT in kinds.values():
        return NOT, f"{_listed(kinds)}, because {_inside(remark)}" if remark else ""
    if BETTER in kinds.values():
        own = remarks.get(f"{table.name}/{name}")
        return BETTER, _listed(kinds) + (f": {_inside(own)}" if own else "")
    return REPRODUCED, REPRODUCED


def _kinds_of_scores(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """Reproduced, better or not for each score of a row: that of its worst number where it has several."""
    out: dict[str, str] = {}
    order = (REPRODUCED, BETTER, NOT)
    for row in rows:
        for column, pair in zip(table.columns, row.pairs, strict=True):
            if not column.timed and pair.ours is not None and pair.printed is not None:
                kind = kind_of(column, pair, table.trials)
                out[column.heading] = max(kind, out.get(column.heading, REPRODUCED), key=order.index)
    return out


def kind_of(column: Column, pair: Pair, trials: int) -> str:
    """Reproduced, better or not, for one number; what cannot be judged, since nobody knows a spread, is not."""
    assert pair.ours is not None and pair.printed is not None
    errors = apart(pair.ours, pair.printed, trials, 10.0**-column.decimals)
    if abs(errors) <= LIMIT:
        return REPRODUCED
    good = {**dict.fromkeys(HIGH_IS_GOOD, 1.0), **dict.fromkeys(LOW_IS_GOOD, -1.0)}.get(column.score, 0.0)
    return BETTER if errors * good > 0.0 else NOT


def _listed(kinds: Mapping[str, str]) -> str:
    """One word where all scores agree, or else the word of each, the worst last: "MSE better, MCC **not**"."""
    if len(set(kinds.values())) == 1:
        return _word(next(iter(kinds.values())))
    found = {kind: _with(kinds, kind) for kind in (REPRODUCED, BETTER, NOT)}
    return ", ".join(f"{' and '.join(headings)} {_word(kind)}" for kind, headings in found.items() if headings)


def _word(kind: str) -> str:
    """The word of a verdict; who looks for what is not reproduced finds it in bold."""
    return f"**{kind}**" if kind == NOT else kind


def _with(kinds: Mapping[str, str], kind: str) -> list[str]:
    return [heading for heading, found in kinds.items() if found == kind]


def _inside(remark: str) -> str:
    """A remark behind "because": no capital but those of names and formulas, and a full stop."""
    first = remark.split(" ", 1)[0]
    plain = first == "A" or (first.isalpha() and first[1:].islower())
    return (remark[0].lower() + remark[1:] if plain else remark).rstrip(".") + "."


def _training_of(table: Table, row: Row, stored: Stored) -> str:
    """That a training was stopped early, which explains whatever it gave."""
    experiment, design = table.at
    cut = next((words for line in stored.good(experiment, design, row.method) if (words := cut_short(line))), "")
    return f"Its training {cut}." if cut else ""


def _why_not_run(table: Table, row: Row, remarks: Mapping[str, str]) -> str:
    if row.failed:
        return f"{row.failed} of {row.failed} trials failed."
    known = remarks.get(f"{NOT_RUN}/{table.name}")
    return _inside(known) if known else "no trial is stored yet."


def _how_fast(table: Table, rows: Sequence[Row]) -> str:
    """How ours compares with the printed time, of another machine."""
    pairs = [pair for row in rows for pair in row.pairs if pair.ours and pair.printed]
    ours = sum(pair.ours.value for pair in pairs if pair.ours)
    printed = sum(pair.printed.value for pair in pairs if pair.printed)
    faster = printed >= ours
    ratio = float(f"{(printed / ours if faster else ours / printed):.2g}")
    return f"{TIMES}: ours is {ratio:g} times as {'fast' if faster else 'slow'}"


def summary_markdown(found: Sequence[Verdict]) -> str:
    """The one table: a line for each printed row."""
    rows = [
        [one.table.place, one.name, *(_cell(one.table, one.rows, side, "<br>") for side in (0, 1)), one.text]
        for one in found
    ]
    return grid(["table", "row", "ours", "printed", "verdict"], rows)


def _cell(table: Table, rows: Sequence[Row], side: int, between: str = "; ") -> str:
    """The scores of a row in one cell, ours (side 0) or printed (1); percentiles stand one behind the other.

    Seconds are left out where they stand beside other scores: Table 5 has them.
    """
    if side == 0 and all(pair.ours is None for row in rows for pair in row.pairs):
        return ""
    alone = all(column.timed for column in table.columns)
    parts = []
    for place, column in enumerate(table.columns):
        beside = column.score == "seconds" and not alone
        if beside or all(row.pairs[place].printed is None for row in rows):
            continue
        values = [cells_of(row.pairs[place], column.decimals)[side] for row in rows]
        parts.append(f"{column.heading} {' / '.join(values)}")
    return between.join(parts)


def counts_sentence(found: Sequence[Verdict]) -> str:
    """How many rows there are of each kind, those of the paper's method first."""
    own, rivals = [one for one in found if one.own], [one for one in found if not one.own]
    tables = len({one.table.name for one in found})
    return (
        f"The paper prints {len(found)} rows in {tables} tables. Of the {len(own)} rows of its own method "
        f"{_counted(own)}. Of the {len(rivals)} rows of other methods {_counted(rivals)}."
    )


def _counted(found: Sequence[Verdict]) -> str:
    words = {REPRODUCED: "reproduced", BETTER: "better", NOT: "not", NOT_RUN: "not run", TIMES: "times alone"}
    number = {kind: sum(one.kind == kind for one in found) for kind in words}
    parts = [f"{count} {'is' if count == 1 else 'are'} {words[kind]}" for kind, count in number.items() if count]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + "".join(parts[-1:])
