"""Quasi-Newton ascent whose accuracy is set in nats.

Every place brings its own curvature (gp/information.py), which is corrected by what steps nearby have met; where it
brings none, BFGS goes by an inherited one. Of the steps from a far start, BFGS alone wastes every second: it knows the
curvature only along the steps that it has made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ssvgp.gp.linalg import log_determinant, solve

SAME_MODE = 0.5  # largest difference in z at which two summits are taken for one
HOPE = 8.0  # a promise can be short of the gain: beaten is what would not do with this many times as much


class Height(NamedTuple):
    """Value and gradient (q,) at a place, and its curvature (q, q), positive definite, where that is known."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None = None


Objective = Callable[[np.ndarray], Height]


@dataclass(frozen=True)
class Summit:
    """Where an ascent ended: z (q,), value, gradient (q,), inverse Hessian (q, q), evaluations spent.

    `promised` is what the slope promises of the last stretch, which was not walked.
    """

    z: np.ndarray
    value: float
    gradient: np.ndarray
    inverse_hessian: np.ndarray
    evaluations: int
    promised: float = 0.0


def unknown(size: int) -> np.ndarray:
    """The inverse Hessian (q, q) before anything is known of it."""
    return 0.2 * np.eye(size)


def climb(
    objective: Objective,
    start: np.ndarray,
    inverse_hessian: np.ndarray,
    tolerance: float = 0.02,
    most: int = 60,
    longest_step: float = 1.5,
    bar: float = -np.inf,
    known: np.ndarray | None = None,
) -> Summit:
    """Maximise `objective` until the gain still promised, 1/2 g' B g, is below `tolerance` nats.

    `inverse_hessian` serves where places have no curvature of their own. An ascent whose value and log volume,
    1/2 log |B|, would stay below `bar` with many times the gain that it promises is given up, and so is one that comes
    to a `known` summit (q,).
    """
    z, (value, gradient, curvature) = start.copy(), objective(start)
    b = _inverse(curvature, inverse_hessian)
    spent, left = 1, 0.0
    met: list[_Step] = []
    fresh = True  # the inherited curvature has not yet been tried along this path
    while spent < most:
        direction = b @ gradient
        promised = 0.5 * float(gradient @ direction)
        if promised < tolerance:
            left = max(0.0, promised)
            break
        if _beaten(value + HOPE * promised + tolerance, b, bar) or _at(z, known):
            break
        reach = np.abs(direction).max()
        step = min(1.0, longest_step / reach)
        found = _search_line(objective, z, Height(value, gradient), direction, step, most - spent)
        spent += found.evaluations
        if not found.improved:
            if fresh:
                break
            b, fresh = unknown(z.size), True  # curvature went stale: start it again
            continue
        step_made = _Step(found.z, found.z - z, gradient - found.at.gradient)
        met = [one for one in met if not apart(one.end, found.z)] + [step_made]
        b = _corrected(b, found.at.curvature, met)
        gain = found.at.value - value
        z, (value, gradient, _), fresh = found.z, found.at, False
        if gain < 0.1 * tolerance:
            break
    return Summit(z, value, gradient, b, spent, left)


class _Step(NamedTuple):
    """Where a step ended, and what it changed in z and in the gradient (q,)."""

    end: np.ndarray
    change: np.ndarray
    gradient_change: np.ndarray


def _inverse(curvature: np.ndarray | None, known: np.ndarray) -> np.ndarray:
    return known.copy() if curvature is None else solve(curvature, np.eye(len(curvature)))


def _corrected(b: np.ndarray, curvature: np.ndarray | None, met: list[_Step]) -> np.ndarray:
    """The inverse Hessian of a place corrected by the steps nearby; without its curvature, the last one by the last."""
    steps = met[-1:] if curvature is None else met
    b = _inverse(curvature, b)
    for one in steps:
        b = _bfgs(b, one.change, one.gradient_change)
    return b


def _beaten(most: float, b: np.ndarray, bar: float) -> bool:
    """Whether a value of at most so much, with the volume of this inverse Hessian (q, q), stays below a bar."""
    return bool(np.isfinite(bar)) and most + 0.5 * log_determinant(b) < bar


def _at(z: np.ndarray, known: np.ndarray | None) -> bool:
    return known is not None and not apart(z, known)


def apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two points z (q,) are not of one summit."""
    return bool(np.abs(one - other).max(initial=0.0) > SAME_MODE)


@dataclass(frozen=True)
class _Found:
    z: np.ndarray
    at: Height
    evaluations: int
    improved: bool


def _search_line(
    objective: Objective, z: np.ndarray, at: Height, direction: np.ndarray, step: float, most: int
) -> _Found:
    """Backtrack by quadratic interpolation until the value rises by a hundredth of what the slope promises."""
    value, slope = at.value, float(at.gradient @ direction)
    for trial in range(1, min(most, 12) + 1):
        here = z + step * direction
        new = objective(here)
        if np.isfinite(new.value) and new.value >= value + 0.01 * step * slope:
            return _Found(here, new, trial, True)
        if np.isfinite(new.value):
            curve = value + step * slope - new.value  # > 0: how far below the tangent
            step *= float(np.clip(0.5 * step * slope / curve, 0.1, 0.5))
        else:
            step *= 0.1
    return _Found(z, at, min(most, 12), False)


def _bfgs(b: np.ndarray, change: np.ndarray, gradient_change: np.ndarray) -> np.ndarray:
    """Update of the inverse Hessian of minus the objective; skipped where the path curves the wrong way."""
    curvature = float(change @ gradient_change)
    if curvature <= 1e-10 * float(np.sqrt((change @ change) * (gradient_change @ gradient_change))):
        return b
    rho = 1.0 / curvature
    along = b @ gradient_change
    scale = rho * (1.0 + rho * float(gradient_change @ along))
    cross = rho * np.outer(change, along)
    return b + scale * np.outer(change, change) - cross - cross.T
