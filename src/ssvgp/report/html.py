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
    shares = ", ".join(f"{escape(name)} {share:.1%}" for name, share in model.variance_shares_.items())
    return _selection(model, stand_ins(model.fitted_), model.train_.n, f"; variance: {shares}")


def class_html(model: Any) -> str:
    """The same of a classifier."""
    labels, first = ", ".join(escape(str(label)) for label in model.classes_[:SHOWN]), model.fitted_.first
    return _selection(model, stand_ins(first), first.train.n, f"; classes: {labels}")


def _selection(model: Any, alike: dict[int, str], rows_fitted: int, said: str) -> str:
    order = np.argsort(-model.pip_, kind="stable")
    support = model.get_support()
    count = int(support.sum())
    listed = order[: min(count, SHOWN) + OPEN]
    names, lengths = model.fitted_.names, model.fitted_.lengthscales
    head = _row(("input", "PIP", "", "lengthscale", "stand-in"), "th")
    rows = []
    for j in listed.tolist():
        mark = "selected" if support[j] else ""
        rows.append(_row((names[j], f"{model.pip_[j]:.3f}", mark, _number(lengths[j]), alike.get(j, ""))))
    rest = model.pip_.size - len(listed)
    more = f"<p>and {rest} more, with PIP up to {model.pip_[order[len(listed)]]:.3f}</p>" if rest else ""
    title = f"{count} of {model.pip_.size} inputs selected from {rows_fitted} rows"
    return (
        f"<div><p><b>{escape(type(model).__name__)}</b>: {title}{said}</p>"
        f"<table>{head}{''.join(rows)}</table>{more}"
        f"<details><summary>parameters</summary><pre>{escape(repr(model))}</pre></details></div>"
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else ""


def _row(cells: tuple[str, ...], tag: str = "td") -> str:
    parts = zip(cells, ("left", "right", "left", "right", "left"), strict=True)
    inner = "".join(f'<{tag} style="{CELL.format(side=side)}">{escape(cell)}</{tag}>' for cell, side in parts)
    return f"<tr>{inner}</tr>"
