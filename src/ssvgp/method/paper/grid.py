"""a-CAVI over the grid of spike precisions v (section 4), members in parallel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.paper import acavi
from ssvgp.method.paper.acavi import Callback, Fit, Walk
from ssvgp.method.paper.descent import adam_start
from ssvgp.method.paper.meanfield import MeanField
from ssvgp.method.paper.pointmass import Family, PointMass
from ssvgp.method.paper.scale_noise import scale_noise_of
from ssvgp.method.paper.spike_slab import Beliefs, SpikeSlab
from ssvgp.records import Train
from ssvgp.run.workers import Workers, one_blas_thread
from ssvgp.settings import PaperSettings

LEAST_NOISE = 1e-12  # variance, on the standardised scale: that of a y that does not vary at all


def family_of(settings: PaperSettings) -> Family:
    """The form of q(theta) that the settings name."""
    if settings.posterior == "zero-temperature":
        return PointMass(scale_noise_of(settings))
    if settings.posterior == "mean-field":
        return MeanField(scale_noise_of(settings), settings.samples, settings.initial_sd)
    raise ValueError(f"posterior is 'zero-temperature' or 'mean-field', not {settings.posterior!r}")


def prior_at(settings: PaperSettings, v: float) -> SpikeSlab:
    """The prior of the settings at one spike precision."""
    return SpikeSlab(v, settings.c, settings.a, settings.b)


def grid(
    train: Train,
    kernel: Kernel,
    settings: PaperSettings,
    rng: np.random.Generator,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> tuple[Fit, ...]:
    """One fit for each v of the settings, in their order; each has a generator of its own.

    With `shared_first_round` the steps of the first round are taken once: there lambda = 1, and v enters
    through the slab precision c v alone, which is next to nothing. BLAS runs on one thread, because more of
    them slow matrices of this size down, and so that results do not depend on their number.
    """
    family = family_of(settings)
    first, *children = rng.spawn(1 + len(settings.v))
    with one_blas_thread(), Workers(n_jobs) as workers:
        start = _first_round(train, kernel, family, settings, first) if settings.shared_first_round else None
        tasks = [
            (train, kernel, family, prior_at(settings, v), settings, child, callback, start)
            for v, child in zip(settings.v, children, strict=True)
        ]
        return tuple(workers.map(acavi.run, tasks))


def _first_round(
    train: Train, kernel: Kernel, family: Family, settings: PaperSettings, rng: np.random.Generator
) -> Walk:
    middle = prior_at(settings, float(np.median(settings.v)))
    walk = acavi.begin(family, train.d)
    return acavi.advance(walk, train, kernel, family, middle, settings, settings.first_steps, rng)


def climb_on(
    fit: Fit, train: Train, kernel: Kernel, settings: PaperSettings, steps: int, rng: np.random.Generator
) -> Fit:
    """A zero-temperature fit after further gradient steps, with its active set, q(gamma) and q(pi) as they are."""
    # the parameters of a fit have the jitter in their noise; what is left without it may be lost to rounding
    noise = max(fit.parameters.noise - settings.jitter, LEAST_NOISE)
    family = PointMass(scale_noise_of(settings))
    unknowns = np.concatenate([fit.theta, family.form.unknowns(fit.parameters.scale, noise)])
    walk = Walk(fit.active, unknowns, adam_start(unknowns.size), Beliefs(fit.inclusion, fit.xi))
    walk = acavi.advance(walk, train, kernel, family, prior_at(settings, fit.v), settings, steps, rng)
    theta = family.centre(walk.unknowns)
    learned = family.parameters(theta, walk.unknowns)
    return replace(fit, theta=theta, parameters=replace(learned, noise=learned.noise + settings.jitter))
