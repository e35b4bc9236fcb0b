"""What pictures show, in plain sentences; names are HTML already when they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.data.inputs import listed

SIDEWAYS = 0.12  # of the whole range: movements the other way that are no turn


def number(value: float) -> str:
    """A number with three figures that count, and no exponent where it is of common size."""
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.2e}"
    return f"{float(f'{value:.3g}'):,.10g}"


def percent(share: float) -> str:
    """A share in percent, without figures that do not count; a share of more than all, by sampling, is all."""
    return "less than 1%" if 0 < share < 0.01 else f"{min(share, 1.0):.0%}"


def listing(items: list[str], most: int = 8) -> str:
    """Items as a sentence lists them; of many, the first."""
    if len(items) > most:
        return listed(items, most)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def counted(count: int, what: str) -> str:
    """Such as `one row` or `5 rows`."""
    return f"one {what}" if count == 1 else f"{count:,} {what}s"


def shape(found: Any, target: str) -> str:
    """The course of an effect: rising, falling, with a top or a bottom, or neither."""
    grid, mean = found.grid, found.mean
    if not _matters(found):
        return f"{target} hardly changes"
    ends = f"As it goes from {number(grid[0])} to {number(grid[-1])}, {target}"
    steps, whole = np.diff(mean), float(np.ptp(mean))
    up, down = float(steps[steps > 0].sum()), -float(steps[steps < 0].sum())
    if min(up, down) <= SIDEWAYS * whole:
        return f"{ends} {'rises' if up > down else 'falls'} by about {number(abs(mean[-1] - mean[0]))}"
    top, bottom = int(mean.argmax()), int(mean.argmin())
    if _one_turn(mean, top):
        return f"{ends} rises until about {number(grid[top])} and falls after that, a range of {number(whole)}"
    if _one_turn(-mean, bottom):
        return f"{ends} falls until about {number(grid[bottom])} and rises after that, a range of {number(whole)}"
    return f"{ends} moves up and down over a range of {number(whole)}; it is highest near {number(grid[top])}"


def _matters(found: Any) -> bool:
    """Whether the band leaves zero anywhere."""
    return bool(((found.lower > 0) | (found.upper < 0)).any())


def _one_turn(mean: np.ndarray, top: int) -> bool:
    """Whether a curve rises to its top and falls after, but for small movements."""
    slack = SIDEWAYS * float(np.ptp(mean))
    before, after = np.diff(mean[: top + 1]), np.diff(mean[top:])
    return -float(before[before < 0].sum()) <= slack and float(after[after > 0].sum()) <= slack


def share(first: float, total: float) -> str:
    """How much of the variation an input has part in, and how much of that together with others."""
    text = f"It has part in {percent(total)} of the variation of the predictions"
    if total < 0.01:
        return text
    together = 1.0 - first / total
    if together < 0.1:
        return f"{text}, nearly all of it alone"
    return f"{text}, about {percent(together)} of that together with other inputs"


def verdict(level: float, coverage: float, rows: int) -> str:
    """Whether intervals hold as many rows as they should."""
    chance = 2.0 * np.sqrt(level * (1.0 - level) / rows)
    if coverage < level - chance:
        return "fewer than they should: the model is too sure of itself, and its intervals are too narrow"
    if coverage > level + chance:
        return "more than they need to: the model is more cautious than it has to be"
    return "as many as they should, but for chance"


NOISE = {
    "student-t": "noise has heavy tails (Student-t), so that rows far off count for less",
    "outliers": "a few rows are taken for gross errors, and hardly count",
    "poisson": "it is taken for counts (Poisson), and effects multiply",
    "negative-binomial": "it is taken for counts (negative binomial), and effects multiply",
    "bernoulli": "it is taken for zeros and ones",
    "bernoulli-probit": "it is taken for zeros and ones",
}


def noise(likelihood: str) -> str:
    """What ties the target to its signal, where that is not Gaussian noise; else nothing."""
    return NOISE.get(likelihood, "")
