"""The default method as one line: propose widely, judge by evidence, average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem
from ssvgp.gp.kernels.families import Kernel, squared_exponential
from ssvgp.gp.terms import Background
from ssvgp.large.blocks import block_of, random_rows
from ssvgp.method import proposers as _registered  # noqa: F401  (they join the registry)
from ssvgp.method.all_rows import asked_of_all_rows, on_all_rows, read_otherwise
from ssvgp.method.averaging import average
from ssvgp.method.backgrounds import repeated_in, worth_a_look
from ssvgp.method.outlook import ALL_ROWS, outlook
from ssvgp.method.readings import Prospect, Reading, better_reading, restated, worth_of
from ssvgp.model.inputs import Inputs
from ssvgp.model.likelihoods import AS_IT_IS
from ssvgp.records import Ensemble, Member, Parameters, Searched, Train, has_sites
from ssvgp.run.progress import Callback, Reporter, Work, all_of
from ssvgp.run.workers import Workers, keep_freed_memory, one_blas_thread
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.search.opinions import left_behind
from ssvgp.search.proposer import proposers_named
from ssvgp.settings import Prior, Regime


def auto_ensemble(
    train: Train,
    kernels: tuple[Kernel, ...],
    prior: Prior,
    regime: Regime,
    rng: np.random.Generator,
    n_jobs: int = 1,
    callback: Callback | None = None,
    units: np.ndarray | None = None,
    inputs: Inputs | None = None,
    readings: Sequence[Reading] = (),
) -> Ensemble:
    """Search in the first kernel, let the other kernels judge what it found, and average all by evidence.

    An interrupted search is not lost: what was visited by then is weighed and averaged, and the notes say so. `units`
    (d,) are the standard deviations of the columns before they were standardised. `inputs` says which columns are
    selected together, None where every column is an input; the regime, sets and PIPs then count inputs. `readings` are
    the ways to read y, of which train and prior are the first; the notes say by its number which one was taken.
    """
    with one_blas_thread(), Workers(regime.threads(n_jobs)) as workers:
        keep_freed_memory()
        blocking, walking, drawing = rng.spawn(3)
        names = regime.settings.proposers
        rngs = dict(zip(names, rng.spawn(len(names)), strict=True))
        rngs |= {"second opinions": walking, "neighbour blocks": blocking}
        (looking,) = rng.spawn(1)
        repeated = repeated_in(train, regime, looking)
        backgrounds = worth_a_look(train, regime, units, repeated)
        settings = regime.settings
        rows = [] if regime.first.exact else random_rows(train, settings.search_blocks, settings.block_rows, blocking)
        shelf = _Shelf(kernels, regime, workers, Reporter(callback), inputs, repeated, backgrounds, rows)
        taken, interrupted = _Taken(shelf.opened(train, prior, Prospect(readings, {0}))), False
        try:
            _search_readings(taken, shelf.opened, readings, regime, rngs)
        except KeyboardInterrupt:
            if not taken.book.fits:
                raise
            interrupted = True
        found = _weighed(taken.book, regime, drawing, interrupted)
        return replace(found, notes={**found.notes, "reading": taken.reading})


@dataclass(frozen=True)
class _Shelf:
    """What the books of all readings of y have in common."""

    kernels: tuple[Kernel, ...]
    regime: Regime
    workers: Workers
    reporter: Reporter
    inputs: Inputs | None
    repeated: float
    backgrounds: tuple[Background, ...]
    rows: list[np.ndarray]

    def opened(self, train: Train, prior: Prior, prospect: Prospect) -> Book:
        """An empty book of one reading, which the reporter follows from now on, with the prospect of others."""
        regime, inputs = self.regime, self.inputs
        filled = replace(prior, slab_scales=regime.slab_scales).for_data(
            train.count,
            train.d,
            self.repeated,
            None if inputs is None else len(inputs),
            _spread(train, prior),
            regime.exact and regime.predict_neighbours is None,
        )
        book = Book(
            replace(_problem(train, self.kernels[0], filled, self.backgrounds, self.rows), inputs=inputs),
            self.workers,
            train=train,
            kernels=self.kernels,
            met=list(self.rows),
            screened_blocks=regime.first.screened_blocks,
            ladder=regime.first.ladder,
            alone=regime.alone,
            memo=train.memo,
            reporter=self.reporter,
        )
        self.reporter.restart()
        self.reporter.outlook = lambda: _ahead(book, regime, self.reporter.spent, prospect)
        return book


@dataclass
class _Taken:
    """The book of the reading of y that explains it best so far, and its number: what an interrupt leaves."""

    book: Book
    reading: int = 0


def _search_readings(
    taken: _Taken,
    opened: Callable[[Train, Prior, Prospect], Book],
    readings: Sequence[Reading],
    regime: Regime,
    rngs: Mapping[str, np.random.Generator],
) -> None:
    """Search under the first reading of y, then under others as long as one explains what was found clearly better."""
    asked, present = {0}, 0
    book = taken.book
    _search(book, regime, rngs)
    while (better := better_reading(readings, present, asked, book, regime)) is not None:
        first, other = readings[present], readings[better.number]
        asked.add(better.number)
        prospect = Prospect(readings, asked, book.best().candidate.size)
        rival = opened(other.train, other.prior, prospect)
        if regime.scout is None:
            _search(rival, regime, rngs)
        else:
            _read_otherwise(rival, book, first, other, better.found, regime, rngs)
        known = worth_of(readings[taken.reading], taken.book, regime)
        if worth_of(other, rival, regime).beyond(known) > 0.0:
            taken.book, taken.reading = rival, better.number
        book, present = rival, better.number


def _read_otherwise(
    rival: Book,
    book: Book,
    first: Reading,
    other: Reading,
    found: Fit,
    regime: Regime,
    rngs: Mapping[str, np.random.Generator],
) -> None:
    """What one reading has found on all rows, read otherwise there: the leading set begins as a part of them has it."""

    def begun(problem: Problem, fitted: Fit) -> Fit:
        same = fitted.candidate == replace(found.candidate, own=fitted.candidate.own)
        return found if same else restated(problem, fitted, first, other)

    with _phase(rival, ALL_ROWS):
        read_otherwise(rival, book, begun, regime, rngs.get("kernels"))


def _spread(train: Train, prior: Prior) -> float | None:
    """The variance that noise stands for in units of f, where y is not standardised."""
    noise = train.noise
    if not has_sites(noise) or noise.name not in AS_IT_IS:
        return None
    return noise.spread(Parameters(np.empty(0), 1.0, float(np.exp(prior.log_noise[0]))))


def _weighed(book: Book, regime: Regime, rng: np.random.Generator, interrupted: bool) -> Ensemble:
    """The average over what is in the book, in a hurry where that is interrupted too."""
    filled, found = [one for one in (book, *book.others) if one.fits], None
    try:
        with _phase(book, "averaging"):
            found = average(filled, book.table, _come_to(book, regime), rng)
    except KeyboardInterrupt:
        if book.reporter is not None:
            book.reporter.callback = None  # who interrupts again by way of a report would lose all
        found = found or average(filled, book.table, _come_to(book, regime.hurried()), rng)
        interrupted = True
    return replace(found, notes={**found.notes, "interrupted": interrupted, "search": _searched(filled, found.notes)})


def _come_to(book: Book, regime: Regime) -> Regime:
    """The regime that a search has come to: that of blocks where all rows were not asked, or not yet."""
    whole = all(block.y.size == book.table.n for block in book.problem.blocks)
    return regime if whole or regime.scout is None else regime.scout


def _searched(books: Sequence[Book], notes: Mapping[str, Any]) -> Searched:
    """What is said of the search, by the book that led it, and by all rows where they looked at products too."""
    lead = books[0]
    orders = {size: look.inputs for size, look in sorted(lead.orders.items()) if size <= lead.problem.d}
    if "paired" in notes:
        pairs = max(orders.pop(2, 0), min(notes["paired"], lead.problem.d))
        orders = {2: pairs, **orders}
    agreed = None if not lead.asked else lead.unchanged > 0
    visited = sum(len(book.fits) for book in books)
    missed = left_behind(lead, lead.unchanged)
    return Searched(visited, lead.problem.d, orders, missed, agreed, notes.get("rested"))


def _search(book: Book, regime: Regime, rngs: Mapping[str, np.random.Generator]) -> None:
    """Ask the proposers of the settings, one after the other, on blocks before all rows where the regime says so.

    An interrupt leaves what is in the book.
    """
    if regime.scout is not None:
        _search(book, regime.scout, rngs)
        if asked_of_all_rows(book.table):
            with _phase(book, ALL_ROWS):
                on_all_rows(book, regime, rngs.get("kernels"))
        return
    empty_fit(book)
    for proposer in [one for one in proposers_named(regime.settings.proposers) if one.wanted(book, regime)]:
        with _phase(book, proposer.name):
            proposer.propose(book, regime, rngs[proposer.name])


def _ahead(book: Book, regime: Regime, spent: Mapping[str, float], prospect: Prospect) -> dict[str, Work]:
    """The work of each phase as far as it can be told; a proposer from outside says what share of the rest it takes.

    Where another reading of y may follow, so does another search.
    """
    known = outlook(book, regime, spent, prospect.size)
    rest = all_of(known.values())
    asked = [one for one in proposers_named(regime.settings.proposers) if one.wanted(book, regime.first)]
    search = {one.name: known.get(one.name, rest.times(one.share)) for one in asked}
    search |= {name: known[name] for name in (ALL_ROWS,) if name in known}
    further = prospect.work(book, regime, search)
    return search | {"another reading": further, "averaging": known["averaging"]}


@contextmanager
def _phase(book: Book, name: str) -> Iterator[None]:
    """What is fitted inside belongs to this phase of the fit."""
    assert book.reporter is not None  # given by auto_ensemble
    book.reporter.begin(name)
    yield
    best = book.best()
    book.reporter.end(best.candidate.active, best.log_evidence, len(book.fits))


def _problem(
    train: Train,
    kernel: Kernel,
    prior: Prior,
    backgrounds: tuple[Background, ...],
    rows: Sequence[np.ndarray],
) -> Problem:
    """All rows as one block, or random blocks where there are too many; those are for growth without background."""
    if not rows:
        return Problem((Block.of(train.X, train.y, backgrounds, train.noise, train.memo),), kernel, prior, backgrounds)
    return Problem(tuple(block_of(train, r) for r in rows), kernel, prior, backgrounds)


def nothing_to_select(train: Train, noise: float) -> Ensemble:
    """The empty set alone: for a constant target, or a table without a column that varies."""
    nothing = np.empty(0, dtype=np.intp)
    member = Member(nothing, Parameters(np.empty(0), 0.0, noise), squared_exponential(), np.empty(0))
    shares = {"sparse": 0.0, "background": 0.0, "noise": 1.0}
    return Ensemble((member,), np.ones(1), np.zeros(train.d), {"shares": shares})
