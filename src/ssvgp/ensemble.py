"""The default method as one line: propose widely, judge by evidence, average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from ssvgp.average import average
from ssvgp.blocks import local_rows, random_blocks
from ssvgp.gp.background import gram
from ssvgp.gp.kernels import Kernel, squared_exponential
from ssvgp.propose.dense import dense_ranking, dense_starts
from ssvgp.propose.ledger import Ledger
from ssvgp.propose.search import empty_fit, explore, grow, prune
from ssvgp.records import AutoSettings, Ensemble, Member, PaperSettings, Parameters, Prior, Train
from ssvgp.weigh.evidence import Block, Candidate, Fit, Problem, fit

WIDE = 1000  # inputs beyond which the dense start takes uniform minibatches
DENSE_CANDIDATES = 2000  # rows among which it seeks neighbours
ALIKE = 0.2  # columns whose sds differ by less than this share are in one unit already


@dataclass(frozen=True)
class Event:
    """What a callback hears: the phase, the sets fitted so far, and the best of them."""

    phase: str
    visited: int
    best: tuple[int, ...]
    log_evidence: float


Callback = Callable[[Event], None]


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
    with threadpool_limits(limits=1):
        blocking, walking, drawing = rng.spawn(3)
        prior = prior.for_data(train.n, train.d)
        ledgers = [Ledger(_problem(train, kernels[0], prior, settings, blocking), n_jobs)]
        interrupted = False
        try:
            _search(ledgers, train, kernels, settings, (blocking, walking), callback)
        except KeyboardInterrupt:
            if not ledgers[0].fits:
                raise
            interrupted = True
        found = average([ledger for ledger in ledgers if ledger.fits], train, settings, drawing)
        return replace(found, notes={**found.notes, "interrupted": interrupted})


def _search(
    ledgers: list[Ledger],
    train: Train,
    kernels: tuple[Kernel, ...],
    settings: AutoSettings,
    rngs: tuple[np.random.Generator, np.random.Generator],
    callback: Callback | None,
) -> None:
    """Fill the ledgers, the first kernel's and one for each other, in place: an interrupt leaves what is there."""
    blocking, walking = rngs
    tell = _teller(ledgers[0], callback)
    _search_sparse(ledgers[0], train, settings, walking, tell)
    if train.n > settings.exact_rows:
        ledgers[0] = _localise(ledgers[0], train, settings, blocking)
        tell = _teller(ledgers[0], callback)
        grow(ledgers[0], ledgers[0].best(), settings.search)
        explore(ledgers[0], settings.search)
        tell("neighbour blocks")
    elif ledgers[0].problem.blocks[0].grams and 0.0 < ledgers[0].problem.prior.with_background < 1.0:
        _search_background(ledgers[0], settings)
        tell("background")
    for kernel in kernels[1:]:
        ledgers.append(_judge_by(kernel, ledgers[0], settings))
    tell("kernels")


def _teller(ledger: Ledger, callback: Callback | None) -> Callable[[str], None]:
    def tell(phase: str) -> None:
        if callback is not None:
            best = ledger.best()
            callback(Event(phase, len(ledger.fits), best.candidate.active, best.log_evidence))

    return tell


def _problem(
    train: Train, kernel: Kernel, prior: Prior, settings: AutoSettings, rng: np.random.Generator
) -> Problem:
    """All rows as one block, or random blocks where there are too many."""
    if train.n <= settings.exact_rows:
        kinds = settings.backgrounds if train.d > settings.background_from * train.n else ()
        if train.units is None or np.ptp(train.units) < ALIKE * train.units.max():
            kinds = tuple(kind for kind in kinds if kind != "unscaled")  # the same as linear
        grams = {kind: gram(kind, train.X, train.X, train.units) for kind in kinds}
        return Problem((Block(train.X, train.y, grams),), kernel, prior)
    return Problem(random_blocks(train, settings.search_blocks, settings.block_rows, rng), kernel, prior)


def _search_sparse(
    ledger: Ledger, train: Train, settings: AutoSettings, rng: np.random.Generator, tell: Callable[[str], None]
) -> None:
    """Growth from nothing, then from the dense end, then moves around the best."""
    grow(ledger, empty_fit(ledger), settings.search)
    tell("growth")
    if train.d <= settings.most_dense_inputs:
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
            found = prune(ledger, start, settings.search)
            if found is ledger.best():  # lesser sets within reach are left to the moves below
                grow(ledger, found, settings.search)
        tell("dense start")
    explore(ledger, settings.search)
    tell("moves")


def _dense_settings(train: Train, settings: AutoSettings) -> PaperSettings:
    """Minibatches of bounded size; uniform rows where a search for neighbours would read too much of a wide table."""
    batch = min(settings.dense_batch, max(2, train.n // 4))
    if train.n <= 4 * settings.dense_batch:
        return settings.dense
    kind = "nearest" if train.d <= WIDE else "uniform"
    return replace(settings.dense, minibatch=batch, minibatch_kind=kind, candidates=DENSE_CANDIDATES)


def _search_background(ledger: Ledger, settings: AutoSettings) -> None:
    """The best sets with a background beside them, and growth on top of the background alone where it competes."""
    kinds = tuple(ledger.problem.blocks[0].grams)
    best = ledger.best()
    for kind in kinds:
        ledger.visit(best, Candidate(best.candidate.active, kind))
    alone = max((empty_fit(ledger, kind) for kind in kinds), key=lambda f: f.log_evidence)
    if alone.log_evidence > ledger.best(False).log_evidence - 4.0 * settings.search.reach:
        grow(ledger, alone, settings.search)
    top = ledger.best(True)
    if top.log_evidence > ledger.best().log_evidence - settings.search.reach:
        prune(ledger, top, settings.search)
    explore(ledger, settings.search)


def _localise(ledger: Ledger, train: Train, settings: AutoSettings, rng: np.random.Generator) -> Ledger:
    """The leading sets judged anew on more blocks, of neighbours in the metric of the best set (section 3.2)."""
    rows = local_rows(train, ledger.problem, ledger.best(), settings.blocks, settings.block_rows, rng)
    blocks = tuple(Block(train.X[r], train.y[r]) for r in rows)
    local = Ledger(replace(ledger.problem, blocks=blocks), ledger.n_jobs)
    empty_fit(local)
    for found in ledger.within(settings.search.reach)[:4]:
        _refit(local, found)
    return local


def _refit(ledger: Ledger, found: Fit) -> Fit:
    """A fit of another problem carried over: same set, started at its mode."""
    refitted = fit(ledger.problem, found.candidate, found.summit.z, found.summit.inverse_hessian)
    ledger.fits[found.candidate] = refitted
    return refitted


def _judge_by(kernel: Kernel, ledger: Ledger, settings: AutoSettings) -> Ledger:
    """The leading sets under another kernel; where it is the better judge, moves are tried under it too."""
    other = Ledger(replace(ledger.problem, kernel=kernel), ledger.n_jobs)
    for found in ledger.within(0.5 * settings.search.reach)[:3]:
        _refit(other, found)
    if other.best().log_evidence > ledger.best().log_evidence + settings.search.slack:
        explore(other, settings.search)
    return other


def nothing_to_select(train: Train, noise: float) -> Ensemble:
    """The empty set alone: for a constant target, or a table without a column that varies."""
    nothing = np.empty(0, dtype=np.intp)
    member = Member(nothing, Parameters(np.empty(0), 0.0, noise), squared_exponential(), np.empty(0))
    shares = {"sparse": 0.0, "background": 0.0, "noise": 1.0}
    return Ensemble((member,), np.ones(1), np.zeros(train.d), {"shares": shares})
