"""Files of fitted models: arrays and plain values, no code."""

from ssvgp.store.classes import StoredClasses, save_classes
from ssvgp.store.container import StoreError
from ssvgp.store.model import Stored, load, save
from ssvgp.store.reading_any import load_any
from ssvgp.store.several import StoredSeveral, save_several

__all__ = [
    "StoreError",
    "Stored",
    "StoredClasses",
    "StoredSeveral",
    "load",
    "load_any",
    "save",
    "save_classes",
    "save_several",
]
