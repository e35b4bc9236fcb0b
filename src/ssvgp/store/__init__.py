"""Files of fitted models: arrays and plain values, no code."""

from ssvgp.store.classes import StoredClasses, load_any, save_classes
from ssvgp.store.container import StoreError
from ssvgp.store.model import Stored, load, save

__all__ = ["StoreError", "Stored", "StoredClasses", "load", "load_any", "save", "save_classes"]
