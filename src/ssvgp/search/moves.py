"""Growth and moves: from every start add, drop and swap inputs until no neighbour of a good set is left untried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ssvgp.evidence.laplace import Fit, Problem, fit, log_joint_values, mode, states
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Ledger, Probe, add, background_strengths, drop
from ssvgp.search.screen import Scores, pairs, screen
from ssvgp.settings import SearchSettings

MOST_EXPANDED = 60  # sets whose neighbours are tried, where rows are so few that fits cost next to nothing
FEW_INPUTS = 12  # up to this many inputs every addition is tried
WIDE, SCREENED_BLOCKS = 1000, 3  # beyond so many inputs, these of the blocks must be enough to rank them
MOST_SWAPS = 24
ROUGH = 1e-2  # floor of r^2 in the slopes of kernels that are not smooth at zero


def empty_fit(ledger: Ledger, background: str = "", bar: float = -np.inf) -> Fit:
    """The fit of no inputs, with or without background: where every growth begins. Given up if clearly below `bar`."""
    candidate = Candidate((), background)
    if candidate not in ledger.fits:
        ledger.fits[candidate] = fit(ledger.problem, candidate, _empty_start(ledger.problem, candidate), bar=bar)
    return ledger.fits[candidate]


def _empty_start(problem: Problem, candidate: Candidate) -> np.ndarray:
    """Much noise; beside a background whose strength is open, the best of several strengths and little noise too."""
    much, none, where = problem.prior.log_noise[0] + 1.0, np.empty(0), candidate.coordinates
    if not candidate.background:
        return where.vector(none, noise=much)
    strengths = background_strengths(problem.prior)
    if len(strengths) == 1:
        return where.vector(none, noise=much, background=strengths[0])
    pairs_tried = [(noise, strength) for noise in (much, much - 3.0) for strength in strengths]
    starts = np.stack([where.vector(none, noise=noise, background=strength) for noise, strength in pairs_tried])
    return starts[np.argmax(log_joint_values(problem, candidate, starts))]


def look(ledger: Ledger, found: Fit, additive: bool = True) -> tuple[Scores, list]:  # type: ignore[type-arg]
    """Scores of all inputs against a fit, and the states they were computed from; the last ones are kept."""
    if ledger.looked is not None and ledger.looked[0] is found and (ledger.looked[1] or not additive):
        return ledger.looked[2], ledger.looked[3]
    problem = ledger.problem
    few = replace(problem, blocks=problem.blocks[: SCREENED_BLOCKS if problem.d > WIDE else None])
    at = states(few, found, ROUGH)
    scale = mode(problem, found).scale or 1.0
    scores = screen([b.X for b in few.blocks], at, scale, additive, ledger.shapes_of(few.blocks))
    share = len(problem.blocks) / len(few.blocks)
    whole = Scores(scores.additive, share * scores.gain, share * scores.cost)
    ledger.looked = (found, additive, whole, at)
    return whole, at


def rank(scores: Scores, candidate: Candidate) -> tuple[np.ndarray, np.ndarray]:
    """Excluded inputs from most to least promising, and a strength for each in nats of likelihood."""
    ratio = scores.gain / np.maximum(scores.cost, 1e-12)
    through = np.where(ratio > 1.0, 0.5 * (ratio - 1.0 - np.log(np.maximum(ratio, 1.0))), 0.0)
    strength = np.maximum(0.5 * scores.additive, through)
    strength[list(candidate.active)] = -np.inf
    order = np.argsort(-strength, kind="stable")
    return order[: strength.size - candidate.size], strength


def grow(ledger: Ledger, start: Fit, settings: SearchSettings) -> Fit:
    """Add inputs, several at a time while many look strong, then one at a time, then in pairs, while evidence rises."""
    current = start
    while current.candidate.size < (settings.largest_beside if current.candidate.background else settings.largest):
        scores, at = look(ledger, current)
        better = (
            _add_many(ledger, current, scores)
            or _add_one(ledger, current, scores, settings)
            or _add_pair(ledger, current, scores, at, settings)
        )
        if better is None:
            return current
        current = better
    return current


def _add_many(ledger: Ledger, current: Fit, scores: Scores) -> Fit | None:
    """Add as many clearly promising inputs as the set has (at least four), and let those go that then look idle."""
    order, strength = rank(scores, current.candidate)
    bar = np.log(ledger.problem.d) + 2.0
    strong = [int(j) for j in order[: max(4, current.candidate.size)] if strength[j] > bar]
    if len(strong) < 2:
        return None
    found = ledger.visit(current, add(current.candidate, strong))
    found = prune(ledger, found)
    return found if found.log_evidence > current.log_evidence else None


def _add_one(ledger: Ledger, current: Fit, scores: Scores, settings: SearchSettings) -> Fit | None:
    order, _ = rank(scores, current.candidate)
    options = [add(current.candidate, [j]) for j in order[: settings.width]]
    probes = ledger.probe_all(current, options)
    hopeful = [p for p in probes if p.estimate > current.log_evidence - settings.slack][:2]
    fits = ledger.visit_all(hopeful) + [ledger.fits[c] for c in options if c in ledger.fits]
    return _best_above(fits, current)


def _add_pair(ledger: Ledger, current: Fit, scores: Scores, at: Sequence, settings: SearchSettings) -> Fit | None:  # type: ignore[type-arg]
    """Add two inputs at once, found by their product: effects without any main effect need this."""
    if current.candidate in ledger.paired or settings.pair_width == 0:
        return None
    ledger.paired.add(current.candidate)
    order, _ = rank(scores, current.candidate)
    most = settings.most_pair_inputs if len(ledger.problem.blocks) == 1 else settings.most_pair_inputs // 3
    columns = np.sort(order[:most])
    blocks = [b.X for b in ledger.problem.blocks[: len(at)]]
    best = pairs(blocks, at, settings.pair_width, columns)
    if not len(best):
        return None
    values, bar = ledger.bold_values(current, best, settings.pair_rows)
    hopeful = [i for i in np.argsort(-values, kind="stable") if values[i] > bar - settings.pair_slack]
    finalists = [add(current.candidate, best[i]) for i in hopeful[: settings.pair_fits]]
    return _best_above(ledger.visit_all(ledger.probe_all(current, finalists)), current)


def _best_above(fits: Sequence[Fit], current: Fit) -> Fit | None:
    best = max(fits, key=lambda f: f.log_evidence, default=None)
    return best if best is not None and best.log_evidence > current.log_evidence else None


def drop_probes(ledger: Ledger, found: Fit) -> list[Probe]:
    """A probe of the set without each of its inputs, by the likelihood each drop costs."""
    return ledger.probe_all(found, _drops(found.candidate))


def _drops(candidate: Candidate) -> list[Candidate]:
    return [drop(candidate, [j]) for j in candidate.active]


def prune(ledger: Ledger, found: Fit) -> Fit:
    """Backward elimination: drop together all inputs whose loss costs less than they do, while evidence rises."""
    while found.candidate.size:
        known = [ledger.fits[c] for c in _drops(found.candidate) if c in ledger.fits]
        if (better := _best_above(known, found)) is not None:
            found = better
            continue
        idle = [p for p in drop_probes(ledger, found) if p.estimate > found.log_evidence]
        if not idle:
            return found
        gone = [j for p in idle for j in set(found.candidate.active) - set(p.candidate.active)]
        smaller = ledger.visit(found, drop(found.candidate, gone[: max(1, (len(gone) + 1) // 2)]))
        if smaller.log_evidence <= found.log_evidence:
            smaller = ledger.visit_all([idle[0]])[0]
            if smaller.log_evidence <= found.log_evidence:
                return found
        found = smaller
    return found


def explore(ledger: Ledger, settings: SearchSettings) -> None:
    """Expand the best sets within reach until each has had its neighbours tried."""
    reach = settings.reach if ledger.problem.n <= settings.cheap_rows else 0.6 * settings.reach
    cheapness = (200.0 / ledger.problem.n) ** 2
    for _ in range(int(np.clip(cheapness * settings.most_expanded, settings.most_expanded, MOST_EXPANDED))):
        todo = [f for f in ledger.within(reach) if f.candidate not in ledger.expanded]
        if not todo:
            return
        expand(ledger, todo[0], settings)


def visit_every_set(ledger: Ledger) -> None:
    """Fit all 2^d sets without background, by size, each from the best set that lacks one of its inputs."""
    for size in range(1, ledger.problem.d + 1):
        probes = []
        for active in combinations(range(ledger.problem.d), size):
            if (candidate := Candidate(active)) not in ledger.fits:
                parent = max((ledger.fits[c] for c in _drops(candidate)), key=lambda f: f.log_evidence)
                probes += ledger.probe_all(parent, [candidate])
        ledger.visit_all(probes)


def expand(ledger: Ledger, found: Fit, settings: SearchSettings) -> None:
    """Try all promising drops, additions and swaps of one set."""
    ledger.expanded.add(found.candidate)
    scores, _ = look(ledger, found)
    order, _ = rank(scores, found.candidate)
    width = FEW_INPUTS if ledger.problem.d <= FEW_INPUTS else settings.width
    additions = ledger.probe_all(found, [add(found.candidate, [j]) for j in order[:width]])
    others = drop_probes(ledger, found) + ledger.probe_all(found, _swaps(ledger, found))
    bar = ledger.best().log_evidence - settings.reach - settings.slack
    # Idle inputs are priced without a fit (evidence/unvisited); where fits are cheap a fit is still the better price.
    add_bar = bar if ledger.problem.n <= settings.cheap_rows else found.log_evidence - 0.5 * settings.reach
    ledger.visit_all([p for p in additions if p.estimate > add_bar] + [p for p in others if p.estimate > bar])


def _swaps(ledger: Ledger, found: Fit) -> list[Candidate]:
    """Each input exchanged for the excluded inputs that resemble it most (|correlation| above 1/2), closest first."""
    X = ledger.problem.blocks[0].X
    active = list(found.candidate.active)
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
    return [add(drop(found.candidate, [j]), [i]) for _, j, i in pairs_alike[:MOST_SWAPS]]
