"""Files that commands read and write: models with the recipe of their table, and reports."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssvgp import store
from ssvgp.estimator import SSVGPRegressor
from ssvgp.store import container
from ssvgp.tables.columns import MissingLibrary, TableError, shown
from ssvgp.tables.recipe import Recipe, recipe_from, recipe_record

SUFFIX = ".ssvgp"
ENTRY = "recipe"  # in the header of a model file


@dataclass(frozen=True)
class ModelFile:
    """A model, and how the columns of a table become its inputs (None where it was fitted in Python)."""

    model: SSVGPRegressor
    recipe: Recipe | None = None


def save(file: ModelFile, path: Path) -> None:
    """Write a model with its recipe, which is one more entry in the header of the file."""
    store.save(file.model, path)
    if file.recipe is not None:
        plain = container.read(path)
        container.write(path, replace(plain, header={**plain.header, ENTRY: recipe_record(file.recipe)}))


def load(path: Path) -> ModelFile:
    """Read a model with its recipe; an error says why it cannot be read."""
    if path.is_dir():
        raise TableError(f"{shown(str(path))} is a folder: name a model in it")
    if not path.exists():
        raise TableError(f"no file {shown(str(path))}: `ssvgp fit` writes models")
    model, record = store.load(path), container.read(path).header.get(ENTRY)
    return ModelFile(model, None if record is None else _recipe(record, path))


def _recipe(record: Any, path: Path) -> Recipe:
    try:
        return recipe_from(record)
    except (KeyError, TypeError, ValueError):
        raise TableError(f"{shown(str(path))} does not say how its table was read: fit again") from None


def report_writer() -> Callable[[SSVGPRegressor, Path], object]:
    """What writes the report of a model as one HTML page; asked for before a fit, so that it is not missed after."""
    try:
        return importlib.import_module("ssvgp.show.report").write_report
    except ImportError as error:
        raise MissingLibrary(f"reports need {error.name}: pip install 'ssvgp[plots]'") from None


def check_output(path: Path | None, *inputs: Path) -> None:
    """Refuse a place that cannot be written before anything takes time, and one that would overwrite an input."""
    if path is None:
        return
    if path.is_dir():
        raise TableError(f"{shown(str(path))} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise TableError(f"no folder {shown(str(path.parent))} to write {shown(path.name)} to")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise TableError(f"{shown(str(path))} cannot be written: choose another place with -o")
    if any(path.resolve() == other.resolve() for other in inputs):
        raise TableError(f"{shown(str(path))} is the input: choose another name for the output")
