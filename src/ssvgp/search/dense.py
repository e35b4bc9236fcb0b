"""Starts from the dense end: all inputs fitted at once and ranked by |theta| (method/paper/ranking.py).

No screen that looks at one or two inputs at a time can see an effect of three that has no lower-order part; gradient
ascent from all inputs can. The path over v would cut the same ranking at other places, so the ranking is cut
at a range of sizes, each cut is fitted on a part of the rows, and the best cuts become starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssvgp.evidence.laplace import Fit, fit
from ssvgp.model.priors import Candidate
from ssvgp.search.book import BOLD_VARIANCE, Ledger
from ssvgp.search.moves import prune


def dense_starts(
    ledger: Ledger, order: np.ndarray, theta: np.ndarray, sizes: Sequence[int], rows: int, keep: int, slack: float
) -> list[Fit]:
    """Cuts of the ranking, fitted on at most `rows` rows to choose the best `keep`, then on all rows.

    Cuts that fall `slack` nats behind the best set so far, on the same rows, are not pursued, nor those that only add
    to it what these rows do not want.
    """
    part, best = ledger.part(rows), ledger.best()
    bar = part.carry(best).log_evidence - slack
    cuts = [Candidate(tuple(sorted(int(j) for j in order[:size]))) for size in sizes if size <= order.size]
    starts = [_start(cut, theta[list(cut.active)], ledger) for cut in cuts]
    curvatures = [np.diag(np.full(z.size, BOLD_VARIANCE)) for z in starts]
    tasks = [(part.problem, *one, 0.2, bar) for one in zip(cuts, starts, curvatures, strict=True)]
    trials = [trial for trial in ledger.problem.workers.map(fit, tasks) if trial.log_evidence > bar]
    leaders = sorted(trials, key=lambda trial: -trial.log_evidence)[:keep]
    if part.problem.n < ledger.problem.n:
        leaders = [trial for trial in leaders if not _leads_back(part, trial, best)]
    new = [trial for trial in leaders if trial.candidate not in ledger.fits]
    again = [(ledger.problem, trial.candidate, trial.summit.z, trial.summit.inverse_hessian) for trial in new]
    ledger.fits |= {found.candidate: found for found in ledger.problem.workers.map(fit, again)}
    return [ledger.fits[trial.candidate] for trial in leaders]


def _leads_back(part: Ledger, trial: Fit, best: Fit) -> bool:
    """Whether a cut is the best set so far and others that elimination on a part of the rows lets go again."""
    if not set(best.candidate.active) < set(trial.candidate.active):
        return False
    return prune(part, trial).candidate == best.candidate


def _start(cut: Candidate, theta: np.ndarray, ledger: Ledger) -> np.ndarray:
    """log theta as the dense round left it, with the scale and noise of a process that explains most of y."""
    prior = ledger.problem.prior
    scale, noise = min(prior.log_scale[0], 1.0), prior.log_noise[0] + 0.5
    return cut.coordinates.vector(np.log(np.clip(theta, 0.02, 2.0)), scale=scale, noise=noise)
