"""`ssvgp predict`: new rows read, predicted and written in blocks, so that their number does not matter."""

from __future__ import annotations

import csv
import itertools
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ssvgp.classifier import SSVGPClassifier
from ssvgp.cli.files import Model, check_output, load
from ssvgp.cli.voice import Voice
from ssvgp.estimator import SSVGPRegressor
from ssvgp.gp import mixture
from ssvgp.run.workers import one_blas_thread
from ssvgp.tables.columns import TableError, choose, find, shown
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
    columns = columns_of(model)
    writer.writerow([*(table.names[j] for j in kept), *columns])
    exposures = exposures_of(recipe, table)
    labels: Iterator[Sequence[str]] = table.texts(kept) if kept else itertools.repeat(())
    for rows in recipe.rows(table, order.missing):
        usable = rows.complete if (order.missing or recipe.missing) != "median" else np.ones_like(rows.complete)
        exposure = None if exposures is None else np.array(list(itertools.islice(exposures, len(usable))))
        for cells in cells_of(model, rows.X, usable, order.level, exposure):
            writer.writerow([*next(labels), *cells])
        count.rows, count.empty = count.rows + len(usable), count.empty + int((~usable).sum())
        voice.step(f"{count.rows} rows")


def columns_of(model: Model) -> tuple[str, ...]:
    """The columns of predictions: mean and interval, or class and probabilities."""
    if isinstance(model, SSVGPClassifier):
        return ("class", *(f"probability {label}" for label in model.classes_))
    return COLUMNS


def cells_of(
    model: Model, X: np.ndarray, usable: np.ndarray, level: float, exposure: np.ndarray | None
) -> Iterator[list[str]]:
    """The cells of each row; those of rows that are not usable are empty."""
    labels = model.classes_ if isinstance(model, SSVGPClassifier) else None
    predicted = np.full((len(usable), len(columns_of(model)) - (labels is not None)), np.nan)
    if usable.any():
        own = None if exposure is None else exposure[usable]
        if isinstance(model, SSVGPClassifier):
            predicted[usable] = probabilities(model, X[usable])
        else:
            predicted[usable] = predictions(model, X[usable], level, own)
    for row in predicted:
        cells = ["" if np.isnan(value) else f"{value:.{DIGITS}g}" for value in row]
        likeliest = [] if labels is None else ["" if np.isnan(row[0]) else str(labels[int(np.argmax(row))])]
        yield likeliest + cells


def exposures_of(recipe: Recipe, table: Table) -> Iterator[float] | None:
    """The exposure of each row of a new table, where the fit had one."""
    if not recipe.exposure:
        return None
    place = find(recipe.exposure, table.names)

    def each() -> Iterator[float]:
        for block in table.blocks([place], {}):
            wrong = np.flatnonzero(~(block.values[:, 0] > 0.0))
            if wrong.size:
                line = block.lines[wrong[0]]
                raise TableError(f"{table.unit} {line}, column {shown(recipe.exposure)}: an exposure lies above zero")
            yield from block.values[:, 0].tolist()

    return each()


def probabilities(model: SSVGPClassifier, X: np.ndarray) -> np.ndarray:
    """Probabilities (t, c) of the classes at rows X."""
    with warnings.catch_warnings(), one_blas_thread():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # checked by the recipe
        return model.predict_proba(X)


def predictions(model: SSVGPRegressor, X: np.ndarray, level: float, exposure: np.ndarray | None = None) -> np.ndarray:
    """Mean, standard deviation and the ends of the interval of y at rows X: (t, 4).

    What `predict` and `predict_quantiles` give, from one pass in place of two.
    """
    with warnings.catch_warnings(), one_blas_thread():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # checked by the recipe
        known = {} if exposure is None else {"exposure": exposure}
        mixed, target = model.predict_mixture(X, **known), model.fitted_.target
        moments = target.moments(mixed)
        ends = target.restore(mixture.quantiles(mixed, np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])))
    return np.column_stack([moments.mean, moments.sd, ends])


def recipe_of(model: Model, table: Table) -> Recipe:
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
