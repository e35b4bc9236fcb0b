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
from typing import Any, NamedTuple, TextIO

import numpy as np

from ssvgp.cli.files import check_output, load
from ssvgp.cli.voice import Voice
from ssvgp.estimator import SSVGPRegressor
from ssvgp.explain.fitted import Fitted
from ssvgp.gp import mixture
from ssvgp.run.workers import one_blas_thread
from ssvgp.tables.columns import TableError, choose
from ssvgp.tables.dialect import Asked
from ssvgp.tables.recipe import Column, Recipe
from ssvgp.tables.source import Table, open_table

COLUMNS = ("mean", "std", "lower", "upper")
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
    order: PredictOrder, model: SSVGPRegressor, recipe: Recipe, table: Table, file: TextIO, count: Count, voice: Voice
) -> None:
    kept = choose(order.keep, table.names)
    tab = order.output is not None and order.output.suffix.lower() in (".tsv", ".tab")
    writer = csv.writer(file, delimiter="\t" if tab else ",", lineterminator="\n")
    writer.writerow([*(table.names[j] for j in kept), *columns_of(model)])
    labels: Iterator[Sequence[str]] = table.texts(kept) if kept else itertools.repeat(())
    for rows in recipe.rows(table, order.missing):
        usable = usable_rows(rows.complete, order.missing or recipe.missing)
        for cells in predicted(model, rows.X, usable, order.level).values:
            shown = ["" if np.isnan(value) else f"{value:.{DIGITS}g}" for value in cells]
            writer.writerow([*next(labels), *shown])
        count.rows, count.empty = count.rows + len(usable), count.empty + int((~usable).sum())
        voice.step(f"{count.rows} rows")


class Predicted(NamedTuple):
    """Names (c,) of columns and their values (t, c), NaN in rows that cannot be used."""

    names: tuple[str, ...]
    values: np.ndarray


def usable_rows(complete: np.ndarray, missing: str) -> np.ndarray:
    """Rows (t,) that are predicted: those without gaps, or all where gaps are filled."""
    return complete if missing != "median" else np.ones_like(complete)


def columns_of(model: SSVGPRegressor) -> tuple[str, ...]:
    """What is written of a row: four columns, or four for each of many targets, behind its name and a dot."""
    targets = getattr(model, "targets_", None)
    return COLUMNS if targets is None else tuple(f"{target}.{name}" for target in targets for name in COLUMNS)


def predicted(model: SSVGPRegressor, X: np.ndarray, usable: np.ndarray, level: float) -> Predicted:
    """What is written of rows X (t, d)."""
    names = columns_of(model)
    values = np.full((len(usable), len(names)), np.nan)
    if usable.any():
        values[usable] = predictions(model, X[usable], level)
    return Predicted(names, values)


def predictions(model: SSVGPRegressor, X: np.ndarray, level: float) -> np.ndarray:
    """Mean, standard deviation and the ends of the interval of y at rows X: (t, 4), or (t, 4 q) of many targets.

    What `predict` and `predict_quantiles` give, from one pass in place of two.
    """
    if not hasattr(model, "targets_"):
        return _of_one(model.fitted_, X, level)
    out = np.full((len(X), model.targets_.size, len(COLUMNS)), np.nan)
    for k, (_, one) in enumerate(model.several_):
        if one is not None:
            out[:, k] = _of_one(one, X, level)
    return out.reshape(len(X), -1)


def _of_one(fitted: Fitted, X: np.ndarray, level: float) -> np.ndarray:
    with one_blas_thread():
        mixed = fitted.predict(fitted.inputs.rows(X))
        moments = fitted.target.moments(mixed)
        ends = fitted.target.restore(mixture.quantiles(mixed, np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])))
    return np.column_stack([moments.mean, moments.sd, ends])


def recipe_of(model: SSVGPRegressor, table: Table) -> Recipe:
    """A recipe for a model that was fitted in Python: columns by name, or all in order where it has no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and len(table.names) != model.n_features_in_:
        raise TableError(
            f"the model was fitted without names to {model.n_features_in_} columns, the table has {len(table.names)}"
        )
    return Recipe("", tuple(Column(str(name), np.nan) for name in (table.names if names is None else names)))


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
