"""Starts from the dense end: all inputs fitted at once and ranked by |theta| (method/paper/ranking.py).

No screen that looks at one or two inputs at a time can see an effect of three that has no lower-order part; gradient
ascent from all inputs can. The path over v would cut the same ranking at other places, so the ranking is cut
at a range of sizes, each cut is fitted on a part of the rows, and the best cuts become starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssvgp.evidence.laplace import Fit
from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.moves import prune
from ssvgp.search.probe import fit_once


def dense_starts(
    book: Book, order: np.ndarray, theta: np.ndarray, sizes: Sequence[int], rows: int, keep: int
) -> list[Fit]:
    """Cuts of the ranking, fitted on at most `rows` rows to choose the best `keep`, then on all rows.

    Cuts that are negligible beside the best set so far, on the same rows, are not pursued, nor those that only add to
    it what these rows do not want.
    """
    part, best = book.part(rows), book.best()
    bar = part.carry(best).log_evidence - NEGLIGIBLE
    inputs = list(dict.fromkeys(book.problem.owners()[order].tolist()))  # by their strongest column
    cuts = [book.problem.candidate(inputs[:size]) for size in sizes if size <= len(inputs)]
    starts = [_start(cut, theta, book) for cut in cuts]
    tasks = [(part.problem, *one, None, None, bar, book.workers) for one in zip(cuts, starts, strict=True)]
    trials = [trial for trial in part.made(fit_once, tasks) if trial.log_evidence > bar]
    leaders = sorted(trials, key=lambda trial: -trial.log_evidence)[:keep]
    if part.problem.n < book.problem.n:
        leaders = [trial for trial in leaders if not _leads_back(part, trial, best)]
    new = [trial for trial in leaders if trial.candidate not in book.fits]
    again = [
        (book.problem, t.candidate, t.summit.z, t.summit.inverse_hessian, None, -np.inf, book.workers) for t in new
    ]
    book.fits |= {found.candidate: found for found in book.made(fit_once, again)}
    return [book.fits[trial.candidate] for trial in leaders]


def _leads_back(part: Book, trial: Fit, best: Fit) -> bool:
    """Whether a cut is the best set so far and others that elimination on a part of the rows lets go again."""
    if not set(best.candidate.active) < set(trial.candidate.active):
        return False
    return prune(part, trial).candidate == best.candidate


def _start(cut: Candidate, theta: np.ndarray, book: Book) -> np.ndarray:
    """log theta as the dense round left it, with the scale and noise of a process that explains most of y."""
    prior, columns = book.problem.prior, cut.columns
    own = cut.gathered(theta[columns]) / cut.gathered(np.ones(len(columns)))
    scale, rest = (
        min(prior.log_scale[0], 1.0),
        {name: prior.of_slot(name)[0] + 0.5 * (name == "noise") for name in cut.own},
    )
    return cut.coordinates.vector(np.log(np.clip(own, 0.02, 2.0)), scale=scale, **rest)
