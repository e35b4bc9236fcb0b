"""Folders of Parquet files in commands: a sample for a fit, predictions part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.cli.cells import exposures_of, next_exposures, predicted, recipe_of, usable_rows
from ssvgp.cli.files import ModelFile, load
from ssvgp.cli.voice import Voice
from ssvgp.disk.folder import opened
from ssvgp.disk.moments import Moments
from ssvgp.disk.predicting import Columns, Made, mark_of, predict_parts
from ssvgp.disk.sampled import Sampled
from ssvgp.disk.tables import FolderTable, SampledTable, folder_for, folder_table
from ssvgp.tables.columns import TableError, choose, listed
from ssvgp.tables.prepare import Choice, Prepared
from ssvgp.tables.several import PreparedSeveral

SAMPLE_ROWS = 100_000  # of a folder, where no other number is asked for
ROWS_TOGETHER = 2**22  # cells of the inputs of rows that are predicted together
_LOADED: dict[tuple[str, int], ModelFile] = {}  # the last model that this process has read


def sampled_folder(path: Path, rows: int, seed: int, choice: Choice) -> SampledTable:
    """A folder as a table of at most so many rows."""
    return SampledTable(folder_table(path), rows, seed, choice.weight, choice.noise)


def sample_of(table: SampledTable, prepared: Prepared | PreparedSeveral, y: np.ndarray) -> Sampled:
    """What was prepared of a sample, with the moments of all rows: of columns of numbers without gaps."""
    X, recipe = prepared.X, prepared.recipe
    d, own = X.shape[1], np.ones(X.shape[1], dtype=bool)
    filled = Moments(table.rows, np.full(d, table.rows), *(np.zeros(d) for _ in range(5)))
    j = 0
    for column in recipe.columns:
        found = table.moments[table.names.index(column.name)]
        if not column.levels and not found.gaps.any():
            own[j] = False
            for name in ("mass", "mean", "square", "low", "high"):
                getattr(filled, name)[j] = getattr(found, name)[0]
        j += len(column.inputs)
    weights, noise = prepared.weights, prepared.noise
    return Sampled(X, y, table.rows, filled, own, recipe.inputs, weights=weights, noise=noise)


def sampling_notes(sample: Sampled) -> list[str]:
    """What a sample leaves out, in sentences; none where it is the whole table."""
    if sample.whole:
        return []
    notes = [f"fitted to {sample}"]
    if (far := sample.far()).size and sample.names is not None:
        names = listed([sample.names[j] for j in far])
        notes.append(f"other rows reach far beyond the sample, predictions there are guesses: {names}")
    return notes


@dataclass(frozen=True)
class PartPredictor:
    """Predicts one file of a folder with a model; it is sent to workers, which read the model once."""

    model: Path
    table: FolderTable
    level: float
    keep: tuple[str, ...]
    missing: str | None
    neighbours: int | None

    def __call__(self, path: Path) -> Iterator[Columns]:
        try:
            yield from self._blocks(path)
        except TableError as error:
            raise TableError(f"{path.name}, {error}" if path.name not in str(error) else str(error)) from None

    def _blocks(self, path: Path) -> Iterator[Columns]:
        loaded, part = _model(self.model), self.table.checked(path)
        recipe = loaded.recipe or recipe_of(loaded.model, self.table)
        loaded.model.predict_neighbours = self.neighbours or loaded.model.predict_neighbours
        kept = [part.names[j] for j in choose(self.keep, part.names)]
        beside, start = opened(path).read(columns=kept) if kept else None, 0
        exposures = exposures_of(recipe, part)
        for X, complete in _together(recipe.rows(part, self.missing), len(recipe.inputs)):
            usable = usable_rows(complete, self.missing or recipe.missing)
            exposure = next_exposures(exposures, len(usable))
            names, values, labels = predicted(loaded.model, X, usable, self.level, exposure)
            some = None if beside is None else beside.slice(start, len(usable))
            columns: dict[str, Any] = {} if some is None else {name: some.column(name) for name in kept}
            likeliest = [] if labels is None else [labels]
            columns |= dict(zip(names, [*likeliest, *values.T], strict=True))
            start += len(usable)
            yield Columns(columns, int((~usable).sum()))


def _together(blocks: Iterator[Any], d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of rows joined: near rows share their work, the more of them the better. One of none for no rows."""
    waiting, cells, empty = list[Any](), 0, True
    for block in blocks:
        waiting.append(block)
        cells += block.X.size
        if cells >= ROWS_TOGETHER:
            yield _joined(waiting)
            waiting, cells, empty = [], 0, False
    if waiting:
        yield _joined(waiting)
    elif empty:
        yield np.empty((0, d)), np.empty(0, dtype=bool)


def _joined(blocks: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([one.X for one in blocks]), np.concatenate([one.complete for one in blocks])


def _needed(loaded: ModelFile) -> dict[str, bool | None]:
    """The columns that a model needs, and whether each must hold numbers; none where it knows them by place."""
    if loaded.recipe is None:
        return {str(name): True for name in getattr(loaded.model, "feature_names_in_", ())}
    found: dict[str, bool | None] = {one.name: None if one.levels else True for one in loaded.recipe.columns}
    return found | ({loaded.recipe.exposure: True} if loaded.recipe.exposure else {})


def _model(path: Path) -> ModelFile:
    key = (str(path), path.stat().st_mtime_ns)
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = load(path)
    return _LOADED[key]


def predict_folder(order: Any, voice: Voice) -> bool:
    """Carry out an order for a folder: whatever part fails, the others are predicted and kept."""
    if order.output is None:
        raise TableError("predictions of a folder go to a folder: -o FOLDER")
    if order.output.resolve() == order.table.resolve():
        raise TableError("the output is the input: choose another folder with -o")
    table = folder_for(order.table, _needed(load(order.model)))
    options = {"level": order.level, "keep": list(order.keep), "missing": order.missing, "neighbours": order.neighbours}
    mark = mark_of(order.model, order.table, **options)
    light = replace(table, files=table.files[:1])
    predictor = PartPredictor(order.model.resolve(), light, order.level, order.keep, order.missing, order.neighbours)

    def report(made: Made, count: int, total: int) -> None:
        what = made.error or ("kept" if made.kept else f"{made.rows} rows")
        voice.step(f"{count} of {total}: {made.name}: {what}")

    files = [order.table.resolve() / path.relative_to(order.table) for path in table.files]
    made = predict_parts(order.table.resolve(), files, order.output.resolve(), mark, predictor, order.jobs, report)
    failed = [one for one in made if one.error]
    if failed:
        count = f"{len(failed)} of {len(made)} parts failed, the others are done and kept"
        also = f"; also {listed([one.name for one in failed[1:]])}" if failed[1:] else ""
        raise TableError(f"{failed[0].error} ({count}{also})")
    rows, empty = sum(one.rows for one in made), sum(one.empty for one in made)
    record = {"command": "predict", "rows": rows, "empty": empty, "parts": len(made)}
    record |= {"kept": sum(one.kept for one in made), "level": order.level, "output": str(order.output)}
    if empty:
        voice.note(f"{empty} rows have a missing or unknown value: their predictions are left empty")
    voice.answer(record, [f"{rows} predictions of {len(made)} parts in {order.output}"])
    return True
