"""Tables in Parquet and Feather files, read through pyarrow where that is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.tables.cells import Block, Cells, Odd
from ssvgp.tables.columns import MissingLibrary, TableError, unique

BLOCK_CELLS = 2**20  # cells in a block of rows


@dataclass(frozen=True)
class ArrowTable:
    """A Parquet or Feather file with columns `names` (d,)."""

    path: Path
    kind: str
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unit: str = "row"

    def blocks(
        self, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]:
        """The columns asked for, all rows, about a million cells at a time."""
        first = 1
        for cells in self._batches(columns):
            rows = np.arange(first, first + len(cells[0]))
            first += rows.size
            values = np.empty((rows.size, len(columns)))
            odd: dict[int, Odd] = {}
            for place, j in enumerate(columns):
                values[:, place], found = _numbers(cells[place], rows, j, (vocabularies or {}).get(j))
                odd |= found
            yield Block(values, rows, odd)

    def texts(self, columns: Sequence[int]) -> Iterator[list[str]]:
        """The cells of the columns asked for, row by row, as text."""
        for cells in self._batches(columns):
            each = [["" if value is None else str(value) for value in column.to_pylist()] for column in cells]
            yield from (list(row) for row in zip(*each, strict=True))

    def _batches(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        """The columns asked for, some rows at a time; of a Parquet file no others are read."""
        rows, opened = max(1, BLOCK_CELLS // max(1, len(columns))), _opened(self.path, self.kind)
        if self.kind != "Parquet":
            yield from ([batch.column(j) for j in columns] for batch in opened.to_batches(max_chunksize=rows))
            return
        names = opened.schema_arrow.names
        wanted = [names[j] for j in columns]
        if any(names.count(name) > 1 for name in wanted):  # a name does not say which
            yield from ([batch.column(j) for j in columns] for batch in opened.iter_batches(rows))
            return
        for batch in opened.iter_batches(rows, columns=wanted):
            yield [batch.column(name) for name in wanted]


def _numbers(
    column: Any, rows: np.ndarray, place: int, vocabulary: Mapping[str, float] | None
) -> tuple[np.ndarray, dict[int, Odd]]:
    """The values (t,) of one column of a batch; text passes through the same cells as that of a text file."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if vocabulary is None and (plain or pa.types.is_boolean(kind)):
        if pa.types.is_boolean(kind):
            column = compute.cast(column, pa.int8())
        return compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), {}
    cells = Cells([0], {} if vocabulary is None else {0: vocabulary})
    for row, value in zip(rows, column.to_pylist(), strict=True):
        cells.add(int(row), ["" if value is None else str(value)])
    block = cells.block()
    return block.values[:, 0], {place: block.odd[0]} if block.odd else {}


def _opened(path: Path, kind: str) -> Any:
    try:
        from pyarrow import ArrowException, feather, parquet
    except ImportError:
        raise MissingLibrary(f"reading {kind} files needs pyarrow: pip install 'ssvgp[arrow]'") from None
    try:
        return parquet.ParquetFile(path) if kind == "Parquet" else feather.read_table(path, memory_map=True)
    except (ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise TableError(f"{path.name} cannot be read as {kind}: {first}") from None


def arrow_table(path: Path, kind: str) -> ArrowTable:
    """A Parquet or Feather file with the names of its columns."""
    opened = _opened(path, kind)
    schema = opened.schema_arrow if kind == "Parquet" else opened.schema
    if not schema.names:
        raise TableError(f"{path.name} has no columns")
    return ArrowTable(path, kind, tuple(unique(schema.names)))
