"""Files of fitted models: arrays and plain values, no code."""

from ssvgp.store.container import StoreError, read
from ssvgp.store.model import SEVERAL, Stored, load, save, stored_in
from ssvgp.store.several import StoredSeveral, load_several, save_several

__all__ = [
    "SEVERAL",
    "StoreError",
    "Stored",
    "StoredSeveral",
    "load",
    "load_several",
    "read",
    "save",
    "save_several",
    "stored_in",
]
