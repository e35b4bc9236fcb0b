"""Files that commands read and write: models with the recipe of their table, and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssvgp import store
from ssvgp.classifier import SSVGPClassifier, model_of
from ssvgp.estimator import SSVGPRegressor
from ssvgp.tables.columns import MissingLibrary, TableError, shown
from ssvgp.tables.recipe import Recipe, recipe_from, recipe_record

SUFFIX = ".ssvgp"
Model = SSVGPRegressor | SSVGPClassifier
ENTRY, NOTES = "recipe", "table_notes"  # in the header of a model file


@dataclass(frozen=True)
class ModelFile:
    """A model, how the columns of a table become its inputs (None where it was fitted in Python), and what was done."""

    model: Model
    recipe: Recipe | None = None
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """Name of what it predicts, where that is known."""
        return self.recipe.target if self.recipe is not None else ""


def save(file: ModelFile, path: Path) -> None:
    """Write a model with its recipe and notes, which are two more entries in the header of the file."""
    more = {} if file.recipe is None else {ENTRY: recipe_record(file.recipe), NOTES: list(file.notes)}
    parameters = file.model.get_params(deep=False)
    if isinstance(file.model, SSVGPClassifier):
        store.save_classes(path, file.model.fitted_, parameters, more)
    elif hasattr(file.model, "targets_"):
        store.save_several(path, file.model.several_, parameters, more)
    else:
        store.save(path, file.model.fitted_, parameters, more)


def notes_of(model: Model) -> list[Mapping[str, Any]]:
    """What the method noted in each of the fits of a model: one, or one for each class or target."""
    if isinstance(model, SSVGPClassifier):
        return [part.ensemble.notes for part in model.fitted_.parts]
    if hasattr(model, "targets_"):
        return [one.ensemble.notes for one in model.several_.fits if one is not None]
    return [model.ensemble_.notes]


def load(path: Path) -> ModelFile:
    """Read a model with its recipe; an error says why it cannot be read."""
    if path.is_dir():
        raise TableError(f"{shown(str(path))} is a folder: name a model in it")
    if not path.exists():
        raise TableError(f"no file {shown(str(path))}: `ssvgp fit` writes models")
    stored = store.load_any(path)
    record, notes = stored.header.get(ENTRY), tuple(str(note) for note in stored.header.get(NOTES, ()))
    return ModelFile(model_of(stored), None if record is None else _recipe(record, path), notes)


def _recipe(record: Any, path: Path) -> Recipe:
    try:
        return recipe_from(record)
    except (KeyError, TypeError, ValueError):
        raise TableError(f"{shown(str(path))} does not say how its table was read: fit again") from None


def report_writer() -> Callable[[Model, Path, str, Sequence[str]], object]:
    """What writes the report of a model as one HTML page; asked for before a fit, so that it is not missed after."""
    from ssvgp.report import overview, report, style  # here, since other commands do without what they load

    try:
        style.library()
    except ImportError:
        raise MissingLibrary("reports need matplotlib: pip install 'ssvgp[plots]'") from None

    def write(model: SSVGPRegressor, path: Path, target: str, notes: Sequence[str]) -> None:
        if hasattr(model, "targets_"):
            overview.write_overview(model, path, notes)
        else:
            report.write_report(model, path, target, notes)

    return write


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
