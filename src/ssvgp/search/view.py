"""What a fitted set shows of the inputs outside it: the scene of the dictionary, and slopes through the kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssvgp.evidence.laplace import Fit, mode, states
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.scene import Scene, scene
from ssvgp.search.screen import Scores, screen

ROUGH = 1e-2  # floor of r^2 in the slopes of kernels that are not smooth at zero


def scene_of(book: Book, found: Fit) -> Scene:
    """The rows of the first blocks at a fit, which the dictionary is scored against; the last one is kept."""
    if book.seen is None or book.seen[0] is not found:
        few, shapes = book.screened()
        at = states(few, found)
        sparse = None
        if found.candidate.size:
            rows = np.concatenate([b.X[:, found.candidate.columns] for b in few.blocks])
            one = len(at) == 1
            sparse = at[0].kernel.matrix if one else few.kernel.matrix(rows, rows, mode(few, found).theta)
        alpha = np.concatenate([one.alpha for one in at])
        book.seen = (found, scene(alpha, [one.precision for one in at], sparse, shapes))
    return book.seen[1]


def excluded_nats(view: Scene, candidate: Candidate) -> np.ndarray:
    """Strength (d,) of every input alone, minus infinity for those that are in the set."""
    nats = view.alone.copy() if candidate.inputs is None else candidate.inputs.largest(view.alone)
    nats[list(candidate.active)] = -np.inf
    return nats


def strongest(nats: np.ndarray, most: int) -> list[int]:
    """The inputs outside the set that look strongest, best first."""
    order = np.argsort(-nats, kind="stable")[:most]
    return [int(j) for j in order if np.isfinite(nats[j])]


def look(book: Book, found: Fit) -> Scores:
    """Gain and cost of all inputs against a fit."""
    problem = book.problem
    few = replace(problem, blocks=problem.blocks[: book.screened_blocks])
    scale = mode(problem, found).scale or 1.0
    scores = screen([b.X for b in few.blocks], states(few, found, ROUGH), scale)
    share = len(problem.blocks) / len(few.blocks)
    gain, cost = share * scores.gain, share * scores.cost
    # along a common theta^2 the slopes of columns add up
    inputs = problem.inputs
    return Scores(gain, cost) if inputs is None else Scores(inputs.total(gain), inputs.total(cost))
