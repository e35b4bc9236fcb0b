"""Ways to look at a fitted model; nothing here is imported before it is asked for."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`write_report`, which loads what a report needs when it is asked for."""
    if name == "write_report":
        from ssvgp.report.report import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
