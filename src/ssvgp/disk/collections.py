"""Dask collections: known without importing Dask, and predicted when they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.run.optional import require


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or data frame; asked without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def is_frame(X: Any) -> bool:
    """Whether a Dask collection is a data frame, or a column of one."""
    return hasattr(X, "map_partitions")


def chunks_of(X: Any) -> list[Any]:
    """The chunks of an array along the rows, each with all columns."""
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed(optimize_graph=False).ravel())


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
    parts = chunks_of(X)
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
