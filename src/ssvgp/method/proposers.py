"""The proposers of the default method: growth, backgrounds, products, second opinions, moves, blocks, kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ssvgp.evidence.ascent import SAME_MODE
from ssvgp.evidence.laplace import Fit, unexplained
from ssvgp.gp.kernels.families import Kernel
from ssvgp.large.blocks import block_of, local_rows
from ssvgp.method.paper.ranking import dense_ranking
from ssvgp.records import has_sites
from ssvgp.search.book import Book
from ssvgp.search.dense import dense_starts
from ssvgp.search.growth import grow, grow_by_groups, grow_on, refused
from ssvgp.search.modes import joined, settle
from ssvgp.search.moves import empty_fit, empty_fits, explore, prune, visit_every_set
from ssvgp.search.opinions import ask, left_behind, narrow, runners_up
from ssvgp.search.proposer import Proposer, register
from ssvgp.settings import Regime

LEADING = 5  # sets that are carried to the kernel that leads
BEATEN = 4.0  # times the reach below the best: a fit that will clearly end there is given up on its way


def growth(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """Growth from nothing, by one input after the other and several that look strong."""
    grow(book, _first_look(book, regime), narrow(regime.search))


def products(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """Growth by groups too, from the best set and from nothing; what is left open says how far to look."""
    grow_on(book, book.best(False), regime.search)
    grow_by_groups(book, empty_fit(book), regime.search)


def second_opinions(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """Growth from the dense end, then from runners-up, as long as they are expected to matter."""
    ask(book, _dense_end(book, regime, rng), regime.search)
    ask(book, runners_up(book), narrow(regime.search))
    if book.best(False).candidate not in book.paired:  # products were looked at beside another set
        grow(book, book.best(False), regime.search)


def _dense_end(book: Book, regime: Regime, rng: np.random.Generator) -> Iterator[Fit]:
    """All inputs fitted at once, ranked, cut at several places and pruned."""
    if regime.dense is None:
        return
    table = book.table
    if has_sites(table.noise):  # a ranking needs no likelihood
        table = replace(table, y=table.noise.gaussian_view(table.y), noise=None)
    order, theta = dense_ranking(table, book.problem.kernel, regime.dense, rng)
    s = regime.settings
    starts = dense_starts(book, order, theta, s.dense_sizes, s.search.cheap_rows, s.dense_starts)
    pruned = [prune(book, start) for start in starts]
    if pruned:
        yield max(pruned, key=lambda found: found.log_evidence)


def moves(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """Drops, additions and swaps of the best sets, each at its best mode, under the kernel that suits them best."""
    settle(book, regime.moves.reach)
    if (found := joined(book, regime.moves.reach)) is not None:
        grow(book, found, narrow(regime.search))
    _lead(book, regime)
    explore(book, regime)
    settle(book, regime.moves.reach)


def every_set(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """All sets, where they are few."""
    visit_every_set(book)


def background(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """The best sets with a background beside them, and growth on top of the background alone where it competes."""
    _add_background(book, regime)


def neighbour_blocks(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """Growth on blocks of neighbours in the metric of the best set; then blocks in the new metric, growth and moves."""
    _localise(book, regime, regime.settings.blocks // 2, rng)
    if book.problem.backgrounds:
        _add_background(book, regime)
    grow(book, book.best(), regime.moves)
    _localise(book, regime, regime.settings.blocks, rng)
    grow(book, prune(book, book.best()), regime.moves)
    explore(book, regime)


def kernels(book: Book, regime: Regime, rng: np.random.Generator) -> None:
    """The other kernels judge what one has found, each in a book of its own."""
    book.workers.map(_judge, [(other, book, regime) for other in book.others])
    book.others += book.workers.map(_judge_by, [(kernel, book, regime) for kernel in _other_kernels(book, regime)])


def _other_kernels(book: Book, regime: Regime) -> list[Kernel]:
    """Those that have no book yet, for several threads to ask."""
    known = {one.problem.kernel.name for one in (book, *book.others)}
    rest = [kernel for kernel in book.kernels if kernel.name not in known]
    if rest and regime.exact and regime.part_rows is not None:
        book.part(regime.part_rows).carry(book.best())  # which all of them are compared with
    return rest


def _lead(book: Book, regime: Regime) -> None:
    """Go on under the kernel that the best set has most evidence with, if that is clearly more.

    Where the set leaves out what the dictionary shows, each kernel is asked whether it would have it.
    """
    best, shown = book.best(), len(refused(book, book.best()))
    beside = _refused_groups(book, best, regime)
    asked = book.workers.map(_asked, [(kernel, book, regime, shown, beside) for kernel in _other_kernels(book, regime)])
    book.others += [other for other in asked if other.fits]
    top = max((book, *book.others), key=lambda one: one.best().log_evidence)
    if top is book or top.best().log_evidence < best.log_evidence + regime.moves.slack:
        return
    top.carry_all(book.within(regime.moves.reach)[:LEADING], best.log_evidence - BEATEN * regime.moves.reach)
    empty_fit(top)
    old = replace(book, others=[])
    book.others = [old if one is top else one for one in book.others]
    book.become(top)
    settings = regime.search  # groups too: a kernel that carries what is smooth may have them
    open_question = left_behind(book, book.unchanged) > settings.left_behind
    grow(book, book.best(), settings if open_question else narrow(settings))


def _refused_groups(book: Book, best: Fit, regime: Regime) -> list[Fit]:
    """The best set with a group of inputs more, if one was fitted that is not far behind."""
    own, bar = best.candidate, best.log_evidence - BEATEN * regime.moves.reach
    wider = [
        found
        for c, found in book.fits.items()
        if set(c.active) > set(own.active) and c.size > own.size + 1 and c.background == own.background
    ]
    return sorted((f for f in wider if f.log_evidence > bar), key=lambda f: -f.log_evidence)[:1]


def _asked(kernel: Kernel, book: Book, regime: Regime, shown: int, beside: list[Fit]) -> Book:
    """The best set and larger ones under another kernel, with growth by the `shown` inputs that look strongest.

    Nothing where a part of the rows shows that the kernel is beaten.
    """
    other, best = book.under(kernel), book.best()
    if not _beaten_on_a_part(kernel, book, regime):
        bar = best.log_evidence - BEATEN * regime.moves.reach
        carried = other.carry(best, bar)
        for found in beside:
            other.carry(found, bar)
        if shown:
            grow(other, carried, replace(narrow(regime.search), width=shown))
    return other


def _background_is_open(book: Book, regime: Regime) -> bool:
    return regime.exact and bool(book.problem.backgrounds) and 0.0 < book.problem.prior.with_background < 1.0


for _proposer in (
    Proposer("growth", growth),
    Proposer("products", products),
    Proposer("second opinions", second_opinions, wanted=lambda book, regime: regime.dense is not None),
    Proposer("moves", moves, wanted=lambda book, regime: regime.exact),
    Proposer("every set", every_set, wanted=lambda book, regime: regime.every_set and regime.exact),
    Proposer("background", background, wanted=_background_is_open),
    Proposer("neighbour blocks", neighbour_blocks, wanted=lambda book, regime: not regime.exact),
    Proposer("kernels", kernels),
):
    register(_proposer)


def _first_look(book: Book, regime: Regime) -> Fit:
    """Where growth on all rows begins: at what growth on a part of the rows has found, where that is much cheaper."""
    empty = empty_fit(book)
    if regime.first_rows is None:
        return empty
    part = book.part(regime.first_rows)
    found = grow(part, empty_fit(part), narrow(regime.search))  # groups are left to all rows
    if found.candidate.size == 0:
        return empty
    return max(empty, prune(book, book.carry(found)), key=lambda f: f.log_evidence)


def _add_background(book: Book, regime: Regime) -> None:
    """Backgrounds beside the best set and alone, with growth from there and elimination where they compete."""
    best = book.best()
    beside, alone = _backgrounds_that_compete(book, best, regime)
    book.visit_all(book.probe_all(best, [replace(best.candidate, background=kind) for kind in beside]))
    bar = book.best(False).log_evidence - BEATEN * regime.moves.reach
    empties = empty_fits(book, alone, bar)
    start = max(empties, key=lambda f: f.log_evidence, default=None)
    if start is not None and start.log_evidence > bar:
        grow_on(book, start, regime.moves)
    if not beside and not alone:
        return
    top = book.best(True)
    if top.log_evidence > book.best().log_evidence - regime.moves.reach:
        prune(book, top)


def _backgrounds_that_compete(book: Book, best: Fit, regime: Regime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds that beside the best set, and alone, are not clearly beaten by it, as far as a part can tell."""
    kinds = tuple(term.name for term in book.problem.backgrounds)
    if regime.part_rows is None:
        return kinds, kinds
    part = book.part(regime.part_rows)
    own = part.carry(best)
    bar = own.log_evidence - BEATEN * regime.moves.reach
    alone = tuple(kind for kind in kinds if empty_fit(part, kind, bar).log_evidence > bar)
    if not regime.exact:  # all blocks together show much more than a part of one
        return kinds, alone
    looks = part.visit_all(part.probe_all(own, [replace(best.candidate, background=kind) for kind in kinds]))
    near = {look.candidate.background for look in looks if look.log_evidence > own.log_evidence - regime.moves.slack}
    return tuple(kind for kind in kinds if kind in near), alone


def _localise(book: Book, regime: Regime, count: int, rng: np.random.Generator) -> None:
    """The leading sets judged anew on `count` blocks of neighbours in the metric of the best set (section 3.2)."""
    train = book.table
    rows = local_rows(train, book.problem, book.best(), count, regime.settings.block_rows, rng)
    book.met += rows
    blocks = tuple(block_of(train, r, book.problem.backgrounds) for r in rows)
    local = book.emptied(replace(book.problem, blocks=blocks))
    empty_fit(local)
    local.carry_all(book.within(regime.moves.reach)[:2])
    book.become(local)


def _judge_by(kernel: Kernel, book: Book, regime: Regime) -> Book:
    """The leading sets under another kernel; on blocks, where it is the better judge, growth is tried under it too."""
    other = book.under(kernel)
    if _beaten_on_a_part(kernel, book, regime):
        return other
    _judge(other, book, regime)
    if not regime.exact and other.best().log_evidence > book.best().log_evidence + regime.moves.slack:
        grow(other, prune(other, other.best()), narrow(regime.moves))
    return other


def _judge(other: Book, book: Book, regime: Regime) -> None:
    """The leading sets of a book carried to that of another kernel, as far as they will have weight there.

    The best set says what the kernel is worth, and the others keep about their distance to it.
    """
    best = book.best()
    bar = best.log_evidence - BEATEN * regime.moves.reach
    reach, most = (2.0, None) if regime.every_set else (0.5, 3)
    behind = max(0.0, best.log_evidence - other.carry(best, bar).log_evidence)
    other.carry_all(book.within(max(0.0, reach * regime.moves.reach - behind))[:most], bar)


def _beaten_on_a_part(kernel: Kernel, book: Book, regime: Regime) -> bool:
    """Whether a part of the rows is enough to see that the best set is better off under the kernel it has.

    It cannot tell where it leaves clearly more or less unexplained than all rows do: there the set is at another mode.
    """
    if regime.part_rows is None or not regime.exact:
        return False
    part, best = book.part(regime.part_rows), book.best()
    below = part.carry(best)
    left = unexplained(part.problem, below) / unexplained(book.problem, best)
    if abs(float(np.log(left))) > SAME_MODE:
        return False
    bar = below.log_evidence - 0.5 * BEATEN * regime.moves.reach
    return part.under(kernel).carry(best, bar).log_evidence < bar
