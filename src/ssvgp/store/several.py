"""The models of many targets in one file: arrays that several of them have stand in it once.

All arrays of a type are one long array, and the header says where each begins: an archive of a million small files
would take longer to open than to read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.data.inputs import Inputs
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.several import Several
from ssvgp.run.memo import digest
from ssvgp.store.container import Content, StoreError, read, write
from ssvgp.store.model import SEVERAL, content_of, stored_in
from ssvgp.store.settings import parameters_from, parameters_of

WHOLE = "whole"  # a table that its background looks at: one copy serves all targets


@dataclass
class _Pool:
    """Arrays end to end, by type; equal ones stand there once."""

    parts: dict[str, list[np.ndarray]] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    known: dict[tuple[Any, ...], list[Any]] = field(default_factory=dict)

    def add(self, array: np.ndarray) -> list[Any]:
        """The place of an array: type, where it begins, shape."""
        kind = array.dtype.str
        key = (kind, array.shape, digest(array))
        if key not in self.known:
            start = self.ends.get(kind, 0)
            self.parts.setdefault(kind, []).append(np.ascontiguousarray(array).ravel())
            self.ends[kind] = start + array.size
            self.known[key] = [kind, start, list(array.shape)]
        return self.known[key]

    def arrays(self) -> dict[str, np.ndarray]:
        return {f"pool {kind}": np.concatenate(parts) for kind, parts in self.parts.items()}


@dataclass(frozen=True)
class StoredSeveral:
    """What a file of many targets holds: their fits, the parameters of the estimator, and entries of others."""

    several: Several
    parameters: dict[str, Any]
    header: dict[str, Any]


def save_several(
    path: str | PathLike[str], several: Several, parameters: dict[str, Any], entries: dict[str, Any] | None = None
) -> None:
    """Write the fits of many targets to one file that runs no code when it is read."""
    pool, targets = _Pool(), []
    for name, fitted in several:
        one: dict[str, Any] = {"name": name}
        if fitted is None:
            one["error"] = several.errors.get(name, "")
        else:
            content = content_of(fitted, parameters)
            own = {key: value for key, value in content.header.items() if key != "parameters"}
            one |= {"header": own, "arrays": {key: pool.add(value) for key, value in content.arrays.items()}}
        targets.append(one)
    inputs = several.inputs
    copies = [[int(copy), int(first)] for copy, first in inputs.duplicate_of.items()]
    table = {key: pool.add(getattr(inputs, key)) for key in ("kept", "centre", "spread", "constant")}
    header = {SEVERAL: targets, "parameters": parameters_of(parameters), "d": inputs.d, "copies": copies}
    write(Path(path), Content({**header, "table": table, **(entries or {})}, pool.arrays()))


def load_several(path: str | PathLike[str], content: Content | None = None) -> StoredSeveral:
    """What `save_several` wrote."""
    content = content or read(Path(path))
    header, arrays = content.header, content.arrays
    try:
        shared: dict[int, Any] = {}
        parameters = header["parameters"]
        fits = tuple(_fitted(one, parameters, arrays, shared, path) for one in header[SEVERAL])
        names = tuple(str(one["name"]) for one in header[SEVERAL])
        errors = {str(one["name"]): str(one["error"]) for one in header[SEVERAL] if "error" in one}
        table = {key: _taken(arrays, place) for key, place in header["table"].items()}
        inputs = Inputs(int(header["d"]), duplicate_of={int(a): int(b) for a, b in header["copies"]}, **table)
        return StoredSeveral(Several(names, fits, inputs, errors), parameters_from(parameters), header)
    except StoreError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise StoreError(f"{path} does not hold what models of several targets are made of: {error!r}") from error


def _taken(arrays: dict[str, np.ndarray], place: list[Any]) -> np.ndarray:
    kind, start, shape = place
    size = math.prod(shape)
    found = arrays[f"pool {kind}"][start : start + size]
    if found.size != size:
        raise StoreError("the file does not hold all of an array that it names")
    return found.reshape(shape)


def _fitted(
    one: dict[str, Any], parameters: Any, arrays: dict[str, np.ndarray], shared: dict[int, Any], path: Any
) -> Fitted | None:
    """The fit of one target; a table that several look at is held once."""
    if "error" in one:
        return None
    own = {key: _taken(arrays, place) for key, place in one["arrays"].items()}
    fitted = stored_in(Content({**one["header"], "parameters": parameters}, own), path).fitted
    if one["header"]["table"] == WHOLE:
        X = shared.setdefault(one["arrays"]["X"][1], fitted.train.X)
        fitted = replace(fitted, train=replace(fitted.train, X=X))
    return fitted
