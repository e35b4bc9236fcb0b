"""A fitted model in a notebook: what was selected, in one small table."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ssvgp.report.table import stand_ins

SHOWN, OPEN = 20, 3  # selected inputs, and others after them, that are listed
CELL = "padding:0.15em 0.8em;text-align:{side}"


def html(model: Any) -> str:
    """The selection of a fitted model: all text from the table is escaped, and nothing is run."""
    order = np.argsort(-model.pip_, kind="stable")
    support = model.get_support()
    count = int(support.sum())
    listed = order[: min(count, SHOWN) + OPEN]
    names, lengths, alike = model.fitted_.names, model.fitted_.lengthscales, stand_ins(model.fitted_)
    head = _row(("input", "PIP", "", "lengthscale", "stand-in"), "th")
    rows = []
    for j in listed.tolist():
        mark = "selected" if support[j] else ""
        rows.append(_row((names[j], f"{model.pip_[j]:.3f}", mark, _number(lengths[j]), alike.get(j, ""))))
    rest = model.pip_.size - len(listed)
    more = f"<p>and {rest} more, with PIP up to {model.pip_[order[len(listed)]]:.3f}</p>" if rest else ""
    shares = ", ".join(f"{escape(name)} {share:.1%}" for name, share in model.variance_shares_.items())
    title = f"{count} of {model.pip_.size} inputs selected from {model.train_.n} rows"
    return (
        f"<div><p><b>{escape(type(model).__name__)}</b>: {title}; variance: {shares}</p>"
        f"<table>{head}{''.join(rows)}</table>{more}"
        f"<details><summary>parameters</summary><pre>{escape(repr(model))}</pre></details></div>"
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else ""


def _row(cells: tuple[str, ...], tag: str = "td") -> str:
    parts = zip(cells, ("left", "right", "left", "right", "left"), strict=True)
    inner = "".join(f'<{tag} style="{CELL.format(side=side)}">{escape(cell)}</{tag}>' for cell, side in parts)
    return f"<tr>{inner}</tr>"
