"""A folder of Parquet files as one table: each file is a part, and an error names the file that it is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.tables.columns import MissingLibrary, TableError, listed, plain, shown, suggestion

SUFFIXES = (".parquet", ".parq", ".pq")
HIDDEN = ("_", ".")  # files that begin so are notes of those who wrote the folder
LIST = "_metadata"  # by which some writers say which files there are
BLOCK_CELLS = 2**20  # cells of a block of rows


def whole(path: Path) -> str:
    """A path for a message, never cut: it says which part is meant."""
    return f"'{plain(str(path))}'"


def library() -> Any:
    """pyarrow.parquet, or an error that says how to get it."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingLibrary("reading Parquet folders needs pyarrow: pip install 'ssvgp[dask]'") from None
    return parquet


def files_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder and those below it, by name.

    Those that a link or the folder's own list names are among them even if they are not there: opening one says so.
    """
    found = {
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES
        and (path.is_file() or not path.exists())
        and not any(step.startswith(HIDDEN) for step in path.relative_to(folder).parts)
    }
    found |= {folder / name for name in _expected(folder)}
    if not found:
        raise TableError(f"the folder {whole(folder)} has no Parquet files (*{', *'.join(SUFFIXES)})")
    return sorted(found)


def _expected(folder: Path) -> set[str]:
    """The files that the folder's own list names, if it has one."""
    if not (folder / LIST).is_file():
        return set()
    noted = opened(folder / LIST).metadata
    paths = (noted.row_group(k).column(0).file_path for k in range(noted.num_row_groups))
    return {path for path in paths if path}


@dataclass(frozen=True)
class ParquetPart:
    """Some columns of one file, all of them numbers."""

    path: Path
    columns: tuple[str, ...]
    block_rows: int | None = None

    @property
    def name(self) -> str:
        return str(self.path)

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows (t, c) in blocks; NaN where a value is missing."""
        file = opened(self.path)
        check_columns(self.path, file.schema_arrow, self.columns)
        step = self.block_rows or max(1, BLOCK_CELLS // len(self.columns))
        try:
            for batch in file.iter_batches(batch_size=step, columns=list(self.columns), use_threads=False):
                yield _numbers(batch, self.columns)
        except Exception as error:
            raise unreadable(self.path, error) from None

    @property
    def rows(self) -> int:
        """How many there are, as the end of the file says."""
        return int(opened(self.path).metadata.num_rows)


def _numbers(batch: Any, columns: Sequence[str]) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import compute

    out = np.empty((batch.num_rows, len(columns)))
    for j, name in enumerate(columns):
        column = batch.column(name)
        if pa.types.is_boolean(column.type):
            column = compute.cast(column, pa.int8())
        out[:, j] = compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return out


def opened(path: Path) -> Any:
    """A Parquet file; an error that names it where it is not there, cut short or something else."""
    parquet = library()
    try:
        return parquet.ParquetFile(path)
    except Exception as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> TableError:
    """The one line for a file that cannot be read."""
    if isinstance(error, TableError):
        return error
    if isinstance(error, FileNotFoundError):
        return TableError(f"{whole(path)} is missing, although the folder or an earlier run names it")
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return TableError(f"{whole(path)} cannot be read as Parquet: {first}")


def check_columns(path: Path, schema: Any, columns: Sequence[str]) -> None:
    """All columns must be there, and hold numbers: one line names the file and the column that does not."""
    absent = [name for name in columns if name not in schema.names]
    if absent:
        near = suggestion(absent[0], schema.names)
        raise TableError(f"{whole(path)} lacks the column {listed(absent)}; {near}")
    for name in columns:
        kind = schema.field(name).type
        if not is_number(kind):
            raise TableError(f"{whole(path)}, column {shown(name)}: {kind} where the table has numbers")


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers or of true and false."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind))


def names_in(path: Path) -> list[str]:
    """The names of the columns of a file."""
    return [str(name) for name in opened(path).schema_arrow.names]
