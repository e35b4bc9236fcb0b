"""Results as JSON lines, one for each trial: written whole or not at all, and read back by key."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

RESULTS = Path(__file__).parent / "results"

Line = dict[str, Any]
Key = tuple[str, str, int]


def file_of(experiment: str, smoke: bool, results: Path = RESULTS) -> Path:
    """The file of an experiment. A smoke run has one of its own: it must never stand among measurements."""
    return results / f"{experiment}{'-smoke' if smoke else ''}.jsonl"


def key_of(line: Mapping[str, Any]) -> Key:
    """What tells one trial from another within an experiment."""
    return (line["design"], line["method"], line["trial"])


def checkpoint_of(job: Mapping[str, Any]) -> str | None:
    """Where a trial that takes hours is written down as it goes: SSVGP_CHECKPOINTS, or a folder beside the results."""
    if job["smoke"]:
        return None
    folder = Path(os.environ.get("SSVGP_CHECKPOINTS", RESULTS.parent / "checkpoints"))
    return str(folder / f"{job['experiment']}-{job['design']}-{job['method']}-{job['trial']}.pt")


def read(path: Path) -> list[Line]:
    """The trials of a file, the last line of each key, in the order of the file.

    A last line without its end was being written when the run was killed: it is passed over.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole, _, _ = text.rpartition("\n")
    found: dict[Key, Line] = {}
    for number, row in enumerate(whole.splitlines(), start=1):
        try:
            line = json.loads(row)
            found[key_of(line)] = line
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name}, line {number} is no result ({error!r}): mend or remove it") from error
    return list(found.values())


def mend(path: Path) -> bool:
    """Cut off a half-written last line; says whether there was one."""
    if not path.exists():
        return False
    with _locked(path) as stream:
        text = stream.read()
        whole = text[: text.rfind("\n") + 1]
        if whole == text:
            return False
        stream.seek(0)
        stream.truncate()
        stream.write(whole)
    return True


def append(path: Path, line: Mapping[str, Any]) -> None:
    """Add one trial; runs that share the file wait for each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    row = json.dumps(line, allow_nan=False) + "\n"
    with _locked(path) as stream:
        stream.seek(0, 2)
        stream.write(row)


def keep(
    results: Iterable[Line], path: Path, said: Callable[[Line], str], packed: Callable[[Line], Line] = dict
) -> list[Line]:
    """The loop of all measurements: each result is stored and printed as it comes, so that a broken run keeps its part.

    `said` and `packed` make what is printed and what is stored of a result. Results come from processes
    (experiments/runner.py) or from draws over seeds (experiments/cases.py).
    """
    found = []
    for line in results:
        append(path, packed(line))
        print(said(line), flush=True)
        found.append(line)
    return found


@contextmanager
def _locked(path: Path) -> Iterator[TextIO]:
    """The file, open for reading and writing, for one process at a time."""
    with path.open("r+", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream
        stream.flush()
