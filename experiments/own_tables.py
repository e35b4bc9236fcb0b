"""What the paper does not have: what the sign and the scale of y do to its method in experiment 1, and what luck does.

python -m experiments.own_tables            from the stored results
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paper_tables import PAPER
from experiments.summaries import Stored, load, mean_of
from experiments.tables import NOT_PRINTED, NOT_RUN, SPREAD, grid

# Name of a row, its name in print, and its methods with y as it is, standardised and reflected.
TARGETS: tuple[tuple[str, str, tuple[str, str, str]], ...] = (
    ("SSVGP(m=n)", "SSVGP(m=n)", ("paper_n", "", "paper_n")),
    ("SSVGP(m=n/2)", "SSVGP(m=n/2)", ("paper_n2", "paper_n2_standardised", "paper_n2")),
    ("SSVGP(m=n/4)", "SSVGP(m=n/4)", ("paper_n4", "", "paper_n4")),
    ("our default", "", ("ssvgp", "", "ssvgp")),
)
BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "results"
DESIGNS = ("experiment1", "experiment1", "reflected")
ALREADY = {"our default": "as y is: it standardises y itself"}


def target_markdown(stored: Stored) -> str:
    """MCC and MSE of the paper's method and of the default by what is done to y: print, as it is, and two others."""
    printed = PAPER["experiment1"]["mean_sd"]["methods"]
    rows = []
    for label, name, methods in TARGETS:
        told = printed.get(name)
        print_cell = f"{told['mcc']['mean']:.2f}; {told['mse']['mean']:.4f}" if told else NOT_PRINTED
        cells = [_cell(stored, design, method) for design, method in zip(DESIGNS, methods, strict=True)]
        if not methods[1]:
            cells[1] = ALREADY.get(label, NOT_RUN)
        rows.append([label, print_cell, *cells])
    return grid(["MCC; MSE", "printed", "y as it is", "y standardised", "y reflected"], rows)


def _cell(stored: Stored, design: str, method: str) -> str:
    mcc, mse = (mean_of(stored.values("experiment1", design, method, score)) for score in ("mcc_best", "nmse"))
    if mcc is None or mse is None:
        return NOT_RUN
    return f"{mcc.value:.2f}; {mse.value:.4f} ({mse.count} trials)"


def luck(stored: Stored) -> str:
    """What the random state alone does to the row m = n/2: stored trials and those of benchmarks/paper_luck.py."""
    paths = sorted(BENCHMARKS.glob("paper_luck_[0-9].jsonl"))
    again = [[line for line in map(json.loads, path.read_text().splitlines()) if "nmse" in line] for path in paths]
    runs = {}
    for score in ("nmse", "mcc"):
        mine = stored.values("experiment1", "experiment1", "paper_n2", score).tolist()
        runs[score] = [mine, *([one[score] for one in run] for run in again)]
    errors = runs["nmse"]
    if len(errors) < 2 or len({len(run) for run in errors}) > 1:
        return ""
    spread = float(np.sqrt(np.var(errors, axis=0, ddof=1).mean() / len(errors[0])))
    middle, mean = np.median, float(np.mean(errors))
    return (
        f"How much of SSVGP(m=n/2) is luck: by the random state of this table and {len(again)} others the same"
        f" {len(errors[0])} draws have a mean MSE of {_listed(errors, 4)}, a median of {_listed(errors, 4, middle)},"
        f" and an MCC of {_listed(runs['mcc'], 2)}. So {mean:.4f}{SPREAD}{spread / len(errors) ** 0.5:.4f} is"
        f" to be expected, and one run, such as the printed 0.0187, lies {spread:.4f} beside it by luck alone. Another"
        " processor, where last bits differ, had 0.0158 and 0.92 from the random state of this table. What differs are"
        " three to six draws of a run, in which no member that counts has x5 and few others ([The method](method.md))."
    )


def _listed(runs: Sequence[Sequence[float]], decimals: int, of: Callable[..., Any] = np.mean) -> str:
    values = [f"{of(run):.{decimals}f}" for run in runs]
    return f"{', '.join(values[:-1])} and {values[-1]}"


if __name__ == "__main__":
    print(target_markdown(load()), luck(load()), sep="\n\n")
