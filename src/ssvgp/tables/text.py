"""Tables in text files, read row by row: CSV, TSV and their relatives.

The reader of the standard library and `float` take about 0.35 microseconds a cell, as long as the compiled readers
of other libraries within a factor of two, and they know the line of every fault.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssvgp.tables.cells import Block, Cells
from ssvgp.tables.columns import TableError, legible, unique
from ssvgp.tables.dialect import Asked, Dialect, dialect_of, undecodable

BLOCK_CELLS = 2**20  # cells in a block of rows


@dataclass(frozen=True)
class TextTable:
    """A text file with columns `names` (d,); `notes` says what was assumed about it."""

    path: Path
    dialect: Dialect
    names: tuple[str, ...]
    notes: tuple[str, ...]
    unit: str = "line"  # what a place in the file is counted in

    def blocks(
        self, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]:
        """The columns asked for, all rows, about a million cells at a time."""
        cells = Cells(columns, vocabularies or {}, self.dialect.decimal)
        rows = max(1, BLOCK_CELLS // len(self.names))
        for line, row in self._rows():
            cells.add(line, row)
            if len(cells) == rows:
                yield cells.block()
        if len(cells):
            yield cells.block()

    def texts(self, columns: Sequence[int]) -> Iterator[list[str]]:
        """The cells of the columns asked for, row by row, as they are written."""
        return ([legible(row[j]) for j in columns] for _, row in self._rows())

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """All rows under the header, each as long as it."""
        width = len(self.names)
        with self.dialect.open(self.path) as file:
            line = self.dialect.skip
            rows = self.dialect.rows(file)
            try:
                if self.dialect.header:
                    next(rows)
                for line, row in rows:
                    if len(row) != width and (len(row) < width or any(row[width:])):
                        raise self._ragged(line, len(row))
                    yield line, row
            except UnicodeError as error:
                raise undecodable(line + 1, error) from None
            except csv.Error as error:
                raise TableError(f"line {line + 1}: {error}; is a quotation mark missing?") from None

    def _ragged(self, line: int, found: int) -> TableError:
        width, named = len(self.names), "header" if self.dialect.header else "first line"
        sign = {"\t": "tab", " ": "blank"}.get(self.dialect.separator, self.dialect.separator)
        return TableError(
            f"line {line} has {found} cells where the {named} has {width} (separated by {sign}): "
            f"correct the line, or give --separator"
        )


def text_table(path: Path, asked: Asked) -> TextTable:
    """A text file with what its first lines tell."""
    dialect = dialect_of(path, asked)
    with dialect.open(path) as file:
        try:
            _, first = next(dialect.rows(file))
        except csv.Error as error:
            raise TableError(f"line 1: {error}; is a quotation mark missing?") from None
    notes = []
    raw = first if dialect.header else [""] * len(first)
    if any(legible(name) != name for name in raw):
        notes.append("the file is not in UTF-8: read as Windows-1252 (--encoding to change this)")
    if not dialect.header:
        notes.append(f"no header found: columns are called column1 to column{len(first)}")
    names = unique([legible(name) for name in raw])
    repeated = [new for old, new in zip(raw, names, strict=True) if old.strip() and legible(old).strip() != new]
    if repeated:
        notes.append(f"names that repeat were numbered: {', '.join(repeated[:5])}")
    if dialect.decimal == ",":
        notes.append("commas in numbers are read as decimal points")
    return TextTable(path, dialect, tuple(names), tuple(notes))
