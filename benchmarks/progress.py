"""How good is the estimate of what remains of a fit?

Asked for: after a third of a fit within a factor of two of what did remain, on ten real tables of 50 to 2000 rows.
Time is that of the process, on one thread, so that other work on the machine does not count.

    python -m benchmarks.progress            ten tables on which no constant was chosen
    python -m benchmarks.progress chosen     twenty of those that the work of phases was read from (method/outlook.py)

Tables are those of the folder that SSVGP_DATA names, and diabetes of scikit-learn. For each: the
estimate at a third of the fit over what remained; the worst factor between the two from there on, where less than a
twentieth of the fit counts as a twentieth; and the share of the time from there on at which they were within two.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

from ssvgp import Event, SSVGPRegressor
from ssvgp.run import progress

CHOSEN = (
    "prostate", "bloodbrain", "uci_parkinsons:400", "tecator", "uci_bike:700", "chicago_ridership:300",
    "communities_crime:900", "fermentation_nir", "uci_parkinsons:1900", "uci_elevators:1500", "diabetes",
    "chemical_manufacturing", "uci_skillcraft:600", "permeability", "eyedata", "supercon_magpie:300", "uci_kin40k:500",
    "gasoline_nir", "liver_toxicity", "uci_skillcraft:1500",
)  # fmt: skip
OTHERS = (
    "pac_retention", "cassava_nir", "porkfat_raman", "riboflavin", "tablets_nir:200", "uci_sml:400", "uci_protein:500",
    "uci_keggdirected:300", "nirsoil:400", "uci_protein:1500",
)  # fmt: skip
LEAST = 0.05  # of a fit: what remains, or is said to, counts as no less


class Table(NamedTuple):
    """Rows X (n, d) with targets y (n,)."""

    X: np.ndarray
    y: np.ndarray


class Judged(NamedTuple):
    """Seconds of a fit, estimate over truth at a third of it, worst factor and share of time within two after that."""

    seconds: float
    third: float
    worst: float
    within: float


def table_of(name: str) -> Table:
    """A table by its name, with `:rows` for a random part of them."""
    name, _, rows = name.partition(":")
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        held = np.load(Path(os.environ["SSVGP_DATA"]) / f"{name}.npz", allow_pickle=False)
        X, y = held["X"].astype(float), held["y"].astype(float)
    y = y if y.ndim == 1 else y[:, 0]
    good = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y))
    some = np.random.default_rng(7).permutation(good.size)[: int(rows) if rows else None]
    return Table(X[good[some]], y[good[some]])


def judged(table: Table) -> Judged:
    """One fit, and how its estimates stood to what remained."""
    heard: list[tuple[float, float | None]] = []
    start = time.process_time()

    def listen(event: Event) -> None:
        heard.append((time.process_time() - start, event.seconds_left))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SSVGPRegressor(random_state=0, n_jobs=1, callback=listen).fit(table.X, table.y)
    return judge(heard, time.process_time() - start)


def judge(heard: list[tuple[float, float | None]], whole: float) -> Judged:
    """Estimates count down between two reports, as on a terminal; before the first there is none."""
    clock = np.linspace(whole / 3.0, whole, 200, endpoint=False)
    times = np.array([at for at, _ in heard])
    ratios = []
    for at in clock:
        last = int(np.searchsorted(times, at, side="right")) - 1
        said = None if last < 0 else heard[last][1]
        left = np.inf if said is None else max(said - (at - times[last]), 0.0)
        ratios.append(max(left, LEAST * whole) / max(whole - at, LEAST * whole))
    factor = np.maximum(ratios, 1.0 / np.array(ratios))
    return Judged(whole, ratios[0], float(factor.max()), float((factor <= 2.0).mean()))


def main() -> None:
    progress.now = time.process_time
    print(f"{'table':24s}{'n':>6s}{'d':>6s}{'seconds':>9s}{'at 1/3':>8s}{'worst':>7s}{'within 2':>10s}")
    found = []
    for name in CHOSEN if sys.argv[1:] == ["chosen"] else sys.argv[1:] or OTHERS:
        table = table_of(name)
        one = judged(table)
        found.append(one)
        n, d = table.X.shape
        print(f"{name:24s}{n:6d}{d:6d}{one.seconds:9.2f}{one.third:8.2f}{one.worst:7.2f}{one.within:10.0%}", flush=True)
    good = sum(0.5 <= one.third <= 2.0 for one in found)
    print(
        f"within a factor of two at a third: {good} of {len(found)}; from there on, of the time: "
        f"{np.mean([one.within for one in found]):.0%}"
    )


if __name__ == "__main__":
    main()
