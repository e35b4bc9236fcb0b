"""Pictures of a fitted model, one function each: they take a model, draw on `ax` or on new axes, and return these."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import RectBivariateSpline

from ssvgp.explain.fitted import Fitted
from ssvgp.report import style

TARGET = "target"
BINS = 20
FINE = 60  # points of a surface along each side, between those that were worked out
RUG = 300  # ticks of a rug, at most


def inclusion(model: Any, k: int = 20, ax: Any = None) -> Any:
    """Inclusion probabilities of the k most probable inputs as bars, the selected ones coloured, with the threshold."""
    names = model.fitted_.names
    order = np.argsort(-model.pip_, kind="stable")[:k]
    ax = style.axes(ax, height=inclusion_height(order.size))
    chosen, places = model.get_support()[order], np.arange(order.size)
    colours = [style.BLUE if one else style.PALE for one in chosen]
    ax.barh(places, model.pip_[order], color=colours, height=0.7)
    ax.axvline(model.threshold, color=style.BLACK, lw=1.0, ls=(0, (4, 3)))
    ax.set_yticks(places, [style.label(names[j]) for j in order])
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1), ylim=(order.size - 0.4, -0.6))
    ax.set_xlabel("inclusion probability")
    ax.spines["left"].set_visible(False)
    return ax


def inclusion_height(bars: int) -> float:
    """Inches that so many bars need."""
    return 0.7 + 0.24 * bars


def effect(model: Any, feature: int | str, level: float = 0.9, target: str = TARGET, ax: Any = None) -> Any:
    """What one input does: mean change of the target with a band, and a rug of the rows."""
    found = model.effect(feature, level=level)
    return draw_effect(found, model.fitted_.values_of(found.index), target, style.axes(ax))


def draw_effect(found: Any, rows: np.ndarray, target: str, ax: Any) -> Any:
    """The picture of an effect that is at hand; `rows` are the values of the input."""
    few = found.grid.size <= 10 and np.unique(rows).size <= 10
    if few:
        below, above = found.mean - found.lower, found.upper - found.mean
        ends = np.maximum([below, above], 0.0)
        ax.errorbar(found.grid, found.mean, yerr=ends, fmt="o", ms=5, color=style.BLUE, ecolor=style.SKY, elinewidth=3)
        ax.set_xticks(found.grid)
        ax.set_xlim(style.spread_over(found.grid))
    else:
        ax.fill_between(found.grid, found.lower, found.upper, color=style.SKY, alpha=0.35, lw=0)
        ax.plot(found.grid, found.mean, color=style.BLUE, lw=1.8)
        inside = rows[(rows >= found.grid[0]) & (rows <= found.grid[-1])]
        style.rug(ax, inside[:RUG])
        ax.set_xlim(found.grid[0], found.grid[-1])
    ax.axhline(0.0, color=style.GREY, lw=0.7)
    ax.set_xlabel(style.label(found.name, 40))
    ax.set_ylabel(f"change of {style.label(target)}")
    return ax


def interaction(model: Any, a: int | str, b: int | str, target: str = TARGET, ax: Any = None) -> Any:
    """What two inputs do together beyond what each does alone, as a surface; dots are rows of the table."""
    found = model.interaction(a, b)
    rows = tuple(model.fitted_.values_of(index) for index in found.indices)
    return draw_interaction(found, (rows[0], rows[1]), target, style.axes(ax))


def draw_interaction(found: Any, rows: tuple[np.ndarray, np.ndarray], target: str, ax: Any) -> Any:
    """The picture of an interaction that is at hand."""
    (left, right), top = found.grids, max(float(np.abs(found.mean).max()), np.finfo(float).tiny)
    levels = np.linspace(-top, top, 15)
    surface = ax.contourf(*_finer(left, right, found.mean), levels=levels, cmap="PuOr_r", extend="both")
    inside = (rows[0] >= left[0]) & (rows[0] <= left[-1]) & (rows[1] >= right[0]) & (rows[1] <= right[-1])
    ax.scatter(rows[0][inside][:RUG], rows[1][inside][:RUG], s=5, color=style.BLACK, alpha=0.35, lw=0)
    bar = ax.figure.colorbar(surface, ax=ax, ticks=[-top, 0.0, top], format="%.3g", aspect=25, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label(f"change of {style.label(target)}")
    ax.set(xlabel=style.label(found.names[0], 40), ylabel=style.label(found.names[1], 32))
    ax.set(xlim=(left[0], left[-1]), ylim=(right[0], right[-1]))
    return ax


def _finer(left: np.ndarray, right: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A smooth surface between the points of the grid, for the eye; an input of few values is left as it is."""
    if min(left.size, right.size) < 4:
        return left, right, mean.T
    x, y = (np.linspace(grid[0], grid[-1], FINE) for grid in (left, right))
    return x, y, RectBivariateSpline(left, right, mean)(x, y).T


# --- how good the fit is ----------------------------------------------------------------------------------------


def predicted_against_observed(model: Any, target: str = TARGET, ax: Any = None) -> Any:
    """Rows predicted from the others, against what was observed: on the line they agree."""
    found, ax = model.check(), style.axes(ax, style.HEIGHT, style.HEIGHT)
    ends = style.spread_over(np.concatenate([found.mean, found.observed]))
    ax.plot(ends, ends, color=style.GREY, lw=1.0)
    ax.scatter(found.mean, found.observed, s=12, color=style.BLUE, alpha=0.55 if found.rows.size < 400 else 0.3, lw=0)
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    ax.set(xlabel="predicted from the other rows", ylabel=f"observed {style.label(target)}")
    return ax


def calibration(model: Any, ax: Any = None) -> Any:
    """Share of rows that fall inside intervals of every level; the shaded part is what chance would leave."""
    found, ax = model.check(), style.axes(ax, style.HEIGHT, style.HEIGHT)
    levels = np.linspace(0.0, 1.0, 101)
    chance = 1.96 * np.sqrt(levels * (1.0 - levels) / found.rows.size)
    ax.fill_between(levels, levels - chance, levels + chance, color=style.PALE, alpha=0.6, lw=0)
    ax.plot((0, 1), (0, 1), color=style.GREY, lw=1.0)
    ax.plot(levels, found.coverage(levels), color=style.BLUE, lw=1.8)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    ax.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    ax.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="interval as stated", ylabel="rows inside it")
    return ax


def places(model: Any, ax: Any = None) -> Any:
    """Where targets fell in their predictive distributions: flat where predictions are as uncertain as they say."""
    found, ax = model.check(), style.axes(ax)
    r = found.rows.size
    bins = min(BINS, max(5, r // 20))
    ax.hist(found.place, bins=bins, range=(0, 1), color=style.SKY, rwidth=0.92)
    spread = 1.96 * np.sqrt(r / bins * (1.0 - 1.0 / bins))
    ax.axhspan(max(r / bins - spread, 0.0), r / bins + spread, color=style.GREY, alpha=0.2, lw=0)
    ax.axhline(r / bins, color=style.GREY, lw=1.0)
    ax.set(xlim=(0, 1), xlabel="place of the target in its prediction", ylabel="rows")
    return ax


# --- what was averaged ------------------------------------------------------------------------------------------


class WeighedSet(NamedTuple):
    """A set of inputs by name, its weight over all members that have it, and the kernels of these."""

    names: tuple[str, ...]
    weight: float
    kernels: tuple[str, ...]


def weighed_sets(model: Any) -> list[WeighedSet]:
    """The sets of inputs that were averaged, heaviest first: members that differ in parameters alone are one set."""
    return sets_of(model.fitted_)


def sets_of(fitted: Fitted) -> list[WeighedSet]:
    """The same of a fit."""
    names, order = fitted.names, np.argsort(-fitted.pip, kind="stable")
    rank = np.empty(order.size, dtype=int)
    rank[order] = np.arange(order.size)
    weight: dict[tuple[int, ...], float] = defaultdict(float)
    kernels: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for member, share in zip(fitted.members, fitted.ensemble.weights, strict=True):
        key = tuple(sorted(member.active.tolist(), key=lambda j: int(rank[j])))
        weight[key] += float(share)
        kernel = member.kernel.name + (" + background" if member.background is not None else "")
        if kernel not in kernels[key]:
            kernels[key].append(kernel)
    heavy = sorted(weight, key=lambda key: -weight[key])
    return [WeighedSet(tuple(names[j] for j in key), weight[key], tuple(kernels[key])) for key in heavy]


def weights(model: Any, k: int = 12, ax: Any = None) -> Any:
    """The heaviest of the averaged sets, with the inputs in which they differ from the heaviest."""
    found = weighed_sets(model)[:k]
    ax = style.axes(ax, height=inclusion_height(len(found)))
    first = found[0].names
    texts = [_set_text(first, None)] + [_set_text(one.names, first) for one in found[1:]]
    ax.barh(np.arange(len(found)), [one.weight for one in found], color=style.BLUE, height=0.7)
    ax.set_yticks(np.arange(len(found)), texts)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1), ylim=(len(found) - 0.4, -0.6), xlabel="weight")
    ax.spines["left"].set_visible(False)
    return ax


def _set_text(names: tuple[str, ...], first: tuple[str, ...] | None) -> str:
    if first is None:
        return f"{len(names)} inputs" if len(names) != 1 else style.label(names[0])
    parts = [f"+ {name}" for name in names if name not in first] + [f"− {name}" for name in first if name not in names]
    shown = ", ".join(style.label(part, 24) for part in parts[:1])
    if not parts:
        return "same inputs"
    return shown + (f" and {len(parts) - 1} more" if len(parts) > 1 else "")
