"""Kernels in a file: each writes itself as plain values, and errors say what to do."""

from __future__ import annotations

from typing import Any

from ssvgp.gp.kernels.compose import from_plain
from ssvgp.gp.kernels.families import Kernel, OwnCodeError, Plain, plain_of
from ssvgp.store.container import StoreError


def expression_of(kernel: Kernel) -> Plain:
    """A kernel as plain values; a user's own kernel is code, and has none."""
    try:
        return plain_of(kernel)
    except OwnCodeError as error:
        raise StoreError(
            f"{error}, and a model file holds none: fit with kernels of the package to save the model, or pickle it"
            " and load it where the same code is at hand"
        ) from error


def kernel_of(plain: Any) -> Kernel:
    """The kernel of plain values."""
    try:
        return from_plain(plain)
    except ValueError as error:
        raise StoreError(str(error)) from error
    except RecursionError as error:
        raise StoreError("the file has kernels within kernels without end") from error
