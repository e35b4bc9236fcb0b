"""The paper's method whole: grid over v, a-CAVI, leave-one-out weights, mixture (sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ssvgp.gp.kernels import Kernel
from ssvgp.propose.acavi import MANY_ROWS, Callback, Fit
from ssvgp.propose.grid import grid
from ssvgp.propose.meanfield import draw_members
from ssvgp.records import Ensemble, Member, PaperSettings, Train
from ssvgp.weigh import loo, weights
from ssvgp.weigh.loo import LeaveOneOut

COLLAPSE_ROWS = 1000  # members with the same active set are compared on this many random rows (B.3)


def paper_ensemble(
    train: Train,
    kernel: Kernel,
    settings: PaperSettings,
    rng: np.random.Generator,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> Ensemble:
    """The method of the paper on standardised data, from the grid over v to the weighted members.

    With a mean-field posterior a fit is scored at its mean, and becomes S* members that share its weight (eq. 11).
    """
    walking, collapsing, thinning, drawing = rng.spawn(4)
    fits = grid(train, kernel, settings, walking, n_jobs, callback)
    members = tuple(_at_centre(fit, kernel) for fit in fits)
    with threadpool_limits(limits=1):
        kept = _kept(train, members, settings, collapsing)
        scores = [leave_one_out(train, members[index], settings) for index in kept]
    share = _shares(np.array([score.total for score in scores]), settings, thinning)
    chosen = [(fits[index], members[index], w) for index, w in zip(kept, share, strict=True) if w > 0]
    mixture = _mixture(chosen, kernel, settings, drawing)
    pip = weights.marginal_pip(mixture.members, mixture.weights, train.d)
    return Ensemble(mixture.members, mixture.weights, pip, _notes(fits, kept, scores, share))


def leave_one_out(train: Train, member: Member, settings: PaperSettings) -> LeaveOneOut:
    """Leave-one-out density as the settings want it: exact to 10^4 rows, 64 neighbours beyond, unless told."""
    neighbours = settings.loo_neighbours
    if neighbours is None and train.n > MANY_ROWS:
        neighbours = 64
    if neighbours is None:
        return loo.exact(train, member, settings.kappa)
    return loo.truncated(train, member, neighbours, settings.kappa)


@dataclass(frozen=True)
class _Mixture:
    members: tuple[Member, ...]
    weights: np.ndarray


def _at_centre(fit: Fit, kernel: Kernel) -> Member:
    return Member(fit.active, fit.parameters, kernel, fit.inclusion[fit.active])


def _kept(
    train: Train, members: tuple[Member, ...], settings: PaperSettings, rng: np.random.Generator
) -> np.ndarray:
    """Numbers of the members that go on: all, or the best of each active set on a sample of rows (B.3)."""
    if not settings.collapse:
        return np.arange(len(members))
    if settings.loo_neighbours is None and train.n <= MANY_ROWS:
        totals = [loo.exact(train, member, settings.kappa).total for member in members]
    else:
        rows = loo.sample_rows(train.n, COLLAPSE_ROWS, rng)
        m = settings.loo_neighbours or 64
        totals = [loo.truncated(train, member, m, settings.kappa, rows).total for member in members]
    return weights.collapse(members, np.array(totals))


def _shares(totals: np.ndarray, settings: PaperSettings, rng: np.random.Generator) -> np.ndarray:
    if settings.best_only:
        return weights.best_only(totals)
    share = weights.score_weights(totals)
    return share if settings.thin is None else weights.thin(share, settings.thin, rng)


def _mixture(
    chosen: list[tuple[Fit, Member, float]], kernel: Kernel, settings: PaperSettings, rng: np.random.Generator
) -> _Mixture:
    if settings.posterior != "mean-field":
        return _Mixture(tuple(member for _, member, _ in chosen), np.array([w for _, _, w in chosen]))
    count = settings.predictive_samples
    drawn = [
        draw_members(fit, kernel, count, child) for (fit, _, _), child in zip(chosen, rng.spawn(len(chosen)), strict=True)
    ]
    share = np.repeat([w / count for _, _, w in chosen], count)
    return _Mixture(tuple(member for group in drawn for member in group), share)


def _notes(
    fits: tuple[Fit, ...], kept: np.ndarray, scores: list[LeaveOneOut], share: np.ndarray
) -> dict[str, Any]:
    """What is worth telling of every v: average PIP, inclusion (k, d), ELBO traces, and the scores of those kept."""
    return {
        "v": np.array([fit.v for fit in fits]),
        "average_pip": np.array([fit.inclusion.mean() for fit in fits]),
        "inclusion": np.array([fit.inclusion for fit in fits]),
        "elbo": np.array([fit.trace for fit in fits]),
        "sizes": np.array([fit.sizes for fit in fits]),
        "kept": kept,
        "loo": np.array([score.total for score in scores]),
        "loo_rows": tuple(scores),
        "v_weights": share,
    }
