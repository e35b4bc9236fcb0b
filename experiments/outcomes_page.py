"""The league of classes and counts on the results page: losses of every table, ranks, and selection.

python -m experiments.outcomes_page            from the stored results
"""

from __future__ import annotations

import numpy as np

from experiments.league_tables import pairs, ranks
from experiments.methods import METHODS
from experiments.outcomes_league import (
    CLASS_METHODS,
    COUNT_METHODS,
    REAL_CLASSES,
    REAL_COUNTS,
    SYNTHETIC_CLASSES,
    SYNTHETIC_COUNTS,
)
from experiments.summaries import Stored, load
from experiments.tables import folded, grid

NAME = "outcomes_league"
NEAR = 1.03  # of the best loss
MISSING = "–"
KINDS = (
    ("Classes", CLASS_METHODS, REAL_CLASSES, SYNTHETIC_CLASSES, "log loss"),
    ("Counts", COUNT_METHODS, REAL_COUNTS, SYNTHETIC_COUNTS, "Poisson deviance"),
)
RULES = """Random 4:1 splits of real tables, and draws of designs with noise columns; how tables were read and methods
set is said in `experiments/outcome_designs.py` and `experiments/outcomes_league.py`. A rank of 1 is best; ranks compare
two methods in the trials that both have. "Near" counts the tables on which a loss is at most 3% above the best."""

BEHIND = """One trial of most so far, and ours of classes on five of the ten tables. Ours has the smallest log loss on
scat, breast cancer and digits, where it had 0.515, 0.122 and 0.131 with Laplace's approximation and without
backgrounds below n / 4 inputs. It is behind on alzheimer (0.412 before) and on khan (0.199 before). Why is not
measured: on the first the L1 logistic regression takes 35 of 135 inputs, more than evidence selects, and a background
has all inputs alike; the second has four classes of about 17 rows each, and ours has a model for each against the
rest. On counts ours has the smallest loss, and on the designs with noise columns the true set."""


def trials(stored: Stored, methods: tuple[str, ...], design: str, score: str) -> np.ndarray:
    """A score of every method in every trial of a design, (methods, trials): NaN not run, infinite where it failed."""
    lines = [one for one in stored.lines.get(NAME, ()) if one["design"] == design]
    out = np.full((len(methods), 1 + max((one["trial"] for one in lines), default=0)), np.nan)
    for row, method in enumerate(methods):
        for one in stored.failed(NAME, design, method):
            out[row, one["trial"]] = np.inf
        numbers = [one["trial"] for one in stored.good(NAME, design, method)]
        out[row, numbers] = stored.values(NAME, design, method, score)
    return out


def outcomes(stored: Stored) -> list[str]:
    """The section; nothing where nothing is stored."""
    if not stored.lines.get(NAME):
        return []
    parts = ["## Classes and counts", RULES, BEHIND]
    for title, methods, real, synthetic, loss in KINDS:
        present = tuple(one for one in methods if any(line["method"] == one for line in stored.lines[NAME]))
        parts.append(f"### {title}")
        parts.append(_standings(stored, present, (*real, *synthetic), synthetic, loss))
        parts.append(folded(f"{loss} on every table", _table(stored, present, (*real, *synthetic), "loss", 3)))
        parts.append(folded("Inputs selected", _table(stored, present, (*real, *synthetic), "selected", 0)))
        parts.append(folded("MCC of the selection", _table(stored, present, synthetic, "mcc", 2)))
    return parts


def _standings(
    stored: Stored, methods: tuple[str, ...], designs: tuple[str, ...], synthetic: tuple[str, ...], loss: str
) -> str:
    tables = [trials(stored, methods, design, "loss") for design in designs]
    by_loss = ranks(tables)
    found = [trials(stored, methods, design, "mcc") for design in synthetic]
    by_mcc = ranks([np.where(np.isinf(one), np.inf, -one) for one in found])
    near, run = np.zeros(len(methods), dtype=int), np.zeros(len(methods), dtype=int)
    for table in tables:
        own = pairs(table)
        with np.errstate(invalid="ignore"):
            beaten = (own > NEAR * own.T).any(axis=1)
        near += np.isfinite(np.diag(own)) & ~beaten
        run += np.isfinite(np.diag(own))
    order = np.argsort([_median(row) for row in by_loss], kind="stable")
    rows = [
        (METHODS[methods[i]].label, _shown(_median(by_loss[i])), f"{near[i]} of {run[i]}", _shown(_median(by_mcc[i])))
        for i in order
    ]
    return grid(("method", f"median rank by {loss}", "near the best", "median rank by selection"), rows)


def _table(stored: Stored, methods: tuple[str, ...], designs: tuple[str, ...], score: str, digits: int) -> str:
    rows = []
    for design in designs:
        values = [stored.values(NAME, design, method, score) for method in methods]
        rows.append((design, *(f"{one.mean():.{digits}f}" if one.size else MISSING for one in values)))
    return grid(("table", *(METHODS[method].label for method in methods)), rows)


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else float("inf")


def _shown(value: float) -> str:
    return f"{value:g}" if np.isfinite(value) else MISSING


if __name__ == "__main__":
    print("\n\n".join(outcomes(load())))
