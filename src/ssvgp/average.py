"""From visited sets to the answer: evidence weights, inclusion probabilities, members of the predictive mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ssvgp.propose.ledger import Ledger
from ssvgp.propose.search import look
from ssvgp.records import AutoSettings, Ensemble, Member, Parameters, Train
from ssvgp.weigh.evidence import Candidate, Fit, Problem, log_set_prior, log_slab, mode, unpack, with_curvature
from ssvgp.weigh.excluded import log_bayes_factors
from ssvgp.weigh.refine import Refined, refine

CERTAIN = 0.03  # a set that would carry less than this weight is taken at its first evidence
SMALL = 0.2  # a set below this weight gets half the importance draws


@dataclass(frozen=True)
class Weighed:
    """A ledger whose sets compete with those of other ledgers (other kernels)."""

    ledger: Ledger


@dataclass(frozen=True)
class Entry:
    """One set in the running: its problem, fit, importance draws if any, and log evidence."""

    problem: Problem
    fit: Fit
    refined: Refined | None
    log_evidence: float


def average(ledgers: Sequence[Weighed], train: Train, settings: AutoSettings, rng: np.random.Generator) -> Ensemble:
    """Weigh all visited sets, price the unvisited neighbours of the heavy ones, and draw the mixture's members."""
    entries = _entries(ledgers, settings)
    entries = _sharpen(entries, settings, int(rng.integers(2**31)))
    log_evidence = np.array([e.log_evidence for e in entries])
    weights = np.exp(log_evidence - logsumexp(log_evidence))
    pip = _inclusion(entries, weights, ledgers, train.d)
    members, member_weights = _members(entries, weights, settings, train, rng)
    notes = {
        "shares": _variance_shares(entries, weights),
        "sets": [
            (e.fit.candidate, e.problem.kernel.name, e.log_evidence, float(w))
            for e, w in zip(entries, weights, strict=True)
        ],
        "visited": sum(len(w.ledger.fits) for w in ledgers),
        "evaluations": sum(f.evaluations for w in ledgers for f in w.ledger.fits.values()),
        "background": float(sum(w for e, w in zip(entries, weights, strict=True) if e.fit.candidate.background)),
    }
    return Ensemble(members, member_weights, pip, notes)


def _entries(ledgers: Sequence[Weighed], settings: AutoSettings) -> list[Entry]:
    """Every fit within twice the reach of the best of all ledgers, best first."""
    every = [
        Entry(w.ledger.problem, f, None, f.log_evidence) for w in ledgers for f in w.ledger.fits.values()
    ]
    top = max(e.log_evidence for e in every)
    near = [e for e in every if e.log_evidence > top - 2.0 * settings.search.reach]
    return sorted(near, key=lambda e: -e.log_evidence)


def _sharpen(entries: list[Entry], settings: AutoSettings, seed: int) -> list[Entry]:
    """Exact curvature and importance draws for the sets that carry weight; the others keep their distance to them."""
    first = np.array([e.log_evidence for e in entries])
    weights = np.exp(first - logsumexp(first))
    out, shift = [], 0.0
    for rank, (entry, weight) in enumerate(zip(entries, weights, strict=True)):
        if rank > 0 and weight < CERTAIN:
            out.append(Entry(entry.problem, entry.fit, None, entry.log_evidence + shift))
            continue
        exact = with_curvature(entry.problem, entry.fit)
        draws = refine(entry.problem, exact, settings.draws if weight > SMALL else settings.draws // 2, seed)
        out.append(Entry(entry.problem, exact, draws, draws.log_evidence))
        if rank == 0:
            shift = draws.log_evidence - entry.log_evidence
    return out


def _inclusion(entries: list[Entry], weights: np.ndarray, ledgers: Sequence[Weighed], d: int) -> np.ndarray:
    """PIP_j: the weight of all sets that contain j, those never visited included through their visited neighbour."""
    visited = {(e.fit.candidate, e.problem.kernel.name) for e in entries}
    mass = np.zeros(d)
    extra = 0.0
    for entry, weight in zip(entries, weights, strict=True):
        active = list(entry.fit.candidate.active)
        mass[active] += weight
        if weight < CERTAIN:
            continue
        added = weight * _neighbour_odds(entry, ledgers, d)
        for candidate, kernel in visited:
            fresh = set(candidate.active) - set(active)
            if kernel == entry.problem.kernel.name and len(fresh) == 1 and candidate.size == len(active) + 1:
                added[fresh.pop()] = 0.0  # was fitted: counted by itself
        mass += added
        mass[active] += added.sum()
        extra += float(added.sum())
    return mass / (1.0 + extra)


def _neighbour_odds(entry: Entry, ledgers: Sequence[Weighed], d: int) -> np.ndarray:
    """Odds of the set with j added against the set, for every excluded input j (d,)."""
    ledger = next(w.ledger for w in ledgers if w.ledger.problem is entry.problem)
    scores, _ = look(ledger, entry.fit, additive=False)
    parameters = mode(entry.problem, entry.fit)
    shares = log_slab(parameters.theta, entry.problem.prior)[2]
    size, prior = entry.fit.candidate.size, entry.problem.prior
    log_odds = log_bayes_factors(scores.gain, scores.cost, shares, prior)
    # a wildly promising input that no fit confirmed is no better than even
    log_odds = np.minimum(log_odds + log_set_prior(size + 1, d, prior) - log_set_prior(size, d, prior), 0.0)
    odds = np.exp(log_odds)
    odds[list(entry.fit.candidate.active)] = 0.0
    return odds


def _members(
    entries: list[Entry], weights: np.ndarray, settings: AutoSettings, train: Train, rng: np.random.Generator
) -> tuple[tuple[Member, ...], np.ndarray]:
    """Components of the mixture: draws of (theta, phi) for sets with weight, the mode for the rest."""
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
            members.append(_member(entry, z, train))
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


def _member(entry: Entry, z: np.ndarray, train: Train) -> Member:
    candidate: Candidate = entry.fit.candidate
    parameters = unpack(z, candidate, entry.problem.prior)
    active = np.array(candidate.active, dtype=np.intp)
    return Member(active, parameters, entry.problem.kernel, np.ones(active.size), train.units)


def _variance_shares(entries: list[Entry], weights: np.ndarray) -> dict[str, float]:
    """How much of the variance of y the sparse part, the background and the noise account for, on average."""
    total = np.zeros(3)
    for entry, weight in zip(entries, weights, strict=True):
        if weight > 0.01:
            parts = np.array(_parts(entry, mode(entry.problem, entry.fit)))
            total += weight * parts / parts.sum()
    total = total / total.sum()
    return {"sparse": float(total[0]), "background": float(total[1]), "noise": float(total[2])}


def _parts(entry: Entry, parameters: Parameters) -> tuple[float, float, float]:
    """Expected sample variance of each part over the rows of the first block."""
    first = entry.problem.blocks[0]
    rows = first.X[:, list(entry.fit.candidate.active)]
    sparse = parameters.scale * _spread(entry.problem.kernel.matrix(rows, rows, parameters.theta)) if rows.size else 0.0
    kind = entry.fit.candidate.background
    background = parameters.background * _spread(first.grams[kind]) if kind else 0.0
    return sparse, background, parameters.noise


def _spread(matrix: np.ndarray) -> float:
    return float(np.mean(np.diagonal(matrix)) - matrix.mean())
