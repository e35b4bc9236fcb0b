"""The report of many targets: which inputs decide which of them, on one page that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.report import page, style, words
from ssvgp.report.page import Section, bullets, figure, name, paragraph, safe, table

INPUTS = 60  # columns of the map: those that matter for most targets
NAMED_TARGETS, NAMED_INPUTS = 60, 40  # up to so many have their names beside the map
LISTED = 30  # inputs in the table
TARGETS = 1000  # lines of the table of targets
SHOWN = 6  # inputs named in a line


@dataclass(frozen=True, eq=False)
class Map:
    """PIPs (q, c) of the inputs that matter for most targets, both in an order in which like stands beside like."""

    pip: np.ndarray
    targets: list[str]
    inputs: list[str]


def write_overview(model: Any, path: str | PathLike[str], notes: Sequence[str] = ()) -> None:
    """Write the report of a model of many targets; `notes` say what was done to its table."""
    style.library()
    Path(path).write_bytes(overview(model, notes).encode("utf-8", "replace"))


def overview(model: Any, notes: Sequence[str] = ()) -> str:
    """The report as HTML."""
    fitted = [one for one in model.several_.fits if one is not None]
    inputs, counts = list(fitted[0].names), (np.nan_to_num(model.pip_) > model.threshold).sum(axis=0)
    title = f"What decides {len(model.several_)} targets?"
    sections = [
        _heat(model, inputs, counts),
        _inputs(model, inputs, counts),
        _targets(model, inputs),
        _data(model, notes),
    ]
    top = f"<h1>{safe(title)}</h1>{_answer(model, inputs, counts)}"
    return page.page(title, top, sections, _foot(model))


def _answer(model: Any, inputs: Sequence[str], counts: np.ndarray) -> str:
    q, good = len(model.several_), len(model.several_) - len(model.errors_)
    chosen = (np.nan_to_num(model.pip_) > model.threshold).any(axis=1)
    some = int(chosen.sum())
    leaders = [name(inputs[j]) for j in np.argsort(-counts, kind="stable")[:3] if counts[j] > 1]
    text = f"Of {q} targets, {some} are decided by at least one of the {words.counted(len(inputs), 'input')}"
    text += f", and {int((counts > 0).sum())} inputs matter for at least one target."
    if leaders:
        text += f" Most often: {words.listing(leaders, 3)}."
    out = paragraph(text, "answer")
    if good < q:
        out += paragraph(f"{q - good} targets could not be fitted; their reasons stand below.", "warning")
    return out


def heat_map(model: Any) -> Map:
    """The part of the PIPs that is worth a picture: leading inputs, and targets by the first of these they need."""
    names = list(next(one for one in model.several_.fits if one is not None).names)
    pip = np.nan_to_num(model.pip_)
    selected = pip > model.threshold
    weight = selected.sum(axis=0) + pip.sum(axis=0) / (1.0 + pip.shape[0])  # ties are broken by sums of PIPs
    columns = np.argsort(-weight, kind="stable")[: min(INPUTS, max(int(selected.any(axis=0).sum()), 1))]
    some = pip[:, columns]
    leading = np.where(selected[:, columns].any(axis=1), np.argmax(some > model.threshold, axis=1), columns.size)
    rows = np.lexsort((-some.max(axis=1), leading))
    targets = [str(model.targets_[k]) for k in rows]
    return Map(some[rows], targets, [names[j] for j in columns])


def draw_map(found: Map, ax: Any) -> Any:
    """Targets down, inputs across; the darker, the surer."""
    image = ax.imshow(found.pip, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability", shrink=0.6, pad=0.02)
    if len(found.inputs) <= NAMED_INPUTS:
        ax.set_xticks(range(len(found.inputs)), [style.label(one, 18) for one in found.inputs], rotation=90)
    else:
        ax.set_xlabel(f"the {len(found.inputs)} inputs that matter for most targets")
    if len(found.targets) <= NAMED_TARGETS:
        ax.set_yticks(range(len(found.targets)), [style.label(one, 22) for one in found.targets])
    else:
        ax.set_ylabel(f"{len(found.targets)} targets, by their leading input")
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def _heat(model: Any, inputs: Sequence[str], counts: np.ndarray) -> Section:
    anchor, title = "map", "Which inputs matter for which targets"
    if not counts.any():
        return Section(anchor, title, paragraph("No input was selected for any target."))
    found = heat_map(model)
    rows = min(len(found.targets), NAMED_TARGETS)
    height = float(np.clip(1.2 + 0.16 * rows, 3.0, 10.0))
    svg = style.svg(lambda ax: draw_map(found, ax), width=7.0, height=height)
    read = "How to read it: one line for each target, one column for each input; the darker, the surer it matters."
    rest = len(inputs) - len(found.inputs)
    if rest:
        read += f" {rest:,} more inputs are not shown: they matter for fewer targets, or for none."
    picture = figure(svg, "Inclusion probabilities of inputs for targets", read)
    return Section(anchor, title, f'<div class="wide">{picture}</div>')


def _inputs(model: Any, inputs: Sequence[str], counts: np.ndarray) -> Section:
    anchor, title = "inputs", "Inputs that matter for many targets"
    order = [j for j in np.argsort(-counts, kind="stable") if counts[j] > 0]
    if not order:
        return Section(anchor, title, paragraph("There are none."))
    good, pip = len(model.several_) - len(model.errors_), np.nan_to_num(model.pip_)
    rows = [
        (name(inputs[j]), f"{counts[j]}", f"{counts[j] / good:.0%}", f"{pip[:, j].sum():.1f}", _those(model, j))
        for j in order[:LISTED]
    ]
    head = ("input", "targets", "share", "expected", "such as")
    out = table(head, rows, numbers=(1, 2, 3))
    out += paragraph(
        f"Targets: for how many the probability is above {model.threshold:g}. Expected: sum of the probabilities over "
        f"all targets, which counts open cases too. An input that correlates with another may stand in for it.", "read",
    )  # fmt: skip
    if len(order) > LISTED:
        out += paragraph(f"and {len(order) - LISTED} more, each for at most {counts[order[LISTED]]} targets.", "soft")
    return Section(anchor, title, out)


def _those(model: Any, j: int) -> str:
    pip = np.nan_to_num(model.pip_[:, j])
    surest = [k for k in np.argsort(-pip, kind="stable") if pip[k] > model.threshold]
    return words.listing([name(str(model.targets_[k])) for k in surest], 3)


def _targets(model: Any, inputs: Sequence[str]) -> Section:
    rows = []
    for k, (target, fitted) in enumerate(model.several_):
        if fitted is None:
            rows.append((name(target), "", "", f"failed: {safe(model.errors_.get(target, ''))}"))
            continue
        order = [j for j in np.argsort(-model.pip_[k], kind="stable") if model.pip_[k, j] > model.threshold]
        named = [f"{name(inputs[j])} ({model.pip_[k, j]:.2f})" for j in order]
        noise = fitted.variance_shares.get("noise", np.nan)
        rows.append((name(target), f"{len(order)}", f"{noise:.0%}", words.listing(named, SHOWN) if named else "none"))
    out = table(("target", "selected", "noise", "inputs, and how probable"), rows[:TARGETS], numbers=(1, 2))
    if len(rows) > TARGETS:
        out += paragraph(f"and {len(rows) - TARGETS} more; `ssvgp inspect` and summary() have all.", "soft")
    text = "Noise: share of the variation of the target that the model does not explain."
    return Section("targets", "Each target", out + paragraph(text, "read"))


def _data(model: Any, notes: Sequence[str]) -> Section:
    several = model.several_
    lines = [f"{several.n} rows, {several.inputs.d} inputs, {len(several)} targets", *map(str, notes)]
    return Section("data", "The data", bullets(safe(line) for line in lines))


def _foot(model: Any) -> str:
    seed = model.random_state if isinstance(model.random_state, (int, np.integer)) else "not fixed"
    said = f"method {model.method}, threshold {model.threshold:g}, seed {seed}"
    return paragraph(
        f"Written by ssvgp: a Gaussian process that selects its inputs, for each target by itself ({safe(said)}). "
        f"Probabilities are those of each target alone: among many targets a few inputs are selected by mistake.",
        "soft",
    )  # fmt: skip
