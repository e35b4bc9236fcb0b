"""The league in tables: ranks over all designs, and every design by itself.

python -m experiments.league_tables            from the stored results
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.league import METHODS, REAL, SYNTHETIC
from experiments.methods import METHODS as BY_NAME
from experiments.summaries import Stored, load
from experiments.tables import line

DESIGNS = (*SYNTHETIC, *REAL)
MISSING = "–"


@dataclass(frozen=True)
class Standing:
    """Where a method stands: median ranks over the designs, and what it costs; NaN where nothing is known.

    `mean_rank` is that by nmse. `near` counts the real sets on which its nmse is within 5% of the best by the means
    over common trials, `usually_near` those by the median ratio; `designs` are all with a result, `failed` the trials
    that ended in an error.
    """

    method: str
    mean_rank: float
    rank_nmse: float
    rank_nlpd: float
    rank_mcc: float
    near: int
    usually_near: int
    coverage: float
    share: float
    seconds: float
    peak_mb: float
    designs: int
    failed: int


def means(stored: Stored, methods: Sequence[str], designs: Sequence[str], score: str) -> np.ndarray:
    """Mean of a score over the trials, (methods, designs): NaN where a method was not run, infinite where it failed."""
    out = np.full((len(methods), len(designs)), np.nan)
    for row, method in enumerate(methods):
        for column, design in enumerate(designs):
            values = stored.values("league", design, method, score)
            if values.size:
                out[row, column] = values.mean()
            elif stored.failed("league", design, method):
                out[row, column] = np.inf
    return out


def trials(stored: Stored, methods: Sequence[str], design: str, score: str) -> np.ndarray:
    """A score of every method in every trial of a design, (methods, trials): NaN not run, infinite where it failed."""
    lines = [one for one in stored.lines.get("league", ()) if one["design"] == design]
    out = np.full((len(methods), 1 + max((one["trial"] for one in lines), default=0)), np.nan)
    for row, method in enumerate(methods):
        for one in stored.failed("league", design, method):
            out[row, one["trial"]] = np.inf
        numbers = [one["trial"] for one in stored.good("league", design, method)]
        out[row, numbers] = stored.values("league", design, method, score)
    return out


def pairs(table: np.ndarray) -> np.ndarray:
    """Means of every method over the trials (methods, trials) that it has in common with every other.

    (methods, methods): at [a, b] the mean of a where both were run, NaN where they never were.
    """
    out = np.full((len(table), len(table)), np.nan)
    for a, own in enumerate(table):
        for b, other in enumerate(table):
            both = ~np.isnan(own) & ~np.isnan(other)
            if both.any():
                out[a, b] = own[both].mean()
    return out


def ranks(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Ranks of methods (methods, designs) from their trials of each design (methods, trials), 1 is the smallest.

    One more than the number of methods that are better in the trials they have in common. Ties share the mean, those
    that failed are last, and a method that was not run takes no part (NaN). Splits differ more than methods do, so that
    means over different trials must not be compared.
    """
    out = np.full((len(tables[0]), len(tables)), np.nan)
    for column, table in enumerate(tables):
        own = pairs(table)
        better, alike = own.T < own, own.T == own
        run = ~np.isnan(np.diag(own))
        out[run, column] = 0.5 + better[run].sum(axis=1) + 0.5 * alike[run].sum(axis=1)  # each is like itself
    return out


def entered(stored: Stored) -> list[str]:
    """The methods of which something is stored, in the order of the league."""
    seen = {one["method"] for one in stored.lines.get("league", ())}
    return [method for method in METHODS if method in seen]


def standings(stored: Stored) -> list[Standing]:
    """All methods, the best median rank by negative log density first."""
    methods = entered(stored)
    if not methods:
        return []
    tables = {
        score: means(stored, methods, DESIGNS, score)
        for score in ("nmse", "nlpd", "coverage95", "selected", "seconds", "peak_mb")
    }
    inputs = np.array([_inputs(stored, design) for design in DESIGNS])
    by_nmse, by_nlpd = (ranks([trials(stored, methods, each, score) for each in DESIGNS]) for score in ("nmse", "nlpd"))
    mcc = [trials(stored, methods, each, "mcc") for each in SYNTHETIC]
    by_mcc = ranks([np.where(np.isinf(table), np.inf, -table) for table in mcc])  # high is good, a failure still last
    errors = [trials(stored, methods, each, "nmse") for each in REAL]
    near = np.sum([_near_the_best(table) for table in errors], axis=0)
    usually = np.sum([_usually_near_the_best(table) for table in errors], axis=0)
    failed = [sum(len(stored.failed("league", design, method)) for design in DESIGNS) for method in methods]
    found = [
        Standing(
            method,
            _mean(by_nmse[i]),
            _median(by_nmse[i]),
            _median(by_nlpd[i]),
            _median(by_mcc[i]),
            int(near[i]),
            int(usually[i]),
            _mean(tables["coverage95"][i]),
            _mean(tables["selected"][i] / inputs),
            float(np.exp(_mean(np.log(np.maximum(tables["seconds"][i], 1e-3))))),
            float(np.max(tables["peak_mb"][i], where=np.isfinite(tables["peak_mb"][i]), initial=0.0)) or float("nan"),
            int(np.isfinite(tables["nmse"][i]).sum()),
            failed[i],
        )
        for i, method in enumerate(methods)
    ]
    return sorted(found, key=lambda one: (one.rank_nlpd, one.mean_rank, one.method))


def _near_the_best(nmse: np.ndarray) -> np.ndarray:
    """Whether the error of each method (methods, trials) is at most 5% above that of any other in common trials."""
    own = pairs(nmse)
    with np.errstate(invalid="ignore"):  # two failures
        beaten = own > 1.05 * own.T
    return np.isfinite(np.diag(own)) & ~beaten.any(axis=1)


def _usually_near_the_best(nmse: np.ndarray) -> np.ndarray:
    """The same by the median over common trials of the ratio to any other: one unlucky split does not decide it."""
    out = np.isfinite(np.diag(pairs(nmse)))
    for a, own in enumerate(nmse):
        for other in nmse:
            both = np.isfinite(own) & np.isfinite(other)
            out[a] &= not (both.any() and np.median(own[both] / other[both]) > 1.05)
    return out


@dataclass(frozen=True)
class Behind:
    """A real set on which the default is not within 5% of the best: mean errors in the `count` trials of both."""

    design: str
    rival: str
    ours: float
    theirs: float
    count: int


def behind(stored: Stored) -> list[Behind]:
    """The real sets on which the default is more than 5% behind, with the rival that is furthest ahead."""
    methods, found = entered(stored), []
    if "ssvgp" not in methods:
        return []
    for design in REAL:
        table = trials(stored, methods, design, "nmse")
        own, me = pairs(table), methods.index("ssvgp")
        ratio = np.nan_to_num(own[me] / own[:, me], nan=0.0, posinf=0.0)
        best = int(np.argmax(ratio))
        if ratio[best] > 1.05:
            both = int((~np.isnan(table[me]) & ~np.isnan(table[best])).sum())
            found.append(Behind(design, methods[best], float(own[me, best]), float(own[best, me]), both))
    return found


def _inputs(stored: Stored, design: str) -> float:
    """Inputs of a design, from any line that tells."""
    told = [one["d"] for one in stored.lines.get("league", ()) if one["design"] == design and "d" in one]
    return float(told[0]) if told else float("nan")


def _mean(values: np.ndarray) -> float:
    """Mean of what is finite; NaN where nothing is."""
    values = values[np.isfinite(values)]
    return float(values.mean()) if values.size else float("nan")


def _median(values: np.ndarray) -> float:
    """Median of what is known; NaN where nothing is."""
    values = values[np.isfinite(values)]
    return float(np.median(values)) if values.size else float("nan")


def standings_markdown(stored: Stored) -> str:
    """The table of the league."""
    if not entered(stored):
        return "Nothing is stored yet."
    head = [
        "",
        "median rank, nlpd",
        "median rank, nmse",
        "median rank, MCC",
        "within 5% of the best nmse on real sets, by means",
        "the same by median ratios",
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
            _text(one.rank_nlpd, 1),
            _text(one.rank_nmse, 1),
            _text(one.rank_mcc, 1),
            str(one.near),
            str(one.usually_near),
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
    shown = np.where(np.isfinite(table), table, np.nan)[:, some]
    best[some] = (np.nanmax if high_is_good else np.nanmin)(shown, axis=0)
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
