"""Which backgrounds are worth a look, and what they must know of the table first."""

from __future__ import annotations

import numpy as np

from ssvgp.gp.axes import evened_axes, repetition
from ssvgp.gp.terms import Background
from ssvgp.large.blocks import block_of
from ssvgp.model.terms import Columns, backgrounds_for
from ssvgp.records import Train
from ssvgp.run.memo import once
from ssvgp.settings import Regime

CHANCE = (
    1.5  # columns are in one unit whose log sds spread by less than this many times what chance does to normal ones
)


def worth_a_look(train: Train, regime: Regime, units: np.ndarray | None, repeated: float) -> tuple[Background, ...]:
    """The backgrounds worth a look, bound to the table: those of the regime that the columns tell apart.

    `units` (d,) are the standard deviations of the columns before they were standardised, where they are known.
    """
    without = set[str]()
    if units is None or _in_one_unit(units, train.n):
        without |= {"unscaled", "steep"}  # the same as linear
    names = [kind for kind in regime.backgrounds if kind not in without]
    return backgrounds_for(names, Columns(train.d, units, _axes(train, regime, repeated)))


def _in_one_unit(units: np.ndarray, n: int) -> bool:
    """Whether columns vary alike, as far as n rows can tell: chance alone makes log sds spread by 1 / sqrt(2 n)."""
    return float(np.log(units).std()) < CHANCE / np.sqrt(2.0 * n)


def repeated_in(train: Train, regime: Regime, rng: np.random.Generator) -> float:
    """How many times over the columns say the same, as a few rows show it; asked for the sake of backgrounds alone."""
    if not regime.backgrounds:
        return 1.0
    rows = rng.choice(train.n, min(train.n, regime.settings.block_rows), replace=False)
    X = block_of(train, np.sort(rows)).X
    return once(train.memo, "repetition", X, lambda: repetition(X))


def _axes(train: Train, regime: Regime, repeated: float) -> np.ndarray | None:
    """The axes of an evened background, where columns repeat each other often enough for one."""
    if repeated < regime.settings.evened_from or not regime.exact:
        return None
    return once(train.memo, "axes", train.X, lambda: evened_axes(train.X))
