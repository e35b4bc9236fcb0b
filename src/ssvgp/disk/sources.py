"""What a user may hand over in place of an array in memory, and one pass over it: a `Sampled`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.data.mapped import let_go
from ssvgp.disk.collections import is_dask
from ssvgp.disk.folder import ParquetPart, check_columns, files_in, opened
from ssvgp.disk.layout import NOISE, WEIGHT, Layout, inputs_beside, sampled_from
from ssvgp.disk.lazy import survey_of
from ssvgp.disk.sampled import Sampled
from ssvgp.disk.survey import survey
from ssvgp.tables.columns import TableError, find

SAMPLE_ROWS = 100_000  # a fit reads a few thousand of them, predictions look for neighbours among all
BLOCK = 2**20  # numbers of a block of a mapped array


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """Rows of an array, such as one that is mapped from disk, with those of others beside them."""

    X: np.ndarray
    beside: tuple[np.ndarray, ...]

    @property
    def name(self) -> str:
        return "the array"

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows (t, c) in blocks."""
        step = max(1, BLOCK // max(1, self.X.shape[1]))
        for start in range(0, len(self.X), step):
            part = slice(start, start + step)
            yield np.column_stack([np.asarray(one[part], dtype=float) for one in (self.X, *self.beside)])
            let_go(self.X)


def sampled(
    X: Any,
    y: Any,
    sample_rows: int | None,
    seed: int,
    n_jobs: int | None = None,
    weights: Any = None,
    noise: Any = None,
) -> Sampled:
    """A sample of the rows with the moments of all of them, in one pass.

    X is a folder of Parquet files and y the name of a column, or names; or both are Dask collections; or X is an array
    (n, d) and y one beside it. Weights and known noise come as y does.
    """
    most = SAMPLE_ROWS if sample_rows is None else sample_rows
    if most < 2:
        raise ValueError(f"sample_rows must be 2 or more, not {sample_rows!r}")
    if isinstance(X, (str, PathLike)):
        return _of_folder(Path(X), y, most, seed, n_jobs, weights, noise)
    if is_dask(X):
        return sampled_from(*survey_of(X, y, most, seed, weights, noise))
    y = np.asarray(y)
    if len(y) != len(X):
        raise ValueError(f"X has {len(X)} rows but y has {len(y)}")
    layout = Layout.of_arrays(X.shape[1], y, weights, noise)
    apart = (_beside(one, name, len(X)) for name, one in ((WEIGHT, weights), (NOISE, noise)) if one is not None)
    return sampled_from(survey([ArrayPart(X, (y, *apart))], layout.c, most, seed, 1, layout.weigh), layout)


def _beside(values: Any, name: str, n: int) -> np.ndarray:
    """Numbers (n,), checked when they are read."""
    found = np.asarray(values)
    if found.shape != (n,):
        raise ValueError(f"{name} has shape {found.shape}, but there are {n} rows: give one number for each")
    return found


def _of_folder(folder: Path, y: Any, most: int, seed: int, n_jobs: int | None, weights: Any, noise: Any) -> Sampled:
    targets = [y] if isinstance(y, str) else list(y) if y is not None else []
    if not targets or not all(isinstance(name, str) for name in targets):
        raise ValueError("rows on disk need the name of the target's column: fit('folder', 'y')")
    for what, one in ((WEIGHT, weights), (NOISE, noise)):
        if one is not None and not isinstance(one, str):
            raise ValueError(f"rows on disk need the name of a column for {what}, or one number for all")
    if not folder.exists():
        raise TableError(f"no folder '{folder}'")
    files = files_in(folder) if folder.is_dir() else [folder]
    schema = opened(files[0]).schema_arrow
    others = [*targets, *(one for one in (weights, noise) if one is not None)]
    for name in others:
        find(name, schema.names)
    names = inputs_beside(schema.names, others)
    layout = Layout(len(names), len(targets), tuple(names), tuple(targets), weights or "", noise or "")
    columns = tuple(layout.labels)
    check_columns(files[0], schema, columns)
    parts = [ParquetPart(path, columns) for path in files]
    return sampled_from(survey(parts, layout.c, most, seed, n_jobs, layout.weigh), layout)
