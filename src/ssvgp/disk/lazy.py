"""Dask collections: surveyed partition by partition, predicted when they are computed. Imported by who uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.data.inputs import listed
from ssvgp.disk.layout import NOISE, WEIGHT, Layout, inputs_beside
from ssvgp.disk.moments import Moments
from ssvgp.disk.survey import Chosen, Survey, look
from ssvgp.run.optional import require


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or data frame; asked without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def is_frame(X: Any) -> bool:
    """Whether a Dask collection is a data frame, or a column of one."""
    return hasattr(X, "map_partitions")


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
    total = dask.delayed(_nothing)(layout.c)
    for number, parts in enumerate(partitions):
        one = dask.delayed(_look)(parts, number, layout.c, most, seed, layout.weigh)
        total = dask.delayed(_and)(total, one, most)
    found = total.compute()
    return Survey(found.moments, found.sample.in_order()), layout


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
    rows = [_partitions(X)]
    for what, one in (("y", y), *((what, one) for what, one in apart if one is not None)):
        if not is_dask(one) or is_frame(one):
            raise ValueError(f"{what} of a Dask array is a Dask array too")
        rows.append(_partitions(one))
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(f"X has {len(rows[0])} chunks of rows but {what} has {len(rows[-1])}: give both the same")
    return list(zip(*rows, strict=True)), Layout.of_arrays(int(X.shape[1]), y, weights, noise)


def _partitions(X: Any) -> list[Any]:
    """The chunks of an array along the rows, each with all columns."""
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed(optimize_graph=False).ravel())


def _nothing(c: int) -> Survey:
    return Survey(Moments.none(c), Chosen.none(c))


def _look(parts: Any, number: int, c: int, most: int, seed: int, weigh: int | None) -> Survey:
    if not isinstance(parts, (tuple, list)):
        parts = (parts,)
    sizes = [len(one) for one in parts]
    if len(set(sizes)) > 1:
        raise ValueError(f"chunk {number} of X has {sizes[0]} rows, those beside it {listed(sizes[1:])}")
    values = np.column_stack([np.asarray(one, dtype=float) for one in parts])
    return look(ValuesPart(values, number), number, c, most, seed, weigh)


def _and(one: Survey, other: Survey, most: int) -> Survey:
    more = other.sample
    return Survey(one.moments + other.moments, one.sample.with_rows(more.values, more.keys, more.places).least(most))


def predicted(ask: Any, X: Any, columns: tuple[str, ...] | None) -> Any:
    """`ask(rows)` of every partition, when it is computed: a collection of the same kind.

    `ask` gives (t,) for a rows of one target and (t, q) for many, whose names are `columns`. It travels once.
    """
    dask = require("dask", "a Dask collection")
    travelled = dask.delayed(ask, pure=False)
    if is_frame(X):
        pandas = require("pandas", "a Dask data frame")
        if columns is None:
            meta: Any = pandas.Series([], dtype=float, name="prediction", index=X._meta.index[:0])
        else:
            meta = pandas.DataFrame({name: np.empty(0) for name in columns}, index=X._meta.index[:0])
        return X.map_partitions(_of_frame, travelled, columns, meta=meta, enforce_metadata=False)
    array = require("dask.array", "a Dask array")
    parts = _partitions(X)
    sizes = X.chunks[0]
    shapes = [(size,) if columns is None else (size, len(columns)) for size in sizes]
    made = [
        array.from_delayed(dask.delayed(_of_array)(part, travelled), shape=shape, dtype=float)
        for part, shape in zip(parts, shapes, strict=True)
    ]
    return array.concatenate(made, axis=0)


def _of_frame(part: Any, ask: Any, columns: tuple[str, ...] | None) -> Any:
    import pandas

    if columns is None:
        values = ask(part) if len(part) else np.empty(0)
        return pandas.Series(values, index=part.index, name="prediction")
    values = ask(part) if len(part) else np.empty((0, len(columns)))
    return pandas.DataFrame(values, index=part.index, columns=list(columns))


def _of_array(part: np.ndarray, ask: Any) -> np.ndarray:
    return np.asarray(ask(part))
