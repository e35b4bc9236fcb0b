"""The parameters of an estimator as plain values, and back."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.settings import AutoSettings, PaperSettings, Prior, SearchSettings
from ssvgp.store.container import StoreError
from ssvgp.store.kernels import expression_of, kernel_of

RECORDS = {kind.__name__: kind for kind in (AutoSettings, PaperSettings, Prior, SearchSettings)}
FORGOTTEN = ("callback", "checkpoint")  # code, or a place on one machine, and of use in a fit alone


def parameters_of(given: dict[str, Any]) -> dict[str, Any]:
    """Constructor parameters as plain values.

    A callback, and a random state that is no whole number, are left out: both are of use in a new fit alone.
    """
    out = {}
    for name, value in given.items():
        if name in FORGOTTEN or (name == "random_state" and not isinstance(value, (int, np.integer))):
            value = None
        out[name] = _plain(value, name)
    return out


def _plain(value: Any, name: str) -> Any:
    if is_dataclass(value) and type(value).__name__ in RECORDS:
        inner = {field.name: _plain(getattr(value, field.name), field.name) for field in fields(value)}
        return {"record": type(value).__name__, "fields": inner}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [_plain(one, name) for one in value]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Kernel):
        return {"kernel": expression_of(value)}
    raise StoreError(f"the parameter {name} is a {type(value).__name__}, which a model file cannot hold")


def parameters_from(stored: dict[str, Any]) -> dict[str, Any]:
    """Constructor parameters from plain values."""
    return {name: _value(value) for name, value in stored.items()}


def _value(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    ((kind, content), *more) = stored.items()
    if kind == "record" and content in RECORDS:
        kind_of = RECORDS[content]
        known = {field.name for field in fields(kind_of)}  # a setting that is gone since was for fits alone
        return kind_of(**{name: _value(value) for name, value in stored["fields"].items() if name in known})
    if kind == "kernel" and not more:
        return kernel_of(content)
    if kind in ("list", "tuple") and not more:
        values = [_value(one) for one in content]
        return values if kind == "list" else tuple(values)
    raise StoreError(f"the file holds a parameter of a kind {kind!r} that this version of ssvgp does not know")
