"""Pictures of the paper's method: how the answer moves with the spike precision v, and what each v was worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.report import style
from ssvgp.report.pictures import inclusion_height

NEEDED = ("v", "inclusion", "theta", "intersection", "kept", "v_weights")
NAMED = 6  # inputs that are coloured and named


def has_profiles(model: Any) -> bool:
    """Whether the model was fitted by the paper's method, and knows how it went."""
    return all(name in model.ensemble_.notes for name in NEEDED)


def pips_over_v(model: Any, k: int = NAMED, ax: Any = None) -> Any:
    """Inclusion probabilities of every input over v; the k most probable of the average are named."""
    notes, ax = _notes(model), style.axes(ax)
    _lines(ax, notes["v"], notes["inclusion"], model, k)
    ax.axhline(model.threshold, color=style.BLACK, lw=1.0, ls=(0, (4, 3)))
    ax.set(ylim=(-0.02, 1.02), ylabel="inclusion probability")
    return ax


def inverse_lengthscales_over_v(model: Any, k: int = NAMED, ax: Any = None) -> Any:
    """|θ| of every input over v, with the point where spike and slab are equally likely (eq. 14)."""
    notes, ax = _notes(model), style.axes(ax)
    _lines(ax, notes["v"], notes["theta"], model, k)
    seen = notes["intersection"] > 0
    if seen.any():
        at, v = notes["intersection"][seen], notes["v"][seen]
        ax.plot(v, at, color=style.BLACK, lw=1.2, ls=(0, (4, 3)), label="spike meets slab")
        top = float(notes["theta"].max()) or float(at.max())
        ax.set_ylim(-0.03 * top, 1.1 * top)
    ax.set_ylabel("inverse lengthscale |θ|")
    _legend(ax)
    return ax


def members_over_v(model: Any, ax: Any = None) -> Any:
    """Number of inputs that each v keeps; the area of a disc is the weight of that v in the average."""
    notes, ax = _notes(model), style.axes(ax)
    v, sizes = notes["v"], (notes["inclusion"] > 0.5).sum(axis=1)
    weight = np.zeros(v.size)
    weight[notes["kept"]] = notes["v_weights"]
    ax.plot(v, sizes, color=style.GREY, lw=1.0, marker="o", ms=3)
    ax.scatter(v, sizes, s=400.0 * weight, color=style.BLUE, alpha=0.6, lw=0)
    for place in np.flatnonzero(weight > 0.05):
        ax.annotate(f"{weight[place]:.0%}", (v[place], sizes[place]), (0, 11), textcoords="offset points", ha="center")
    ax.set(xscale="log", xlabel="spike precision v", ylabel="inputs in")
    ax.set_ylim(-0.05 * sizes.max() - 0.5, 1.2 * sizes.max() + 1.0)
    ax.yaxis.get_major_locator().set_params(integer=True)
    return ax


def inclusion_over_v(model: Any, k: int = 20, ax: Any = None) -> Any:
    """The same probabilities as a table of shades, a row for each of the k most probable inputs."""
    notes, order = _notes(model), _order(model)[:k]
    ax = style.axes(ax, height=inclusion_height(order.size))
    names = [model.fitted_.names[model.kept_[j]] for j in order]
    shades = ax.imshow(notes["inclusion"][:, order].T, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0)
    ax.set_yticks(np.arange(order.size), [style.label(name) for name in names])
    some = np.arange(0, notes["v"].size, max(1, notes["v"].size // 4))
    ax.set_xticks(some, [f"{notes['v'][i]:.0e}" for i in some])
    ax.set_xlabel("spike precision v")
    ax.figure.colorbar(shades, ax=ax, ticks=[0, 0.5, 1], aspect=25, pad=0.02).outline.set_visible(False)
    return ax


def _notes(model: Any) -> dict[str, Any]:
    if not has_profiles(model):
        raise ValueError("profiles over v exist only for a model that was fitted with method='paper'")
    return model.ensemble_.notes


def _order(model: Any) -> np.ndarray:
    """Kept columns by falling inclusion probability."""
    return np.argsort(-model.ensemble_.pip, kind="stable")


def _lines(ax: Any, v: np.ndarray, values: np.ndarray, model: Any, k: int) -> None:
    """A line over v for each input (k, d): the first few coloured, the others grey and together one curve."""
    order, names = _order(model), model.fitted_.names
    named, others = order[:k], order[k:]
    moving = others[(values[:, others] > 0).any(axis=0)]
    if moving.size:  # one path with gaps instead of thousands
        gap = np.full((1, moving.size), np.nan)
        path = np.concatenate([values[:, moving], gap]).T.ravel()
        ax.plot(np.tile(np.append(v, np.nan), moving.size), path, color=style.PALE, lw=0.7)
    for place, j in enumerate(named):
        colour = style.LINES[place % len(style.LINES)]
        text = style.label(names[model.kept_[j]], 22)
        ax.plot(v, values[:, j], color=colour, lw=1.6, marker="o", ms=2.5, label=text)
    ax.set(xscale="log", xlabel="spike precision v", xlim=(v.min(), v.max()))
    _legend(ax)


def _legend(ax: Any) -> None:
    # below the picture: beside it there is no room at 400 pixels, and inside it lines run
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, columnspacing=1.0)
