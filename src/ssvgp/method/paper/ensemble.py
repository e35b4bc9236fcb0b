"""The paper's method whole: grid over v, a-CAVI, leave-one-out weights, mixture (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from ssvgp.evidence import loo
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.evidence.race import FIRST_ROWS, GROWTH, Race, Score, race
from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.paper import weights
from ssvgp.method.paper.acavi import Fit, Progress
from ssvgp.method.paper.grid import climb_on, grid, prior_at
from ssvgp.method.paper.meanfield import draw_members
from ssvgp.method.paper.spike_slab import intersection
from ssvgp.records import Ensemble, Member, Train
from ssvgp.run.progress import Callback, Reporter, Work
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings import PaperSettings

SHARES = {"a-CAVI": 0.7, "leave-one-out": 0.3}  # how time is usually spent, for estimates of what remains
EXTRA_LAP = 300  # extra gradient steps between two looks at the leave-one-out density
EXTRA_ROWS = GROWTH * FIRST_ROWS  # on which the two are compared: as many as two laps of a race


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
    settings = settings.for_data(train.n)
    walking, racing, thinning, drawing, climbing = rng.spawn(5)
    reporter = Reporter(callback, lambda: {name: Work(looks=share) for name, share in SHARES.items()})
    fits = grid(train, kernel, settings, walking, n_jobs, _listener(reporter, settings, train.n) if callback else None)
    members = tuple(_at_centre(fit, kernel) for fit in fits)
    reporter.begin("leave-one-out")
    with one_blas_thread():
        judged = _judged(train, members, settings, racing)
    whole = weights.best_only(judged.totals) if settings.best_only else weights.score_weights(judged.totals)
    share = whole if settings.best_only or settings.thin is None else weights.thin(whole, settings.thin, thinning)
    chosen = [(fits[index], members[index], w) for index, w in zip(judged.scores, share, strict=True) if w > 0]
    with one_blas_thread():
        last = [_climbed(train, fit, kernel, settings, climbing) for fit, _, _ in chosen]
    chosen = [(fit, _at_centre(fit, kernel), w) for fit, (_, _, w) in zip(last, chosen, strict=True)]
    mixture = _mixture(chosen, kernel, settings, drawing)
    judges = tuple(members[index] for index in judged.scores)
    pip = weights.marginal_pip(judges, share if settings.thinned_pip else whole, train.d)
    reporter.end(tuple(int(j) for j in np.flatnonzero(pip > 0.5)), float(judged.totals.max()), len(fits))
    return Ensemble(mixture.members, mixture.weights, pip, _notes(fits, judged, share, settings))


def _listener(reporter: Reporter, settings: PaperSettings, n: int) -> Callable[[Progress], None]:
    """Turns the rounds of a-CAVI into reports; the best member so far is the one with the highest ELBO.

    ELBOs of different v are not strictly comparable, but they say which members have found something.
    """
    reporter.begin("a-CAVI")
    best: dict[float, Progress] = {}
    total, done = len(settings.v) * settings.rounds_for(n), count(1)

    def hear(progress: Progress) -> None:
        best[progress.v] = progress
        top = max(best.values(), key=lambda one: one.elbo)
        member = f"v = {progress.v:g}, round {progress.round} of {progress.rounds}, {len(progress.active)} inputs"
        reporter.report(member, top.active, top.elbo, len(best), next(done) / total)

    return hear


def leave_one_out(train: Train, member: Member, settings: PaperSettings, rows: np.ndarray | None = None) -> LeaveOneOut:
    """Leave-one-out density as the settings want it: exact to 2000 rows, 64 neighbours beyond, unless told.

    `rows` (r,) asks for a sample of rows where the density is truncated; the exact one has all anyway.
    """
    blur = settings.blur(train.n)
    kappa, more = blur.kappa, blur.jitter - settings.jitter  # the jitter of training is in the noise
    if blur.place == "noise":
        kappa, more = 0.0, more + kappa
    elif blur.place == "instead" and kappa > 0:  # a kappa of zero blurs nothing
        kappa, more = 0.0, kappa + blur.jitter - member.parameters.noise
    if more:
        member = loo.with_more_noise(member, more)
    neighbours = settings.loo_neighbours_for(train.n)
    if neighbours is None:
        return loo.exact(train, member, kappa)
    return loo.truncated(train, member, neighbours, kappa, rows)


@dataclass(frozen=True)
class _Mixture:
    members: tuple[Member, ...]
    weights: np.ndarray


def _at_centre(fit: Fit, kernel: Kernel) -> Member:
    return Member(fit.active, fit.parameters, kernel, fit.inclusion[fit.active])


def _judged(train: Train, members: tuple[Member, ...], settings: PaperSettings, rng: np.random.Generator) -> Race:
    """Totals of the members that go on: all, or the best of each active set (B.3).

    Where leave-one-out is truncated it is a race over common rows, at most `loo_rows` of them; members with the same
    active set are compared on the rows of its first lap, and only the best of them runs on.
    """

    def select(scores: dict[int, LeaveOneOut]) -> list[int]:
        if not settings.collapse:
            return list(scores)
        return [int(i) for i in weights.collapse(members, np.array([one.total for one in scores.values()]))]

    if settings.loo_neighbours_for(train.n) is not None:
        most = train.n if settings.loo_rows is None else settings.loo_rows
        return race(len(members), train.n, most, _score(train, members, settings), select, rng)
    scores = {i: leave_one_out(train, member, settings) for i, member in enumerate(members)}
    kept = {i: scores[i] for i in select(scores)}
    return Race(kept, np.array([one.total for one in kept.values()]), np.zeros(len(kept)))


def _score(train: Train, members: tuple[Member, ...], settings: PaperSettings) -> Score:
    """Densities of some members at some rows; members with one active set share the columns that are gathered."""

    def score(chosen: Sequence[int], rows: np.ndarray) -> list[LeaveOneOut]:
        found: dict[int, LeaveOneOut] = {}
        by_set: dict[bytes, list[int]] = {}
        for index in chosen:
            by_set.setdefault(members[index].active.tobytes(), []).append(index)
        for alike in by_set.values():
            active = members[alike[0]].active
            narrow = train.columns(active)
            for index in alike:
                alone = replace(members[index], active=np.arange(active.size))
                found[index] = leave_one_out(narrow, alone, settings, rows)
        return [found[index] for index in chosen]

    return score


def _climbed(train: Train, fit: Fit, kernel: Kernel, settings: PaperSettings, rng: np.random.Generator) -> Fit:
    """The fit, or what it becomes by up to `extra_steps` more gradient steps if that predicts left-out rows better.

    At the learning rate of large tables the 600 steps of the paper end before lengthscales have settled. All stages are
    compared on common rows; without kappa, which would favour too small a noise.
    """
    laps = (settings.extra_steps or 0) // EXTRA_LAP if settings.posterior == "zero-temperature" else 0
    if not laps:
        return fit
    sampling, *children = rng.spawn(1 + laps)
    rows = loo.sample_rows(train.n, EXTRA_ROWS, sampling)
    narrow = train.columns(fit.active)
    stages = [replace(fit, active=np.arange(fit.active.size), inclusion=fit.inclusion[fit.active])]
    for child in children:
        stages.append(climb_on(stages[-1], narrow, kernel, settings, EXTRA_LAP, child))
    plain = replace(settings, kappa=0.0)
    totals = [leave_one_out(narrow, _at_centre(stage, kernel), plain, rows).total for stage in stages]
    best = stages[int(np.argmax(totals))]
    return replace(fit, theta=best.theta, parameters=best.parameters)


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


def _theta(fit: Fit) -> np.ndarray:
    """|theta| (d,) with zeros for what was pruned."""
    out = np.zeros(fit.inclusion.size)
    out[fit.active] = np.abs(fit.theta)
    return out


def _notes(fits: tuple[Fit, ...], judged: Race, share: np.ndarray, settings: PaperSettings) -> dict[str, Any]:
    """What is worth telling of every v (k of them), and of those `kept` (numbers among the k).

    average_pip, v (k,), inclusion and theta in absolute value (k, d), elbo and sizes (k, rounds), intersection (k,) of
    spike and slab (eq. 14); loo and v_weights for those kept, with the rows behind each score in loo_rows, and in
    loo_error the standard errors of the differences to the best; jitter is the most that a covariance needed on its
    diagonal, beside that of the settings, to be factored.
    """
    return {
        "v": np.array([fit.v for fit in fits]),
        "average_pip": np.array([fit.inclusion.mean() for fit in fits]),
        "inclusion": np.array([fit.inclusion for fit in fits]),
        "theta": np.array([_theta(fit) for fit in fits]),
        "intersection": np.array([intersection(prior_at(settings, fit.v), fit.xi) for fit in fits]),
        "elbo": np.array([fit.trace for fit in fits]),
        "sizes": np.array([fit.sizes for fit in fits]),
        "kept": np.array(list(judged.scores), dtype=int),
        "loo": judged.totals,
        "jitter": max(score.jitter for score in judged.scores.values()),
        "loo_error": judged.errors,
        "loo_rows": tuple(judged.scores.values()),
        "v_weights": share,
    }
