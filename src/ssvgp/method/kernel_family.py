"""Which kernels a fit uses: those that were named, or a family that the default method averages over."""

from __future__ import annotations

from typing import Any

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.kernels.families import Kernel

FAMILY = ("se", "matern52", "se+linear", "linear")  # what the default averages over where no kernel is named
ROUGH = ("matern12",)  # and what it looks at too where rows are too many for an exact fit: few cannot show roughness


def kernels_of(kernel: Any, method: str) -> tuple[Kernel, ...]:
    """One kernel or several, from what the user gave; the paper's method has one."""
    if _unnamed(kernel):
        kernel = FAMILY if method == "auto" else FAMILY[0]
    several = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    kernels = tuple(kernel_named(one) for one in several)
    if not kernels or (method == "paper" and len(kernels) > 1):
        raise ValueError(f"method={method!r} needs {'one kernel' if kernels else 'a kernel'}, got {kernel!r}")
    return kernels


def with_rough(kernel: Any, kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The kernels for a table of many rows: rough ones too, unless the user named what to use."""
    return kernels + tuple(kernel_named(name) for name in ROUGH) if _unnamed(kernel) else kernels


def _unnamed(kernel: Any) -> bool:
    """Whether the choice of kernels is left to the method."""
    return isinstance(kernel, str) and kernel == "auto"
