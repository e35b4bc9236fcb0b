"""What figures share: colours, style, logarithmic axes, names beside points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

DPI = 90  # of figures while names are set and when they are saved: the width of a text does not scale exactly
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9, "figure.dpi": DPI}
DARK, LIGHT, SIGNAL, OTHER = "#08519c", "#9ecae1", "#d94801", "#4d4d4d"

Axes = Any
Figure = Any

__all__ = ["DARK", "DPI", "LIGHT", "OTHER", "SIGNAL", "STYLE", "logarithmic", "name_points", "not_run", "plt"]

NAME_SIZE = 7.0
# Where a name of that size may stand, in points from its point: beside it first, then a line further up or down.
PLACES = (
    *((5, 3, "left"), (5, -9, "left"), (-5, 3, "right"), (-5, -9, "right"), (0, 7, "center"), (0, -13, "center")),
    *((5, 12, "left"), (5, -18, "left"), (-5, 12, "right"), (-5, -18, "right")),
)


def name_points(ax: Axes, points: Sequence[tuple[float, float, str]], size: float = NAME_SIZE) -> None:
    """A name beside each point, in the place where it meets the fewest points and names; long names choose first."""
    ax.figure.draw_without_rendering()  # limits are settled from here on
    dots = [Bbox.from_extents(x - 6, y - 6, x + 6, y + 6) for x, y in (ax.transData.transform(p[:2]) for p in points)]
    names: list[Bbox] = []
    for number in sorted(range(len(points)), key=lambda number: -len(points[number][2])):
        x, y, name = points[number]
        options = [_named(ax, (x, y), name, place, size) for place in PLACES]
        counts = [_met(ax, text, [*dots[:number], *dots[number + 1 :], *names]) for text in options]
        best = counts.index(min(counts))
        for place, text in enumerate(options):
            text.set_visible(place == best)
        names.append(options[best].get_window_extent().padded(3.0))


def _named(ax: Axes, point: tuple[float, float], name: str, place: tuple[int, int, str], size: float) -> Any:
    right, up, side = place
    beside = (right * size / NAME_SIZE, up * size / NAME_SIZE)
    return ax.annotate(name, point, beside, textcoords="offset points", fontsize=size, ha=side)


def _met(ax: Axes, text: Any, taken: Sequence[Bbox]) -> int:
    """What a name would cover; to reach beyond the axes is worse than anything."""
    box, inside = text.get_window_extent().padded(3.0), ax.get_window_extent()
    beyond = not (inside.x0 <= box.x0 and box.x1 <= inside.x1)
    return box.count_overlaps(taken) + 10 * beyond


def logarithmic(ax: Axes, which: str = "x") -> None:
    """A logarithmic axis, x or y, with plain numbers on it."""
    ax.set(**{f"{which}scale": "log"})
    axis = getattr(ax, f"{which}axis")
    low, high = sorted(axis.get_view_interval())
    if high / low > 4.0:
        axis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 200 else (1.0, 2.0, 5.0)))
    else:
        axis.set_major_locator(MaxNLocator(4))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def not_run(ax: Axes) -> None:
    """Say in the place of a picture that there is nothing to draw."""
    ax.text(0.5, 0.5, "not run", transform=ax.transAxes, ha="center", va="center", color="grey")
    ax.set(xticks=[], yticks=[])
