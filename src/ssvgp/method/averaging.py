"""From visited sets to the answer: evidence weights, inclusion probabilities, members of the predictive mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence.entry import Entry
from ssvgp.evidence.importance import IDLE, all_modes, refine
from ssvgp.evidence.laplace import Problem, with_curvature
from ssvgp.evidence.logs import NOTICED
from ssvgp.evidence.transplant import transplant
from ssvgp.evidence.unvisited.census import Priced, census
from ssvgp.evidence.unvisited.cloud import LARGEST_FACTOR, Cloud, cloud
from ssvgp.evidence.unvisited.elsewhere import met_elsewhere
from ssvgp.evidence.unvisited.factors import bayes_factors, correction
from ssvgp.large.check import checked
from ssvgp.large.every_row import Judged, judge
from ssvgp.large.polish import finished_members, polish, without_idle_background
from ssvgp.method.all_rows import asked_of_all_rows
from ssvgp.method.components import explained_by, members_of, variance_shares
from ssvgp.method.outlook import AveragingSteps
from ssvgp.model.priors import Candidate, log_set_prior, log_slab
from ssvgp.records import Ensemble, Member, Rested, Train, has_sites
from ssvgp.run.workers import Executor
from ssvgp.search.book import Book
from ssvgp.search.view import look
from ssvgp.settings import Regime

SMALL = 0.2  # a set below this weight gets half the importance draws


def average(books: Sequence[Book], train: Train, regime: Regime, rng: np.random.Generator) -> Ensemble:
    """Weigh all visited sets, price the unvisited neighbours of the heavy ones, and draw the mixture's members."""
    entries = _entries(books)
    if not regime.exact:
        entries = without_idle_background(entries)
    bar = entries[0].log_evidence - 2.0 * regime.search.reach
    entries = [entry for entry in entries if entry.log_evidence > bar]
    workers = books[0].workers
    steps = AveragingSteps(books[0], regime, _log_evidences(entries))
    entries = _sharpen(entries, regime, int(rng.integers(2**31)), workers, steps)
    around = _with_clouds(entries, books, regime, steps)
    pairs = sorted(around, key=lambda pair: -(pair[0].log_evidence + pair[1].log_mass))
    log_mass = np.array([e.log_evidence + c.log_mass for e, c in pairs])
    weights = np.exp(log_mass - logsumexp(log_mass))
    rested: Rested | None = None
    if not regime.exact:
        found = polish(pairs, weights, train, regime, rng, workers)
        if not has_sites(train.noise):
            found = checked(found, train, np.concatenate(books[0].met), regime, rng.spawn(1)[0], workers)
        pairs, weights = found.pairs, found.weights
        rested = found.rests_on()
    pip, entries = _inclusion(pairs, weights), [entry for entry, _ in pairs]
    judged: Judged | None = None
    if regime.components is None:
        members, member_weights = finished_members(entries, weights, train, regime, rng, workers)
        lead = members[int(np.argmax(member_weights))]
        # where a background carries the weak effects of all inputs, as one function that groups of rows share in truth,
        # they would be counted twice
        if not regime.exact and asked_of_all_rows(train) and lead.background is None:
            judged = judge(train, lead, entries[0].problem.prior, regime, rng.spawn(1)[0], workers)
            pip = _with_weak_inputs(entries, weights, judged.pip)
            members = tuple(_quieter(member, judged.explained) for member in members)
    else:
        members, member_weights = members_of(entries, weights, train, regime.components, rng)
    told = [(w, e) for e, w in zip(entries, weights, strict=True) if w > 0.02 or e is entries[0]]
    explained = [(w, one) for (w, _), one in zip(told, workers.map(explained_by, [(e,) for _, e in told]), strict=True)]
    notes = {
        "shares": variance_shares(explained, 0.0 if judged is None else judged.explained),
        "jitter": max(one.jitter for _, one in explained),
        "sets": [
            (e.fit.candidate, e.problem.kernel.name, e.log_evidence, float(w))
            for e, w in zip(entries, weights, strict=True)
        ],
        "rested": rested,
        "visited": sum(len(book.fits) for book in books),
        "evaluations": sum(f.evaluations for book in books for f in book.fits.values()),
        "background": float(sum(w for e, w in zip(entries, weights, strict=True) if e.fit.candidate.background)),
    }
    if judged is not None:
        notes["paired"] = judged.paired
    return Ensemble(members, member_weights, pip, notes, None if judged is None else judged.weak)


def _entries(books: Sequence[Book]) -> list[Entry]:
    """Every fit of all books, best first."""
    every = [Entry(book.problem, f, None, f.log_evidence) for book in books for f in book.fits.values()]
    return sorted(every, key=lambda e: -e.log_evidence)


def _log_evidences(entries: Sequence[Entry]) -> np.ndarray:
    return np.array([e.log_evidence for e in entries])


def _sharpen(entries: list[Entry], regime: Regime, seed: int, workers: Executor, steps: AveragingSteps) -> list[Entry]:
    """Exact curvature and importance draws for the sets that carry weight; the others keep their distance to them."""
    first = _log_evidences(entries)
    weights = np.exp(first - logsumexp(first))
    open_question = weights[0] < 1.0 - SMALL  # else a second mode of a lesser set changes nothing
    out, shift = [], 0.0
    empty: dict[Candidate, Entry] = {}  # without a sparse part all kernels are one model: its draws serve them all
    for rank, (entry, weight) in enumerate(zip(entries, weights, strict=True)):
        if rank > 0 and weight < regime.negligible:
            out.append(Entry(entry.problem, entry.fit, None, entry.log_evidence + shift))
            continue
        if (known := empty.get(entry.fit.candidate)) is not None:
            out.append(replace(known, problem=entry.problem))
            continue
        count = round(regime.draws * (1.0 if regime.cheap or weight > SMALL else 0.5))
        weak = regime.cheap and open_question
        # the draws correct a rough curvature: for a lesser set they need not start from the exact one
        exact = with_curvature(entry.problem, entry.fit, workers) if regime.cheap or rank == 0 else entry.fit
        modes = [exact]
        if weak and exact.candidate.size:
            modes = all_modes(entry.problem, exact, _starts_below(entry, out), workers)
        draws = refine(entry.problem, modes, count, seed, weak, workers)
        out.append(Entry(entry.problem, exact, draws, draws.log_evidence))
        if not exact.candidate.size:
            empty[exact.candidate] = out[-1]
        steps.drawn()
        if rank == 0:
            shift = draws.log_evidence - entry.log_evidence
    return out


def _with_clouds(
    entries: list[Entry], books: Sequence[Book], regime: Regime, steps: AveragingSteps
) -> list[tuple[Entry, Cloud]]:
    """The entries with what the unvisited sets add to each of them, family by family (kernel and background)."""
    families: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        families.setdefault(_family(entry), []).append(entry)
    around: dict[tuple[str, str], list[tuple[Entry, Cloud]]] = {}
    offset: np.ndarray | float | None = None
    for name, family in families.items():
        sharp = [e for e in family if e.refined is not None]
        priced = books[0].workers.map(_price, [(e, books, regime.measured_inputs, steps) for e in sharp])
        if offset is None and sharp:  # measured once, at the best set: the formula errs alike for all
            offset = correction(
                sharp[0].problem, sharp[0].fit, priced[0].log_factors, regime.measured_inputs, books[0].workers
            )[:, None]
        if offset is not None:
            priced = [replace(p, log_factors=p.log_factors + offset) for p in priced]
        pairs = [(e, p) for e, p in zip(sharp, priced, strict=True) if not _outpriced(p, priced, e.problem)]
        clouds = _complete([p for _, p in pairs], family[0].problem, regime.every_price) if pairs else []
        kept = [e for e, _ in pairs]
        around[name] = [(e, c) for e, c in zip(kept, clouds, strict=True)]
        around[name] += [
            (e, Cloud.alone(e.problem.d)) for e in family if e.refined is None and not _covered(e, kept, regime)
        ]
    lead = books[0].problem.kernel.name
    return [pair for name, own in around.items() for pair in met_elsewhere(own, around.get((lead, name[1]), []))]


def _outpriced(one: Priced, others: Sequence[Priced], problem: Problem) -> bool:
    """Whether a smaller set with one idle input is worth more than this very set: then its fit sat on a lesser mode."""
    for other in others:
        extra = set(one.active) - set(other.active)
        if len(extra) == 1 and len(one.active) == len(other.active) + 1:
            j = extra.pop()
            size = len(other.active)
            step = log_set_prior(size + 1, problem.d, problem.prior) - log_set_prior(size, problem.d, problem.prior)
            factor = min(float(logsumexp(other.log_factors[:, j], b=other.scale_shares)), np.log(LARGEST_FACTOR))
            if other.log_evidence + factor + step > one.log_evidence + NOTICED:
                return True
    return False


def _starts_below(entry: Entry, sharpened: Sequence[Entry]) -> list[np.ndarray]:
    """The mode of the heaviest sharpened set that lacks one input of this one, with that input near idle."""
    mine = set(entry.fit.candidate.active)
    for other in sharpened:
        below = other.fit.candidate
        if _family(other) == _family(entry) and below.size == len(mine) - 1 > 0 and set(below.active) < mine:
            z, _, added = transplant(other.fit, entry.fit.candidate, entry.problem)
            z[added] = IDLE[0]
            return [z]
    return []


def _family(entry: Entry) -> tuple[str, str]:
    return entry.problem.kernel.name, entry.fit.candidate.background


def _price(entry: Entry, books: Sequence[Book], most_measured: int, steps: AveragingSteps) -> Priced:
    """The set with the Bayes factors of all inputs that could join it."""
    book = next(one for one in books if one.problem is entry.problem)
    scores = look(book, entry.fit)
    factors = bayes_factors(entry.problem, entry.fit, scores.gain, scores.cost, most_measured, book.workers)
    theta = np.exp(entry.fit.summit.z[entry.fit.candidate.coordinates.theta])
    shares = log_slab(theta, entry.problem.prior)[2]
    steps.priced()
    return Priced(entry.fit.candidate.active, entry.log_evidence, factors, shares)


def _complete(priced: list[Priced], problem: Problem, every: bool) -> list[Cloud]:
    """All 2^d sets where inputs are few, else the clouds of idle inputs around each set."""
    if every:
        return census(priced, problem.d, problem.prior)
    out = []
    for one in priced:
        factors = np.exp(one.log_factors) * _shared(one.active, [other.active for other in priced], problem.d)
        out.append(cloud(factors, one.scale_shares, len(one.active), problem.prior))
    return out


def _shared(active: tuple[int, ...], others: Sequence[tuple[int, ...]], d: int) -> np.ndarray:
    """For each input j (d,): 0 where S + j is priced itself, else one over the number of clouds that hold S + j."""
    clouds = np.ones(d)
    for other in others:
        extra = set(other) - set(active)
        if len(extra) == 1 and len(other) == len(active) + 1:
            clouds[extra.pop()] = np.inf
        elif len(extra) == 1 and len(other) == len(active):  # S + j is also this sibling with one of ours added
            clouds[extra.pop()] += 1.0
    return 1.0 / clouds


def _covered(entry: Entry, sharp: Sequence[Entry], regime: Regime) -> bool:
    """Whether a set that was not sharpened is priced already, as a sharpened set with idle inputs."""
    mine = set(entry.fit.candidate.active)
    near = len(mine) if regime.every_price else 1
    below = [set(e.fit.candidate.active) for e in sharp]
    return any(other < mine and len(mine) - len(other) <= near for other in below)


def _inclusion(pairs: Sequence[tuple[Entry, Cloud]], weights: np.ndarray) -> np.ndarray:
    """PIPs (d,) over all sets, visited or not, for the weights (k,) of the entries with what is priced from each."""
    pip = np.zeros(pairs[0][0].problem.d)
    for (entry, around), weight in zip(pairs, weights, strict=True):
        pip[list(entry.fit.candidate.active)] += weight
        pip += weight * (around.joined - around.left)
    return np.clip(pip, 0.0, 1.0)  # sums of shares are one but for the last bit


def _with_weak_inputs(entries: Sequence[Entry], weights: np.ndarray, weak: np.ndarray) -> np.ndarray:
    """PIPs (d,): an input is in one of the sets, or beside it with the probability that all rows give it."""
    inputs = entries[0].problem.inputs
    beside = weak if inputs is None else inputs.largest(weak)
    pip = np.zeros(beside.size)
    for entry, weight in zip(entries, weights, strict=True):
        own = beside.copy()
        own[list(entry.fit.candidate.active)] = 1.0
        pip += weight * own
    return np.minimum(pip, 1.0)


def _quieter(member: Member, explained: float) -> Member:
    """The member without the share of its noise that the weak part explains."""
    at = member.parameters
    return replace(member, parameters=replace(at, noise=(1.0 - explained) * at.noise))
