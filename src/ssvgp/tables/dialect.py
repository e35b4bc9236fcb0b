"""How a text table is written: encoding, separator, decimal sign, header; seen in its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ssvgp.tables.cells import MISSING, number
from ssvgp.tables.columns import TableError, shown

HEAD_LINES, HEAD_CHARACTERS = 60, 2**22  # what is looked at
SEPARATORS = (",", ";", "\t", "|", " ")  # the blank stands for any run of blanks and tabs
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE)
SEP_LINE = re.compile(r"sep=(.)\r?\n?")  # what Excel writes on top of a file


@dataclass(frozen=True)
class Asked:
    """What the user says about a text table; None for what is to be detected."""

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Dialect:
    """How a text table is written, and how many lines stand above its first row."""

    encoding: str
    errors: str
    separator: str
    decimal: str
    header: bool
    skip: int = 0

    def open(self, path: Path) -> TextIO:
        """The file as text, behind the lines to skip."""
        file = path.open(encoding=self.encoding, errors=self.errors, newline="")
        for _ in range(self.skip):
            file.readline()
        return file

    def rows(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Every row that is not blank, with the number of its last line in the file."""
        if self.separator == " ":
            numbered = ((line, text.split()) for line, text in enumerate(lines, start=1 + self.skip))
            yield from ((line, cells) for line, cells in numbered if cells)
            return
        reader = csv.reader(lines, delimiter=self.separator, skipinitialspace=True)
        for cells in reader:
            if cells:
                yield reader.line_num + self.skip, cells


def dialect_of(path: Path, asked: Asked) -> Dialect:
    """The dialect of a text file, as asked for and otherwise as its first lines show it."""
    encoding, errors = _encoding(path, asked.encoding)
    lines = _head(path, encoding, errors)
    line = SEP_LINE.fullmatch(lines[0])
    separator = asked.separator or (line[1] if line else None)
    lines = lines[1:] if line else lines
    tab_first = path.suffix.lower() in (".tsv", ".tab")
    separator = separator or _separator(lines, ("\t", *SEPARATORS) if tab_first else SEPARATORS)
    rows = _split(lines, separator)
    decimal = asked.decimal or _decimal(rows, separator)
    header = _has_header(rows, decimal) if asked.header is None else asked.header
    return Dialect(encoding, errors, separator, decimal, header, skip=1 if line else 0)


def _encoding(path: Path, asked: str | None) -> tuple[str, str]:
    """Encoding and what to do with bytes against it: those that are no UTF-8 are kept, and made legible later."""
    if asked is not None:
        try:
            return codecs.lookup(asked).name, "strict"
        except LookupError:
            raise TableError(f"no encoding is called {shown(asked)}: try utf-8, latin-1 or utf-16") from None
    with path.open("rb") as file:
        start = file.read(2**12)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "strict"
    if b"\0" in start:
        raise TableError(f"{path.name} is no text table (it holds zero bytes): save it as CSV or give --encoding")
    return "utf-8-sig", "surrogateescape"


def _head(path: Path, encoding: str, errors: str) -> list[str]:
    """The first lines that are not blank."""
    lines: list[str] = []
    size = 0
    with path.open(encoding=encoding, errors=errors, newline="") as file:
        try:
            for line in file:
                if line.strip():
                    lines.append(line)
                    size += len(line)
                if len(lines) >= HEAD_LINES or size > HEAD_CHARACTERS:
                    break
        except UnicodeError as error:
            raise undecodable(len(lines) + 1, error) from None
    if not lines:
        raise TableError(f"{path.name} is empty: a header and rows are needed")
    return lines


def undecodable(line: int, error: UnicodeError) -> TableError:
    """The error for bytes that are not in the encoding asked for."""
    encoding = getattr(error, "encoding", "this encoding")
    return TableError(f"near line {line}: not written in {encoding}; try --encoding latin-1, or leave it out")


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The cells of some lines."""
    try:
        plain = Dialect("utf-8", "strict", separator, ".", True)
        return [[cell.strip() for cell in cells] for _, cells in plain.rows(lines)]
    except csv.Error:
        return []


def _separator(lines: Sequence[str], candidates: Sequence[str]) -> str:
    """The separator under which rows agree on their length, their cells are numbers, and there are many of them."""
    best, top = None, (0.0, 0.0, 0)
    for candidate in candidates:
        rows = _split(lines, candidate)
        width, count = Counter(len(row) for row in rows).most_common(1)[0] if rows else (1, 0)
        # a first row in one piece above others in several is the header of a single column of decimal commas
        if width == 1 or len(rows[0]) == 1:
            continue
        cells = [cell for row in rows for cell in row]
        numbers = sum(_numeric(cell, ".") or (candidate != "," and _numeric(cell, ",")) for cell in cells)
        score = (count / len(rows), numbers / len(cells), width)
        if score > top:
            best, top = candidate, score
    # a single column: any sign that it does not hold
    return best or next((sign for sign in ("\t", "|", ";") if not any(sign in line for line in lines)), ",")


def _numeric(cell: str, decimal: str) -> bool:
    return cell.casefold() in MISSING or number(cell, decimal) is not None


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """A comma where numbers with a comma are seen and none with a point."""
    cells = [cell for row in rows for cell in row]
    commas = any(COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return "," if separator != "," and commas and not any(map(POINT_NUMBER.fullmatch, cells)) else "."


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row names the columns: it has text above numbers, or no number at all."""
    first, rest = rows[0], rows[1:]
    texts = [j for j, cell in enumerate(first) if not _numeric(cell, decimal)]
    if not texts:
        return False
    below = [[row[j] for row in rest if j < len(row)] for j in texts]
    above_numbers = any(cells and all(_numeric(cell, decimal) for cell in cells) for cells in below)
    return above_numbers or not any(number(cell, decimal) is not None for cell in first)
