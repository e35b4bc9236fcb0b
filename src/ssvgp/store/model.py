"""A fitted model as a file of arrays: what prediction, leave-one-out and effects need, and no more.

Members without a background look at their active inputs alone, so only these columns of the standardised table are
kept, in double precision. A background looks at all inputs; then the whole table is kept in single precision, which
is how the fitted model itself holds it (`data.view.kept_rows`). Either way predictions are the same bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.data.curves import Straight
from ssvgp.data.target import Target
from ssvgp.data.view import needs_whole_table
from ssvgp.explain.fitted import Fitted
from ssvgp.records import Ensemble, Train
from ssvgp.store.container import Content, StoreError, read, write
from ssvgp.store.kernels import expression_of
from ssvgp.store.reading import CURVES, PROFILE, SCALARS, fitted_from
from ssvgp.store.settings import parameters_from, parameters_of

SEVERAL = "several"  # in the header of a file with the models of many targets


@dataclass(frozen=True)
class Stored:
    """What a file holds: a fit, the parameters of its estimator, and entries that others have put in its header."""

    fitted: Fitted
    parameters: dict[str, Any]
    header: dict[str, Any]


def save(
    path: str | PathLike[str], fitted: Fitted, parameters: dict[str, Any], entries: dict[str, Any] | None = None
) -> None:
    """Write a fit and its estimator's parameters to a file that runs no code when it is read.

    `entries` are plain values of others, such as commands, that go into the header.
    """
    write(Path(path), content_of(fitted, parameters, entries))


def content_of(fitted: Fitted, parameters: dict[str, Any], entries: dict[str, Any] | None = None) -> Content:
    """What a file of a fit holds."""
    header, arrays = _fit_parts(fitted, parameters)
    for part_header, part_arrays in (
        _member_parts(fitted.ensemble),
        _table_parts(fitted.train, fitted.ensemble),
        _row_parts(fitted, parameters),
        _target_parts(fitted.target),
        _story_parts(fitted),
    ):
        header |= part_header
        arrays |= part_arrays
    return Content({**header, **(entries or {})}, arrays)


def load(path: str | PathLike[str]) -> Stored:
    """What `save` wrote; `StoreError` where the file is damaged, newer, or no such file."""
    return stored_in(read(Path(path)), path)


def stored_in(content: Content, path: str | PathLike[str]) -> Stored:
    """The fit that a content holds; the path is named in errors."""
    if SEVERAL in content.header:
        raise StoreError(f"{path} holds the models of several targets: ssvgp.load reads it")
    try:
        fitted = fitted_from(content.header, content.arrays)
        return Stored(fitted, parameters_from(content.header["parameters"]), content.header)
    except StoreError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise StoreError(f"{path} does not hold what a model is made of: {error!r}") from error


def _version() -> str:
    try:
        return version("ssvgp")
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"


def _fit_parts(fitted: Fitted, parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    inputs, notes, names = fitted.inputs, fitted.ensemble.notes, fitted.given_names
    header = {
        "ssvgp": _version(),
        "parameters": parameters_of(parameters),
        "names": None if names is None else list(names),
        "d": inputs.d,
        "seed": fitted.seed,
        "sampled": fitted.sampled,
        "shares": {name: float(value) for name, value in notes["shares"].items()} if "shares" in notes else None,
    }
    copies = np.array(list(inputs.duplicate_of.items()), dtype=np.int64).reshape(-1, 2)
    arrays = {"kept": inputs.kept, "centre": inputs.centre, "spread": inputs.spread, "constant": inputs.constant}
    return header, arrays | {"copies": copies, "pip": fitted.ensemble.pip, "weights": fitted.ensemble.weights}


def _member_parts(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """All members side by side: numbers in arrays, active inputs and what goes with them end to end."""
    members = ensemble.members
    expressions = [expression_of(member.kernel) for member in members]
    distinct = [one for i, one in enumerate(expressions) if one not in expressions[:i]]
    header = {
        "kernels": distinct,
        "kernel_of_member": [distinct.index(one) for one in expressions],
        "backgrounds": ["" if member.background is None else member.background.name for member in members],
    }
    terms = {term.name: term.to_plain() for member in members if (term := member.background) is not None}
    header["terms"] = {name: {key: v for key, v in plain.items() if not _array(v)} for name, plain in terms.items()}
    at = [member.parameters for member in members]
    arrays = {
        "scalars": np.array([[getattr(one, name) for name in SCALARS] for one in at]),
        "sizes": np.array([member.active.size for member in members]),
        "active": np.concatenate([member.active for member in members]),
        "theta": np.concatenate([one.theta for one in at]),
        "inclusion": np.concatenate([member.inclusion for member in members]),
        "freedom": np.array([one.freedom for one in at]),
    }
    if ensemble.weak is not None:
        arrays |= {f"weak {name}": values for name, values in ensemble.weak.to_plain().items()}
    for name, plain in terms.items():  # one for all members that have it: they belong to the table
        arrays |= {f"term {name} {key}": value for key, value in plain.items() if _array(value)}
    return header, arrays


def _array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _table_parts(train: Train, ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if needs_whole_table(ensemble.members):
        return {"table": "whole"}, {"X": np.asarray(train.X).astype(np.float32), "y": train.y}
    weak = [] if ensemble.weak is None else [ensemble.weak.columns]
    stored = np.unique(np.concatenate([member.active for member in ensemble.members] + weak))
    values = np.ascontiguousarray(train.X[:, stored]) if stored.size else np.empty((train.n, 0))
    return {"table": "columns"}, {"X": values, "y": train.y, "stored": stored}


def _row_parts(fitted: Fitted, parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Weights and noise of rows, and which of the user's rows they are, where there is more than the learned noise."""
    header: dict[str, Any] = {}
    arrays = {}
    if fitted.train.noise is not None:
        named = parameters.get("likelihood", "gaussian")
        header["likelihood"] = getattr(fitted.train.noise, "name", "gaussian" if named == "auto" else named)
        arrays = {f"noise {name}": values for name, values in fitted.train.noise.to_plain().items()}
    if fitted.numbers is not None and fitted.places is not None:
        arrays |= {"numbers": fitted.numbers, "places": fitted.places}
    return header, arrays


def _target_parts(target: Target) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    kind = next(name for name, curve in CURVES.items() if type(target.curve) is curve)
    numbers = [target.centre, target.spread, target.low, target.high]
    if not isinstance(target.curve, Straight):
        numbers += [target.curve.unit, target.curve.power]  # type: ignore[attr-defined]
    return {"curve": kind, "constant_target": target.constant}, {"target": np.array(numbers, dtype=float)}


def _story_parts(fitted: Fitted) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What no prediction needs, but a report does: columns that go together, profiles over v, an interrupted fit."""
    notes = fitted.ensemble.notes
    pairs = [(one, *other) for one, others in fitted.relatives.items() for other in others]
    arrays = {f"profile_{name}": np.asarray(notes[name]) for name in PROFILE if name in notes}
    arrays["relatives"] = np.array([pair[:2] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    arrays["correlations"] = np.array([pair[2] for pair in pairs], dtype=float)
    searched = notes["search"].to_plain() if notes.get("search") else None
    reading = notes.get("reading")
    return {"interrupted": bool(notes.get("interrupted")), "search": searched, "reading": reading}, arrays
