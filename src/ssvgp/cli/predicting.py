"""`ssvgp predict`: new rows read, predicted and written in blocks, so that their number does not matter."""

from __future__ import annotations

import csv
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ssvgp.cli.cells import columns_of, exposures_of, next_exposures, predicted, recipe_of, usable_rows
from ssvgp.cli.files import Model, check_output, load
from ssvgp.cli.voice import Voice
from ssvgp.tables.columns import TableError, choose
from ssvgp.tables.dialect import Asked
from ssvgp.tables.recipe import Recipe
from ssvgp.tables.source import Table, open_table

DIGITS = 10


@dataclass(frozen=True)
class PredictOrder:
    """What `ssvgp predict` is asked to do; without an output the rows go to standard output."""

    model: Path
    table: Path
    output: Path | None = None
    level: float = 0.95
    keep: tuple[str, ...] = ()
    missing: str | None = None
    asked: Asked = field(default_factory=Asked)
    jobs: int | None = None  # parts of a folder at a time
    neighbours: int | None = None  # that a prediction conditions on, where it does so; None: as the model says


@dataclass
class Count:
    """Rows written so far, and how many of them are empty."""

    rows: int = 0
    empty: int = 0


def predict(order: PredictOrder, voice: Voice) -> bool:
    """Carry out an order; whether all rows were predicted."""
    check_output(order.output, order.table, order.model)
    if order.output is None and voice.as_json:
        raise TableError("--json needs -o: predictions would go to the same place")
    loaded, table = load(order.model), open_table(order.table, order.asked)
    for note in table.notes:
        voice.note(note)
    if loaded.recipe is None and order.missing == "median":
        raise TableError("--missing median needs a model of `ssvgp fit`: one fitted in Python keeps no medians")
    recipe = loaded.recipe or recipe_of(loaded.model, table)
    loaded.model.predict_neighbours = order.neighbours or loaded.model.predict_neighbours
    count, finished = Count(), True
    with _output(order.output) as file:
        try:
            _write(order, loaded.model, recipe, table, file, count, voice)
        except KeyboardInterrupt:
            finished = False
    if count.empty:
        voice.note(f"{count.empty} rows have a missing or unknown value: their predictions are left empty")
    if not finished:
        voice.note(f"interrupted after {count.rows} rows")
    record: dict[str, Any] = {"command": "predict", "target": recipe.target or None, "rows": count.rows}
    record |= {"empty": count.empty, "level": order.level, "interrupted": not finished, "output": str(order.output)}
    if order.output is not None:
        voice.answer(record, [f"{count.rows} predictions in {order.output}"])
    return finished


def _write(
    order: PredictOrder, model: Model, recipe: Recipe, table: Table, file: TextIO, count: Count, voice: Voice
) -> None:
    kept = choose(order.keep, table.names)
    tab = order.output is not None and order.output.suffix.lower() in (".tsv", ".tab")
    writer = csv.writer(file, delimiter="\t" if tab else ",", lineterminator="\n")
    writer.writerow([*(table.names[j] for j in kept), *columns_of(model)])
    exposures = exposures_of(recipe, table)
    labels: Iterator[Sequence[str]] = table.texts(kept) if kept else itertools.repeat(())
    for rows in recipe.rows(table, order.missing):
        usable = usable_rows(rows.complete, order.missing or recipe.missing)
        found = predicted(model, rows.X, usable, order.level, next_exposures(exposures, len(usable)))
        for k, cells in enumerate(found.values):
            likeliest = [] if found.labels is None else [found.labels[k]]
            shown_cells = ["" if np.isnan(value) else f"{value:.{DIGITS}g}" for value in cells]
            writer.writerow([*next(labels), *likeliest, *shown_cells])
        count.rows, count.empty = count.rows + len(usable), count.empty + int((~usable).sum())
        voice.step(f"{count.rows} rows")


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """A file that gets its name once it is complete, or standard output."""
    if path is None:
        yield sys.stdout
        return
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
