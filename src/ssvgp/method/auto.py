"""The default method as one line: propose widely, judge by evidence, average."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem
from ssvgp.gp.background import gram
from ssvgp.gp.kernels.families import Kernel, squared_exponential
from ssvgp.large.blocks import block_of, local_rows, random_rows
from ssvgp.method.averaging import average
from ssvgp.method.backgrounds import kinds_for, repeated_in, with_axes
from ssvgp.method.paper.ranking import dense_ranking
from ssvgp.model.priors import Candidate
from ssvgp.records import Ensemble, Member, Parameters, Train
from ssvgp.run.progress import Callback, Reporter
from ssvgp.run.workers import Workers, keep_freed_memory, one_blas_thread
from ssvgp.search.book import Ledger
from ssvgp.search.dense import dense_starts
from ssvgp.search.moves import empty_fit, explore, grow, prune, visit_every_set
from ssvgp.settings import AutoSettings, PaperSettings, Prior

QUICK: dict[str, Any] = {"draws": 2, "components": 1, "polish_blocks": 1, "most_polish_blocks": 1, "polish_rows": 250}
WIDE = 1000  # inputs beyond which the dense start takes uniform minibatches
DENSE_CANDIDATES = 2000  # rows among which it seeks neighbours
ENOUGH_ROWS = 150  # with fewer, steps are so short that threads would only wait for each other
MOST_ON_BLOCKS = 1  # sets whose neighbours are tried on blocks: each costs as much as growth
LARGEST_BESIDE = 20  # inputs of a set on blocks to which growth beside a background goes: it carries the rest
BEATEN = 4.0  # times the reach below the best: a fit that will clearly end there is given up on its way


# how the time of a fit is usually spent, for estimates of what remains
SHARES = {"growth": 0.25, "dense start": 0.15, "moves": 0.1, "background": 0.1, "kernels": 0.1, "averaging": 0.3}
LARGE_SHARES = {"growth": 0.1, "dense start": 0.05, "neighbour blocks": 0.5, "kernels": 0.25, "averaging": 0.1}


def auto_ensemble(
    train: Train,
    kernels: tuple[Kernel, ...],
    prior: Prior,
    settings: AutoSettings,
    rng: np.random.Generator,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> Ensemble:
    """Search in the first kernel, let the other kernels judge what it found, and average all by evidence.

    An interrupted search is not lost: what was visited by then is weighed and averaged, and the notes say so.
    """
    threads = n_jobs if train.n >= ENOUGH_ROWS else 1
    with one_blas_thread(), Workers(threads) as workers:
        keep_freed_memory()
        blocking, walking, drawing = rng.spawn(3)
        repeated = repeated_in(train, settings)
        prior = prior.for_data(train.n, train.d, repeated)
        train = with_axes(train, settings, repeated)
        problem = _problem(train, kernels[0], prior, settings, blocking)
        reporter = Reporter(callback, LARGE_SHARES if train.n > settings.exact_rows else SHARES)
        ledgers = [Ledger(replace(problem, workers=workers), reporter=reporter)]
        interrupted = False
        try:
            _search(ledgers, train, kernels, settings, (blocking, walking))
        except KeyboardInterrupt:
            if not ledgers[0].fits:
                raise
            interrupted = True
        filled, found = [ledger for ledger in ledgers if ledger.fits], None
        try:
            with _phase(ledgers, "averaging"):
                found = average(filled, train, settings, drawing)
        except KeyboardInterrupt:
            found = found or average(filled, train, replace(settings, **QUICK), drawing)
            interrupted = True
        return replace(found, notes={**found.notes, "interrupted": interrupted})


def _search(
    ledgers: list[Ledger],
    train: Train,
    kernels: tuple[Kernel, ...],
    settings: AutoSettings,
    rngs: tuple[np.random.Generator, np.random.Generator],
) -> None:
    """Fill the ledgers, the first kernel's and one for each other, in place: an interrupt leaves what is there."""
    blocking, walking = rngs
    _search_sparse(ledgers, train, settings, walking)
    if train.n > settings.exact_rows:
        settings = _for_blocks(settings)
        _search_neighbours(ledgers, train, settings, blocking)
    else:
        with _phase(ledgers, "moves"):
            explore(ledgers[0], settings.search)
            if _few_sets(ledgers[0], settings):
                visit_every_set(ledgers[0])
        if ledgers[0].problem.blocks[0].grams and 0.0 < ledgers[0].problem.prior.with_background < 1.0:
            with _phase(ledgers, "background"):
                _search_background(ledgers[0], settings)
    first = ledgers[0]
    with _phase(ledgers, "kernels"):
        if len(kernels) > 1 and _has_part(first, settings):
            first.part(settings.first_rows).carry(first.best())  # once, before several threads ask for it
        ledgers += first.problem.workers.map(_judge_by, [(kernel, first, settings) for kernel in kernels[1:]])


@contextmanager
def _phase(ledgers: list[Ledger], name: str) -> Iterator[None]:
    """What is fitted inside belongs to this phase of the fit; the first ledger may be replaced in it."""
    reporter = ledgers[0].reporter
    assert reporter is not None  # given by auto_ensemble
    reporter.begin(name)
    yield
    best = ledgers[0].best()
    reporter.end(best.candidate.active, best.log_evidence, len(ledgers[0].fits))


def _for_blocks(settings: AutoSettings) -> AutoSettings:
    """A narrower search: on all rows the differences seen on blocks would be many times as large."""
    search = settings.search
    narrow = replace(
        search,
        reach=0.5 * search.reach,
        slack=0.5 * search.slack,
        most_expanded=MOST_ON_BLOCKS,
        largest_beside=min(search.largest_beside, LARGEST_BESIDE),
    )
    return replace(settings, search=narrow)


def _search_neighbours(ledgers: list[Ledger], train: Train, settings: AutoSettings, rng: np.random.Generator) -> None:
    """Growth on blocks of neighbours in the metric of the best set; then blocks in the new metric, growth and moves."""
    with _phase(ledgers, "neighbour blocks"):
        ledgers[0] = _localise(ledgers[0], train, settings, settings.blocks // 2, rng)
        if ledgers[0].problem.blocks[0].grams:
            _add_background(ledgers[0], settings)
        grow(ledgers[0], ledgers[0].best(), settings.search)
        ledgers[0] = _localise(ledgers[0], train, settings, settings.blocks, rng)
        grow(ledgers[0], prune(ledgers[0], ledgers[0].best()), settings.search)
        explore(ledgers[0], settings.search)


def _problem(train: Train, kernel: Kernel, prior: Prior, settings: AutoSettings, rng: np.random.Generator) -> Problem:
    """All rows as one block, or random blocks where there are too many."""
    if train.n <= settings.exact_rows:
        grams = {kind: gram(kind, train.X, train.X, train.layout) for kind in kinds_for(train, settings)}
        return Problem((Block(train.X, train.y, grams),), kernel, prior)
    rows = random_rows(train, settings.search_blocks, settings.block_rows, rng)
    return Problem(tuple(block_of(train, r) for r in rows), kernel, prior)


def _search_sparse(ledgers: list[Ledger], train: Train, settings: AutoSettings, rng: np.random.Generator) -> None:
    """Growth from nothing, then from the dense end."""
    ledger = ledgers[0]
    with _phase(ledgers, "growth"):
        grow(ledger, _first_look(ledger, settings), settings.search)
    if train.d > settings.most_dense_inputs:
        return
    with _phase(ledgers, "dense start"):
        order, theta = dense_ranking(train, ledger.problem.kernel, _dense_settings(train, settings), rng)
        starts = dense_starts(
            ledger,
            order,
            theta,
            settings.dense_sizes,
            settings.dense_rows,
            settings.dense_starts,
            settings.dense_slack,
        )
        for start in starts:
            found = prune(ledger, start)
            if found is ledger.best():  # lesser sets within reach are left to the moves below
                grow(ledger, found, settings.search)


def _first_look(ledger: Ledger, settings: AutoSettings) -> Fit:
    """Where growth on all rows begins: at what growth on a part of the rows has found, where that is much cheaper."""
    empty, problem = empty_fit(ledger), ledger.problem
    rows = max(settings.first_rows, problem.n // 4)
    if not _has_part(ledger, settings):
        return empty
    part = ledger.part(rows)
    found = grow(part, empty_fit(part), replace(settings.search, pair_width=0))  # pairs are left to all rows
    if found.candidate.size == 0:
        return empty
    return max(empty, prune(ledger, ledger.carry(found)), key=lambda f: f.log_evidence)


def _has_part(ledger: Ledger, settings: AutoSettings) -> bool:
    """Whether a part of the rows is worth a first look: one block, of which the part is a half or less."""
    return len(ledger.problem.blocks) == 1 and ledger.problem.n >= 2 * settings.first_rows


def _dense_settings(train: Train, settings: AutoSettings) -> PaperSettings:
    """Minibatches of bounded size; uniform rows where a search for neighbours would read too much of a wide table."""
    batch = min(settings.dense_batch, max(2, train.n // 4))
    if train.n <= 4 * settings.dense_batch:
        return settings.dense
    kind = "nearest" if train.d <= WIDE else "uniform"
    return replace(settings.dense, minibatch=batch, minibatch_kind=kind, candidates=DENSE_CANDIDATES)


def _search_background(ledger: Ledger, settings: AutoSettings) -> None:
    """The best sets with a background beside them, and growth on top of the background alone where it competes."""
    _add_background(ledger, settings)
    explore(ledger, settings.search)


def _add_background(ledger: Ledger, settings: AutoSettings) -> None:
    """Backgrounds beside the best set and alone, with growth from there and elimination where they compete."""
    best = ledger.best()
    beside, alone = _backgrounds_that_compete(ledger, best, settings)
    ledger.visit_all(ledger.probe_all(best, [Candidate(best.candidate.active, kind) for kind in beside]))
    bar = ledger.best(False).log_evidence - BEATEN * settings.search.reach
    empties = ledger.problem.workers.map(empty_fit, [(ledger, kind, bar) for kind in alone])
    for found in empties:  # in their order, whoever came first
        ledger.fits[found.candidate] = ledger.fits.pop(found.candidate)
    start = max(empties, key=lambda f: f.log_evidence, default=None)
    if start is not None and start.log_evidence > bar:
        grow(ledger, start, settings.search)
    if not beside and not alone:
        return
    top = ledger.best(True)
    if top.log_evidence > ledger.best().log_evidence - settings.search.reach:
        prune(ledger, top)


def _backgrounds_that_compete(
    ledger: Ledger, best: Fit, settings: AutoSettings
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds that beside the best set, and alone, are not clearly beaten by it, as far as a part can tell."""
    kinds = tuple(ledger.problem.blocks[0].grams)
    if ledger.problem.n < 2 * settings.first_rows:
        return kinds, kinds
    part = ledger.part(settings.first_rows)
    own = part.carry(best)
    bar = own.log_evidence - BEATEN * settings.search.reach
    alone = tuple(kind for kind in kinds if empty_fit(part, kind, bar).log_evidence > bar)
    if not _has_part(ledger, settings):  # all blocks together show much more than a part of one
        return kinds, alone
    looks = part.visit_all(part.probe_all(own, [Candidate(best.candidate.active, kind) for kind in kinds]))
    near = {look.candidate.background for look in looks if look.log_evidence > own.log_evidence - settings.search.slack}
    return tuple(kind for kind in kinds if kind in near), alone


def _localise(ledger: Ledger, train: Train, settings: AutoSettings, count: int, rng: np.random.Generator) -> Ledger:
    """The leading sets judged anew on `count` blocks of neighbours in the metric of the best set (section 3.2)."""
    rows = local_rows(train, ledger.problem, ledger.best(), count, settings.block_rows, rng)
    blocks = tuple(block_of(train, r, kinds_for(train, settings)) for r in rows)
    local = Ledger(replace(ledger.problem, blocks=blocks), reporter=ledger.reporter)
    empty_fit(local)
    for found in ledger.within(settings.search.reach)[:2]:
        local.carry(found)
    return local


def _judge_by(kernel: Kernel, ledger: Ledger, settings: AutoSettings) -> Ledger:
    """The leading sets under another kernel; where it is the better judge, moves are tried under it too."""
    other = ledger.under(kernel)
    if _beaten_on_a_part(kernel, ledger, settings):
        return other
    bar = ledger.best().log_evidence - BEATEN * settings.search.reach
    reach, most = (2.0, None) if _few_sets(ledger, settings) else (0.5, 3)
    for found in ledger.within(reach * settings.search.reach)[:most]:
        other.carry(found, bar)
    if other.best().log_evidence > ledger.best().log_evidence + settings.search.slack:
        if len(other.problem.blocks) > 1:
            grow(other, prune(other, other.best()), settings.search)
        else:
            explore(other, settings.search)
    return other


def _few_sets(ledger: Ledger, settings: AutoSettings) -> bool:
    """Whether all sets of inputs can be fitted: where both inputs and rows are few. Weights are then spread widest."""
    return ledger.problem.d <= settings.search.all_sets and ledger.problem.n <= settings.search.cheap_rows


def _beaten_on_a_part(kernel: Kernel, ledger: Ledger, settings: AutoSettings) -> bool:
    """Whether a part of the rows is enough to see that the best set is better off under the kernel it has."""
    if not _has_part(ledger, settings):
        return False
    part, best = ledger.part(settings.first_rows), ledger.best()
    bar = part.carry(best).log_evidence - 0.5 * BEATEN * settings.search.reach
    return part.under(kernel).carry(best, bar).log_evidence < bar


def nothing_to_select(train: Train, noise: float) -> Ensemble:
    """The empty set alone: for a constant target, or a table without a column that varies."""
    nothing = np.empty(0, dtype=np.intp)
    member = Member(nothing, Parameters(np.empty(0), 0.0, noise), squared_exponential(), np.empty(0))
    shares = {"sparse": 0.0, "background": 0.0, "noise": 1.0}
    return Ensemble((member,), np.ones(1), np.zeros(train.d), {"shares": shares})
