"""Which inputs may act together: all looks at products beside a set, and what the size of what is left says.

The log of the square of a product is a sum over its inputs, so that inputs which act only together show one by one in
log alpha^2 (`scene.loud_nats`), however many they are; all but those that only turn the sign. So groups come from four
sources: looks at all products of a size, loud inputs alone, loud or active pairs times all other pairs, and the inputs
that look strongest one by one, which may pay only together. Strengths are in nats beyond what chance gives the best of
a look, and loud inputs add theirs to every group that has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.dictionary import Group, Order, affordable, groups
from ssvgp.search.probe import STRONG
from ssvgp.search.scene import Scene, loud_nats, tail_nats
from ssvgp.search.shapes import SLOW

ORDERS = (2, 3, 4)


def loudness(view: Scene, candidate: Candidate) -> np.ndarray:
    """Nats (d,) by which the size of what a set leaves goes with the inputs outside it."""
    loud = loud_nats(view)
    if candidate.inputs is not None:
        loud = candidate.inputs.largest(loud)
    loud[list(candidate.active)] = 0.0  # what is left beside them need not be theirs
    return loud


def beyond_chance(nats: np.ndarray) -> np.ndarray:
    """What nats (d,) of single inputs are above those that the strongest of d idle ones has, about."""
    return np.maximum(nats - np.log(nats.size), 0.0)


def seen_together(
    book: Book, view: Scene, nats: np.ndarray, loud: np.ndarray, size: int, operations: float
) -> list[Group]:
    """The strongest groups of so many inputs beside a set, best first.

    `nats` (d,) are those of single inputs, minus infinity for those in the set, which may take part; `loud` (d,) is
    their loudness.
    """
    looks = affordable(size, view.n, loud.size, operations)
    widest = max([*looks, book.orders.get(size, Order(size, 0, 1))], key=lambda look: look.inputs)
    book.orders[size] = widest
    order = np.argsort(-np.where(np.isneginf(nats), np.inf, np.maximum(nats, loud)), kind="stable")
    loud = beyond_chance(loud)
    found = [one for look in looks for one in _look(book, view, look, order[: look.inputs])]
    first = [int(j) for j in np.argsort(-loud, kind="stable")[: ORDERS[-1]] if loud[j] > STRONG]
    found += [Group(inputs, 0.0) for inputs in combinations(sorted(first), size)]
    found += _leaders(nats, size)
    if size == ORDERS[-1]:
        active = [int(j) for j in np.flatnonzero(np.isneginf(nats))]
        found += _beside_pairs(book, view, [*combinations(first, 2), *combinations(active, 2)], order, operations)
    best: dict[tuple[int, ...], float] = {}
    for one in found:
        best[one.inputs] = max(best.get(one.inputs, -np.inf), one.nats + float(loud[list(one.inputs)].sum()))
    return sorted((Group(*item) for item in best.items()), key=lambda one: -one.nats)


def _leaders(nats: np.ndarray, size: int) -> list[Group]:
    """Groups of the inputs that look strongest one by one; their strengths are tails, and combine by Fisher's rule."""
    alone = beyond_chance(nats)
    leaders = sorted(int(j) for j in np.argsort(-alone, kind="stable")[: ORDERS[-1]] if alone[j] > 0.0)
    sums = [(inputs, 2.0 * alone[list(inputs)].sum()) for inputs in combinations(leaders, size)]
    return [Group(inputs, float(tail_nats(total, 2 * size))) for inputs, total in sums]


def _look(book: Book, view: Scene, look: Order, inputs: np.ndarray) -> list[Group]:
    """The strongest groups of these inputs in one look."""
    columns = np.array(sorted(book.problem.candidate(inputs.tolist()).columns), dtype=np.intp)
    owner, chance = book.problem.owners(), look.chance()
    return [
        Group(tuple(sorted(owner[list(one.inputs)].tolist())), one.nats - chance)
        for one in groups(view, look, columns, book.workers)
    ]


def _beside_pairs(
    book: Book, view: Scene, pairs: Sequence[tuple[int, int]], order: np.ndarray, operations: float
) -> list[Group]:
    """Pairs of loud or active inputs with the pairs of others that show when multiplied by the shapes of the first.

    A set that follows a few wild rows of a product explains nothing that its other inputs could be seen through; the
    shapes of its inputs do not depend on how well it fits.
    """
    found, look = [], Order(2, order.size, SLOW - 1, SLOW**2)
    for pair in pairs[: int(operations / look.operations(view.n))]:
        first, second = (view.shapes.slow(np.array([book.problem.candidate([j]).columns[0]])) for j in pair)
        times = [first[a, :, 0] * second[b, :, 0] for a, b in product(range(SLOW), repeat=2)]
        through = replace(view, directions=np.stack([view.directions[0], *times]))
        for one in _look(book, through, look, order):
            if not set(one.inputs) & set(pair):
                found.append(Group(tuple(sorted((*one.inputs, *pair))), one.nats))
    return found
