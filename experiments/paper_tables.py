"""Every table of the paper with our numbers: for each score ours, and what is printed.

python -m experiments.paper_tables            all tables from the stored results
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.methods import METHODS, READINGS
from experiments.scores import HIGH_IS_GOOD
from experiments.summaries import Measured, Printed, Statistic, Stored, load, mean_of, percentile_of, printed_of
from experiments.tables import Column, Pair, Row, Table, markdown
from ssvgp.method.paper.spike_slab import SpikeSlab, intersection_at

PAPER: dict[str, Any] = json.loads((Path(__file__).parent / "paper.json").read_text())
SPEED = Path(__file__).parents[1] / "benchmarks" / "results" / "mcmc_speed.jsonl"
# The paper's names of its rows, and our methods that produce them.
ROWS = {
    "ML-II GP": "mlii",
    "PMF+BBVI(10)": "pmf_bbvi_10",
    "PMF+BBVI(100)": "pmf_bbvi_100",
    "SSVGP+MFG": "mf",
    "SSVGP+BMA": "paper_n4",
    "MF": "mf",
    "ZT": "zt",
    "ZT+drop": "zt_drop",
    "ZT+drop(m=n/4)": "zt_drop_n4",
    "SSVGP(m=n)": "paper_n",
    "SSVGP(m=n/2)": "paper_n2",
    "SSVGP(m=n/4)": "paper_n4",
    "SSVGP(m=256)": "paper_256",
    "SSVGP(m=128)": "paper_128",
    "SSVGP(m=64)": "paper_64",
    "SGP(512)": "sgp",
    "SVGP(1024)": "svgp",
    "GAM SS LASSO": "gam_ssl",
    "GAM LASSO": "gam_lasso",
    "LASSO": "lasso",
    "MCP": "mcp",
    "MCMC": "mcmc",
}
DEFAULT = "default (ours alone)"

MSE3, MSE4 = Column("mse", "MSE", "nmse", 3), Column("mse", "MSE", "nmse", 4)
MCC = Column("mcc", "MCC", "mcc_best", 2)
SECONDS = Column("runtime_s", "seconds", "seconds", 1)
MINUTES = Column("runtime_min", "minutes", "minutes", 1)
AVERAGE_PIP = Column("average_pip", "average PIP", "average_pip", 2)


def compared(
    stored: Stored, at: tuple[str, str], names: Mapping[str, tuple[str, Mapping[str, Any]]], columns: Sequence[Column]
) -> tuple[Row, ...]:
    """Rows of means: `names` maps a label to our method and the printed numbers, `at` is experiment and design."""
    rows = []
    for label, (method, printed) in names.items():
        pairs = tuple(
            Pair(stored.measured(at, method, column.score, mean_of), printed_of(printed.get(column.key)))
            for column in columns
        )
        rows.append(Row(label, method, pairs, len(stored.failed(*at, method))))
    return tuple(rows)


def _paper_rows(printed: Mapping[str, Any], *extra: tuple[str, str]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The paper's rows in their order, and rows of our own that it does not have."""
    own: dict[str, tuple[str, Mapping[str, Any]]] = {label: (method, {}) for label, method in extra}
    return {label: (ROWS[label], numbers) for label, numbers in printed.items()} | own


def _readings(stored: Stored, at: tuple[str, str]) -> list[tuple[str, str]]:
    """Rows for other readings of how the paper ran its rivals, where they were run."""
    return [(f"{METHODS[name].label} (ours alone)", name) for name in READINGS if stored.good(*at, name)]


def toy_tables(stored: Stored) -> list[Table]:
    """Tables 1 to 4."""
    printed, at = PAPER["toy"]["methods"], ("toy", "toy")
    first = {label: numbers for label, numbers in printed.items() if label != "SSVGP+BMA"}
    fourth = {label: numbers for label, numbers in printed.items() if label != "PMF+BBVI(10)"}
    extra = (
        (DEFAULT, "ssvgp"),
        ("SSVGP+BMA with logs instead of s and σ, 5 rounds (ours alone)", "paper_n4_log"),
        ("SSVGP+BMA with κ as the text has it, 5 rounds (ours alone)", "paper_n4_text"),
        ("ML-II GP by L-BFGS (ours alone)", "mlii_lbfgs"),
        *_readings(stored, at),
    )
    speed, columns1, columns3 = PAPER["speed_up"]["columns"], (MSE3, SECONDS), (MSE3, AVERAGE_PIP, SECONDS)
    columns4 = (MSE3, MCC, SECONDS)
    plain = compared(stored, at, _paper_rows(first), columns1)
    quicker = compared(stored, at, _paper_rows(speed), columns3)
    averaged = compared(stored, at, _paper_rows(fourth, *extra), columns4)
    return [
        Table("table1", "Table 1", "Table 1: the toy", at, columns1, plain, 10),
        _by_v(stored),
        Table("table3", "Table 3", "Table 3: speeding up", at, columns3, quicker, 10),
        Table("table4", "Table 4", "Table 4: the toy, averaged over v", at, columns4, averaged, 10),
    ]


def _by_v(stored: Stored) -> Table:
    """Table 2: the average PIP at five v, one row each."""
    given = PAPER["average_pip_by_v"]
    lines, rows = stored.good("toy", "toy", "mf_by_v"), []
    for v, value in zip(given["v"], given["average_pip"], strict=True):
        parts = [line["profiles"][f"pip_v{v:.0e}".replace("+0", "")] for line in lines]
        means = [sum(map(sum, part.values())) / sum(map(len, part.values())) for part in parts]
        pair = Pair(mean_of(np.array(means, dtype=float)), Printed(value))
        rows.append(Row(f"v = {v:.0e}".replace("+0", ""), "mf_by_v", (pair,)))
    title = "Table 2: average PIP by v"
    return Table("table2", "Table 2", title, ("toy", "toy"), (AVERAGE_PIP,), tuple(rows), given["trials"])


def experiment1_tables(stored: Stored) -> list[Table]:
    """Table 5 and the three tables of B.2."""
    at, printed = ("experiment1", "experiment1"), PAPER["experiment1"]
    times = {label: {"runtime_s": value} for label, value in printed["runtimes_s"].items() if label != "table"}
    columns, single = (MSE4, MCC, SECONDS), printed["savitsky_2011_single_trial"]
    extra = (
        (DEFAULT, "ssvgp"),
        ("ML-II GP by L-BFGS (ours alone)", "mlii_lbfgs"),
        ("GAM SS LASSO by GIC (ours alone)", "gam_ssl_gic"),
        ("MCMC (ours alone)", "mcmc"),
        ("SSVGP(m=n/2) with y standardised (ours alone)", "paper_n2_standardised"),
        *_readings(stored, at),
    )
    means = compared(stored, at, _paper_rows(printed["mean_sd"]["methods"], *extra), columns)
    savitsky = compared(stored, at, {"MCMC, single trial": ("mcmc", single), DEFAULT: ("ssvgp", {})}, columns)
    runtimes = compared(stored, at, _paper_rows(times, (DEFAULT, "ssvgp")), (SECONDS,))
    return [
        Table("table5", "Table 5", "Table 5: experiment 1, run times", at, (SECONDS,), runtimes, 50),
        Table("mean_sd", "B.2, means", "Appendix B.2: experiment 1, mean and sd", at, columns, means, 50),
        _percentiles(stored),
        Table("savitsky", "B.2, MCMC", "Appendix B.2: MCMC, one trial", at, columns, savitsky, 1, _times_as_long()),
    ]


def _times_as_long() -> str:
    """How the times of MCMC and the default compare where both were measured within seconds of each other."""
    words = "Printed: more than 10000 s; 10224 s for 5 · 10^5 iterations at this size. Ours are means over trials."
    lines = [json.loads(line) for line in SPEED.read_text().splitlines()] if SPEED.exists() else []
    draws = [line for line in lines if "ratio" in line]
    if not draws:
        return words
    ratios, short = ([line[name] for line in draws] for name in ("ratio", "one_short_chain"))
    return (
        f"{words} One right after the other, with version 0.1.0 on another machine (`make bench-mcmc_speed`,"
        f" {len(draws)} draws), MCMC took {np.median(ratios):.0f} times as long as the default (median;"
        f" {min(ratios):.0f} to {max(ratios):.0f}): two chains of 800,000 iterations, which is what Savitsky et al."
        " needed on this design. One chain of the 500,000 whose time is printed would have taken"
        f" {np.median(short):.0f} times as long."
    )


def _percentiles(stored: Stored) -> Table:
    """Percentiles of experiment 1, counted from the good end, a row for each method and percentile."""
    columns, rows = (MSE4, MCC, SECONDS), []
    at = ("experiment1", "experiment1")
    extra = _readings(stored, at)
    names = _paper_rows(PAPER["experiment1"]["percentiles"]["methods"], (DEFAULT, "ssvgp"), *extra)
    for label, (method, printed) in names.items():
        for percent in (25, 50, 75):
            numbers = printed.get(f"p{percent}", {})
            pairs = tuple(
                Pair(
                    stored.measured(at, method, column.score, _percentile(percent, column.score)),
                    printed_of(numbers.get(column.key)),
                )
                for column in columns
            )
            rows.append(Row(f"{label}, {percent}%", method, pairs))
    title = "Appendix B.2: experiment 1, percentiles"
    return Table("percentiles", "B.2, percentiles", title, at, columns, tuple(rows), 50)


def _percentile(percent: float, score: str) -> Statistic:
    """That percentile, counted from the good end."""
    return partial(percentile_of, percent=percent, high_is_good=score in HIGH_IS_GOOD)


def intersection_table() -> Table:
    """The two points of intersection that section 4 prints; nothing is run for them."""
    printed = PAPER["intersection_point"]
    prior, column = SpikeSlab(printed["v"], printed["c"]), Column("point", "θ", "point", 3)
    rows = []
    for pi in (0.001, 0.999):
        value = Measured(intersection_at(prior, pi), 0.0, 0.0, 1, exact=True)
        rows.append(Row(f"π = {pi}", "paper_n", (Pair(value, Printed(printed[f"pi_{pi}"])),)))
    title = "Section 4: points of intersection at v = 1e4, c = 1e-8"
    return Table("intersection", "Section 4", title, ("toy", "toy"), (column,), tuple(rows), 1)


SHAPES = {"wide": ("n1e4_d1e4", "n = d = 10⁴"), "tall": ("n1e6_d1e2", "n = 10⁶, d = 100")}
PARTS = (
    Column("train", "a-CAVI, minutes", "train_minutes", 1),
    Column("loopd", "leave-one-out, minutes", "loo_minutes", 1),
    Column("test", "test, minutes", "predict_minutes", 1),
)


def _training_note(stored: Stored, experiment: str, design: str) -> str:
    """How far SGP and SVGP came where their budget ended before their training did, in the first such trial."""
    stopped = []
    for method in ("sgp", "svgp"):
        cuts = [cut for one in stored.good(experiment, design, method) if (cut := cut_short(one))]
        stopped += [f"{METHODS[method].label} {cuts[0]}"] if cuts else []
    return f"{'; '.join(stopped)}." if stopped else ""


def cut_short(line: Mapping[str, Any]) -> str:
    """Where the training of a trial was stopped by its budget of seconds; empty where it came to its end."""
    settings, notes = line["settings"], line["notes"]
    for unit in ("epochs", "iterations"):
        if unit in settings and unit in notes and notes[unit] < settings[unit] - 1e-9:
            seconds = settings.get("max_seconds", 0.0)
            return f"was stopped after {seconds:g} s, {notes[unit]:.3g} of {settings[unit]} {unit} done"
    return ""


def experiment2_tables(stored: Stored) -> list[Table]:
    """The tables of B.3, for both shapes."""
    tables = []
    for design, (key, title) in SHAPES.items():
        at, printed, columns = ("experiment2", design), PAPER["experiment2"][key], (MSE3, MINUTES)
        rows = compared(stored, at, _paper_rows(printed["methods"], (DEFAULT, "ssvgp")), columns)
        whole, by_part = f"Appendix B.3: experiment 2, {title}", f"Appendix B.3: run times by part, {title}"
        note, place = _training_note(stored, *at), f"B.3, {title}"
        tables.append(Table(f"experiment2_{design}", place, whole, at, columns, rows, 3, note))
        parts = compared(stored, at, _paper_rows(printed["runtime_min_by_part"]), PARTS)
        tables.append(Table(f"parts_{design}", f"{place}, parts", by_part, at, PARTS, parts, 3))
    return tables


REAL = {"ujiindoorloc": "UJINDOORLOC", "ct_slices": "CTSLICE", "blog_feedback": None, "supercon_magpie": None}
REAL_COLUMNS = (
    MSE3,
    Column("runtime", "minutes", "minutes", 1),
    Column("variables_used", "inputs used", "inputs", 0),
)


def real_tables(stored: Stored) -> list[Table]:
    """The table of B.4, for its two sets and for those that stand in."""
    tables, methods = [], PAPER["real_data"]["UJINDOORLOC"]["methods"]
    for design, key in REAL.items():
        printed = PAPER["real_data"][key]["methods"] if key else {label: {} for label in methods}
        at = ("real", design)
        rows = compared(stored, at, _paper_rows(printed, (DEFAULT, "ssvgp")), REAL_COLUMNS)
        title, note = f"Appendix B.4: {key or design + ' (not in the paper)'}", _training_note(stored, *at)
        tables.append(Table(f"real_{design}", f"B.4, {key or design}", title, at, REAL_COLUMNS, rows, 10, note))
    return tables


def all_tables(stored: Stored) -> list[Table]:
    """Every table of the paper, in its order."""
    toy = toy_tables(stored)
    toy.insert(1, intersection_table())
    return [*toy, *experiment1_tables(stored), *experiment2_tables(stored), *real_tables(stored)]


if __name__ == "__main__":
    print("\n\n".join(f"### {table.title}\n\n{markdown(table)}" for table in all_tables(load())))
