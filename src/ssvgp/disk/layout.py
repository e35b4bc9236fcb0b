"""What the columns of a pass are: inputs, targets, and behind them weights and known noise; and their sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.data.inputs import listed
from ssvgp.disk.sampled import Sampled
from ssvgp.disk.survey import Survey

WEIGHT, NOISE = "sample_weight", "noise_variance"  # as a fit calls them


@dataclass(frozen=True)
class Layout:
    """Of c columns the first d are inputs, the next q targets; then come a weight and a known noise variance.

    `weight` and `noise` are what messages call these, empty where there are none; `names` and `targets` are None where
    columns came without.
    """

    d: int
    q: int
    names: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    weight: str = ""
    noise: str = ""

    @classmethod
    def of_arrays(cls, d: int, y: Any, weights: Any, noise: Any) -> Layout:
        """That of inputs (n, d) and y (n,) or (n, q) that come without names."""
        q = 1 if y.ndim == 1 else int(y.shape[1])
        return cls(d, q, weight=WEIGHT if weights is not None else "", noise=NOISE if noise is not None else "")

    @property
    def c(self) -> int:
        return self.d + self.q + bool(self.weight) + bool(self.noise)

    @property
    def weigh(self) -> int | None:
        """The place of the weight."""
        return self.d + self.q if self.weight else None

    @property
    def labels(self) -> list[str]:
        """What messages call the columns (c,)."""
        names = self.names or [f"x{j}" for j in range(self.d)]
        targets = self.targets or [f"y{k}" for k in range(self.q)]
        return [*names, *targets, *(name for name in (self.weight, self.noise) if name)]


def inputs_beside(columns: Sequence[str], others: Sequence[str]) -> list[str]:
    """The columns that are left as inputs beside targets, weight and noise, which must be different ones."""
    if len(set(others)) < len(others):
        raise ValueError(f"targets, {WEIGHT} and {NOISE} are different columns, not {listed(others)}")
    return [name for name in columns if name not in others]


def sampled_from(found: Survey, layout: Layout) -> Sampled:
    """What a pass has found as a sample for a fit; gaps, infinite values and negative variances are refused."""
    _refuse(found, layout)
    values, d, q = found.sample.values, layout.d, layout.q
    return Sampled(
        np.ascontiguousarray(values[:, :d]),
        values[:, d] if q == 1 else values[:, d : d + q],
        found.rows,
        found.moments.columns(slice(d)),
        np.zeros(d, dtype=bool),
        layout.names,
        layout.targets,
        values[:, d + q] if layout.weight else None,
        values[:, -1] if layout.noise else None,
    )


def _refuse(found: Survey, layout: Layout) -> None:
    labels, moments = layout.labels, found.moments
    gaps = np.flatnonzero(moments.gaps)
    if gaps.size:
        text = listed([f"{labels[j]} ({int(moments.gaps[j])})" for j in gaps])
        raise ValueError(f"columns with missing values, and how many of {found.rows} rows: {text}; fill or drop them")
    infinite = np.flatnonzero(~np.isfinite(moments.low) | ~np.isfinite(moments.high))
    if found.rows and infinite.size:
        raise ValueError(f"columns with an infinite value: {listed([labels[j] for j in infinite])}")
    if len(found.sample.values) < 2:
        what = " with a weight above zero" if layout.weight else ""
        raise ValueError(f"the table has {found.rows} rows{what}, and two are the least")
    if layout.noise and moments.low[-1] < 0.0:
        raise ValueError(f"{layout.noise} holds a negative number, {moments.low[-1]:g}: each must be zero or more")
