"""A fit to classes as a file: the parts of its models side by side, and the labels as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.explain.classes import Classified
from ssvgp.store.container import Content, StoreError, write
from ssvgp.store.model import content_of, stored_in
from ssvgp.store.settings import parameters_from, parameters_of

CLASSES = "classes"  # in the header of a file of a classifier
PLAIN = (str, int, float, bool)


@dataclass(frozen=True)
class StoredClasses:
    """What a file of a classifier holds: the fit, its parameters, and entries that others have put in its header."""

    fitted: Classified
    parameters: dict[str, Any]
    header: dict[str, Any]


def save_classes(
    path: str | PathLike[str], fitted: Classified, parameters: dict[str, Any], entries: dict[str, Any] | None = None
) -> None:
    """Write a fit to classes and its estimator's parameters; weights by class are of use in a new fit alone."""
    labels = fitted.classes.tolist()
    if not all(isinstance(label, PLAIN) for label in labels):
        raise StoreError(f"labels such as {labels[0]!r} cannot be written to a file: use texts or numbers")
    if isinstance(parameters.get("class_weight"), dict):
        parameters = {**parameters, "class_weight": None}
    parts = [content_of(part, {"likelihood": parameters["likelihood"]}) for part in fitted.parts]
    header = {
        CLASSES: labels,
        "kind_of_labels": fitted.classes.dtype.str,
        "parameters": parameters_of(parameters),
        "parts": [part.header for part in parts],
        **(entries or {}),
    }
    arrays = {f"{k} {name}": values for k, part in enumerate(parts) for name, values in part.arrays.items()}
    write(Path(path), Content(header, arrays))


def load_classes(path: str | PathLike[str], content: Content) -> StoredClasses:
    """What `save_classes` wrote."""
    try:
        header, parts = content.header, []
        for k, one in enumerate(header["parts"]):
            own = {name.removeprefix(f"{k} "): v for name, v in content.arrays.items() if name.startswith(f"{k} ")}
            parts.append(stored_in(Content(one, own), path).fitted)
        labels = np.array(header[CLASSES], dtype=np.dtype(header["kind_of_labels"]))
        if labels.size < 2 or len(parts) != (1 if labels.size == 2 else labels.size):
            raise StoreError(f"{path} has {len(parts)} models for {labels.size} classes")
        return StoredClasses(Classified(labels, tuple(parts)), parameters_from(header["parameters"]), header)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path} does not hold what a model is made of: {error!r}") from error
