"""What another kernel has not met of the sets that one has searched.

One kernel leads the search, and the others judge its best few sets. Where many sets are nearly as good, a kernel that
has met three of them would be sure of what these have in common, and count for less than it is worth. Sets keep about
their distance from kernel to kernel: what all that both have met weigh under each says by how much the rest moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence.entry import Entry
from ssvgp.evidence.unvisited.cloud import Cloud

Weighed = tuple[Entry, Cloud]


def met_elsewhere(own: Sequence[Weighed], lead: Sequence[Weighed]) -> list[Weighed]:
    """The sets of one kernel, the heaviest with all that the leading kernel has met beside them in its cloud.

    A set that contains one of its own is in that one's cloud already.
    """
    mine = {entry.fit.candidate.active: entry.log_evidence for entry, _ in own}
    theirs = {entry.fit.candidate.active: entry.log_evidence for entry, _ in lead}
    both = [active for active in mine if active in theirs]
    more = [pair for pair in lead if not any(set(known) <= set(pair[0].fit.candidate.active) for known in mine)]
    if not both or not more:
        return list(own)
    shift = logsumexp([mine[active] for active in both]) - logsumexp([theirs[active] for active in both])
    host = max(range(len(own)), key=lambda place: own[place][0].log_evidence)
    return [_with(pair, more, float(shift)) if place == host else pair for place, pair in enumerate(own)]


def _with(pair: Weighed, more: Sequence[Weighed], shift: float) -> Weighed:
    """A set with others in its cloud: what they have beside it has joined, what they lack has left."""
    entry, around = pair
    heights = [around.log_mass] + [one.log_evidence + shift + c.log_mass - entry.log_evidence for one, c in more]
    log_mass = float(logsumexp(heights))
    first, *shares = np.exp(np.array(heights) - log_mass)
    joined, left, own = first * around.joined, first * around.left, list(entry.fit.candidate.active)
    for share, (one, c) in zip(shares, more, strict=True):
        inside = c.joined - c.left
        inside[list(one.fit.candidate.active)] += 1.0
        joined += share * inside
        left[own] += share * (1.0 - inside[own])
    joined[own] = 0.0
    return entry, replace(around, log_mass=log_mass, joined=joined, left=left)
