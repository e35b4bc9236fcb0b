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

    With a mean-field posterior a fit is scored at its mean, and becomes S* members that share its weight
    (eq. 11).
    """
    walking, collapsing, thinning, drawing = rng.spawn(4)
    fits = grid(train, kernel, settings, walking, n_jobs, callback)
    members = tuple(_at_centre(fit, kernel) for fit in fits)
    with threadpool_limits(limits=1):
        scores = _scores(train, members, settings, collapsing)
    share = _shares(np.array([score.total for score in scores.values()]), settings, thinning)
    chosen = [(fits[index], members[index], w) for index, w in zip(scores, share, strict=True) if w > 0]
    mixture = _mixture(chosen, kernel, settings, drawing)
    pip = weights.marginal_pip(mixture.members, mixture.weights, train.d)
    return Ensemble(mixture.members, mixture.weights, pip, _notes(fits, scores, share))


def leave_one_out(
    train: Train, member: Member, settings: PaperSettings, rows: np.ndarray | None = None
) -> LeaveOneOut:
    """Leave-one-out density as the settings want it: exact to 10^4 rows, 64 neighbours beyond, unless told.

    `rows` (r,) asks for a sample of rows where the density is truncated; the exact one has all anyway.
    """
    if settings.kappa_place not in ("variance", "noise"):
        raise ValueError(f"kappa_place is 'variance' or 'noise', not {settings.kappa_place!r}")
    kappa = settings.kappa
    if settings.kappa_place == "noise":
        member, kappa = loo.with_more_noise(member, kappa), 0.0
    neighbours = _loo_neighbours(train, settings)
    if neighbours is None:
        return loo.exact(train, member, kappa)
    return loo.truncated(train, member, neighbours, kappa, rows)


def _loo_neighbours(train: Train, settings: PaperSettings) -> int | None:
    if settings.loo_neighbours is not None:
        return settings.loo_neighbours
    return 64 if train.n > MANY_ROWS else None


@dataclass(frozen=True)
class _Mixture:
    members: tuple[Member, ...]
    weights: np.ndarray


def _at_centre(fit: Fit, kernel: Kernel) -> Member:
    return Member(fit.active, fit.parameters, kernel, fit.inclusion[fit.active])


def _scores(
    train: Train, members: tuple[Member, ...], settings: PaperSettings, rng: np.random.Generator
) -> dict[int, LeaveOneOut]:
    """Scores by number of the members that go on: all, or the best of each active set (B.3).

    Where leave-one-out is truncated, members with the same active set are compared on a sample of rows, and
    only the best of them meets all rows, or the sample of `loo_rows`. All members meet the same rows, so that the
    differences between them are far more certain than the totals.
    """
    truncated = _loo_neighbours(train, settings) is not None
    sample = loo.sample_rows(train.n, settings.loo_rows, rng) if truncated and settings.loo_rows else None
    if not settings.collapse:
        return {i: leave_one_out(train, member, settings, sample) for i, member in enumerate(members)}
    few = loo.sample_rows(train.n, COLLAPSE_ROWS, rng) if truncated else None
    scores = {i: leave_one_out(train, member, settings, few) for i, member in enumerate(members)}
    kept = weights.collapse(members, np.array([score.total for score in scores.values()]))
    if few is None:
        return {int(i): scores[i] for i in kept}
    return {int(i): leave_one_out(train, members[i], settings, sample) for i in kept}


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
    pairs = zip(chosen, rng.spawn(len(chosen)), strict=True)
    drawn = [draw_members(fit, kernel, count, child) for (fit, _, _), child in pairs]
    share = np.repeat([w / count for _, _, w in chosen], count)
    return _Mixture(tuple(member for group in drawn for member in group), share)


def _notes(fits: tuple[Fit, ...], scores: dict[int, LeaveOneOut], share: np.ndarray) -> dict[str, Any]:
    """What is worth telling of every v (k of them), and of those `kept` (numbers among the k).

    average_pip, v (k,), inclusion (k, d), elbo and sizes (k, rounds); loo and v_weights for those kept, with
    the rows behind each score in loo_rows.
    """
    return {
        "v": np.array([fit.v for fit in fits]),
        "average_pip": np.array([fit.inclusion.mean() for fit in fits]),
        "inclusion": np.array([fit.inclusion for fit in fits]),
        "elbo": np.array([fit.trace for fit in fits]),
        "sizes": np.array([fit.sizes for fit in fits]),
        "kept": np.array(list(scores), dtype=int),
        "loo": np.array([score.total for score in scores.values()]),
        "loo_rows": tuple(scores.values()),
        "v_weights": share,
    }
