"""Moves: drop, add and swap inputs until no neighbour of a good set is left untried; elimination; the empty set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ssvgp.evidence.laplace import Fit, fit, log_joint_values
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book, add, drop
from ssvgp.search.ladder import climbing
from ssvgp.search.probe import Probe, background_strengths
from ssvgp.search.view import excluded_nats, scene_of, strongest
from ssvgp.settings import Regime

MOST_SWAPS = 24
MOST_CLIMBING = 6  # neighbours of a set that are fitted to all rows, where a part of them came first


def empty_fit(book: Book, background: str = "", bar: float = -np.inf) -> Fit:
    """The fit of no inputs, with or without background: where every growth begins. Given up if clearly below `bar`."""
    return empty_fits(book, (background,), bar)[0]


def empty_fits(book: Book, backgrounds: Sequence[str], bar: float = -np.inf) -> list[Fit]:
    """The same for several backgrounds, fitted side by side and written in their order."""
    candidates = [book.problem.candidate((), background) for background in backgrounds]
    new = [(book, candidate, bar) for candidate in candidates if candidate not in book.fits]
    book.fits |= {found.candidate: found for found in book.made(_fit_empty, new)}
    return [book.fits[candidate] for candidate in candidates]


def _fit_empty(book: Book, candidate: Candidate, bar: float) -> list[Fit]:
    return [fit(book.problem, candidate, _empty_start(book, candidate), bar=bar, workers=book.workers)]


def _empty_start(book: Book, candidate: Candidate) -> np.ndarray:
    """Much noise; beside a background whose strength is open, the best of several strengths and little noise too."""
    prior, none, where = book.problem.prior, np.empty(0), candidate.coordinates
    own = {name: prior.of_slot(name)[0] + (name == "noise") for name in candidate.own}
    if not candidate.background:
        return where.vector(none, **own)
    strengths = background_strengths(prior)
    if len(strengths) == 1:
        return where.vector(none, **own, background=strengths[0])
    quiet = {name: value - 3.0 * (name == "noise") for name, value in own.items()}
    pairs_tried = [(noise, strength) for noise in (own, quiet) for strength in strengths]
    starts = np.stack([where.vector(none, **noise, background=strength) for noise, strength in pairs_tried])
    return starts[np.argmax(log_joint_values(book.problem, candidate, starts, book.workers))]


def best_above(fits: Sequence[Fit], current: Fit) -> Fit | None:
    best = max(fits, key=lambda f: f.log_evidence, default=None)
    return best if best is not None and best.log_evidence > current.log_evidence else None


def drop_probes(book: Book, found: Fit) -> list[Probe]:
    """A probe of the set without each of its inputs, by the likelihood each drop costs."""
    return book.probe_all(found, _drops(found.candidate))


def _drops(candidate: Candidate) -> list[Candidate]:
    return [drop(candidate, [j]) for j in candidate.active]


def prune(book: Book, found: Fit) -> Fit:
    """Backward elimination: drop together all inputs whose loss costs less than they do, while evidence rises."""
    while found.candidate.size:
        book.revisit(found, _drops(found.candidate))
        known = [book.fits[c] for c in _drops(found.candidate) if c in book.fits]
        if (better := best_above(known, found)) is not None:
            found = better
            continue
        idle = [p for p in drop_probes(book, found) if p.estimate > found.log_evidence]
        if not idle:
            return found
        gone = [j for p in idle for j in set(found.candidate.active) - set(p.candidate.active)]
        smaller = book.visit(found, drop(found.candidate, gone[: max(1, (len(gone) + 1) // 2)]))
        if smaller.log_evidence <= found.log_evidence:
            smaller = book.visit_all([idle[0]])[0]
            if smaller.log_evidence <= found.log_evidence:
                return found
        found = smaller
    return found


def rounds_ahead(at_hand: int, most: int) -> float:
    """About how many sets will be expanded with so many at hand: the first is, and seldom another after it."""
    return float(min(at_hand, most, 1.5))


def explore(book: Book, regime: Regime) -> None:
    """Expand the best sets within reach, until what those that are left would add hardly changes the answer.

    A set is expected to add mass in the proportion to its own that those before it did.
    """
    added = expanded = 0.0
    for done in range(regime.expanded):
        todo = [f for f in book.within(regime.expand_reach) if f.candidate not in book.expanded]
        if not todo:
            break
        before, known = book.mass(), set(book.fits)
        shares = np.exp([f.log_evidence - before for f in todo])
        if done and added / expanded * shares.sum() < regime.search.left_behind:
            break
        book.plan(done, rounds_ahead(len(todo), regime.expanded - done))
        expand(book, todo[0], regime)
        new = [f for c, f in book.fits.items() if c not in known and not _priced(f, todo[0])]
        added += sum(np.exp(f.log_evidence - before) for f in new)
        expanded += shares[0]
    book.plan(0, 0.0)


def _priced(found: Fit, below: Fit) -> bool:
    """Whether a set would count without a fit, as another one with idle inputs (evidence/unvisited)."""
    more = set(found.candidate.active) > set(below.candidate.active)
    return more and found.log_evidence <= below.log_evidence


def visit_every_set(book: Book) -> None:
    """Fit all 2^d sets without background, by size, each from the best set that lacks one of its inputs."""
    for size in range(1, book.problem.d + 1):
        probes = []
        for active in combinations(range(book.problem.d), size):
            if (candidate := book.problem.candidate(active)) not in book.fits:
                parent = max((book.fits[c] for c in _drops(candidate)), key=lambda f: f.log_evidence)
                probes += book.probe_all(parent, [candidate])
        book.visit_all(probes)


def expand(book: Book, found: Fit, regime: Regime) -> None:
    """Try all promising drops, additions and swaps of one set, on a part of the rows first; its background may go."""
    book.expanded.add(found.candidate)
    if found.candidate.background and book.problem.prior.with_background < 1.0:
        # inputs that came beside a background may do without it, but with other parameters: a probe would not show it
        bare = replace(found.candidate, background="")
        book.revisit(found, [bare])
        book.visit(found, bare)
    nats = excluded_nats(scene_of(book, found), found.candidate)
    additions = [add(found.candidate, [j]) for j in strongest(nats, regime.additions)]
    others = _drops(found.candidate) + _swaps(book, found)
    book.revisit(found, _drops(found.candidate))
    reach = regime.moves.reach
    bar = book.best().log_evidence - reach
    # Idle inputs are priced without a fit (evidence/unvisited); where fits are cheap a fit is still the better price.
    add_bar = bar if regime.cheap else max(bar, found.log_evidence - 0.5 * reach)
    seen = climbing(book, found, additions, add_bar) + climbing(book, found, others, bar)
    if book.ladder is not None:  # many that are alike need not all be fitted to all rows
        seen = sorted(seen, key=lambda p: -p.estimate)[:MOST_CLIMBING]
    book.visit_all(seen, bar)


def _swaps(book: Book, found: Fit) -> list[Candidate]:
    """Each input exchanged for the excluded inputs that resemble it most (|correlation| above 1/2), closest first."""
    X = book.problem.blocks[0].X
    active = found.candidate.columns
    if not active:
        return []
    centred = X - X.mean(0)
    sizes = np.sqrt((centred**2).sum(0)) + 1e-12
    alike = np.abs(centred[:, active].T @ centred) / (sizes[active][:, None] * sizes)
    alike[:, active] = 0.0
    pairs_alike = [
        (row[i], j, i)
        for row, j in zip(alike, active, strict=True)
        for i in np.argsort(-row, kind="stable")[:3]
        if row[i] > 0.5
    ]
    pairs_alike.sort(key=lambda pair: -pair[0])  # large sets of correlated inputs have hundreds: the closest come first
    owner = book.problem.owners()
    return [add(drop(found.candidate, [owner[j]]), [owner[i]]) for _, j, i in pairs_alike[:MOST_SWAPS]]
