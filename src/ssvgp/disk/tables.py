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
from ssvgp.tables.columns import TableError, find, shown
from ssvgp.tables.recipe import no_number, refuse_below_zero, refuse_infinite

KIND = "Parquet"


@dataclass
class FolderTable:
    """All files of a folder, one after the other; `unit` names the file that is being read, for messages."""

    folder: Path
    files: tuple[Path, ...]
    names: tuple[str, ...]
    numbers: tuple[bool, ...]  # whether each column holds numbers, as the first file has it
    notes: tuple[str, ...] = ()
    unit: str = "row"

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
            raise TableError(f"{whole(path)} lacks the column {shown(absent[0])}, which {self.files[0].name} has")
        for name, number in zip(self.names, self.numbers, strict=True):
            kind = schema.field(name).type
            if is_number(kind) != number and str(kind) != "null":
                what = "numbers" if number else "text"
                raise TableError(f"{whole(path)}, column {shown(name)}: {kind} where the other parts have {what}")
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
    schema = opened(files[0]).schema_arrow
    if not schema.names:
        raise TableError(f"{whole(files[0])} has no columns")
    if len(set(schema.names)) < len(schema.names):
        raise TableError(f"{whole(files[0])} has two columns of one name: rename one of them")
    numbers = tuple(is_number(schema.field(name).type) for name in schema.names)
    return FolderTable(folder, tuple(files), tuple(schema.names), numbers)


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
    notes: tuple[str, ...] = field(default=())

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
