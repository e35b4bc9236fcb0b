"""What a user may hand over in place of an array in memory, and one pass over it: a `Sampled`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.data.inputs import listed
from ssvgp.data.mapped import let_go
from ssvgp.disk import lazy
from ssvgp.disk.folder import ParquetPart, check_columns, files_in, opened
from ssvgp.disk.moments import Moments
from ssvgp.disk.sampled import Sampled
from ssvgp.disk.survey import Survey, survey
from ssvgp.tables.columns import TableError, find

SAMPLE_ROWS = 100_000  # a fit reads a few thousand of them, predictions look for neighbours among all
BLOCK = 2**20  # numbers of a block of a mapped array


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """Rows of an array, such as one that is mapped from disk, with those of y beside them."""

    X: np.ndarray
    y: np.ndarray

    @property
    def name(self) -> str:
        return "the array"

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows (t, d + q) in blocks."""
        step = max(1, BLOCK // max(1, self.X.shape[1]))
        for start in range(0, len(self.X), step):
            part = slice(start, start + step)
            yield np.column_stack([np.asarray(self.X[part], dtype=float), np.asarray(self.y[part], dtype=float)])
            let_go(self.X)


def sampled(X: Any, y: Any, sample_rows: int | None, seed: int, n_jobs: int | None = None) -> Sampled:
    """A sample of the rows with the moments of all of them, in one pass.

    X is a folder of Parquet files and y the name of a column, or names; or both are Dask collections; or X is an array
    (n, d) and y one beside it.
    """
    most = SAMPLE_ROWS if sample_rows is None else sample_rows
    if most < 2:
        raise ValueError(f"sample_rows must be 2 or more, not {sample_rows!r}")
    if isinstance(X, (str, PathLike)):
        return _of_folder(Path(X), y, most, seed, n_jobs)
    if lazy.is_dask(X):
        found = lazy.survey_of(X, y, most, seed)
        return _sampled(found.survey, found.d, found.names, found.targets)
    y = np.asarray(y)
    if len(y) != len(X):
        raise ValueError(f"X has {len(X)} rows but y has {len(y)}")
    q = 1 if y.ndim == 1 else y.shape[1]
    return _sampled(survey([ArrayPart(X, y)], X.shape[1] + q, most, seed, 1), X.shape[1], None, None)


def _of_folder(folder: Path, y: Any, most: int, seed: int, n_jobs: int | None) -> Sampled:
    targets = [y] if isinstance(y, str) else list(y) if y is not None else []
    if not targets or not all(isinstance(name, str) for name in targets):
        raise ValueError("rows on disk need the name of the target's column: fit('folder', 'y')")
    if not folder.exists():
        raise TableError(f"no folder '{folder}'")
    files = files_in(folder) if folder.is_dir() else [folder]
    schema = opened(files[0]).schema_arrow
    for name in targets:
        find(name, schema.names)
    names = [name for name in schema.names if name not in targets]
    columns = (*names, *targets)
    check_columns(files[0], schema, columns)
    found = survey([ParquetPart(path, columns) for path in files], len(columns), most, seed, n_jobs)
    return _sampled(found, len(names), tuple(names), tuple(targets))


def _sampled(found: Survey, d: int, names: Sequence[str] | None, targets: Sequence[str] | None) -> Sampled:
    """The survey of d inputs and the targets behind them as a sample for a fit; gaps are refused."""
    labels = [*(names or [f"x{j}" for j in range(d)]), *(targets or [])]
    labels += [f"y{k}" for k in range(found.moments.count.size - len(labels))]
    gaps = np.flatnonzero(found.moments.gaps)
    if gaps.size:
        text = listed([f"{labels[j]} ({int(found.moments.gaps[j])})" for j in gaps])
        raise ValueError(f"columns with missing values, and how many of {found.rows} rows: {text}; fill or drop them")
    infinite = np.flatnonzero(~np.isfinite(found.moments.low) | ~np.isfinite(found.moments.high))
    if found.rows and infinite.size:
        raise ValueError(f"columns with an infinite value: {listed([labels[j] for j in infinite])}")
    if len(found.sample.values) < 2:
        raise ValueError(f"the table has {found.rows} rows, and two are the least")
    values, m = found.sample.values, found.moments
    some = Moments(m.rows, m.count[:d], m.mean[:d], m.square[:d], m.low[:d], m.high[:d])
    y = values[:, d] if values.shape[1] == d + 1 else values[:, d:]
    named = None if names is None else tuple(names)
    X = np.ascontiguousarray(values[:, :d])
    return Sampled(X, y, found.rows, some, np.zeros(d, dtype=bool), named, None if targets is None else tuple(targets))
