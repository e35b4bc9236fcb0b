"""From blocks to all rows: what blocks have found is judged, and added to, by the evidence of the whole table.

Fits to blocks cost next to nothing beside fits to all rows, but a block cannot see weak effects, and the evidence of
blocks is not that of the table. Where rows are few enough for that (`Regime.scout`), the search on blocks is a first
look and no more: the sets it leads to are fitted to all rows, lose and gain inputs there, and are weighed as in any
exact fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem
from ssvgp.evidence.problem import CLOSE
from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.proposers import BEATEN, kernels
from ssvgp.model.likelihoods import AS_IT_IS
from ssvgp.records import Train, has_sites
from ssvgp.search.book import Book, add
from ssvgp.search.growth import grow
from ssvgp.search.ladder import climbing
from ssvgp.search.moves import best_above, empty_fit, explore, prune
from ssvgp.search.opinions import left_behind, narrow
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
    every = _by_evidence(book)
    lead = replace(every[0], others=[])
    bar = lead.best().log_evidence - 2.0 * regime.search.reach
    book.kernels = tuple(one.problem.kernel for one in every if one.best().log_evidence > bar)  # the rest has no weight
    _go_on_with_all_rows(book, lead.problem.kernel, regime)
    _search(book, _leaders(lead, regime), regime, rng)


def read_otherwise(
    book: Book,
    first: Book,
    restated: Callable[[Problem, Fit], Fit],
    regime: Regime,
    rng: np.random.Generator | None,
) -> None:
    """The sets that lead under one reading of y fitted to all rows under another, with additions and drops there.

    `restated` says of a fit under the first reading where it starts under the other. Which kernel is best is asked
    anew: where wild rows hid everything but a line, the linear one led.
    """
    every = _by_evidence(first)
    best = every[0].best()
    _go_on_with_all_rows(book, book.problem.kernel, regime)
    book.become(book.under(kernel_to_begin(book, restated(book.problem, best), every[0].problem.kernel, regime)))
    leaders = _leaders(every[0], regime)
    _search(book, [restated(book.problem, found) for found in leaders], regime, rng)


def _search(book: Book, leaders: Sequence[Fit], regime: Regime, rng: np.random.Generator | None) -> None:
    """Sets of other rows or another reading on all rows, nothing at all, and what they lead to."""
    book.carry_all(leaders)
    bar = max((one.log_evidence for one in book.fits.values()), default=-np.inf)
    empty_fit(book, bar=bar - BEATEN * regime.moves.reach)  # as far as it takes to see that it is beaten
    _move(book, regime)
    if rng is not None:
        kernels(book, regime, rng)


def _move(book: Book, regime: Regime) -> None:
    """Additions, drops and swaps from the best set, and pairs as long as one is better.

    Under sites, which make fits several times as dear, swaps of sets within reach are left out. But blocks may have
    been searched under another reading, and where much is open larger groups are looked for here.
    """
    found = grow(book, prune(book, book.best()), narrow(regime.moves))
    while (better := _with_a_pair(book, found, regime)) is not None:
        found = grow(book, better, narrow(regime.moves))
    if not has_sites(book.table.noise):
        explore(book, regime)
    elif left_behind(book, 0) > regime.search.left_behind:
        book.paired.discard(found.candidate)
        grow(book, found, regime.search)


def kernel_to_begin(book: Book, best: Fit, led: Kernel, regime: Regime) -> Kernel:
    """The usual kernel, unless the one that led before clearly beats it on a part of the rows, read as they are now.

    In tables of next to no noise it does so by hundreds of nats, and all sets would begin far below their modes. Where
    wild rows made the rough one lead it does not.
    """
    usual = book.problem.kernel
    if led.name == usual.name or regime.part_rows is None:
        return usual
    part = book.part(regime.part_rows)
    here, there = (part.under(kernel).carry(best).log_evidence for kernel in (usual, led))
    return led if there > here + 0.5 * BEATEN * regime.moves.reach else usual


def _by_evidence(book: Book) -> list[Book]:
    """The books of all kernels that were asked, best first."""
    return sorted((one for one in (book, *book.others) if one.fits), key=lambda one: -one.best().log_evidence)


def _go_on_with_all_rows(book: Book, kernel: Kernel, regime: Regime) -> None:
    """All rows as one block in the book, which is emptied, under a kernel."""
    train = book.table
    block = Block.of(np.asarray(train.X[:]), train.y, book.problem.backgrounds, train.noise, train.memo)
    book.others, book.ladder, book.screened_blocks = [], regime.ladder, regime.screened_blocks
    book.become(book.emptied(replace(book.problem, kernel=kernel, blocks=(block,), close=4.0 * CLOSE)))


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
