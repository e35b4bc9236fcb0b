"""A folder in which every finished target has its file, so that a run that was killed goes on where it was.

A file is written under another name and then renamed: it is whole or not there. It is known by the name and the values
of its target, and the folder by a fingerprint of the table and the settings: another table, or other settings, are
refused. Targets may be added and stand in another order.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.explain.fitted import Fitted
from ssvgp.many.table import SharedTable
from ssvgp.run.memo import digest
from ssvgp.store.container import Content, StoreError, write
from ssvgp.store.model import content_of, load
from ssvgp.store.settings import parameters_of

RUN = "run.json"
SUFFIX = ".ssvgp"
IRRELEVANT = ("n_jobs", "verbose", "callback", "max_memory", "threshold", "checkpoint")  # no fit depends on them
COMMON = "common"  # entry of a file: whether its rows are those of all targets
LONGEST = 40  # characters of a target's name in the name of its file


class CheckpointError(ValueError):
    """A folder cannot be used to go on: it belongs to another table or to other settings."""


def fingerprint(X: np.ndarray, table: SharedTable, parameters: dict[str, Any]) -> str:
    """What a fit depends on beside its target: numbers of the table, weights, known noise, and settings."""
    found = hashlib.blake2b(digest_size=16)
    for part in (X, table.weights, table.known):
        found.update(b"none" if part is None else digest(np.asarray(part)))
    settings = parameters_of({name: value for name, value in parameters.items() if name not in IRRELEVANT})
    found.update(json.dumps(settings, sort_keys=True).encode())
    return found.hexdigest()


@dataclass(frozen=True, eq=False)
class Kept:
    """A fit from a file; `common`: it has the rows of all targets, which the file does not hold."""

    fitted: Fitted
    common: bool


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished targets, opened for one table and one set of parameters."""

    folder: Path
    parameters: dict[str, Any]

    def find(self, name: str, y: np.ndarray) -> Kept | None:
        """The fit of a target that was finished before; None where there is none that is whole."""
        path = self._path(name, y)
        if not path.exists():
            return None
        try:
            stored = load(path)
        except StoreError:  # damaged since: it is fitted again
            return None
        return Kept(stored.fitted, bool(stored.header.get(COMMON)))

    def keep(self, name: str, y: np.ndarray, fitted: Fitted, common: bool) -> None:
        """Write a finished target, without the rows where it has those of all."""
        content = content_of(fitted, self.parameters, {"target": name, COMMON: common})
        write(self._path(name, y), _without_table(content) if common else content)

    def _path(self, name: str, y: np.ndarray) -> Path:
        word = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:LONGEST]
        key = hashlib.blake2b(name.encode() + digest(y), digest_size=8).hexdigest()
        return self.folder / f"{word}-{key}{SUFFIX}"


def _without_table(content: Content) -> Content:
    """The same without rows and scales, which the table of the next run gives back."""
    arrays, n = dict(content.arrays), content.arrays["y"].size
    arrays |= {"X": np.empty((n, 0)), "stored": np.empty(0, dtype=np.int64)}
    arrays |= {name: np.zeros(arrays[name].shape) for name in ("centre", "spread")}
    return Content({**content.header, "table": "columns"}, arrays)


def open_checkpoint(folder: str | os.PathLike[str], mark: str, parameters: dict[str, Any]) -> Checkpoint:
    """The folder, made where it is not there yet; an error where it is that of another table or of other settings."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise CheckpointError(f"checkpoint={str(path)!r} is a file: name a folder")
    path.mkdir(parents=True, exist_ok=True)
    note = path / RUN
    if not note.exists():
        if any(path.iterdir()):
            raise CheckpointError(f"the folder {str(path)!r} is not empty and no checkpoint: name another")
        partial = note.with_suffix(".part")
        partial.write_text(json.dumps({"fingerprint": mark}), encoding="utf-8")
        os.replace(partial, note)
    try:
        found = json.loads(note.read_text(encoding="utf-8"))["fingerprint"]
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(f"{str(note)!r} is damaged: name another folder") from None
    if found != mark:
        raise CheckpointError(
            f"the checkpoint {str(path)!r} belongs to another table or to other settings: name another folder, or give"
            " the table and the settings with which it was begun"
        )
    for left in path.glob(f"*{SUFFIX}*.part"):  # of a write that was killed
        left.unlink(missing_ok=True)
    return Checkpoint(path, parameters)
