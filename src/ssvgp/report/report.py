"""The report: one HTML page for readers who need not know what a Gaussian process is.

It stands alone, with pictures inside; it runs no code and fetches nothing. All text from the table is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.report import classes, findings, page, profiles, quality, style
from ssvgp.report.page import paragraph
from ssvgp.report.story import story_of


def write_report(model: Any, path: str | PathLike[str], target: str = "", notes: Sequence[str] = ()) -> None:
    """Write the report of a fitted model; `target` names what it predicts, `notes` what was done to its table."""
    style.library()
    Path(path).write_bytes(report(model, target, notes).encode("utf-8", "replace"))


def report(model: Any, target: str = "", notes: Sequence[str] = ()) -> str:
    """The report as HTML."""
    if hasattr(model, "classes_"):
        return _of_classes(model, target, notes)
    story = story_of(model, target, notes)
    sections = [
        findings.inclusion(story),
        findings.effects(story),
        findings.interactions(story),
        quality.fit(story),
        quality.sets(story),
        *([quality.over_v(story)] if profiles.has_profiles(model) else []),
        findings.alike(story),
        quality.data(story),
    ]
    title = _title(target)
    top = f"<h1>{page.safe(title)}</h1>{findings.answer(story)}"
    return page.page(title, top, sections, _foot(model, f"method {model.method}"))


def _of_classes(model: Any, target: str, notes: Sequence[str]) -> str:
    story, pairs = classes.class_story(model, target, notes)
    title = _title(target)
    top = f"<h1>{page.safe(title)}</h1>{classes.answer(story)}"
    return page.page(title, top, classes.sections(story, pairs), _foot(model, f"likelihood {model.likelihood}"))


def _title(target: str) -> str:
    return f"What decides {target}?" if target else "Which inputs decide the target?"


def _foot(model: Any, how: str) -> str:
    seed = model.random_state if isinstance(model.random_state, (int, np.integer)) else "not fixed"
    said = f"{how}, threshold {model.threshold:g}, seed {seed}"
    return paragraph(
        f"Written by ssvgp: a Gaussian process that selects its inputs ({page.safe(said)}). Selection is not cause: an "
        f"input is here because it predicts; what happens when you change it is another question.", "soft",
    )  # fmt: skip
