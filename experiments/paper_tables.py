"""Every table of the paper with our numbers: for each score ours, what is printed, and the difference.

    python -m experiments.paper_tables            all tables from the stored results
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.summaries import HIGH_IS_GOOD, Measured, Printed, Stored, load, mean_of, percentile_of, printed_of
from experiments.tables import Column, Pair, Row, Table, markdown
from ssvgp.propose.spike_slab import SpikeSlab, intersection_at

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
            Pair(mean_of(stored.values(*at, method, column.score)), printed_of(printed.get(column.key)))
            for column in columns
        )
        rows.append(Row(label, method, pairs, len(stored.failed(*at, method))))
    return tuple(rows)


def _paper_rows(printed: Mapping[str, Any], *extra: tuple[str, str]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The paper's rows in their order, and rows of our own that it does not have."""
    own: dict[str, tuple[str, Mapping[str, Any]]] = {label: (method, {}) for label, method in extra}
    return {label: (ROWS[label], numbers) for label, numbers in printed.items()} | own


def toy_tables(stored: Stored) -> list[Table]:
    """Tables 1 to 4."""
    printed, at = PAPER["toy"]["methods"], ("toy", "toy")
    first = {label: numbers for label, numbers in printed.items() if label != "SSVGP+BMA"}
    fourth = {label: numbers for label, numbers in printed.items() if label != "PMF+BBVI(10)"}
    extra = (
        (DEFAULT, "ssvgp"),
        ("SSVGP+BMA at kappa 1 (ours alone)", "paper_n4_kappa1"),
        ("SSVGP+BMA at kappa 1 in the noise (ours alone)", "paper_n4_noise"),
    )
    more = (*extra, ("ML-II GP by L-BFGS (ours alone)", "mlii_lbfgs"))
    speed, columns1, columns3 = PAPER["speed_up"]["columns"], (MSE3, SECONDS), (MSE3, AVERAGE_PIP, SECONDS)
    columns4 = (MSE3, MCC, SECONDS)
    averaged = compared(stored, at, _paper_rows(fourth, *more), columns4)
    return [
        Table("table1", "Table 1: toy", columns1, compared(stored, at, _paper_rows(first), columns1), 10),
        _by_v(stored),
        Table("table3", "Table 3: speeding up", columns3, compared(stored, at, _paper_rows(speed), columns3), 10),
        Table("table4", "Table 4: toy, averaging", columns4, averaged, 10),
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
    return Table("table2", "Table 2: average PIP by v", (AVERAGE_PIP,), tuple(rows), given["trials"])


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
    )
    means = compared(stored, at, _paper_rows(printed["mean_sd"]["methods"], *extra), columns)
    savitsky = compared(stored, at, {"MCMC, single trial": ("mcmc", single), DEFAULT: ("ssvgp", {})}, columns)
    runtimes = compared(stored, at, _paper_rows(times, (DEFAULT, "ssvgp")), (SECONDS,))
    return [
        Table("table5", "Table 5: experiment 1, run times", (SECONDS,), runtimes, 50),
        _percentiles(stored),
        Table("mean_sd", "Appendix B.2: experiment 1, mean and sd", columns, means, 50),
        Table(
            "savitsky",
            "Appendix B.2: the single trial of Savitsky et al.",
            columns,
            savitsky,
            1,
            _times_as_long(),
        ),
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
        f"{words} Other jobs ran beside MCMC here, which made its times longer by up to a half. One right after the"
        f" other on a quiet machine (`make bench-mcmc_speed`, {len(draws)} draws) MCMC takes {np.median(ratios):.0f}"
        f" times as long as the default (median; {min(ratios):.0f} to {max(ratios):.0f}): two chains of 800,000"
        " iterations, which is what Savitsky et al. needed on this design. One chain of the 500,000 whose time is"
        f" printed would take {np.median(short):.0f} times as long."
    )


def _percentiles(stored: Stored) -> Table:
    """Percentiles of experiment 1, counted from the good end, a row for each method and percentile."""
    columns, rows = (MSE4, MCC, SECONDS), []
    names = _paper_rows(PAPER["experiment1"]["percentiles"]["methods"], (DEFAULT, "ssvgp"))
    for label, (method, printed) in names.items():
        for percent in (25, 50, 75):
            numbers = printed.get(f"p{percent}", {})
            pairs = tuple(
                Pair(
                    percentile_of(
                        stored.values("experiment1", "experiment1", method, column.score),
                        percent,
                        column.score in HIGH_IS_GOOD,
                    ),
                    printed_of(numbers.get(column.key)),
                )
                for column in columns
            )
            rows.append(Row(f"{label}, {percent}%", method, pairs))
    return Table("percentiles", "Appendix B.2: experiment 1, percentiles", columns, tuple(rows), 50)


def intersection_table() -> Table:
    """The two points of intersection that section 4 prints; nothing is run for them."""
    printed = PAPER["intersection_point"]
    prior, column = SpikeSlab(printed["v"], printed["c"]), Column("point", "θ", "point", 3)
    rows = []
    for pi in (0.001, 0.999):
        value = intersection_at(prior, pi)
        rows.append(Row(f"π = {pi}", "", (Pair(Measured(value, 0.0, 0.0, 1), Printed(printed[f"pi_{pi}"])),)))
    title, note = "Section 4: points of intersection at v = 1e4, c = 1e-8", "By eq. 14; the printed values are swapped."
    return Table("intersection", title, (column,), tuple(rows), 1, note)


SHAPES = {"wide": ("n1e4_d1e4", "n = d = 10^4"), "tall": ("n1e6_d1e2", "n = 10^6, d = 100")}
PARTS = (
    Column("train", "a-CAVI, minutes", "train_minutes", 1),
    Column("loopd", "leave-one-out, minutes", "loo_minutes", 1),
    Column("test", "test, minutes", "predict_minutes", 1),
)


SHORT = 3600.0  # seconds of training below which SGP and SVGP are far from their end on these tables


def _budget_note(stored: Stored, experiment: str, design: str) -> str:
    """What must be known of SGP and SVGP where they were given less time than they need."""
    lines = [one for method in ("sgp", "svgp") for one in stored.good(experiment, design, method)]
    seconds = [one["settings"].get("max_seconds", SHORT) for one in lines]
    if not seconds or min(seconds) >= SHORT:
        return ""
    return (
        f"SGP and SVGP stopped after {min(seconds):g} s, far from the end of their training (see the settings and "
        "budgets below): their rows show what that budget buys, not what the methods can do."
    )


def experiment2_tables(stored: Stored) -> list[Table]:
    """The tables of B.3, for both shapes."""
    tables = []
    for design, (key, title) in SHAPES.items():
        at, printed, columns = ("experiment2", design), PAPER["experiment2"][key], (MSE3, MINUTES)
        rows = compared(stored, at, _paper_rows(printed["methods"], (DEFAULT, "ssvgp")), columns)
        note = _budget_note(stored, *at)
        tables.append(Table(f"experiment2_{design}", f"Appendix B.3: experiment 2, {title}", columns, rows, 3, note))
        parts = compared(stored, at, _paper_rows(printed["runtime_min_by_part"]), PARTS)
        tables.append(Table(f"parts_{design}", f"Appendix B.3: run times by part, {title}", PARTS, parts, 3))
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
        rows = compared(stored, ("real", design), _paper_rows(printed, (DEFAULT, "ssvgp")), REAL_COLUMNS)
        title = f"Appendix B.4: {key or design + ' (not in the paper)'}"
        tables.append(Table(f"real_{design}", title, REAL_COLUMNS, rows, 10, _budget_note(stored, "real", design)))
    return tables


def all_tables(stored: Stored) -> list[Table]:
    """Every table of the paper, in its order."""
    toy = toy_tables(stored)
    toy.insert(1, intersection_table())
    return [*toy, *experiment1_tables(stored), *experiment2_tables(stored), *real_tables(stored)]


if __name__ == "__main__":
    print("\n\n".join(map(markdown, all_tables(load()))))
