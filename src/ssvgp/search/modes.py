"""Modes: a set may have several, smooth and noisy or rough and quiet, and a fit finds the one that its start is near.

The leading sets are therefore fitted from other starts before they are weighed, on a part of the rows first where there
is a ladder. A start that will clearly not lead above what is known, or leads there, is given up on its way.
"""

from __future__ import annotations

import numpy as np

from ssvgp.evidence.ascent import SAME_MODE, apart
from ssvgp.evidence.laplace import Fit
from ssvgp.search.book import Book, add
from ssvgp.search.ladder import project
from ssvgp.search.moves import prune
from ssvgp.search.probe import LEVELS, fit_once

QUIET = 1.5  # by which log noise is lower at a start that is rougher than the mode, and higher at a smoother one
SETTLED = 2  # leading sets


def settle(book: Book, reach: float) -> None:
    """The leading sets at their best mode."""
    for found in book.within(reach)[:SETTLED]:
        if found.candidate.size and found.candidate not in book.settled:
            _at_best_mode(book, found)


def joined(book: Book, reach: float) -> Fit | None:
    """All inputs of the sets within reach as one set, at its best mode, without what is idle there.

    Sets that are nearly equal may each have a part of what acts together, and none of them the mode in which it does.
    """
    near = book.within(reach)
    together = add(near[0].candidate, [j for one in near for j in one.candidate.active])
    if len(near) < 2 or not together.size or together in book.settled:
        return None
    best = _at_best_mode(book, book.visit(near[0], together))
    return prune(book, best) if best.log_evidence > near[0].log_evidence - reach else None


def _at_best_mode(book: Book, found: Fit) -> Fit:
    """The best of a fit and those of its set from other starts, which the book has from then on."""
    book.settled.add(found.candidate)
    best = max([found, *_other_modes(book, found)], key=lambda f: f.log_evidence)
    book.fits[found.candidate] = best
    return best


def _other_modes(book: Book, found: Fit) -> list[Fit]:
    part = book.first_rung()
    if part is None:
        return _climbed(book, found, _starts(found))
    below = part.carry(found)
    seen = _climbed(part, below, _starts(found))
    hopeful = [one.fit for one in project(book, part, found, seen) if one.hope > found.log_evidence]
    return _climbed(book, found, [one.summit.z for one in hopeful])


def _climbed(book: Book, found: Fit, starts: list[np.ndarray]) -> list[Fit]:
    """Fits of the same set from other starts, as far as they lead elsewhere."""
    known = found.summit.z
    fixed = (None, None, found.log_evidence, book.workers, (), known)
    fits = book.made(fit_once, [(book.problem, found.candidate, z, *fixed) for z in starts])
    return [one for one in fits if apart(one.summit.z, known)]


def _starts(found: Fit) -> list[np.ndarray]:
    """All inputs equally strong at several levels, those far from the mode's own, with as much noise as befits them."""
    where, z = found.candidate.coordinates, found.summit.z
    own = float(z[where.theta].mean())
    starts = []
    for level in np.log(LEVELS):
        if abs(level - own) > SAME_MODE:
            start = z.copy()
            start[where.theta] = level
            if "noise" in where:
                start[where.slot("noise")] += QUIET if level < own else -QUIET
            start[where.slot("scale")] = np.clip(start[where.slot("scale")], -1.0, 1.0)
            starts.append(start)
    return starts
