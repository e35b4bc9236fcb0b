"""Predictions of a folder, part by part: a file for each file, whole or not there, and none is made twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ssvgp.disk.folder import library, unreadable, whole
from ssvgp.run.deaths import despite_deaths
from ssvgp.tables.columns import TableError

RUN = "_ssvgp.json"  # what the predictions of a folder were made with
SOURCE = b"ssvgp.source"  # in the notes of each file: which part it belongs to
PART = ".part"


@dataclass(frozen=True)
class Made:
    """What came of a part: rows and how many of them are empty, or the error; `kept` where it was there before."""

    name: str
    rows: int = 0
    empty: int = 0
    error: str = ""
    kept: bool = False


@dataclass(frozen=True, eq=False)
class Columns:
    """Successive rows of an output: named columns, numbers (t,) or lists of text."""

    values: dict[str, Any]
    empty: int = 0

    @property
    def rows(self) -> int:
        return len(next(iter(self.values.values())))


Predict = Callable[[Path], Iterator[Columns]]  # one part, block by block


def predict_parts(
    folder: Path,
    files: Sequence[Path],
    out: Path,
    mark: dict[str, Any],
    predict: Predict,
    n_jobs: int | None = None,
    report: Callable[[Made, int, int], None] | None = None,
) -> list[Made]:
    """Write the predictions of every file to `out` under the same name, over joblib's active backend.

    Parts that are there are kept where they belong to the same file as it is now; `mark` says what they were made with,
    and a folder of another mark is refused. A part that fails loses no other. `report` hears of each, and of how many.
    """
    library()
    gone = open_output(out, mark, [str(path.relative_to(folder)) for path in files])
    files, made = [*files, *(folder / name for name in gone)], list[Made]()

    def start() -> Iterator[Made]:
        for one in _over(folder, files[len(made) :], out, predict, n_jobs):
            made.append(one)
            yield one

    for one in despite_deaths(start, lambda: len(files) - len(made), "parts"):
        if report is not None:
            report(one, len(made), len(files))
    return made


def _over(folder: Path, files: Sequence[Path], out: Path, predict: Predict, n_jobs: int | None) -> Iterator[Made]:
    """What comes of the files, in their order."""
    jobs = (delayed(predict_part)(path, out / path.relative_to(folder), predict) for path in files)
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1, pre_dispatch="n_jobs")
    except ValueError:  # a backend that gives its results at the end
        parallel = Parallel(n_jobs=n_jobs)
    yield from parallel(jobs)


def predict_part(path: Path, target: Path, predict: Predict) -> Made:
    """One part: from a file to the file of its predictions, which gets its name once it is whole."""
    from pyarrow import ArrowException

    try:
        source = _source(path)
        there = _made_of(target)
        if there is not None and there.get("source") == source:
            return Made(path.name, int(there["rows"]), int(there["empty"]), kept=True)
        return _write(path, target, predict, source)
    except TableError as error:
        return Made(path.name, error=str(error))
    except (OSError, ArrowException) as error:
        return Made(path.name, error=str(unreadable(path, error)))


def _write(path: Path, target: Path, predict: Predict, source: dict[str, Any]) -> Made:
    parquet = library()
    import pyarrow as pa

    target.parent.mkdir(parents=True, exist_ok=True)
    partial, rows, empty, writer = target.with_name(f".{target.name}.{os.getpid()}{PART}"), 0, 0, None
    try:
        for block in predict(path):
            table = pa.table(block.values)
            if writer is None:
                writer = parquet.ParquetWriter(partial, table.schema)
            writer.write_table(table)
            rows, empty = rows + block.rows, empty + block.empty
        if writer is None:
            raise TableError(f"{whole(path)} has no rows")
        note = json.dumps({"source": source, "rows": rows, "empty": empty})
        writer.add_key_value_metadata({SOURCE.decode(): note})
        writer.close()
        os.replace(partial, target)
    finally:
        if writer is not None and writer.is_open:
            writer.close()
        partial.unlink(missing_ok=True)
    return Made(path.name, rows, empty)


def _source(path: Path) -> dict[str, Any]:
    """By what a part is known again: its name, size and time."""
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise unreadable(path, error) from None
    return {"name": path.name, "bytes": found.st_size, "changed": found.st_mtime_ns}


def _made_of(target: Path) -> dict[str, Any] | None:
    """The note in a finished file; None where there is none."""
    if not target.is_file():
        return None
    try:
        notes = library().read_metadata(target).metadata or {}
        found = json.loads(notes[SOURCE])
    except Exception:  # of no file of ours, or damaged since: it is made again
        return None
    return dict(found)


def open_output(out: Path, mark: dict[str, Any], parts: Sequence[str]) -> list[str]:
    """The folder of the output, made where it is not there; refused where it holds something else.

    The parts that an earlier run has seen and that are gone now.
    """
    if out.exists() and not out.is_dir():
        raise TableError(f"{whole(out)} is a file: predictions of a folder go to a folder")
    out.mkdir(parents=True, exist_ok=True)
    note, gone = out / RUN, list[str]()
    if note.is_file():
        try:
            before = json.loads(note.read_text(encoding="utf-8"))
            seen, earlier = before["mark"], before["parts"]
        except (ValueError, KeyError):
            raise TableError(f"{whole(note)} is damaged: choose another folder with -o") from None
        if seen != mark:
            raise TableError(f"{whole(out)} has predictions of another model or table: choose another with -o")
        gone = [name for name in earlier if name not in parts]
    elif any(out.iterdir()):
        raise TableError(f"{whole(out)} is not empty and has no predictions: choose another folder with -o")
    partial = note.with_suffix(PART)
    partial.write_text(json.dumps({"mark": mark, "parts": [*parts, *gone]}), encoding="utf-8")
    os.replace(partial, note)
    for left in out.rglob(f".*{PART}"):  # of a write that was killed
        left.unlink(missing_ok=True)
    return gone


def mark_of(model: Path, folder: Path, **options: Any) -> dict[str, Any]:
    """What predictions depend on: the content of the model, the folder, and options."""
    found = hashlib.sha256(model.read_bytes()).hexdigest()
    return {"model": found, "folder": str(folder.resolve()), **options}
