"""From visited sets to the answer: evidence weights, inclusion probabilities, members of the predictive mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence.entry import Entry, member_at
from ssvgp.evidence.importance import all_modes, refine
from ssvgp.evidence.laplace import Problem, mode, states, with_curvature
from ssvgp.evidence.unvisited.census import MOST_INPUTS, Priced, census
from ssvgp.evidence.unvisited.cloud import LARGEST_FACTOR, Cloud, cloud
from ssvgp.evidence.unvisited.factors import bayes_factors, correction
from ssvgp.large.polish import finished_members, polish, without_idle_background
from ssvgp.model.priors import log_set_prior, log_slab
from ssvgp.records import Ensemble, Member, Train
from ssvgp.search.book import Ledger, transplant
from ssvgp.search.moves import look
from ssvgp.settings import AutoSettings

FAINT = 0.002  # a set below this weight is taken at its first evidence, however few the rows
CERTAIN = 0.05  # a set of 200 rows that would carry less than this weight is taken at its first evidence
LESSER_MODE = 0.5  # nats
CLEAR = 0.8
IDLE = 0.15  # theta from which an input that is not needed settles
SMALL = 0.2  # a set below this weight gets half the importance draws


def average(ledgers: Sequence[Ledger], train: Train, settings: AutoSettings, rng: np.random.Generator) -> Ensemble:
    """Weigh all visited sets, price the unvisited neighbours of the heavy ones, and draw the mixture's members."""
    entries, large = _entries(ledgers), train.n > settings.exact_rows
    if large:
        entries = without_idle_background(entries, settings)
    bar = entries[0].log_evidence - 2.0 * settings.search.reach
    entries = [entry for entry in entries if entry.log_evidence > bar]
    entries = _sharpen(entries, settings, int(rng.integers(2**31)))
    pairs = sorted(_with_clouds(entries, ledgers), key=lambda pair: -(pair[0].log_evidence + pair[1].log_mass))
    log_mass = np.array([e.log_evidence + c.log_mass for e, c in pairs])
    weights = np.exp(log_mass - logsumexp(log_mass))
    if large:
        pairs, weights = polish(pairs, weights, train, settings, rng)
    pip, entries = _inclusion(pairs, weights), [entry for entry, _ in pairs]
    draw = finished_members if large else _members
    members, member_weights = draw(entries, weights, train, settings, rng)
    notes = {
        "shares": _variance_shares(entries, weights),
        "sets": [
            (e.fit.candidate, e.problem.kernel.name, e.log_evidence, float(w))
            for e, w in zip(entries, weights, strict=True)
        ],
        "visited": sum(len(ledger.fits) for ledger in ledgers),
        "evaluations": sum(f.evaluations for ledger in ledgers for f in ledger.fits.values()),
        "background": float(sum(w for e, w in zip(entries, weights, strict=True) if e.fit.candidate.background)),
    }
    return Ensemble(members, member_weights, pip, notes)


def _entries(ledgers: Sequence[Ledger]) -> list[Entry]:
    """Every fit of all ledgers, best first."""
    every = [Entry(ledger.problem, f, None, f.log_evidence) for ledger in ledgers for f in ledger.fits.values()]
    return sorted(every, key=lambda e: -e.log_evidence)


def _negligible(n: int) -> float:
    """The weight below which a set is not looked at again: lower where a look is cheap, but not so low that all are."""
    return max(FAINT, CERTAIN * min(1.0, (n / 200.0) ** 2))


def _sharpen(entries: list[Entry], settings: AutoSettings, seed: int) -> list[Entry]:
    """Exact curvature and importance draws for the sets that carry weight; the others keep their distance to them."""
    first = np.array([e.log_evidence for e in entries])
    weights = np.exp(first - logsumexp(first))
    open_question = weights[0] < CLEAR  # else a second mode of a lesser set changes nothing
    out, shift = [], 0.0
    for rank, (entry, weight) in enumerate(zip(entries, weights, strict=True)):
        if rank > 0 and weight < _negligible(entry.problem.n):
            out.append(Entry(entry.problem, entry.fit, None, entry.log_evidence + shift))
            continue
        cheap = entry.problem.n <= settings.search.cheap_rows
        # few rows leave more open, and draws are cheap there; with many Laplace is close and a few draws will do
        plenty = float(np.clip(settings.search.cheap_rows / entry.problem.n, 0.5, 4.0))
        count = round(settings.draws * plenty * (1.0 if cheap or weight > SMALL else 0.5))
        weak = cheap and open_question
        # the draws mend a rough curvature: for a lesser set they need not start from the exact one
        exact = with_curvature(entry.problem, entry.fit) if cheap or rank == 0 else entry.fit
        modes = [exact]
        if weak and exact.candidate.size:
            modes = all_modes(entry.problem, exact, _starts_below(entry, out))
        draws = refine(entry.problem, modes, count, seed, weak)
        out.append(Entry(entry.problem, exact, draws, draws.log_evidence))
        if rank == 0:
            shift = draws.log_evidence - entry.log_evidence
    return out


def _with_clouds(entries: list[Entry], ledgers: Sequence[Ledger]) -> list[tuple[Entry, Cloud]]:
    """The entries with what the unvisited sets add to each of them, family by family (kernel and background)."""
    families: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        families.setdefault(_family(entry), []).append(entry)
    out: list[tuple[Entry, Cloud]] = []
    mend: np.ndarray | float | None = None
    for family in families.values():
        sharp = [e for e in family if e.refined is not None]
        priced = [_price(e, ledgers) for e in sharp]
        if mend is None and sharp:  # measured once, at the best set: the formula errs alike for all
            mend = correction(sharp[0].problem, sharp[0].fit, priced[0].log_factors)[:, None]
        if mend is not None:
            priced = [replace(p, log_factors=p.log_factors + mend) for p in priced]
        pairs = [(e, p) for e, p in zip(sharp, priced, strict=True) if not _outpriced(p, priced, e.problem)]
        clouds = _complete([p for _, p in pairs], family[0].problem) if pairs else []
        out += [(e, c) for (e, _), c in zip(pairs, clouds, strict=True)]
        kept = [e for e, _ in pairs]
        out += [(e, Cloud(0.0, np.zeros(e.problem.d))) for e in family if e.refined is None and not _covered(e, kept)]
    return out


def _outpriced(one: Priced, others: Sequence[Priced], problem: Problem) -> bool:
    """Whether a smaller set with one idle input is worth more than this very set: then its fit sat on a lesser mode."""
    for other in others:
        extra = set(one.active) - set(other.active)
        if len(extra) == 1 and len(one.active) == len(other.active) + 1:
            j = extra.pop()
            size = len(other.active)
            step = log_set_prior(size + 1, problem.d, problem.prior) - log_set_prior(size, problem.d, problem.prior)
            factor = min(float(logsumexp(other.log_factors[:, j], b=other.scale_shares)), np.log(LARGEST_FACTOR))
            if other.log_evidence + factor + step > one.log_evidence + LESSER_MODE:
                return True
    return False


def _starts_below(entry: Entry, sharpened: Sequence[Entry]) -> list[np.ndarray]:
    """The mode of the heaviest sharpened set that lacks one input of this one, with that input near idle."""
    mine = set(entry.fit.candidate.active)
    for other in sharpened:
        below = other.fit.candidate
        if _family(other) == _family(entry) and below.size == len(mine) - 1 > 0 and set(below.active) < mine:
            z, _, added = transplant(other.fit, entry.fit.candidate, entry.problem)
            z[added] = np.log(IDLE)
            return [z]
    return []


def _family(entry: Entry) -> tuple[str, str]:
    return entry.problem.kernel.name, entry.fit.candidate.background


def _price(entry: Entry, ledgers: Sequence[Ledger]) -> Priced:
    """The set with the Bayes factors of all inputs that could join it."""
    ledger = next(one for one in ledgers if one.problem is entry.problem)
    scores, _ = look(ledger, entry.fit, additive=False)
    factors = bayes_factors(entry.problem, entry.fit, scores.gain, scores.cost)
    shares = log_slab(mode(entry.problem, entry.fit).theta, entry.problem.prior)[2]
    return Priced(entry.fit.candidate.active, entry.log_evidence, factors, shares)


def _complete(priced: list[Priced], problem: Problem) -> list[Cloud]:
    """All 2^d sets where inputs are few, else the clouds of idle inputs around each set."""
    if problem.d <= MOST_INPUTS:
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


def _covered(entry: Entry, sharp: Sequence[Entry]) -> bool:
    """Whether a set that was not sharpened is priced already, as a sharpened set with idle inputs."""
    mine = set(entry.fit.candidate.active)
    near = len(mine) if entry.problem.d <= MOST_INPUTS else 1
    below = [set(e.fit.candidate.active) for e in sharp]
    return any(other < mine and len(mine) - len(other) <= near for other in below)


def _inclusion(pairs: Sequence[tuple[Entry, Cloud]], weights: np.ndarray) -> np.ndarray:
    """PIPs (d,) over all sets, visited or not, for the weights (k,) of the entries with what is priced from each."""
    pip = np.zeros(pairs[0][0].problem.d)
    for (entry, around), weight in zip(pairs, weights, strict=True):
        pip[list(entry.fit.candidate.active)] += weight
        pip += weight * around.joined
    return np.minimum(pip, 1.0)


def _members(
    entries: list[Entry], weights: np.ndarray, train: Train, settings: AutoSettings, rng: np.random.Generator
) -> tuple[tuple[Member, ...], np.ndarray]:
    """Components of the mixture: draws of (theta, phi) for sets with weight, the mode for the rest."""
    # With many rows the parameters of a set are certain, and prediction pays for every component.
    budget = int(np.clip(settings.components * 500 / train.n, 8, settings.components))
    kept = weights > 0.002
    share = np.where(kept, weights, 0.0) / weights[kept].sum()
    members: list[Member] = []
    out: list[float] = []
    for entry, w in zip(entries, share, strict=True):
        if w == 0.0:
            continue
        rows, row_weights = _rows(entry, max(1, round(budget * w)), rng)
        for z, row_weight in zip(rows, row_weights, strict=True):
            members.append(member_at(entry, z, train))
            out.append(w * row_weight)
    total = np.asarray(out)
    return tuple(members), total / total.sum()


def _rows(entry: Entry, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`count` draws of z by systematic resampling of the importance draws, repeated ones merged."""
    refined = entry.refined
    if refined is None or count < 2 or refined.effective < 4.0:
        return entry.fit.summit.z[None], np.ones(1)
    cumulative = np.cumsum(np.exp(refined.log_weights))
    points = (np.arange(count) + rng.uniform()) / count * cumulative[-1]
    index, counts = np.unique(np.searchsorted(cumulative, points), return_counts=True)
    return refined.z[np.minimum(index, refined.z.shape[0] - 1)], counts / count


def _variance_shares(entries: list[Entry], weights: np.ndarray) -> dict[str, float]:
    """How much of the variance of y the sparse part, the background and the noise account for, on average."""
    total = np.zeros(3)
    for entry, weight in zip(entries, weights, strict=True):
        if weight > 0.02 or entry is entries[0]:
            parts = _parts(entry)
            total += weight * parts / parts.sum()
    total = total / total.sum()
    return {"sparse": float(total[0]), "background": float(total[1]), "noise": float(total[2])}


def _parts(entry: Entry) -> np.ndarray:
    """Sample variance of the fitted sparse part and background, and the noise, over the rows of the first block."""
    at = mode(entry.problem, entry.fit)
    first = entry.problem.blocks[0]
    here = states(replace(entry.problem, blocks=(first,)), entry.fit)[0]
    sparse = at.scale * here.kernel.matrix @ here.alpha if at.scale else np.zeros_like(first.y)
    kind = entry.fit.candidate.background
    background = at.background * first.grams[kind] @ here.alpha if kind else np.zeros_like(first.y)
    return np.array([np.var(sparse), np.var(background), at.noise])
