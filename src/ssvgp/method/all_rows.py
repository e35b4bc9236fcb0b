"""From blocks to all rows: what blocks have found is judged, and added to, by the evidence of the whole table.

Fits to blocks cost next to nothing beside fits to all rows, but a block cannot see weak effects, and the evidence of
blocks is not that of the table. Where rows are few enough for that (`Regime.scout`), the search on blocks is a first
look and no more: the sets it leads to are fitted to all rows, lose and gain inputs there, and are weighed as in any
exact fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem
from ssvgp.method.proposers import BEATEN, kernels
from ssvgp.model.likelihoods import AS_IT_IS
from ssvgp.records import Train, has_sites
from ssvgp.search.book import Book, add
from ssvgp.search.growth import grow
from ssvgp.search.ladder import climbing
from ssvgp.search.moves import best_above, empty_fit, explore, prune
from ssvgp.search.opinions import narrow
from ssvgp.search.probe import BOLD
from ssvgp.search.together import ORDERS, loudness, seen_together
from ssvgp.search.view import excluded_nats, scene_of
from ssvgp.settings import Regime


def asked_of_all_rows(train: Train) -> bool:
    """Whether all rows have the last word: not of classes and counts, whose sites take many sweeps of all rows."""
    return not has_sites(train.noise) or train.noise.name not in AS_IT_IS


def on_all_rows(book: Book, regime: Regime, rng: np.random.Generator | None) -> None:
    """The leading sets of blocks fitted to all rows, with additions, drops and swaps there.

    The generator is that of the other kernels, None where these are not asked.
    """
    lead = _go_on_with_all_rows(book, book, regime)
    for found in _leaders(lead, regime):
        _carry(book, found)
    _begin_with_nothing(book, regime)
    _move(book, regime)
    if rng is not None:
        kernels(book, regime, rng)


def read_otherwise(book: Book, first: Book, restated: Callable[[Problem, Fit], Fit], regime: Regime) -> None:
    """The sets that lead under one reading of y fitted to all rows under another, with additions and drops there.

    `restated` says of a fit under the first reading where it starts under the other.
    """
    lead = _go_on_with_all_rows(book, first, regime)
    for found in _leaders(lead, regime):
        _carry(book, restated(book.problem, found))
    _begin_with_nothing(book, regime)
    _move(book, regime)


def _carry(book: Book, found: Fit) -> None:
    """A fit to other rows carried to all by way of the part that candidates are met on: most steps are made there."""
    rung = book.first_rung()
    book.carry(found if rung is None else rung.carry(found))


def _begin_with_nothing(book: Book, regime: Regime) -> None:
    """The empty set, as far as it takes to see that it is beaten."""
    bar = max((one.log_evidence for one in book.fits.values()), default=-np.inf)
    empty_fit(book, bar=bar - BEATEN * regime.moves.reach)


def _move(book: Book, regime: Regime) -> None:
    """Additions, drops and swaps from the best set, and pairs as long as one is better.

    Swaps of sets within reach are left out where sites make fits several times as dear.
    """
    found = grow(book, prune(book, book.best()), narrow(regime.moves))
    while (better := _with_a_pair(book, found, regime)) is not None:
        found = grow(book, better, narrow(regime.moves))
    if not has_sites(book.table.noise):
        explore(book, regime)


def _go_on_with_all_rows(book: Book, first: Book, regime: Regime) -> Book:
    """All rows as one block in the book, empty, under the kernel that led in another, whose book is returned.

    Kernels that would not be weighed at all there are asked no more.
    """
    every = sorted((one for one in (first, *first.others) if one.fits), key=lambda one: -one.best().log_evidence)
    lead, train = replace(every[0], others=[]), book.table
    bar = lead.best().log_evidence - 2.0 * regime.search.reach
    block = Block.of(np.asarray(train.X[:]), train.y, book.problem.backgrounds, train.noise, train.memo)
    book.kernels = tuple(one.problem.kernel for one in every if one.best().log_evidence > bar)
    book.others, book.ladder, book.screened_blocks = [], regime.ladder, regime.screened_blocks
    book.become(book.emptied(replace(book.problem, kernel=lead.problem.kernel, blocks=(block,))))
    return lead


def _leaders(lead: Book, regime: Regime) -> list[Fit]:
    """The sets that go on: the best two, and the best with and without a background where there is one."""
    kinds = {bool(candidate.background) for candidate in lead.fits}
    found = [*lead.within(regime.moves.reach)[:2], *(lead.best(kind) for kind in sorted(kinds))]
    return list({one.candidate: one for one in found if one.candidate.size or one.candidate.background}.values())


def _with_a_pair(book: Book, current: Fit, regime: Regime) -> Fit | None:
    """The set with the pair more that all rows show most clearly beyond chance, if that is better; no wider looks.

    What takes three inputs or more is strong where it is seen at all, and left to blocks.
    """
    if current.candidate in book.paired:
        return None
    book.paired.add(current.candidate)
    view, settings = scene_of(book, current), regime.moves
    nats, loud = excluded_nats(view, current.candidate), loudness(view, current.candidate)
    seen = seen_together(book, view, nats, loud, ORDERS[0], settings.operations)
    own = set(current.candidate.active)
    shown = [add(current.candidate, one.inputs) for one in seen if one.nats > 0.0 and not set(one.inputs) <= own][:1]
    book.visit_all(climbing(book, current, shown, current.log_evidence, BOLD), current.log_evidence)
    better = best_above([book.fits[one] for one in shown if one in book.fits], current)
    return None if better is None else prune(book, better)
