"""Pictures of a fitted classifier: how well classes are told apart, and what inputs do to their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvgp.report import style
from ssvgp.report.pictures import RUG

MOST_LINES = len(style.LINES)  # classes that a picture can tell apart
PERCENT = [0.0, 0.25, 0.5, 0.75, 1.0]


def shown_classes(model: Any) -> list[int]:
    """The places of the classes that a picture shows: the second of two, or the most frequent of more."""
    if model.classes_.size == 2:
        return [1]
    counts = np.bincount(model.check().observed, minlength=model.classes_.size)
    return sorted(np.argsort(-counts, kind="stable")[:MOST_LINES].tolist())


def roc(model: Any, ax: Any = None) -> Any:
    """Share of the rows of a class that are found, against the share of others taken for it, at every cut."""
    found, ax = model.check(), style.axes(ax, style.HEIGHT, style.HEIGHT)
    ax.plot((0, 1), (0, 1), color=style.GREY, lw=1.0)
    for line, place in enumerate(shown_classes(model)):
        text = f"{style.label(str(model.classes_[place]), 16)}: {found.auc_of(place):.2f}"
        ax.plot(*found.roc(place), color=style.LINES[line], lw=1.8, label=text)
    _shares_on(ax, "others taken for it", "found")
    ax.legend(loc="lower right", title="area", title_fontsize=9)
    return ax


def class_calibration(model: Any, ax: Any = None) -> Any:
    """How often a class came where its probability was stated; bars are what chance would leave."""
    found, ax = model.check(), style.axes(ax, style.HEIGHT, style.HEIGHT)
    ax.plot((0, 1), (0, 1), color=style.GREY, lw=1.0)
    bins = int(np.clip(found.rows.size // 20, 4, 10))
    for line, place in enumerate(shown_classes(model)):
        stated, seen, count = found.calibration(place, bins)
        chance = 1.96 * np.sqrt(stated * (1.0 - stated) / count)
        ax.errorbar(
            stated, seen, yerr=chance, color=style.LINES[line], ecolor=style.PALE, elinewidth=2.5, lw=1.4, marker="o",
            ms=4, label=style.label(str(model.classes_[place]), 16),
        )  # fmt: skip
    _shares_on(ax, "probability as stated", "share of rows that had it")
    if model.classes_.size > 2:
        ax.legend(loc="upper left")
    return ax


def confusion(model: Any, ax: Any = None) -> Any:
    """Rows by their class, down, and by the most probable one, across; shades are shares of a class."""
    found, labels = model.check(), [style.label(str(label), 14) for label in model.classes_]
    counts = found.confusion
    side = max(style.HEIGHT, 0.5 * len(labels) + 1.2)
    ax = style.axes(ax, side, side)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    for (row, column), count in np.ndenumerate(counts):
        colour = "white" if shares[row, column] > 0.6 else style.BLACK
        ax.text(column, row, f"{count}", ha="center", va="center", color=colour)
    turned = 45 if max(map(len, labels)) * len(labels) > 24 else 0
    ax.set_xticks(range(len(labels)), labels, rotation=turned, ha="right" if turned else "center")
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="most probable from the other rows", ylabel="class of the row")
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def probability(model: Any, feature: int | str, level: float = 0.9, ax: Any = None) -> Any:
    """Probability of a class when one input is set to a value: of the second of two with a band, or of each of more."""
    places = shown_classes(model)
    found = [model.effect(feature, of=model.classes_[place], level=level) for place in places]
    names = [str(model.classes_[place]) for place in places]
    return draw_probability(found, names, model.fitted_.values_of(found[0].index), style.axes(ax))


def draw_probability(found: Sequence[Any], names: Sequence[str], rows: np.ndarray, ax: Any) -> Any:
    """The picture of effects on probabilities that are at hand, one for each class; `rows` are values of the input."""
    grid = found[0].grid
    few = grid.size <= 10 and np.unique(rows).size <= 10
    for line, (one, name) in enumerate(zip(found, names, strict=True)):
        colour, mean = style.LINES[line], one.average + one.mean
        low, high = one.average + one.lower, one.average + one.upper
        if few:
            ends = np.maximum([mean - low, high - mean], 0.0)
            ax.errorbar(grid, mean, yerr=ends, fmt="o", ms=5, color=colour, elinewidth=2, label=style.label(name, 16))
        else:
            ax.fill_between(grid, low, high, color=colour, alpha=0.25 if len(found) == 1 else 0.12, lw=0)
            ax.plot(grid, mean, color=colour, lw=1.8, label=style.label(name, 16))
    if few:
        ax.set_xticks(grid)
        ax.set_xlim(style.spread_over(grid))
    else:
        style.rug(ax, rows[(rows >= grid[0]) & (rows <= grid[-1])][:RUG])
        ax.set_xlim(grid[0], grid[-1])
    ax.set_yticks(PERCENT, [f"{tick:.0%}" for tick in PERCENT])
    ax.set(ylim=(0, 1), xlabel=style.label(found[0].name, 40))
    ax.set_ylabel(f"probability of {style.label(names[0], 20)}" if len(found) == 1 else "probability")
    if len(found) > 1:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, columnspacing=1.0)
    return ax


def _shares_on(ax: Any, across: str, up: str) -> None:
    ax.set_xticks(PERCENT, [f"{tick:.0%}" for tick in PERCENT])
    ax.set_yticks(PERCENT, [f"{tick:.0%}" for tick in PERCENT])
    ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal", xlabel=across, ylabel=up)
