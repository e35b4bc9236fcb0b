"""One way to open a table, whatever its format: the first bytes of a file tell which it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ssvgp.tables.arrow import arrow_table
from ssvgp.tables.cells import Block
from ssvgp.tables.columns import TableError, shown
from ssvgp.tables.dialect import Asked
from ssvgp.tables.text import text_table

ARROW = {b"PAR1": "Parquet", b"ARROW1": "Feather", b"FEA1": "Feather"}
FOREIGN = {
    b"PK\x03\x04": "is an Excel workbook or an archive: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook: save the sheet as CSV",
    b"\x1f\x8b": "is compressed: unpack it first (gunzip)",
    b"\x89HDF": "is an HDF5 file: write the table as CSV or Parquet first",
    b"\x93NUMPY": "is a NumPy file: use SSVGPRegressor in Python, or write the table as CSV",
}


class Table(Protocol):
    """A table in a file: names (d,) of its columns, its rows in blocks, and what was assumed about it."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def unit(self) -> str: ...
    def blocks(
        self, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]: ...
    def texts(self, columns: Sequence[int]) -> Iterator[list[str]]: ...


def open_table(path: Path, asked: Asked | None = None) -> Table:
    """The table in a file: CSV, TSV or other text, Parquet, Feather."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise TableError(f"{shown(str(path))} is a pipe or device: save the table to a file, it is read more than once")
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except IsADirectoryError:
        raise TableError(f"{shown(str(path))} is a folder: name a file in it") from None
    except FileNotFoundError:
        raise TableError(f"no file {shown(str(path))}") from None
    except OSError as error:
        raise TableError(f"{shown(str(path))} cannot be read: {error.strerror}") from None
    for magic, kind in ARROW.items():
        if start.startswith(magic):
            return arrow_table(path, kind)
    for magic, what in FOREIGN.items():
        if start.startswith(magic):
            raise TableError(f"{path.name} {what}")
    return text_table(path, asked or Asked())
