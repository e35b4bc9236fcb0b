"""The last steps on a large table: leading sets weighed on larger blocks, and parameters fit for prediction.

Blocks of 250 rows are enough to find sets; telling kernels and short lengthscales apart takes more rows at once, and
prediction from nearest neighbours asks for parameters that are right nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence import loo
from ssvgp.evidence.entry import Entry, member_at
from ssvgp.evidence.laplace import mode
from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.evidence.race import Standing, race_on_blocks
from ssvgp.evidence.unvisited.cloud import Cloud
from ssvgp.gp.kernels.compose import partly_local
from ssvgp.gp.marginal import log_likelihood
from ssvgp.large.blocks import block_of, local_rows, polished
from ssvgp.records import Member, Rested, Train, has_sites, row_noise
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings import Regime
from ssvgp.settings.regime import MEMBERS, SLIGHT


@dataclass(frozen=True, eq=False)
class Polished:
    """Entries with their clouds, heaviest first, their weights (k,), and the rows that their evidence rests on.

    `error` is the standard error of the nats between the best two sets, as the spread of blocks of these rows shows it;
    None where no other set was in question.
    """

    pairs: list[tuple[Entry, Cloud]]
    weights: np.ndarray
    rows: list[np.ndarray]
    error: float | None = None

    def rests_on(self) -> Rested:
        """How many rows the evidence of sets rests on, and by how much the best set is ahead of the next there."""
        (first, around), *others = self.pairs
        other = next((p for p in others if p[0].fit.candidate.active != first.fit.candidate.active), None)
        count = int(np.unique(np.concatenate(self.rows)).size)
        if other is None:
            return Rested(count)
        ahead = first.log_evidence + around.log_mass - other[0].log_evidence - other[1].log_mass
        return Rested(count, float(ahead), self.error)


def without_idle_background(entries: list[Entry]) -> list[Entry]:
    """The entries without background alone, where the best of them is about as good as the best of all.

    A background that does little gains or loses little evidence, but on a large table its members look at all columns
    of all rows to predict one. Where it is needed, the blocks show it by hundreds of nats.
    """
    plain = [e for e in entries if not e.fit.candidate.background]
    near = plain and plain[0].log_evidence > entries[0].log_evidence - NEGLIGIBLE
    return plain if near else entries


def polish(
    pairs: Sequence[tuple[Entry, Cloud]],
    weights: np.ndarray,
    train: Train,
    regime: Regime,
    rng: np.random.Generator,
    workers: Executor = SERIAL,
) -> Polished:
    """The leading entries with parameters and evidence from common larger blocks, weighed anew against each other.

    First they race on these blocks as they are; more blocks are used, and more entries polished, only while the race is
    undecided.
    """
    settings = regime.settings
    heavy = [p for p, w in zip(pairs, weights, strict=True) if w > SLIGHT or p[0].refined is not None][:MEMBERS]
    leaders = [entry for entry, _ in heavy]
    first = leaders[0]
    rows = local_rows(train, first.problem, first.fit, 2 * settings.search_blocks, settings.polish_rows, rng)
    at = [mode(e.problem, e.fit) for e in leaders]

    def score(member: int, block: np.ndarray) -> float:
        entry = leaders[member]
        kind = entry.fit.candidate.background
        here = block_of(train, block, [entry.problem.background(kind)])
        columns = here.X[:, entry.fit.candidate.columns]
        gram = here.grams.get(kind)
        return log_likelihood(entry.problem.kernel, columns, here.y, at[member], gram, 0.0, here.noise)

    standing = race_on_blocks(score, len(leaders), rows, settings.search_blocks, regime.search.reach, workers)
    left = [pair for pair, running in zip(heavy, standing.running, strict=True) if running]
    used = rows[: max(settings.search_blocks, standing.blocks)]
    fits = workers.map(polished, [(train, e.problem, e.fit, used, workers) for e, _ in left])
    out = [(Entry(e.problem, f, None, f.log_evidence), c) for (e, c), f in zip(left, fits, strict=True)]
    out.sort(key=lambda pair: -(pair[0].log_evidence + pair[1].log_mass))
    log_mass = np.array([e.log_evidence + c.log_mass for e, c in out])
    return Polished(out, np.exp(log_mass - logsumexp(log_mass)), used, _error(standing, leaders))


def _error(standing: Standing, leaders: Sequence[Entry]) -> float | None:
    """Standard error of the nats, on all blocks of a race, by which the best of another set lies behind the winner."""
    order = np.argsort(standing.behind, kind="stable")
    best = leaders[order[0]].fit.candidate.active
    other = next((i for i in order if leaders[i].fit.candidate.active != best), None)
    error = np.inf if other is None else float(standing.error[other] * standing.blocks)
    return error if np.isfinite(error) else None


def finished_members(
    entries: Sequence[Entry],
    weights: np.ndarray,
    train: Train,
    regime: Regime,
    rng: np.random.Generator,
    workers: Executor = SERIAL,
) -> tuple[tuple[Member, ...], np.ndarray]:
    """One member for each set that counts, with its weight: with many rows the parameters of a set are certain."""
    heavy = [(entry, w) for entry, w in zip(entries, weights, strict=True) if w > SLIGHT]
    members = tuple(_finished(entry, train, regime, rng, workers) for entry, _ in heavy)
    share = np.array([w for _, w in heavy])
    return members, share / share.sum()


def _finished(entry: Entry, train: Train, regime: Regime, rng: np.random.Generator, workers: Executor) -> Member:
    """The member of a large table, with the parameters that predict best from nearest neighbours.

    Candidates are the parameters of the polished fit, and of one on blocks of nearest neighbours alone: where f is not
    equally rough everywhere, or rows are given their neighbours only, these do better. Judge is the leave-one-out
    density of rows that are predicted as new ones will be. The variances are then scaled to what those rows show (one
    factor for all of them).
    """
    fits, settings = [entry.fit], regime.settings
    if partly_local(entry.problem.kernel) or entry.fit.candidate.background:
        where = (settings.blocks, settings.block_rows, rng, 1.0)
        near = local_rows(train, entry.problem, entry.fit, *where)
        fits.append(polished(train, entry.problem, entry.fit, near, workers))
    members = [member_at(entry, f.summit.z) for f in fits]
    scores = _judged(members, train, regime, rng, workers)
    best = int(np.argmax([score.total for score in scores]))
    return _calibrated(members[best], scores[best], train)


def _judged(
    members: Sequence[Member], train: Train, regime: Regime, rng: np.random.Generator, workers: Executor
) -> list[loo.LeaveOneOut]:
    """Leave-one-out as predictions will be made: from all rows, or for a sample of rows from their neighbours."""
    m = regime.predict_neighbours
    if m is None:
        return workers.map(loo.exact, [(train, member) for member in members])
    rows = loo.sample_rows(train.n, regime.check_rows or train.n, rng)
    return workers.map(loo.truncated, [(train, member, m, 0.0, rows) for member in members])


def _calibrated(member: Member, score: loo.LeaveOneOut, train: Train) -> Member:
    """The member with all variances times the mean squared error in units of its variance, unless that is about one.

    Scale, background, constant and noise together: the means stay what they are. Noise that is known is not scaled, and
    where there is any nothing is.
    """
    if has_sites(train.noise):  # what y is given f has no variance to scale
        return member
    own = row_noise(train.noise)
    if own is not None and (own.copy_variance(0.0) > 0.0).any():
        return member
    square = (train.y[score.rows] - score.mean) ** 2 / score.variance
    factor = float(square.mean())
    if abs(factor - 1.0) < 2.0 * float(square.std()) / np.sqrt(square.size):
        return member
    at = member.parameters
    scaled = {name: factor * getattr(at, name) for name in ("scale", "noise", "background", "mean")}
    return replace(member, parameters=replace(at, **scaled))
