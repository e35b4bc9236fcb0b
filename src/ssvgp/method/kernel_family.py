"""Which kernels a fit uses: those that were named, or a family that the default method averages over."""

from __future__ import annotations

from typing import Any

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.kernels.families import Kernel
from ssvgp.settings.regime import FAMILY


def kernels_of(kernel: Any, method: str, considered: tuple[str, ...] = FAMILY) -> tuple[Kernel, ...]:
    """One kernel or several, from what the user gave, or of those considered; the paper's method has one."""
    if isinstance(kernel, str) and kernel == "auto":
        kernel = considered if method == "auto" else considered[0]
    several = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    kernels = tuple(kernel_named(one) for one in several)
    if not kernels or (method == "paper" and len(kernels) > 1):
        raise ValueError(f"method={method!r} needs {'one kernel' if kernels else 'a kernel'}, got {kernel!r}")
    return kernels
