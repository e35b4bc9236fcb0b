"""A folder of Parquet files as a table that commands can prepare, whole or as a sample of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ssvgp.disk.folder import files_in, is_number, library, opened, unreadable, whole
from ssvgp.disk.moments import Moments
from ssvgp.disk.survey import Drawing
from ssvgp.tables.arrow import ArrowTable, arrow_table
from ssvgp.tables.cells import Block
from ssvgp.tables.columns import TableError, find, listed, shown
from ssvgp.tables.recipe import no_number, refuse_below_zero, refuse_infinite

KIND = "Parquet"


@dataclass
class FolderTable:
    """All files of a folder, one after the other, with the columns that `reference` has: a file, or a model.

    `numbers` say whether each column holds numbers, None where both will do; `unit` names the file that is being read;
    `beyond` are columns that the reference lacks, with the first file in which they were seen.
    """

    folder: Path
    files: tuple[Path, ...]
    names: tuple[str, ...]
    numbers: tuple[bool | None, ...]
    reference: str
    unit: str = "row"
    beyond: dict[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of the files that were read so far."""
        names = [f"{name} ({file})" for name, file in self.beyond.items()]
        return (f"left out columns that {self.reference} lacks: {listed(names)}",) if names else ()

    def blocks(
        self, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]:
        """The columns asked for, file by file."""
        for part in self.parts():
            yield from self.of_file(part, columns, vocabularies)

    def parts(self) -> Iterator[ArrowTable]:
        """The files, each checked for the columns of the first and their types."""
        for path in self.files:
            self.unit = f"{path.name}, row"
            yield self.checked(path)

    def checked(self, path: Path) -> ArrowTable:
        """One file as a table, with the columns and types of the folder."""
        schema = opened(path).schema_arrow
        absent = [name for name in self.names if name not in schema.names]
        if absent:
            raise TableError(f"{whole(path)} lacks the column {shown(absent[0])}, which {self.reference} has")
        for name, number in zip(self.names, self.numbers, strict=True):
            kind = schema.field(name).type
            if number is not None and is_number(kind) != number and str(kind) != "null":
                what = "numbers" if number else "text"
                raise TableError(f"{whole(path)}, column {shown(name)}: {kind} where {self.reference} has {what}")
        for name in schema.names:
            if name not in self.names:
                self.beyond.setdefault(name, path.name)
        return arrow_table(path, KIND)

    def of_file(
        self, part: ArrowTable, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]:
        """The columns of one file, by the names of the folder's."""
        places = [part.names.index(self.names[j]) for j in columns]
        given = vocabularies or {}
        words = {place: given[j] for j, place in zip(columns, places, strict=True) if j in given}
        back = dict(zip(places, columns, strict=True))
        try:
            for block in part.blocks(places, words):
                yield Block(block.values, block.lines, {back[place]: odd for place, odd in block.odd.items()})
        except Exception as error:
            raise unreadable(part.path, error) from None

    def texts(self, columns: Sequence[int]) -> Iterator[list[str]]:
        """The cells of the columns asked for, row by row, as text."""
        for part in self.parts():
            yield from part.texts([part.names.index(self.names[j]) for j in columns])


def folder_table(folder: Path) -> FolderTable:
    """A folder of Parquet files with the names and types of the first."""
    library()
    files = files_in(folder)
    return _like(files[0], folder, files)


def folder_for(folder: Path, needed: Mapping[str, bool | None]) -> FolderTable:
    """A folder of Parquet files for a model that needs these columns, and whether they hold numbers.

    A file that cannot be read is told of when its turn comes. A model that knows its columns by place alone takes those
    of the first file that can.
    """
    library()
    files = files_in(folder)
    if needed:
        return FolderTable(folder, tuple(files), tuple(needed), tuple(needed.values()), "the model")
    for path in files[:-1]:
        try:
            return _like(path, folder, files)
        except TableError:
            continue
    return _like(files[-1], folder, files)


def _like(path: Path, folder: Path, files: Sequence[Path]) -> FolderTable:
    """The folder with the names and types of one of its files."""
    schema = opened(path).schema_arrow
    if not schema.names:
        raise TableError(f"{whole(path)} has no columns")
    if len(set(schema.names)) < len(schema.names):
        raise TableError(f"{whole(path)} has two columns of one name: rename one of them")
    numbers = tuple(is_number(schema.field(name).type) for name in schema.names)
    return FolderTable(folder, tuple(files), tuple(schema.names), numbers, path.name)


@dataclass
class SampledTable:
    """At most `most` rows of a folder, drawn at random in one pass, the same in every pass.

    `moments` are those of all rows, of each column that was asked for, by its place. `weight` names a column by which
    rows count, of which none of weight zero is drawn, and `noise` one of known variances.
    """

    table: FolderTable
    most: int
    seed: int = 0
    weight: str = ""
    noise: str = ""
    rows: int = 0
    moments: dict[int, Moments] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.table.notes

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def unit(self) -> str:
        return self.table.unit

    def texts(self, columns: Sequence[int]) -> Iterator[list[str]]:
        return self.table.texts(columns)

    def blocks(
        self, columns: Sequence[int], vocabularies: Mapping[int, Mapping[str, float]] | None = None
    ) -> Iterator[Block]:
        """One pass: cells that cannot be read are told at once, the sample comes at the end as one block."""
        weigh = find(self.weight, self.names) if self.weight else None
        both = [*columns] if weigh is None or weigh in columns else [*columns, weigh]
        drawing, c = Drawing(len(both), self.most, self.seed), len(columns)
        for number, part in enumerate(self.table.parts()):
            drawing.begin(number)
            for block in self.table.of_file(part, both, vocabularies):
                self._check(block, both)
                if block.odd:
                    yield Block(block.values[:0, :c], block.lines[:0], block.odd)
                drawing.take(block.values, None if weigh is None else block.values[:, both.index(weigh)])
        found = drawing.found()
        self.rows = found.rows
        self.moments |= {place: found.moments.columns(slice(k, k + 1)) for k, place in enumerate(both)}
        sample = found.sample.in_order()
        yield Block(sample.values[:, :c], sample.places[:, 1], {})

    def _check(self, block: Block, columns: Sequence[int]) -> None:
        """What no sample may hide: infinite values, and weights and variances that are none."""
        refuse_infinite(block, self, columns)
        for name in (name for name in (self.weight, self.noise) if name):
            place = find(name, self.names)
            if place in block.odd:
                raise no_number(self, place, block.odd[place])
            if place in columns:
                refuse_below_zero(block.values[:, list(columns).index(place)], block.lines, self, name)
