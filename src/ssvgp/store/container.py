"""A file of named arrays and one JSON header, with a version and a checksum; reading one runs no code.

The first line says what the file is and in which format, the second is the SHA-256 of all that follows: a compressed
NumPy archive that is read with pickles forbidden, whose array `header` holds JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"ssvgp model, format "
FORMAT = 1
FIRST_LINE = re.compile(re.escape(MAGIC) + rb"([1-9][0-9]*)\n")
LONGEST_LINE = 100


class StoreError(ValueError):
    """A file cannot be read, or a model cannot be written, as a model without code."""


@dataclass(frozen=True)
class Content:
    """What a file holds."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write(path: Path, content: Content) -> None:
    """Write a file in one step: a broken write leaves what was there before."""
    text = json.dumps(content.header).encode()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, header=np.frombuffer(text, dtype=np.uint8), **content.arrays)  # type: ignore[arg-type]
    payload = buffer.getvalue()
    head = MAGIC + b"%d\n%s\n" % (FORMAT, hashlib.sha256(payload).hexdigest().encode())
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head + payload)
        os.chmod(partial, 0o666 & ~_umask())  # mkstemp makes it private, an ordinary file is not
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: Path) -> Content:
    """The content of a file, after its format and checksum were found right."""
    with path.open("rb") as file:
        first, second, payload = file.readline(LONGEST_LINE), file.readline(LONGEST_LINE), file.read()
    found = FIRST_LINE.fullmatch(first)
    if found is None:
        raise StoreError(f"{path} is no file of an ssvgp model; model.save(path) writes one")
    if int(found[1]) > FORMAT:
        raise StoreError(
            f"{path} has format {int(found[1])}, and this version of ssvgp reads formats up to {FORMAT}: upgrade ssvgp"
        )
    if second != hashlib.sha256(payload).hexdigest().encode() + b"\n":
        raise StoreError(f"{path} is damaged: it was cut short or altered after it was written; save the model again")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return Content(json.loads(arrays.pop("header").tobytes()), arrays)
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} does not hold what a model is made of: {error}") from error
