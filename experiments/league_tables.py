"""The league in tables: ranks over all designs, and every design by itself.

    python -m experiments.league_tables            from the stored results
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from experiments.league import METHODS, REAL, SYNTHETIC
from experiments.methods import METHODS as BY_NAME
from experiments.summaries import Stored, load
from experiments.tables import line

DESIGNS = (*SYNTHETIC, *REAL)
MISSING = "–"


@dataclass(frozen=True)
class Standing:
    """Where a method stands: mean ranks over the designs, and what it costs; NaN where nothing is known.

    `designs` counts those with a result, `failed` the trials that ended in an error.
    """

    method: str
    rank_nmse: float
    rank_nlpd: float
    coverage: float
    share: float
    seconds: float
    peak_mb: float
    designs: int
    failed: int


def means(stored: Stored, methods: Sequence[str], designs: Sequence[str], score: str) -> np.ndarray:
    """Mean of a score over the trials, (methods, designs), NaN where a method has none or one that is not finite."""
    out = np.full((len(methods), len(designs)), np.nan)
    for row, method in enumerate(methods):
        for column, design in enumerate(designs):
            values = stored.values("league", design, method, score)
            if values.size:
                out[row, column] = values.mean()
    return out


def ranks(table: np.ndarray) -> np.ndarray:
    """Ranks of methods (methods, designs), 1 is the smallest; ties share the mean, and all without a result are last.

    Designs without any result are left out: (methods, those that remain).
    """
    known = table[:, np.isfinite(table).any(axis=0)]
    return rankdata(np.where(np.isfinite(known), known, np.inf), method="average", axis=0)


def entered(stored: Stored) -> list[str]:
    """The methods of which something is stored, in the order of the league."""
    seen = {one["method"] for one in stored.lines.get("league", ())}
    return [method for method in METHODS if method in seen]


def standings(stored: Stored) -> list[Standing]:
    """All methods, the best mean rank by nmse first."""
    methods = entered(stored)
    if not methods:
        return []
    tables = {
        score: means(stored, methods, DESIGNS, score)
        for score in ("nmse", "nlpd", "coverage95", "selected", "seconds", "peak_mb")
    }
    inputs = np.array([_inputs(stored, design) for design in DESIGNS])
    rank_nmse, rank_nlpd = (ranks(tables[score]).mean(axis=1) for score in ("nmse", "nlpd"))
    failed = [sum(len(stored.failed("league", design, method)) for design in DESIGNS) for method in methods]
    found = [
        Standing(
            method,
            float(rank_nmse[i]),
            float(rank_nlpd[i]),
            _mean(tables["coverage95"][i]),
            _mean(tables["selected"][i] / inputs),
            float(np.exp(_mean(np.log(np.maximum(tables["seconds"][i], 1e-3))))),
            float(np.nanmax(tables["peak_mb"][i])) if np.isfinite(tables["peak_mb"][i]).any() else float("nan"),
            int(np.isfinite(tables["nmse"][i]).sum()),
            failed[i],
        )
        for i, method in enumerate(methods)
    ]
    return sorted(found, key=lambda one: (one.rank_nmse, one.method))


def _inputs(stored: Stored, design: str) -> float:
    """Inputs of a design, from any line that tells."""
    told = [one["d"] for one in stored.lines.get("league", ()) if one["design"] == design and "d" in one]
    return float(told[0]) if told else float("nan")


def _mean(values: np.ndarray) -> float:
    """Mean of what is finite; NaN where nothing is."""
    values = values[np.isfinite(values)]
    return float(values.mean()) if values.size else float("nan")


def standings_markdown(stored: Stored) -> str:
    """The table of the league."""
    if not entered(stored):
        return "Nothing is stored yet."
    head = [
        "",
        "mean rank, nmse",
        "mean rank, nlpd",
        "coverage of 95%",
        "share of inputs kept",
        "seconds, geometric mean",
        "peak MB",
        "designs",
        "failed trials",
    ]
    rows = [
        [
            BY_NAME[one.method].label,
            f"{one.rank_nmse:.2f}",
            f"{one.rank_nlpd:.2f}",
            _text(one.coverage, 3),
            _text(one.share, 3),
            _text(one.seconds, 2),
            _text(one.peak_mb, 0),
            f"{one.designs} of {len(DESIGNS)}",
            str(one.failed),
        ]
        for one in standings(stored)
    ]
    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])


def scores_markdown(stored: Stored, designs: Sequence[str], score: str, high_is_good: bool = False) -> str:
    """A score of every method on some designs; the best of each design is bold."""
    methods = entered(stored)
    if not methods:
        return "Nothing is stored yet."
    table = means(stored, methods, designs, score)
    best = np.full(len(designs), np.nan)
    some = np.isfinite(table).any(axis=0)
    best[some] = (np.nanmax if high_is_good else np.nanmin)(table[:, some], axis=0)
    lines = [line(["", *designs]), line(["---"] * (1 + len(designs)))]
    for row, method in enumerate(methods):
        cells = [_text(value, 3, value == best[column]) for column, value in enumerate(table[row])]
        lines.append(line([BY_NAME[method].label, *cells]))
    return "\n".join(lines)


def _text(value: float, decimals: int, bold: bool = False) -> str:
    if not np.isfinite(value):
        return MISSING
    text = f"{value:.{decimals}f}"
    return f"**{text}**" if bold else text


def thinned_rows(stored: Stored) -> list[str]:
    """Which methods trained on a part of the rows, and where."""
    found = {
        (BY_NAME[one["method"]].label, one["design"], one["rows"], one["n"])
        for one in stored.lines.get("league", ())
        if "error" not in one and one["rows"] < one["n"]
    }
    return [f"{label} on {design}: {rows} of {n} rows" for label, design, rows, n in sorted(found)]


if __name__ == "__main__":
    print(standings_markdown(load()))
