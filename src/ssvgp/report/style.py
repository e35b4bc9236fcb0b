"""How pictures look, and how they become text: one place for colours, sizes and everything that needs Matplotlib."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ssvgp.report.page import plain
from ssvgp.run.optional import require

# of Okabe and Ito: told apart by every kind of colour vision, and in grey
BLUE, ORANGE, GREEN, SKY = "#0072B2", "#E69F00", "#009E73", "#56B4E9"
PURPLE, RED, BLACK = "#CC79A7", "#D55E00", "#222222"
LINES = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY)
GREY, PALE = "#8a8a8a", "#d9d9d9"
WIDTH, HEIGHT = 4.6, 3.2  # inches: a picture of this size is readable at 400 pixels
LONGEST = 26  # characters of a name in a picture
FONTS = ["DejaVu Sans", "Verdana", "Arial", "sans-serif"]
SETTINGS = {
    "font.size": 10.0,
    "font.family": FONTS[:1],
    "axes.titlesize": 10.0,
    "axes.labelsize": 10.0,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "xtick.color": BLACK,
    "ytick.color": BLACK,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "legend.handlelength": 1.4,
    "axes.formatter.useoffset": False,
    "svg.fonttype": "none",  # text stays text: small, and in the reader's own letters where ours lack one
}


def library() -> Any:
    """Matplotlib, or an error that says how to get it."""
    return require("matplotlib", "a picture", extra="plots")


@contextmanager
def styled() -> Iterator[None]:
    """Our settings inside, the user's again after."""
    with library().rc_context(SETTINGS):
        yield


def axes(ax: Any, width: float = WIDTH, height: float = HEIGHT) -> Any:
    """The axes that were given, or new ones in a figure of their own, which a notebook shows."""
    if ax is not None:
        return ax
    library()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def label(name: str, longest: int = LONGEST) -> str:
    """A name as a picture shows it: cut in the middle where it is long, on one line, never read as mathematics."""
    text = plain(name)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest - longest // 2 - 1) :]}"
    return text.replace("$", r"\$")


def rug(ax: Any, values: np.ndarray) -> None:
    """A tick at the foot of a picture for each value."""
    ends = np.zeros(values.size), np.full(values.size, 0.035)
    ax.vlines(values, *ends, transform=ax.get_xaxis_transform(), color=BLACK, lw=0.5, alpha=0.45)


def empty(ax: Any, words: str) -> Any:
    """A picture of nothing, which says why."""
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, color=GREY, wrap=True)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def svg(draw: Any, width: float = WIDTH, height: float = HEIGHT, salt: str = "ssvgp") -> str:
    """The picture that draw(ax=ax) makes as SVG text: the same for the same data, and no other figure is touched."""
    library()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with styled(), library().rc_context({"svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph|.*missing from font")  # the reader's letters are used
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(ax=figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    stack = ", ".join(f"'{font}'" if " " in font else font for font in FONTS)
    return text[text.index("<svg") :].replace("'DejaVu Sans'", stack).replace("DejaVu Sans;", f"{stack};")


def spread_over(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Least and greatest of some values with a margin, and never equal."""
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.04 * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - margin, high + margin
