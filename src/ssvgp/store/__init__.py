"""Files of fitted models: arrays and plain values, no code."""

from ssvgp.store.container import StoreError
from ssvgp.store.model import Stored, load, save

__all__ = ["StoreError", "Stored", "load", "save"]
