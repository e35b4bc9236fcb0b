"""Dask collections surveyed partition by partition. Imported by who uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.data.inputs import listed
from ssvgp.disk.collections import chunks_of, is_dask, is_frame
from ssvgp.disk.layout import NOISE, WEIGHT, Layout, inputs_beside
from ssvgp.disk.survey import Survey, look
from ssvgp.run.optional import require


@dataclass(frozen=True, eq=False)
class ValuesPart:
    """One partition in memory."""

    values: np.ndarray
    number: int

    @property
    def name(self) -> str:
        return f"partition {self.number}"

    def blocks(self) -> Any:
        yield self.values


def survey_of(X: Any, y: Any, most: int, seed: int, weights: Any = None, noise: Any = None) -> tuple[Survey, Layout]:
    """Moments of all rows and `most` of them: one task a partition, folded in their order."""
    dask = require("dask", "a Dask collection")
    partitions, layout = (_frames if is_frame(X) else _arrays)(X, y, weights, noise)
    total = dask.delayed(Survey.none)(layout.c)
    for number, parts in enumerate(partitions):
        one = dask.delayed(_look)(parts, number, layout.c, most, seed, layout.weigh)
        total = dask.delayed(Survey.beside)(total, one, most)
    return total.compute().in_order(), layout


def _frames(X: Any, y: Any, weights: Any, noise: Any) -> tuple[list[Any], Layout]:
    """A data frame with its targets, weights and known noise behind the inputs, partition by partition.

    Each is a column, or several as targets, or their names.
    """
    from ssvgp.tables.columns import find  # here, since rows in memory need none of it

    names = isinstance(y, (list, tuple)) and all(isinstance(one, str) for one in y)
    targets = [y] if isinstance(y, str) else list(y) if names else _columns(y, "y")
    apart = {what: one for what, one in ((WEIGHT, weights), (NOISE, noise)) if one is not None}
    columns = targets + [one if isinstance(one, str) else _columns(one, what)[0] for what, one in apart.items()]
    by_name = [one for one in columns if isinstance(one, str)]
    for name in by_name:
        find(name, [str(one) for one in X.columns])
    labels = [one if isinstance(one, str) else str(one.name) or "a column" for one in columns]
    called = dict(zip(apart, labels[len(targets) :], strict=True))
    inputs = X[inputs_beside(X.columns, by_name)]
    own, goals = tuple(map(str, inputs.columns)), tuple(labels[: len(targets)])
    layout = Layout(len(own), len(goals), own, goals, called.get(WEIGHT, ""), called.get(NOISE, ""))
    more = {f"column {k} behind": X[one] if isinstance(one, str) else one for k, one in enumerate(columns)}
    return list(inputs.assign(**more).to_delayed()), layout


def _columns(given: Any, what: str) -> list[Any]:
    """The columns of a collection beside a data frame."""
    if not is_dask(given) or not is_frame(given):
        raise ValueError(f"{what} of a Dask data frame is a column of it, or the name of one")
    return [given[name] for name in given.columns] if given.ndim == 2 else [given]


def _arrays(X: Any, y: Any, weights: Any, noise: Any) -> tuple[list[Any], Layout]:
    """Arrays with the same chunks of rows, chunk by chunk."""
    apart = ((WEIGHT, weights), (NOISE, noise))
    rows = [chunks_of(X)]
    for what, one in (("y", y), *((what, one) for what, one in apart if one is not None)):
        if not is_dask(one) or is_frame(one):
            raise ValueError(f"{what} of a Dask array is a Dask array too")
        rows.append(chunks_of(one))
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(f"X has {len(rows[0])} chunks of rows but {what} has {len(rows[-1])}: give both the same")
    return list(zip(*rows, strict=True)), Layout.of_arrays(int(X.shape[1]), y, weights, noise)


def _look(parts: Any, number: int, c: int, most: int, seed: int, weigh: int | None) -> Survey:
    if not isinstance(parts, (tuple, list)):
        parts = (parts,)
    sizes = [len(one) for one in parts]
    if len(set(sizes)) > 1:
        raise ValueError(f"chunk {number} of X has {sizes[0]} rows, those beside it {listed(sizes[1:])}")
    values = np.column_stack([np.asarray(one, dtype=float) for one in parts])
    return look(ValuesPart(values, number), number, c, most, seed, weigh)
