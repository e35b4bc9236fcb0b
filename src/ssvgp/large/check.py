"""What blocks propose, checked by rows they have not met.

The search has seen a few thousand rows, and among many inputs some look useful there by chance. By the chain rule the
evidence of a set over more rows is that of its blocks plus the density of the other rows under the parameters that the
blocks have left, which are certain enough to be held: an input that only fits the noise of its blocks loses there about
as much as it had gained, for every time as many rows. An input that all of this does not clearly want is left out: its
effect, if it has one, is weak, and for all rows to judge (large/every_row.py). Where no rows are left that the blocks
have not met, the evidence of the blocks decides alone: a search that was shown part of them may have led there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ssvgp.data.view import Columns
from ssvgp.evidence.entry import Entry, member_at
from ssvgp.evidence.laplace import mode
from ssvgp.evidence.race import SURE
from ssvgp.evidence.transplant import transplant
from ssvgp.evidence.unvisited.cloud import Cloud
from ssvgp.gp.local import in_metric
from ssvgp.gp.marginal import log_likelihood
from ssvgp.gp.neighbours import close_together
from ssvgp.large.blocks import polished
from ssvgp.large.polish import Polished
from ssvgp.records import Parameters, Train
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings import AutoSettings, Regime
from ssvgp.settings.regime import SLIGHT


def checked(
    found: Polished, train: Train, met: np.ndarray, regime: Regime, rng: np.random.Generator, workers: Executor = SERIAL
) -> Polished:
    """The leading sets weighed by other rows too, without the inputs that these and the blocks do not clearly want.

    `met` are rows that the search has been shown. Cost a few factorisations of each group for every input of the best
    set, and a fit for each that is in doubt.
    """
    settings, needed = regime.settings, 2.0 * regime.search.reach  # as far as sets are weighed at all
    rows = _other_rows(found, train, met, settings, rng)
    check = _check(found, train, rows if rows.size else np.arange(train.n), settings, rng, workers)
    if not rows.size:
        check = replace(check, counted=())
    pairs = [(check.weighed(entry), cloud) for entry, cloud in found.pairs]
    pairs.sort(key=lambda pair: -(pair[0].log_evidence + pair[1].log_mass))
    less = partial(_without, train=train, rows=found.rows, workers=workers)
    doubted, tried = _doubted(pairs[0][0], check, less, needed)
    pairs += [(entry, pairs[0][1]) for entry in tried]
    pairs.sort(key=lambda pair: -(pair[0].log_evidence + pair[1].log_mass))
    doubted |= _beside(pairs)
    best, weights = _weighed(pairs, doubted, less)
    rests_on = [*found.rows, rows] if rows.size else found.rows
    return Polished(best, weights, rests_on, check.error(pairs, found.error))


def _other_rows(
    found: Polished, train: Train, met: np.ndarray, settings: AutoSettings, rng: np.random.Generator
) -> np.ndarray:
    """Rows (r,) that no block has met, or else none that the parameters were fitted to; empty where these are few.

    What led the search to a set is no evidence against it, but rows that it has not met are the better judges.
    """
    left = np.ones(train.n, dtype=bool)  # marks, not sorted numbers: rows may be millions
    left[np.concatenate(found.rows)] = False
    others = np.flatnonzero(left)
    left[met] = False
    unmet = np.flatnonzero(left)
    rest = unmet if unmet.size >= settings.polish_rows else others
    if rest.size < 2 * settings.block_rows:  # the spread of groups must show
        return np.empty(0, dtype=np.intp)
    return np.sort(rng.choice(rest, min(rest.size, settings.blocks * settings.polish_rows), replace=False))


def _beside(pairs: Sequence[tuple[Entry, Cloud]]) -> set[int]:
    """What other sets have beside all inputs of the best: there is no need of it, and it is for all rows to judge."""
    best = set(pairs[0][0].fit.candidate.active)
    others = [set(entry.fit.candidate.active) for entry, _ in pairs]
    return set().union(*(other - best for other in others if other > best))


def _doubted(
    lead: Entry, check: _Check, less: Callable[[Entry, set[int]], Entry], needed: float
) -> tuple[set[int], list[Entry]]:
    """The inputs of the best set without which it loses less than `needed` nats, one after the other.

    And the sets that were fitted for it. Those without which groups alone lose more are not asked about.
    """
    doubted: set[int] = set()
    sure: set[int] = set()
    tried = []
    while (j := check.least_confirmed(lead, sure, needed)) is not None:
        tried.append(check.weighed(less(lead, {j})))
        if tried[-1].log_evidence > lead.log_evidence - needed:
            doubted.add(j)
            lead = tried[-1]
        else:
            sure.add(j)
    return doubted, tried


def _weighed(
    pairs: Sequence[tuple[Entry, Cloud]], doubted: set[int], less: Callable[[Entry, set[int]], Entry]
) -> tuple[list[tuple[Entry, Cloud]], np.ndarray]:
    """The entries that count without the inputs in doubt, each with the weight of all that are alike then."""
    log_mass = np.array([entry.log_evidence + cloud.log_mass for entry, cloud in pairs])
    weights = np.exp(log_mass - logsumexp(log_mass))
    alike: dict[tuple[str, str, tuple[int, ...]], list[int]] = {}
    for place, (entry, _) in enumerate(pairs):
        if weights[place] > SLIGHT or place == 0:
            kept = tuple(j for j in entry.fit.candidate.active if j not in doubted)
            alike.setdefault((entry.problem.kernel.name, entry.fit.candidate.background, kept), []).append(place)
    out, total = [], []
    for (_, _, kept), places in alike.items():
        own = next((pairs[i] for i in places if pairs[i][0].fit.candidate.active == kept), None)
        if own is None:
            entry, cloud = pairs[places[0]]
            own = (less(entry, doubted), cloud)
        out.append(own)
        total.append(weights[places].sum())
    share = np.array(total)
    order = np.argsort(-share, kind="stable")
    return [out[i] for i in order], share[order] / share.sum()


@dataclass(frozen=True, eq=False)
class _Check:
    """A table, groups of its rows that confirm inputs, those whose density counts as evidence, and who works on them.

    Rows that blocks have not met do both; others that parameters were fitted to can only tell which inputs are in
    question.
    """

    table: Train
    groups: Sequence[np.ndarray]
    counted: Sequence[np.ndarray]
    first: int  # groups that are met first
    workers: Executor
    known: dict[tuple[object, ...], tuple[float, float]] = field(default_factory=dict)

    def weighed(self, entry: Entry) -> Entry:
        """The entry with the log density of the groups that count, at the mode of its fit, added to its evidence."""
        at = mode(entry.problem, entry.fit)
        more = float(self._each(entry, entry.fit.candidate.columns, at, self.counted).sum())
        return replace(entry, log_evidence=entry.log_evidence + more)

    def error(self, pairs: Sequence[tuple[Entry, Cloud]], before: float | None) -> float | None:
        """Standard error of the nats between the best two sets of these, with that of blocks before the groups."""
        best = pairs[0][0]
        other = next((e for e, _ in pairs if e.fit.candidate.active != best.fit.candidate.active), None)
        if other is None or len(self.counted) < 2:
            return before
        each = [self._each(e, e.fit.candidate.columns, mode(e.problem, e.fit), self.counted) for e in (best, other)]
        gap = each[0] - each[1]
        return float(np.hypot(gap.std(ddof=1) * np.sqrt(gap.size), before or 0.0))

    def least_confirmed(self, entry: Entry, sure: set[int], needed: float) -> int | None:
        """The input without which the groups are best explained, unless they clearly want all; `sure` ones apart.

        One that they clearly want is sure from then on.
        """
        worst: tuple[float, int] | None = None
        for j in sorted(set(entry.fit.candidate.active) - sure):
            for some in (self.groups[: self.first], self.groups):
                key = (entry.fit.candidate.active, j, len(some))
                if key not in self.known:
                    self.known[key] = self._gain(entry, j, some)
                gain, error = self.known[key]
                if gain > max(SURE * error, needed):  # part of the groups may be enough to confirm it
                    sure.add(j)
                    break
            else:
                worst = (gain, j) if worst is None else min(worst, (gain, j))
        return None if worst is None else worst[1]

    def _gain(self, entry: Entry, j: int, groups: Sequence[np.ndarray]) -> tuple[float, float]:
        """By how much an input of a set raises the log density of groups, and the standard error of that."""
        if len(groups) < 2:
            return 0.0, np.inf
        columns, at = entry.fit.candidate.columns, mode(entry.problem, entry.fit)
        kept = ~np.isin(columns, entry.problem.candidate([j]).columns)
        some = [c for c, keep in zip(columns, kept, strict=True) if keep]
        gap = self._each(entry, columns, at, groups)
        gap -= self._each(entry, some, replace(at, theta=at.theta[kept]), groups)
        return float(gap.sum()), float(gap.std(ddof=1)) * float(np.sqrt(gap.size))

    def _each(self, entry: Entry, columns: list[int], at: Parameters, groups: Sequence[np.ndarray]) -> np.ndarray:
        """log density (groups,) at these parameters of these columns."""
        background = entry.problem.background(entry.fit.candidate.background)

        def of_group(rows: np.ndarray) -> float:
            here = self.table.rows(rows)
            gram = None if background is None else background.matrix(here.X, here.X)
            own = here.X[:, np.array(columns, dtype=np.intp)]
            return log_likelihood(entry.problem.kernel, own, here.y, at, gram, 0.0, here.noise)

        return np.array(self.workers.map(of_group, [(rows,) for rows in groups]))


def _check(
    found: Polished, train: Train, rows: np.ndarray, settings: AutoSettings, rng: np.random.Generator, workers: Executor
) -> _Check:
    """These rows in groups as large as the blocks of the search, in a random order; so many as it met come first.

    As in the blocks of the search half of a group is near in the metric of the leading set, which tells of short
    scales, and half is random, which tells of long ones.
    """
    entries, size = [entry for entry, _ in found.pairs], settings.block_rows
    noise = None if train.noise is None else train.noise.rows(rows)
    X: Any = train.X[rows]
    if not any(entry.fit.candidate.background for entry in entries):
        columns = np.unique([j for entry in entries for j in entry.fit.candidate.columns]).astype(np.intp)
        X = Columns(X[:, columns], columns, train.d)
    table = Train(X, train.y[rows], noise)
    lead = member_at(entries[0], entries[0].fit.summit.z)
    near, far = np.array_split(rng.permutation(rows.size), 2)
    order = close_together(in_metric(lead, X[near]), size // 2)
    count = max(2, round(rows.size / size))
    halves = zip(np.array_split(near[order], count), np.array_split(far, count), strict=True)
    groups = [np.sort(np.concatenate(both)) for both in halves]
    mixed = [groups[i] for i in rng.permutation(count)]
    return _Check(table, mixed, mixed, settings.blocks, workers)


def _without(lead: Entry, doubted: set[int], train: Train, rows: Sequence[np.ndarray], workers: Executor) -> Entry:
    """A set less some inputs, fitted to the same blocks."""
    found, problem = lead.fit, lead.problem
    active = [i for i in found.candidate.active if i not in doubted]
    candidate = problem.candidate(active, found.candidate.background)
    z, inverse, _ = transplant(found, candidate, problem)
    start = replace(found, candidate=candidate, summit=replace(found.summit, z=z, inverse_hessian=inverse))
    fit = polished(train, problem, start, list(rows), workers)
    return Entry(problem, fit, None, fit.log_evidence)
