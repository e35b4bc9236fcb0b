"""One set in the running, on its way from the search to the mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.evidence.importance import Refined
from ssvgp.evidence.laplace import Fit, Problem
from ssvgp.model.priors import Candidate, unpack
from ssvgp.records import Member


@dataclass(frozen=True)
class Entry:
    """One set in the running: its problem, fit, importance draws if any, and log evidence."""

    problem: Problem
    fit: Fit
    refined: Refined | None
    log_evidence: float


def member_at(entry: Entry, z: np.ndarray) -> Member:
    """The member of a set at parameters z (q,): it counts columns, as predictions do."""
    return _member(entry.problem, entry.fit.candidate, z)


def member_of(problem: Problem, found: Fit) -> Member:
    """The member of a set at its mode."""
    return _member(problem, found.candidate, found.summit.z)


def _member(problem: Problem, candidate: Candidate, z: np.ndarray) -> Member:
    parameters, active = unpack(z, candidate, problem.prior), np.array(candidate.columns, dtype=np.intp)
    background = problem.background(candidate.background)
    return Member(active, parameters, problem.kernel, np.ones(active.size), background)
