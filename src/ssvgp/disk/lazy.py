"""Dask collections: surveyed partition by partition, predicted when they are computed. Imported by who uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
class Surveyed:
    """A survey of d inputs and the targets behind them, with the names that they came with."""

    survey: Survey
    d: int
    names: tuple[str, ...] | None
    targets: tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class ValuesPart:
    """One partition in memory."""

    values: np.ndarray

    @property
    def name(self) -> str:
        return "a partition"

    def blocks(self) -> Any:
        yield self.values


def survey_of(X: Any, y: Any, most: int, seed: int) -> Surveyed:
    """Moments of all rows and `most` of them: one task a partition, folded in their order."""
    dask = require("dask", "a Dask collection")
    both = _beside(X, y) if is_frame(X) else _arrays(X, y)
    total = dask.delayed(_nothing)(both.c)
    for number, parts in enumerate(both.parts):
        total = dask.delayed(_and)(total, dask.delayed(_look)(parts, number, both.c, most, seed), most)
    found = total.compute()
    return Surveyed(Survey(found.moments, found.sample.in_order()), both.d, both.names, both.targets)


@dataclass(frozen=True, eq=False)
class _Both:
    """Inputs and targets, partition by partition: each a frame, or a pair of arrays; d inputs of c columns."""

    parts: list[Any]
    d: int
    c: int
    names: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None


def _beside(X: Any, y: Any) -> _Both:
    """A data frame with its targets behind the inputs; y is a column, several, or their names."""
    if isinstance(y, str) or (isinstance(y, (list, tuple)) and all(isinstance(one, str) for one in y)):
        targets = [y] if isinstance(y, str) else list(y)
        names = [name for name in X.columns if name not in targets]
        parts = X[[*names, *targets]].to_delayed()
        return _Both(list(parts), len(names), len(names) + len(targets), tuple(map(str, names)), tuple(targets))
    if not is_dask(y) or not is_frame(y):
        raise ValueError("y of a Dask data frame is a column of it, or the name of one")
    columns = [y[name] for name in y.columns] if y.ndim == 2 else [y]
    labels = [str(name) for name in y.columns] if y.ndim == 2 else [str(y.name)]
    more = {f"target {k} of {len(columns)}": column for k, column in enumerate(columns)}
    both, d = X.assign(**more), len(X.columns)
    return _Both(list(both.to_delayed()), d, d + len(columns), tuple(map(str, X.columns)), tuple(labels))


def _arrays(X: Any, y: Any) -> _Both:
    """Two arrays with the same chunks of rows."""
    if not is_dask(y) or is_frame(y):
        raise ValueError("y of a Dask array is a Dask array too")
    rows, beside = _partitions(X), _partitions(y)
    if len(rows) != len(beside):
        raise ValueError(f"X has {len(rows)} chunks of rows but y has {len(beside)}: give both the same")
    d = int(X.shape[1])
    return _Both(list(zip(rows, beside, strict=True)), d, d + (1 if y.ndim == 1 else int(y.shape[1])))


def _partitions(X: Any) -> list[Any]:
    """The chunks of an array along the rows, each with all columns."""
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed(optimize_graph=False).ravel())


def _nothing(c: int) -> Survey:
    return Survey(Moments.none(c), Chosen.none(c))


def _look(parts: Any, number: int, c: int, most: int, seed: int) -> Survey:
    if not isinstance(parts, (tuple, list)):
        parts = (parts,)
    if len({len(one) for one in parts}) > 1:
        raise ValueError(f"chunk {number} of X has {len(parts[0])} rows, that of y {len(parts[1])}")
    values = np.column_stack([np.asarray(one, dtype=float) for one in parts])
    return look(ValuesPart(values), number, c, most, seed)


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
