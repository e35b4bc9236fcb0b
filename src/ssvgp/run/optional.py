"""Libraries that some parts need and the package does without."""

from __future__ import annotations

import importlib
from typing import Any


def require(library: str, what: str, extra: str | None = None) -> Any:
    """An optional library, or an error that says how to get it, by itself or by an extra of ours."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        ways = f"pip install {library}, or pip install 'ssvgp[{extra or library}]'"
        raise ImportError(f"{what} needs {library}, which is not installed: {ways}") from error
