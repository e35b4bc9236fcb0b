"""Algorithm 1 (a-CAVI): gradient steps in theta, scale and noise, then exact updates of q(gamma) and q(pi).

The walk is the same for every form of q(theta); what differs is a `Family`: the point mass of the
zero-temperature restriction (`pointmass`), or a Gaussian (`meanfield`). The unknowns are one vector: stretches of p
numbers that belong to the active inputs, then scale and noise as `scale_noise` has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.paper import spike_slab
from ssvgp.method.paper.descent import AdamRates, AdamState, adam_restrict, adam_start, adam_step
from ssvgp.method.paper.minibatch import Pool, draw, pool
from ssvgp.method.paper.pointmass import Batch, Family
from ssvgp.method.paper.spike_slab import Beliefs, SpikeSlab
from ssvgp.records import Parameters, Train
from ssvgp.settings import PaperSettings

TRACE_BATCHES = 8  # minibatches behind one entry of the ELBO trace


@dataclass(frozen=True)
class Fit:
    """What a-CAVI found for one v.

    theta and sd (p,) are the moments of q(theta) on the active inputs, inclusion (d,) is lambda with zeros
    where an input was pruned, xi is q(pi). The noise of `parameters` contains the jitter, so that later
    stages see the covariance that was trained. trace and sizes (rounds,) hold the ELBO and the number of
    active inputs.
    """

    v: float
    active: np.ndarray
    theta: np.ndarray
    sd: np.ndarray
    inclusion: np.ndarray
    xi: tuple[float, float]
    parameters: Parameters
    trace: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True)
class Progress:
    """What a callback hears after each round."""

    v: float
    round: int
    rounds: int
    active: tuple[int, ...]
    elbo: float


Callback = Callable[[Progress], None]


@dataclass(frozen=True)
class Walk:
    """Where a-CAVI stands between two rounds."""

    active: np.ndarray
    unknowns: np.ndarray
    adam: AdamState
    beliefs: Beliefs
    trace: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()


def begin(family: Family, d: int) -> Walk:
    """The start of B.1: theta = d^-1/2, scale = noise = 1, lambda = 1, xi = 1."""
    unknowns = family.start(d)
    return Walk(np.arange(d), unknowns, adam_start(unknowns.size), spike_slab.initial_beliefs(d))


def advance(
    walk: Walk,
    train: Train,
    kernel: Kernel,
    family: Family,
    prior: SpikeSlab,
    settings: PaperSettings,
    steps: int,
    rng: np.random.Generator,
) -> Walk:
    """The gradient steps of one round, with q(gamma) and q(pi) as they are.

    For kernels that are not local, neighbours are still those in ||theta * (x - x')||: section 3.2 names no
    other metric, and rows alike in the active inputs are alike to any kernel.
    """
    batches, noise = rng.spawn(2)
    source = _pool(walk, train, settings, batches)
    rates = AdamRates(settings.learning_rate_for(train.n))
    precision = spike_slab.penalty(prior, walk.beliefs.inclusion[walk.active])
    unknowns, adam = walk.unknowns, walk.adam
    for _ in range(steps):
        batch = _batch(source, train.count, family.centre(unknowns), batches)
        slope = family.slope(kernel, batch, unknowns, precision, settings.jitter, noise)
        adam, unknowns = adam_step(adam, unknowns, slope, rates)
    return replace(walk, unknowns=unknowns, adam=adam)


def settle(
    walk: Walk,
    train: Train,
    kernel: Kernel,
    family: Family,
    prior: SpikeSlab,
    settings: PaperSettings,
    rng: np.random.Generator,
) -> Walk:
    """The end of a round: exact updates of q(gamma), q(pi), pruning at epsilon, and the ELBO into the trace.

    A pruned input has theta_j = 0 and lambda_j = 0 from then on: it counts in q(pi) as left out.
    """
    d = walk.beliefs.inclusion.size
    centre, spread = family.centre(walk.unknowns), family.spread(walk.unknowns)
    lam = spike_slab.update_inclusion(prior, centre**2 + spread**2, walk.beliefs.xi)
    keep = lam > settings.prune if settings.prune > 0 else np.ones(lam.size, dtype=bool)
    inclusion = np.zeros(d)
    inclusion[walk.active[keep]] = lam[keep]
    mask = family.coordinates(walk.unknowns).surviving(keep)
    after = replace(
        walk,
        active=walk.active[keep],
        unknowns=walk.unknowns[mask],
        adam=adam_restrict(walk.adam, mask),
        beliefs=Beliefs(inclusion, spike_slab.update_pi(prior, inclusion)),
    )
    elbo = _elbo(after, train, kernel, family, prior, settings, rng)
    return replace(after, trace=(*walk.trace, elbo), sizes=(*walk.sizes, int(keep.sum())))


def run(
    train: Train,
    kernel: Kernel,
    family: Family,
    prior: SpikeSlab,
    settings: PaperSettings,
    rng: np.random.Generator,
    callback: Callback | None = None,
    start: Walk | None = None,
) -> Fit:
    """Algorithm 1 for one v; `start`, where given, is a walk that has the steps of its first round behind it.

    Cost per step m^3 + m^2 p, and r p for the search among r candidate rows.
    """
    walk = begin(family, train.d) if start is None else start
    rounds = settings.rounds_for(train.n)
    for index, child in enumerate(rng.spawn(rounds)):
        moving, ending = child.spawn(2)
        if index > 0 or start is None:
            steps = settings.steps if index > 0 else settings.first_steps
            walk = advance(walk, train, kernel, family, prior, settings, steps, moving)
        walk = settle(walk, train, kernel, family, prior, settings, ending)
        if callback is not None:
            inputs = tuple(int(j) for j in walk.active)
            callback(Progress(prior.v, index + 1, rounds, inputs, walk.trace[-1]))
    return _fit(walk, family, prior, settings)


def _fit(walk: Walk, family: Family, prior: SpikeSlab, settings: PaperSettings) -> Fit:
    theta = family.centre(walk.unknowns)
    learned = family.parameters(theta, walk.unknowns)
    return Fit(
        v=prior.v,
        active=walk.active,
        theta=theta,
        sd=family.spread(walk.unknowns),
        inclusion=walk.beliefs.inclusion,
        xi=walk.beliefs.xi,
        parameters=replace(learned, noise=learned.noise + settings.jitter),
        trace=np.array(walk.trace),
        sizes=np.array(walk.sizes, dtype=int),
    )


def _pool(walk: Walk, train: Train, settings: PaperSettings, rng: np.random.Generator) -> Pool:
    m = settings.minibatch_for(train.n)
    return pool(train, walk.active, m, settings.minibatch_kind, settings.candidates, rng)


def _batch(source: Pool, count: float, theta: np.ndarray, rng: np.random.Generator) -> Batch:
    """A minibatch, with how many times its rows must count to stand for all: rows that count twice are two."""
    rows, y, noise = draw(source, theta, rng)
    return Batch(rows, y, count / (y.size if noise is None else float(noise.weights.sum())), noise)


def _elbo(
    walk: Walk,
    train: Train,
    kernel: Kernel,
    family: Family,
    prior: SpikeSlab,
    settings: PaperSettings,
    rng: np.random.Generator,
) -> float:
    """The ELBO (eq. 5): exact on a full batch at zero temperature, else estimated on a few minibatches."""
    batches, noise = rng.spawn(2)
    source = _pool(walk, train, settings, batches)
    theta = family.centre(walk.unknowns)
    drawn = [_batch(source, train.count, theta, batches) for _ in range(1 if source.whole else TRACE_BATCHES)]
    values = [family.likelihood(kernel, batch, walk.unknowns, settings.jitter, noise) for batch in drawn]
    second_moment = np.zeros(walk.beliefs.inclusion.size)
    second_moment[walk.active] = theta**2 + family.spread(walk.unknowns) ** 2
    return float(np.mean(values)) + spike_slab.elbo_terms(prior, second_moment, walk.beliefs).total
