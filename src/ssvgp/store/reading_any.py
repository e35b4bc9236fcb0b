"""A file of any kind: one target, several, or classes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ssvgp.store.classes import CLASSES, StoredClasses, load_classes
from ssvgp.store.container import read
from ssvgp.store.model import SEVERAL, Stored, stored_in
from ssvgp.store.several import StoredSeveral, load_several


def load_any(path: str | PathLike[str]) -> Stored | StoredClasses | StoredSeveral:
    """What a file holds; `StoreError` where it is damaged, newer, or no such file."""
    content = read(Path(path))
    if CLASSES in content.header:
        return load_classes(path, content)
    return load_several(path, content) if SEVERAL in content.header else stored_in(content, path)
