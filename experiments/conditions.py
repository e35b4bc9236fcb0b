"""How it was measured: machine, versions, trials, and the settings of rivals, for the end of the results page."""

from __future__ import annotations

from collections import Counter

import numpy as np

from experiments.methods import METHODS
from experiments.summaries import EXPERIMENTS, Stored
from experiments.tables import folded, grid

HOW = """Spreads are standard deviations over trials, trial t has the seed 1000 + t, and each trial ran in a process
of its own with `n_jobs=1` and one BLAS thread. "Ours alone" marks rows that the paper does not have. As in the paper,
the MCC of an ML-II GP is that of the best of five thresholds on inverse lengthscales, which only the truth can
choose; in the league it is that of its own fixed threshold. Methods fit a tiny table before they are timed, so that
loading a library is no part of it; what JAX compiles for the shape of a table (SAAS by NUTS, sparse BART) is. Times
are those of the trials that stored their CPU time, some of the trials of a slow method. A time has a † where most of
its trials took a quarter more by the clock than of the processor, where a training went through several processes, or
where no CPU time is stored; those of the league are all of this kind, by the clock and beside other work. Where we
have one or two trials, their spread is taken to be the printed one."""


def conditions(stored: Stored) -> list[str]:
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
    found = "; ".join(f"{library} {', '.join(sorted(known))}" for library, known in sorted(versions.items()))
    speed = f" One unit of time (benchmarks/unit.py) took {np.median(units):.2f} ms in the median." if units else ""
    machine = f"Machine: {'; '.join(sorted(machines))}.{speed}"
    return [HOW, machine, f"Versions: {found}.", _trials(stored), *_times(stored)]


def _trials(stored: Stored) -> str:
    """How many trials are stored of each experiment."""
    rows = []
    for name in EXPERIMENTS:
        found = stored.lines.get(name, ())
        seeds = sorted({one["seed"] for one in found})
        failed = sum("error" in one for one in found)
        rows.append([name, str(len(found)), str(failed), f"{seeds[0]} to {seeds[-1]}" if seeds else ""])
    return grid(["experiment", "trials stored", "of these failed", "seeds"], rows)


def _times(stored: Stored) -> list[str]:
    """Which times are of the processor, and which are by the clock, beside whatever else ran."""
    rows = []
    for name in EXPERIMENTS:
        by_clock: dict[str, list[bool]] = {}
        for one in stored.lines.get(name, ()):
            if "error" not in one:
                by_clock.setdefault(METHODS[one["method"]].label, []).append("cpu_seconds" in one["scores"])
        kinds = [sorted(label for label, timed in by_clock.items() if any(timed) is kind) for kind in (True, False)]
        if by_clock:
            rows.append([name, *("; ".join(labels) or "none" for labels in kinds)])
    if not rows:
        return []
    said = "Times in the tables are of the processor where a trial stored them, else by the clock:"
    return [said, folded("Show which", grid(["experiment", "of the processor", "by the clock"], rows))]


def settings(stored: Stored) -> list[str]:
    """Settings that are not a method's own, and what the methods reported of their training, averaged over trials."""
    rows: dict[tuple[str, str, str], tuple[str, dict[str, list[float]]]] = {}
    for name in EXPERIMENTS:
        for one in stored.lines.get(name, ()):
            if not METHODS[one["method"]].peer or "error" in one:
                continue
            words = ", ".join(f"{key} {value}" for key, value in sorted(one["settings"].items()))
            _, notes = rows.setdefault((name, one["design"], one["method"]), (words, {}))
            for key, value in one["notes"].items():
                if isinstance(value, (int, float)):
                    notes.setdefault(key, []).append(float(value))
    lines = []
    for (name, design, method), (words, notes) in sorted(rows.items()):
        means = ", ".join(f"{key} {np.mean(values):.4g}" for key, values in notes.items())
        if words or means:
            lines.append([name, design, METHODS[method].label, words, means])
    if not lines:
        return []
    head = ["experiment", "design", "rival", "settings other than its own", "what it reported, mean over trials"]
    return ["### Settings and budgets of rivals", folded(f"Show all {len(lines)} rows", grid(head, lines))]
