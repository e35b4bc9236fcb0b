"""Writes docs/results.md and its figures from what is stored in experiments/results.

python -m experiments.results            or with --smoke, --results DIR and --docs DIR for a trial run
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments import figures, layout, store
from experiments.conditions import conditions, settings
from experiments.league_page import league
from experiments.outcomes_page import outcomes
from experiments.own_tables import luck, target_markdown
from experiments.paper_tables import all_tables
from experiments.summaries import Stored, load
from experiments.tables import Table, markdown
from experiments.verdicts import EVERY_ROW, counts_sentence, summary_markdown, verdicts

DOCS = Path(__file__).resolve().parents[1] / "docs"
REMARKS: dict[str, str] = json.loads((Path(__file__).parent / "remarks.json").read_text())
SMOKE_REMARKS = {EVERY_ROW: "a smoke run is too small to compare."}


def page(stored: Stored, remarks: Mapping[str, str] = REMARKS) -> str:
    """The whole page as Markdown; an error names the rows that differ from print and have no remark."""
    tables = {table.name: table for table in all_tables(stored)}
    parts = [layout.INTRODUCTION, *_summary(list(tables.values()), stored, remarks)]
    own = {
        "mean_sd": [luck(stored)],
        "percentiles": [f"### {layout.TARGET_TITLE}", layout.TARGET_SAYS, target_markdown(stored)],
        "parts_tall": [f"### {layout.TRAINING_TITLE}", layout.TRAINING_SAYS, *_pictures("training")],
    }
    for section in layout.SECTIONS:
        parts += [f"## {section.title}", section.says]
        for place in section.places:
            parts += [*_table(tables[place.table], place), *own.get(place.table, ())]
    parts += [
        *league(stored, remarks),
        *outcomes(stored),
        "## How it was measured",
        *conditions(stored),
        *settings(stored),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(tables: Sequence[Table], stored: Stored, remarks: Mapping[str, str]) -> list[str]:
    """What became of every printed row."""
    found = verdicts(tables, remarks, stored)
    return ["## Summary", counts_sentence(found), _headline(stored), layout.RULES, summary_markdown(found)]


def _headline(stored: Stored) -> str:
    """The default beside the paper's method and MCMC on the paper's own experiment 1."""
    parts = []
    for method, name in (("ssvgp", "our default"), ("paper_n2", "the paper's method (m = n/2)"), ("mcmc", "MCMC")):
        at = ("experiment1", "experiment1", method)
        mcc, nmse, seconds = (stored.values(*at, score) for score in ("mcc_best", "nmse", "seconds"))
        if nmse.size:
            time = _plain(float(np.nanmean(seconds)))
            parts.append(f"{name} has MCC {mcc.mean():.2f} and MSE {nmse.mean():.4f} in {time} s")
    return f"On experiment 1 {'; '.join(parts)}." if parts else ""


def _plain(value: float) -> str:
    """Two digits, never as a power of ten."""
    return f"{float(f'{value:.2g}'):g}"


def _table(table: Table, place: layout.Place) -> list[str]:
    """A heading, the sentence, the figures beside the table, and the table with its note."""
    return [f"### {table.title}", place.says, *_pictures(*place.figures), markdown(table), table.note]


def _pictures(*names: str) -> list[str]:
    """Figures, each with what it shows below it."""
    parts = []
    for name in names:
        caption = (figures.FIGURES[name].__doc__ or name).splitlines()[0]
        parts += [f"![{caption}](images/results/{name}.png)", f"*{caption}*"]
    return parts


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="from the files of smoke runs")
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="folder of the results")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder to write to")
    given = parser.parse_args(arguments)
    stored = load(given.results, given.smoke)
    text = page(stored, SMOKE_REMARKS if given.smoke else REMARKS)
    figures.save_all(stored, given.docs / "images" / "results")
    target = given.docs / "results.md"
    target.write_text(text, encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
