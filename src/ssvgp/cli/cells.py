"""What is written of a row: mean and interval, class and probabilities, or the former for each of many targets."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ssvgp.classifier import SSVGPClassifier
from ssvgp.cli.files import Model
from ssvgp.estimator import SSVGPRegressor
from ssvgp.explain.fitted import Fitted
from ssvgp.gp import mixture
from ssvgp.run.workers import one_blas_thread
from ssvgp.tables.columns import TableError, find, shown
from ssvgp.tables.recipe import Column, Recipe
from ssvgp.tables.source import Table

COLUMNS = ("mean", "std", "lower", "upper")


class Predicted(NamedTuple):
    """Names of columns and their values (t, c), NaN in rows that cannot be used; labels (t,) of classes come first."""

    names: tuple[str, ...]
    values: np.ndarray
    labels: list[str] | None = None


def usable_rows(complete: np.ndarray, missing: str) -> np.ndarray:
    """Rows (t,) that are predicted: those without gaps, or all where gaps are filled."""
    return complete if missing != "median" else np.ones_like(complete)


def columns_of(model: Model) -> tuple[str, ...]:
    """What is written of a row: mean and interval, for many targets behind their names; class and probabilities."""
    if isinstance(model, SSVGPClassifier):
        return ("class", *(f"probability {label}" for label in model.classes_))
    targets = getattr(model, "targets_", None)
    return COLUMNS if targets is None else tuple(f"{target}.{name}" for target in targets for name in COLUMNS)


def predicted(
    model: Model, X: np.ndarray, usable: np.ndarray, level: float, exposure: np.ndarray | None = None
) -> Predicted:
    """What is written of rows X (t, d)."""
    names, classes = columns_of(model), isinstance(model, SSVGPClassifier)
    values = np.full((len(usable), len(names) - classes), np.nan)
    if usable.any() and isinstance(model, SSVGPClassifier):
        values[usable] = probabilities(model, X[usable])
    elif usable.any():
        values[usable] = predictions(model, X[usable], level, None if exposure is None else exposure[usable])
    if not isinstance(model, SSVGPClassifier):
        return Predicted(names, values)
    labels = ["" if np.isnan(row[0]) else str(model.classes_[int(np.argmax(row))]) for row in values]
    return Predicted(names, values, labels)


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


def next_exposures(exposures: Iterator[float] | None, rows: int) -> np.ndarray | None:
    """The exposures (t,) of the next rows, where there are any."""
    return None if exposures is None else np.array(list(itertools.islice(exposures, rows)))


def probabilities(model: SSVGPClassifier, X: np.ndarray) -> np.ndarray:
    """Probabilities (t, c) of the classes at rows X."""
    with warnings.catch_warnings(), one_blas_thread():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # checked by the recipe
        return model.predict_proba(X)


def predictions(model: SSVGPRegressor, X: np.ndarray, level: float, exposure: np.ndarray | None = None) -> np.ndarray:
    """Mean, standard deviation and the ends of the interval of y at rows X: (t, 4), or (t, 4 q) of many targets.

    What `predict` and `predict_quantiles` give, from one pass in place of two.
    """
    if not hasattr(model, "targets_"):
        return _of_one(model.fitted_, X, level, exposure)
    out = np.full((len(X), model.targets_.size, len(COLUMNS)), np.nan)
    for k, (_, one) in enumerate(model.several_):
        if one is not None:
            out[:, k] = _of_one(one, X, level)
    return out.reshape(len(X), -1)


def _of_one(fitted: Fitted, X: np.ndarray, level: float, exposure: np.ndarray | None = None) -> np.ndarray:
    with one_blas_thread():
        mixed = fitted.predict(fitted.inputs.rows(X), exposure)
        moments = fitted.target.moments(mixed)
        ends = fitted.target.restore(mixture.quantiles(mixed, np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])))
    return np.column_stack([moments.mean, moments.sd, ends])


def recipe_of(model: Model, table: Table) -> Recipe:
    """A recipe for a model that was fitted in Python: columns by name, or all in order where it has no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and len(table.names) != model.n_features_in_:
        raise TableError(
            f"the model was fitted without names to {model.n_features_in_} columns, the table has {len(table.names)}"
        )
    return Recipe("", tuple(Column(str(name), np.nan) for name in (table.names if names is None else names)))
