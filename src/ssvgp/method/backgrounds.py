"""Which backgrounds are worth a look, and what they must know of the table first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssvgp.gp.background import evened_axes, repetition
from ssvgp.large.blocks import block_of
from ssvgp.records import Layout, Train
from ssvgp.settings import AutoSettings

ALIKE = 0.2  # columns whose sds differ by less than this share are in one unit already
CHANCE = 1.5  # and so are those whose log sds spread by less than this many times what chance does to normal columns


def kinds_for(train: Train, settings: AutoSettings) -> tuple[str, ...]:
    """The backgrounds worth a look: none where inputs are few for the rows that are seen together."""
    if _few_inputs(train, settings):
        return ()
    kinds, units, without = settings.backgrounds, _units(train), set[str]()
    if train.n > settings.exact_rows:
        kinds += settings.block_backgrounds
        without.add("steep")  # many rows show the strengths of columns themselves
    if units is None or _in_one_unit(units, train.n):
        without |= {"unscaled", "steep"}  # the same as linear
    if train.layout is None or train.layout.axes is None:
        without.add("evened")
    return tuple(kind for kind in kinds if kind not in without)


def _few_inputs(train: Train, settings: AutoSettings) -> bool:
    """Whether sets can carry everything, against the rows that are seen together."""
    together = settings.block_rows if train.n > settings.exact_rows else train.n
    return train.d <= settings.background_from * together


def _in_one_unit(units: np.ndarray, n: int) -> bool:
    """Whether columns vary alike, as far as n rows can tell: chance alone makes log sds spread by 1 / sqrt(2 n)."""
    by_chance = float(np.log(units).std()) < CHANCE / np.sqrt(2.0 * n)
    return by_chance or bool(np.ptp(units) < ALIKE * units.max())


def _units(train: Train) -> np.ndarray | None:
    """Standard deviations (d,) of the columns before they were standardised, where they are known."""
    return train.layout.units if train.layout is not None else None


def repeated_in(train: Train, settings: AutoSettings) -> float:
    """How many times over the columns say the same, as a few rows show it; asked for the sake of backgrounds alone."""
    if _few_inputs(train, settings) or not settings.backgrounds + settings.block_backgrounds:
        return 1.0
    rows = np.random.default_rng(0).choice(train.n, min(train.n, settings.block_rows), replace=False)
    return repetition(block_of(train, np.sort(rows)).X)


def with_axes(train: Train, settings: AutoSettings, repeated: float) -> Train:
    """The table with the axes of an evened background, where its columns repeat each other often enough for one."""
    if repeated < settings.evened_from or train.n > settings.exact_rows:
        return train
    return replace(train, layout=Layout(_units(train), evened_axes(train.X)))
