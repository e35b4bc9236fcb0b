"""Growth: from a set to a larger one, by what the dictionary shows of inputs alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ssvgp.evidence.laplace import Fit, unexplained
from ssvgp.evidence.logs import NEGLIGIBLE, NOTICED
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book, add
from ssvgp.search.dictionary import Group
from ssvgp.search.ladder import climbing
from ssvgp.search.moves import best_above, prune
from ssvgp.search.probe import BOLD, ROUGH, STRONG, Probe
from ssvgp.search.scene import Scene
from ssvgp.search.together import ORDERS, beyond_chance, loudness, seen_together
from ssvgp.search.view import excluded_nats, scene_of, strongest
from ssvgp.settings import SearchSettings
from ssvgp.settings.regime import GROUPS_FITTED

PAIRS = 4  # times as many more pairs are probed where nothing is explained yet: of ten inputs, all of them
HALF = 0.5  # of the noise: a look that explains more than that of it, or a set of y, is on the right way
LEAST = 0.0025  # of the operations that a look may take, where next to nothing is left to explain
BEHIND = 2 * NEGLIGIBLE  # nats by which a group that looks strong may be behind at first: it may lead on


def grow(book: Book, start: Fit, settings: SearchSettings) -> Fit:
    """Add inputs, several at a time while many look strong, then single ones, then groups, while evidence rises."""
    current = start
    while current.candidate.size < (settings.largest_beside if current.candidate.background else settings.largest):
        view = scene_of(book, current)
        nats = excluded_nats(view, current.candidate)
        better = (
            add_many(book, current, nats)
            or _add_one(book, current, nats, settings)
            or _add_group(book, current, view, nats, settings)
        )
        if better is None:
            book.grown.add(current.candidate)
            return current
        current = better
    return current


def grow_on(book: Book, start: Fit, settings: SearchSettings) -> Fit:
    """Growth that also takes a step which costs next to nothing, where another one pays after it."""
    found = grow(book, start, settings)
    while (further := _second_step(book, found, settings)) is not None:
        found = grow(book, further, settings)
    return found


def _second_step(book: Book, found: Fit, settings: SearchSettings) -> Fit | None:
    """An input more beside a larger set that is as good as the one where growth has ended, if that is better."""
    own, as_good = found.candidate, found.log_evidence - NOTICED
    beside = [
        f
        for c, f in book.fits.items()
        if set(c.active) > set(own.active) and c.background == own.background and c not in book.grown
    ]
    level = max(beside, key=lambda f: f.log_evidence, default=found)
    if level is found or level.log_evidence < as_good or level.candidate.size >= settings.largest:
        return None
    book.grown.add(level.candidate)
    nats = excluded_nats(scene_of(book, level), level.candidate)
    options = [add(level.candidate, [j]) for j in strongest(nats, settings.width)]
    book.visit_all(climbing(book, level, options, found.log_evidence, BOLD)[:2])
    return _best_of(book, options, found)


def add_many(book: Book, current: Fit, nats: np.ndarray) -> Fit | None:
    """Add as many clearly promising inputs as the set has (at least four), and let those go that then look idle.

    On a part of the rows first: what is idle there all rows need not meet.
    """
    shown = beyond_chance(nats) > STRONG
    strong = [j for j in strongest(nats, max(4, current.candidate.size)) if shown[j]]
    if len(strong) < 2:
        return None
    larger = add(current.candidate, strong)
    if (part := book.first_rung()) is not None:
        larger = prune(part, part.visit(part.carry(current), larger)).candidate
    book.visit_all(climbing(book, current, [larger], -np.inf))
    if larger not in book.fits:  # far behind on the part
        return None
    found = prune(book, book.fits[larger])
    return found if found.log_evidence > current.log_evidence else None


def _add_one(book: Book, current: Fit, nats: np.ndarray, settings: SearchSettings) -> Fit | None:
    options = [add(current.candidate, [j]) for j in strongest(nats, settings.width)]
    book.revisit(current, options, BOLD)
    hopeful = climbing(book, current, options, current.log_evidence - settings.slack, BOLD)[:2]
    book.visit_all(hopeful)
    return _best_of(book, options, current)


def _add_group(book: Book, current: Fit, view: Scene, nats: np.ndarray, settings: SearchSettings) -> Fit | None:
    """Add two, three or four inputs at once, found by their product: effects without any main effect need this.

    What is left to explain, by this set or the best so far, says what a look is worth: operations go with the square of
    the noise. Larger groups are looked at as long as smaller ones leave more than half of it, or several
    inputs are loud; beside a background, which carries them, pairs alone.
    """
    if settings.groups == 0 or current.candidate in book.paired:
        return None
    book.paired.add(current.candidate)
    open_share = min(unexplained(book.problem, one) for one in (current, book.best()))
    operations, fitted = settings.operations * max(open_share**2, LEAST), int(np.ceil(GROUPS_FITTED * open_share))
    loud = loudness(view, current.candidate)
    larger = (beyond_chance(loud) > STRONG).sum() > 1  # a few loud rows make pairs look good that are not
    tried: list[Candidate] = []
    above: list[Group] = []
    for size in ORDERS[:1] if current.candidate.background else ORDERS:
        seen = seen_together(book, view, nats, loud, size, operations)
        most = round(settings.groups * (1.0 + PAIRS * open_share)) if size == 2 else settings.groups
        options = _new_sets(current.candidate, [one.inputs for one in seen if one.nats > -STRONG], most)
        strong = sum(one.nats > STRONG for one in seen)
        if strong:  # what all rows show beyond chance need not be seen on a part of them first
            bar = current.log_evidence - BEHIND
            starts = ROUGH if seen[0].nats > NEGLIGIBLE else BOLD  # so much must not be missed for want of a start
            clear = _clear(book, current, options[1 : 1 + GROUPS_FITTED])
            book.visit_all(book.probe_all(current, options[:1], starts) + book.probe_all(current, clear, BOLD), bar)
        else:
            bar = current.log_evidence - settings.reach
            book.visit_all(_boldly(book, current, climbing(book, current, options, bar, BOLD, fitted)), bar)
        tried, above = tried + options, above + [one for one in seen if one.nats > 0.0]
        better = _pruned(book, tried, current) if strong else _best_of(book, tried, current)
        if better is not None and not larger and unexplained(book.problem, better) < HALF * open_share:
            break
    if better is None:
        return united(book, above, current) if open_share > settings.left_behind else None
    return prune(book, better)


def _boldly(book: Book, current: Fit, probes: Sequence[Probe]) -> list[Probe]:
    """The same sets with bold starts of their own before that of the part of the rows.

    A part may have too few rows for the mode with all inputs of the group at work, and end where they are idle.
    """
    bold = {one.candidate: one for one in book.probe_all(current, [one.candidate for one in probes], BOLD)}
    return [replace(one, starts=(*bold[one.candidate].starts[:-1], *one.starts)) for one in probes]


def _clear(book: Book, current: Fit, options: Sequence[Candidate]) -> list[Candidate]:
    """Those of the sets that a part of the rows takes for better than the current one before any fit."""
    part = book.first_rung() or book
    below = part.carry(current)
    return [one.candidate for one in part.probe_all(below, options, BOLD) if one.estimate > below.log_evidence]


def united(book: Book, above: Sequence[Group], current: Fit) -> Fit | None:
    """The first groups above chance, which do not pay one by one, all at once and then without what is idle.

    Less noise shows more of all the others: two effects may pay where neither does.
    """
    first = sorted(above, key=lambda one: -one.nats)[:GROUPS_FITTED]
    joined = add(current.candidate, [j for one in first for j in one.inputs])
    if len(first) < 2:
        return None
    found = book.visit_all(book.probe_all(current, [joined], ROUGH), current.log_evidence - BEHIND)
    return best_above([prune(book, one) for one in found], current)


def _pruned(book: Book, tried: Sequence[Candidate], current: Fit) -> Fit | None:
    """The best of what was tried, without its idle inputs, if that is better: a group may take the place of others."""
    near = [f for c in tried if (f := book.fits.get(c)) and f.log_evidence > current.log_evidence - BEHIND]
    return best_above([prune(book, max(near, key=lambda f: f.log_evidence))], current) if near else None


def grow_by_groups(book: Book, empty: Fit, settings: SearchSettings) -> Fit | None:
    """Growth from nothing with a group first, where several inputs are loud: single ones may only follow wild rows.

    Those mostly explain little: who has explained more than half can look for groups from there, unless an input is
    left out that is louder than it shows alone. That one acts with others, and a rough set may have come to its half by
    wild rows; what acts by itself is loud too, and shows.
    """
    best, before = book.best(), book.seen
    view = scene_of(book, empty)
    loud, alone = (
        beyond_chance(one) for one in (loudness(view, empty.candidate), excluded_nats(view, empty.candidate))
    )
    heard = set(np.flatnonzero(loud - alone > STRONG).tolist()) <= set(best.candidate.active)
    if (loud > STRONG).sum() < 2 or (heard and unexplained(book.problem, best) < HALF):
        book.seen = before  # the next look is at the set where growth has ended, and costs more than this one
        return None
    nats = excluded_nats(view, empty.candidate)
    found = _add_group(book, empty, view, nats, settings)
    return None if found is None else grow(book, found, settings)


def refused(book: Book, found: Fit) -> list[int]:
    """The inputs outside a set that the dictionary shows clearly: its kernel may be what refuses them."""
    nats = excluded_nats(scene_of(book, found), found.candidate)
    return [int(j) for j in np.flatnonzero(beyond_chance(nats) > STRONG)]


def _new_sets(candidate: Candidate, found: Sequence[tuple[int, ...]], most: int) -> list[Candidate]:
    """The first sets that the groups lead to."""
    larger: dict[Candidate, None] = {}
    for inputs in found:
        if len(larger) < most and not set(inputs) <= set(candidate.active):
            larger[add(candidate, inputs)] = None
    return list(larger)


def _best_of(book: Book, options: Sequence[Candidate], current: Fit) -> Fit | None:
    return best_above([book.fits[c] for c in options if c in book.fits], current)
