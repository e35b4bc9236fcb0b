"""Writes docs/results.md and its figures from what is stored in experiments/results.

    python -m experiments.results            or with --smoke, --results DIR and --docs DIR for a trial run
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments import figures, store
from experiments.league_tables import REAL, SYNTHETIC, behind, scores_markdown, standings_markdown, thinned_rows
from experiments.methods import METHODS
from experiments.paper_tables import all_tables
from experiments.summaries import EXPERIMENTS, Stored, load
from experiments.tables import Table, cells_of, far, line, markdown

DOCS = Path(__file__).resolve().parents[1] / "docs"
REMARKS: dict[str, str] = json.loads((Path(__file__).parent / "remarks.json").read_text())
FIGURES_OF = {
    "toy": ("figure1", "figure2", "figure_a0", "figure_a1", "figure_a2"),
    "experiment1": ("figure3",),
    "experiment2": ("figure4", "figure5"),
    "real": ("figure6", "figure_a3"),
}
TABLES_OF = {
    "toy": ("table1", "intersection", "table2", "table3", "table4"),
    "experiment1": ("table5", "percentiles", "mean_sd", "savitsky"),
    "experiment2": ("experiment2_wide", "parts_wide", "experiment2_tall", "parts_tall"),
    "real": ("real_ujiindoorloc", "real_ct_slices", "real_blog_feedback", "real_supercon_magpie"),
}
TITLES = {
    "toy": "The toy",
    "experiment1": "Experiment 1: 6 of 1000 inputs from 100 rows",
    "experiment2": "Experiment 2: a million rows, or ten thousand inputs",
    "real": "Real data",
}
INTRODUCTION = """# Results

This page is written by `make results` from the lines in `experiments/results`, one for each trial. For every number of
the paper there is ours, what is printed, and the difference. Errors are squared errors over the variance of the test
targets. Seconds are those of fit and prediction on one thread (`n_jobs=1`, one BLAS thread), each trial in a process of
its own; printed times are those of another machine. Trial t has the seed 1000 + t. "Ours alone" marks rows that the
paper does not have. Spreads are standard deviations over trials. As in the paper, the MCC of an ML-II GP is that of the
best of five thresholds on inverse lengthscales, which only the truth can choose; in the league it is that of its own
fixed threshold. All methods fit a tiny table before they are timed, so that loading a library is no part of it; what
JAX compiles for the shape of a table (SAAS by NUTS, sparse BART) is. Some trials ran beside other work and took up to
three times as long as alone: compare seconds of one table with care."""


def page(stored: Stored) -> str:
    """The whole page as Markdown."""
    tables = {table.name: table for table in all_tables(stored)}
    parts = [INTRODUCTION, *_conditions(stored), "## What is not reproduced", *_departures(list(tables.values()))]
    for name, title in TITLES.items():
        parts.append(f"## {title}")
        parts += [markdown(tables[one]) for one in TABLES_OF[name]]
        parts += [f"![{_caption(one)}](images/results/{one}.png)" for one in FIGURES_OF[name]]
    parts += [*_league(stored), *_settings(stored)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _caption(name: str) -> str:
    """The first sentence of what a figure says of itself."""
    return (figures.FIGURES[name].__doc__ or name).splitlines()[0].rstrip(".")


def _conditions(stored: Stored) -> list[str]:
    """Machine, versions and trials behind the numbers."""
    lines = [one for name in EXPERIMENTS for one in stored.lines.get(name, ())]
    if not lines:
        return ["Nothing is stored yet."]
    machines = Counter(f"{one['machine']['cpu']}, {one['machine']['cores']} cores" for one in lines)
    units = [1e3 * one["unit_seconds"] for one in lines if "unit_seconds" in one]
    versions: dict[str, set[str]] = {}
    for one in lines:
        for library, version in one.get("versions", {}).items():
            versions.setdefault(library, set()).add(version)
    told = "; ".join(f"{library} {', '.join(sorted(found))}" for library, found in sorted(versions.items()))
    rows = [line(["experiment", "trials stored", "of these failed", "seeds"]), line(["---"] * 4)]
    for name in EXPERIMENTS:
        found = stored.lines.get(name, ())
        seeds = sorted({one["seed"] for one in found})
        failed = sum("error" in one for one in found)
        rows.append(line([name, str(len(found)), str(failed), f"{seeds[0]} to {seeds[-1]}" if seeds else ""]))
    speed = f" One unit of time (benchmarks/unit.py) took {np.median(units):.2f} ms in the median." if units else ""
    return [f"Machine: {'; '.join(sorted(machines))}.{speed}", f"Versions: {told}.", "\n".join(rows)]


def _departures(tables: Sequence[Table]) -> list[str]:
    """What was not run, and the numbers more than two standard errors from print, each with what is known of why."""
    missing = []
    for table in tables:
        absent = dict.fromkeys(row.label.partition(",")[0] for row in table.rows if row.pairs[0].ours is None)
        missing += [f"- {table.title}: {', '.join(absent)}"] if absent else []
    rows = []
    for table in tables:
        for row, column, pair, errors in far(table):
            ours, printed, _ = cells_of(pair, column.decimals)
            apart = f"{errors:+.1f}" if abs(errors) < 1e3 else "beyond measure"
            rows.append([table.title, row.label, column.heading, ours, printed, apart, _remark(table, row.label)])
    head = ["table", "row", "score", "ours", "printed", "standard errors apart", "why"]
    told = [
        "Numbers more than two standard errors from print, in either direction. Both spreads count; times are left "
        "out, and so is what has fewer than three trials. A plus means that ours is the larger number.",
        "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)]) if rows else "There are none.",
    ]
    return [*told, *(["Not run:", "\n".join(missing)] if missing else [])]


def _settings(stored: Stored) -> list[str]:
    """Settings that are not a method's own, and what the methods told of their training, averaged over trials."""
    rows: dict[tuple[str, str, str], tuple[str, dict[str, list[float]]]] = {}
    for name in EXPERIMENTS:
        for one in stored.lines.get(name, ()):
            if not METHODS[one["method"]].peer or "error" in one:
                continue
            told = ", ".join(f"{key} {value}" for key, value in sorted(one["settings"].items()))
            _, notes = rows.setdefault((name, one["design"], one["method"]), (told, {}))
            for key, value in one["notes"].items():
                if isinstance(value, (int, float)):
                    notes.setdefault(key, []).append(float(value))
    lines = []
    for (name, design, method), (told, notes) in sorted(rows.items()):
        means = ", ".join(f"{key} {np.mean(values):.4g}" for key, values in notes.items())
        if told or means:
            lines.append(line([name, design, METHODS[method].label, told, means]))
    if not lines:
        return []
    head = ["experiment", "design", "rival", "settings other than its own", "what it told, mean over trials"]
    return ["## Settings and budgets of rivals", "\n".join([line(head), line(["---"] * len(head)), *lines])]


def _remark(table: Table, label: str) -> str:
    """What is known of a row, by the method in front of the comma, or of its table."""
    return REMARKS.get(f"{table.name}/{label.split(', ')[0]}", REMARKS.get(table.name, "not explained"))


def _league(stored: Stored) -> list[str]:
    """The league: standings, accuracy against time, scores by design, and what must be known to read them."""
    thinned = thinned_rows(stored)
    failed = [
        f"- {METHODS[one['method']].label}, {one['design']}, trial {one['trial']}: {one['error']}"
        for one in stored.lines.get("league", ())
        if "error" in one
    ]
    return [
        "## The league",
        f"All methods on {len(SYNTHETIC)} synthetic designs and {len(REAL)} real sets, three draws or random 4:1 "
        "splits of each; of the small real sets ten, and thirty where the test part has at most 20 rows, for quick "
        "methods and for rivals that were ahead on fewer. How the sets were chosen is said in "
        "`experiments/league.py`. A rank of 1 is best, ties share their mean, a method that failed on a design is last "
        "there, and one that was not run takes no part. Slow methods ran fewer trials: ranks, and who is within 5% of "
        "the best, compare two methods in the trials that both have; the tables by design below show the mean over all "
        "trials of each.",
        standings_markdown(stored),
        *_behind(stored),
        "![Accuracy against time](images/results/league.png)",
        "### nmse, synthetic designs",
        scores_markdown(stored, tuple(SYNTHETIC), "nmse"),
        "### nmse, real sets",
        scores_markdown(stored, REAL, "nmse"),
        "### negative log density, synthetic designs",
        scores_markdown(stored, tuple(SYNTHETIC), "nlpd"),
        "### negative log density, real sets",
        scores_markdown(stored, REAL, "nlpd"),
        "### MCC of the selection, synthetic designs",
        scores_markdown(stored, tuple(SYNTHETIC), "mcc", high_is_good=True),
        "### seconds of fit and prediction, real sets",
        scores_markdown(stored, REAL, "seconds"),
        *(["Trained on a random part of the rows: " + "; ".join(thinned) + "."] if thinned else []),
        *(["Trials that failed:", "\n".join(failed)] if failed else []),
    ]


def _behind(stored: Stored) -> list[str]:
    """On which real sets the default is more than 5% behind, by how much, and why."""
    rows = [
        f"- {one.design}: {METHODS[one.rival].label} {one.theirs:.3f}, ours {one.ours:.3f} in {one.count} common "
        f"trials. {REMARKS.get(f'league/{one.design}', 'Not explained.')}"
        for one in behind(stored)
    ]
    return ["Real sets on which the default is not within 5% of the best mean nmse:", "\n".join(rows)] if rows else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="from the files of smoke runs")
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="folder of the results")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder to write to")
    given = parser.parse_args(arguments)
    stored = load(given.results, given.smoke)
    figures.save_all(stored, given.docs / "images" / "results")
    target = given.docs / "results.md"
    target.write_text(page(stored), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
