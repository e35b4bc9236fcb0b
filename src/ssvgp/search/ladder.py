"""The ladder: a candidate is met on a part of the rows first, and climbs to all of them unless it is clearly behind.

Both the candidate and its parent are fitted on the part. What all n rows would say of the difference is what the m rows
of the part say, and for each further row the mean of the paired differences of their leave-one-out log densities,

    evidence_n(S') - evidence_n(S) = evidence_m(S') - evidence_m(S) + (n - m) mean_i(l'_i - l_i),

whose standard error is that of the mean. Row terms are free once the inverse is there. What may reach the bar within
chance is looked at on all rows from where the part has brought it, which costs a factorisation, and fitted if it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssvgp.evidence.laplace import Fit, Problem, log_joint_value, log_model_prior, states
from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.evidence.race import SURE
from ssvgp.evidence.transplant import moved
from ssvgp.gp.marginal import LOG_2PI
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.probe import MODEST, STRONG, Bold, Probe


@dataclass(frozen=True)
class Projection:
    """The evidence that a fit on a part of the rows promises on all of them, and its standard error."""

    fit: Fit
    estimate: float
    error: float

    @property
    def hope(self) -> float:
        """What it may still turn out to be, within a standard error."""
        return self.estimate + self.error


def row_terms(book: Book, found: Fit) -> np.ndarray:
    """Leave-one-out log densities (m,) of the rows of a book at a fit: mean y_i - alpha_i / P_ii, variance 1 / P_ii."""
    terms = []
    for at in states(book.problem, found):
        precision = at.precisions
        terms.append(0.5 * (np.log(precision) - at.alpha**2 / precision - LOG_2PI))
    return np.concatenate(terms)


def project(book: Book, part: Book, parent: Fit, fits: Sequence[Fit]) -> list[Projection]:
    """What fits on a part of the rows promise on all rows of the book, beside a parent that is fitted on both."""
    below = part.carry(parent)
    base = row_terms(part, below)
    more = book.problem.n / base.size - 1.0
    out = []
    for found, terms in zip(fits, part.workers.map(row_terms, [(part, f) for f in fits]), strict=True):
        gap = terms - base
        gain = found.log_evidence - below.log_evidence + more * float(gap.sum())
        out.append(Projection(found, parent.log_evidence + gain, more * float(np.sqrt(gap.size) * gap.std())))
    return out


def climbing(
    book: Book, parent: Fit, candidates: Iterable[Candidate], bar: float, bold: Bold = MODEST, most: int = 1000
) -> list[Probe]:
    """Candidates beside a parent that may reach `bar` on all rows, best first, with starts for their fits.

    Where the book has no ladder, they are estimated beside the parent's own parameters. So many are chosen by their
    order, and as many by their estimates.
    """
    new = [c for c in dict.fromkeys(candidates) if c not in book.fits]
    part = book.first_rung()
    if part is None:
        return [p for p in _chosen(book.probe_all(parent, new, bold), new, most) if p.estimate > bar]
    below = part.carry(parent)
    low = below.log_evidence - NEGLIGIBLE
    known = [part.fits[c] for c in new if c in part.fits and part.fits[c].log_evidence > low]
    fits = known + part.visit_all(_chosen(part.probe_all(below, new, bold), new, most), low)
    able = [one.fit for one in project(book, part, parent, fits) if one.estimate + SURE * one.error > bar]
    if not able:
        return []
    share = part.problem.n / book.problem.n
    own, *seen = book.workers.map(_carried, [(book.problem, one, below, parent, share) for one in (below, *able)])
    short = parent.log_evidence - own.estimate if np.isfinite(own.estimate) else 0.0  # or unknown
    seen = [replace(one, estimate=one.estimate + short) for one in seen]
    return sorted((one for one in seen if one.estimate + STRONG > bar), key=lambda one: -one.estimate)


def _carried(problem: Problem, found: Fit, below: Fit, parent: Fit, share: float) -> Probe:
    """What is seen of all rows of a problem from a start by what those that a part has not seen changed for the parent.

    Height is a factorisation, and falls short by what is left to climb; so does that of the parent from where the part
    has it. The volume differs from the parent's as on the part.
    """
    candidate, z = found.candidate, moved(found, below, parent)
    volume = parent.log_volume + found.log_volume - below.log_volume + 0.5 * z.size * LOG_2PI
    height = log_joint_value(problem, candidate, z, sites=parent.sites) + log_model_prior(candidate, problem)
    return Probe(candidate, (z,), share * found.summit.inverse_hessian, height + volume, parent.sites)


def _chosen(probes: Sequence[Probe], order: Sequence[Candidate], most: int) -> list[Probe]:
    """The probes with the best estimates, and those of the first candidates: a bold start may still be far off."""
    first = set(order[:most])
    return [p for place, p in enumerate(probes) if place < most or p.candidate in first]
