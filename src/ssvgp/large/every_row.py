"""Weak effects, judged by all rows: what blocks of a few hundred rows cannot see, a few passes over the table can.

First all shapes of all inputs, and products, are scored against what the leading member leaves; then the leaders among
them get exact sums over all rows, and a posterior over sets. What is weak is smooth: a few shapes carry it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvgp.evidence.unvisited.factors import SCALE_STEPS
from ssvgp.gp.weak import Features, Shapes, Weak
from ssvgp.large.posterior import Found, draw
from ssvgp.large.rows import Screened, gathered, parts, screened, sums
from ssvgp.large.terms import Beliefs, Terms, log_cells, log_factors, log_product_prior, shape_variances
from ssvgp.model.priors import log_set_prior, log_slab
from ssvgp.records import Member, Train, has_sites
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings import Prior, Regime


@dataclass(frozen=True, eq=False)
class Judged:
    """Probabilities (d,) of inputs beside those of the member, and the weak part of f, None where there is none.

    `explained` is the share of what the member had left over that it explains; `paired` inputs had their products
    looked at.
    """

    pip: np.ndarray
    weak: Weak | None
    explained: float
    paired: int


def judge(
    train: Train, member: Member, prior: Prior, regime: Regime, rng: np.random.Generator, workers: Executor = SERIAL
) -> Judged:
    """What all rows show beside a member, in two passes over the table, or three where it is wide.

    Sites take some steps to settle, in groups that are no larger than blocks.
    """
    if has_sites(train.noise):
        regime = replace(regime, group_rows=min(regime.group_rows, regime.settings.block_rows))
    beliefs, strong = _beliefs(member, prior), frozenset(member.active.tolist())
    sample = gathered(train, next(parts(train.n, regime.shape_rows)), np.arange(train.d))
    shapes = Shapes.of(sample.X, None if sample.noise is None else sample.noise.weights)
    seen = _scores(train, member, shapes, beliefs, regime, workers)
    singles, pairs = _leaders(seen, strong, regime)
    if not _open(seen, pairs, strong, beliefs.prior, train.d, regime.negligible):
        return Judged(_alone(seen, strong, beliefs, train.d), None, 0.0, seen.screen.columns.size)
    features = _features(shapes, singles, pairs)
    terms = _terms(features, strong, train.d)
    found = draw(sums(train, member, features, regime.group_rows, workers), terms, beliefs, rng)
    return _judged(found, features, terms, seen, regime.negligible)


def _beliefs(member: Member, prior: Prior) -> Beliefs:
    """Scale and slab scales as the strong part has them, or all that the prior allows where there is none."""
    mean, sd = prior.log_scale
    at = member.parameters
    if not member.active.size:
        shares = np.full(len(prior.slabs), 1.0 / len(prior.slabs))
        return Beliefs(prior, shares, np.exp(mean + sd * SCALE_STEPS))
    return Beliefs(prior, log_slab(at.theta, prior)[2], np.array([at.scale]))


@dataclass(frozen=True, eq=False)
class _Seen:
    """log Bayes factors of single inputs at each slab scale (scales, d), and on average (d,).

    And the screen whose products were looked at.
    """

    log_factors: np.ndarray
    worth: np.ndarray
    screen: Screened


def _scores(train: Train, member: Member, shapes: Shapes, beliefs: Beliefs, regime: Regime, workers: Executor) -> _Seen:
    """All inputs, and products of all, or of those that look best alone where there are too many."""
    every, few = np.arange(train.d), regime.paired_inputs
    first = screened(train, member, shapes, every, train.d <= few, regime.group_rows, workers)
    seen = _weighed(first, shapes.degrees, beliefs)
    if train.d > few:
        best = np.sort(np.argsort(-seen.worth, kind="stable")[:few])
        seen = replace(seen, screen=screened(train, member, shapes, best, True, regime.group_rows, workers))
    return seen


def _weighed(screen: Screened, degrees: int, beliefs: Beliefs) -> _Seen:
    """What single inputs are worth by gains and costs of their shapes."""
    at_nodes = log_factors(screen.gain, screen.cost, shape_variances(degrees), beliefs.taus)
    factors = np.logaddexp.reduce(log_cells(beliefs.prior.slabs)[:, :, None] + at_nodes, axis=1)
    with np.errstate(divide="ignore"):
        worth = np.logaddexp.reduce(factors + np.log(beliefs.scale_shares)[:, None], axis=0)
    return _Seen(factors, worth, screen)


def _leaders(seen: _Seen, strong: frozenset[int], regime: Regime) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (s,), none of them strong, and pairs of inputs (t, 2) that look strongest: these get exact sums.

    As many inputs as the largest set may have, but few that are idle by their looks, and those of the pairs: what these
    do by themselves is not said by their products.
    """
    worth = seen.worth.copy()
    worth[list(strong)] = -np.inf
    order = np.argsort(-worth, kind="stable")[: regime.search.largest]
    few = regime.search.groups
    order = order[(np.arange(order.size) < few) | (worth[order] > np.log(regime.negligible))]
    screen = seen.screen
    ratio = np.divide(screen.pairs**2, screen.pair_costs, out=np.zeros_like(screen.pairs), where=screen.pair_costs > 0)
    inside = np.isin(screen.columns, list(strong))
    ratio[np.outer(inside, inside)] = 0.0
    ratio[np.tril_indices(len(ratio))] = 0.0
    best = np.argsort(-ratio, axis=None, kind="stable")[:few]
    a, b = np.unravel_index(best, ratio.shape)
    kept = ratio[a, b] > 0.0
    pairs = np.stack([screen.columns[a[kept]], screen.columns[b[kept]]], axis=1)
    order = np.unique(np.concatenate([order, pairs.ravel()])).astype(np.intp)
    return order[np.isfinite(worth[order])], pairs


def _open(seen: _Seen, pairs: np.ndarray, strong: frozenset[int], prior: Prior, d: int, least: float) -> bool:
    """Whether some input or product may have a probability that counts: else one pass was enough."""
    worth = np.delete(seen.worth, list(strong))
    if worth.size and worth.max() + _prior_step(len(strong), 1, d, prior) > np.log(least):
        return True
    at = np.searchsorted(seen.screen.columns, pairs)
    square = seen.screen.pairs[at[:, 0], at[:, 1]] ** 2 / seen.screen.pair_costs[at[:, 0], at[:, 1]]
    most = 0.5 * (square - 1.0 - np.log(np.maximum(square, 1.0)))  # that any variance of its coefficient would gain
    size, new = len(strong), [len(set(pair) - strong) for pair in pairs.tolist()]
    steps = [_prior_step(size, more, d, prior) + log_product_prior(size + more, size, 1, more) for more in new]
    return bool((most + steps > np.log(least)).any())


def _prior_step(size: int, more: int, d: int, prior: Prior) -> float:
    """log prior odds of a set with some more inputs."""
    return log_set_prior(min(size + more, d), d, prior) - log_set_prior(size, d, prior)


def _alone(seen: _Seen, strong: frozenset[int], beliefs: Beliefs, d: int) -> np.ndarray:
    """Probabilities (d,) of inputs beside the strong ones where each is idle, one at a time."""
    odds = np.exp(np.minimum(seen.worth + _prior_step(len(strong), 1, d, beliefs.prior), 700.0))
    pip = odds / (1.0 + odds)
    pip[list(strong)] = 0.0
    return pip


def _features(shapes: Shapes, singles: np.ndarray, pairs: np.ndarray) -> Features:
    """All shapes of the single inputs that ties leave, then the products."""
    columns = np.unique(np.concatenate([singles, pairs.ravel()])).astype(np.intp)
    own = shapes.columns(columns)
    at = np.searchsorted(columns, singles)
    each = [(place, k) for place in at for k in range(shapes.degrees) if (own.sizes[: k + 1, place] > 0).all()]
    two = np.searchsorted(columns, pairs)
    two = two[(own.sizes[0, two] > 0).all(axis=1)]
    return Features(columns, own, np.array(each, dtype=np.intp).reshape(-1, 2), two.reshape(-1, 2))


def _terms(features: Features, strong: frozenset[int], d: int) -> Terms:
    """One term for each single input, with all its shapes, and one for each product."""
    every, lambdas = features.inputs(), shape_variances(features.shapes.degrees)
    places, width = features.singles[:, 0], features.shapes.degrees
    own = [np.flatnonzero(places == place) for place in dict.fromkeys(places.tolist())]
    own += [np.array([len(places) + t]) for t in range(len(features.pairs))]
    numbers, variances = np.full((len(own), width), -1), np.ones((len(own), *lambdas.shape))
    for t, some in enumerate(own):
        numbers[t, : some.size] = some
        single = some[0] < len(places)
        variances[t, :, : some.size] = lambdas[:, features.singles[some, 1]] if single else lambdas[:, :1] ** 2
    inputs = every[[one[0] for one in own]]
    return Terms(numbers, inputs, variances, strong, d)


def _judged(found: Found, features: Features, terms: Terms, seen: _Seen, least: float) -> Judged:
    """Probabilities of all inputs, and the weak part with the terms of at least some probability."""
    odds = found.odds @ np.exp(np.minimum(seen.log_factors, 700.0))
    pip = odds / (1.0 + odds)
    for j, value in found.inputs.items():
        pip[j] = value
    pip[list(terms.strong)] = 0.0
    kept = np.zeros(features.count + 1, dtype=bool)
    kept[terms.features[found.terms >= least]] = True
    kept = kept[:-1]
    if not kept.any():
        return Judged(pip, None, 0.0, seen.screen.columns.size)
    some = features.some(kept)
    inputs = some.columns.tolist()
    chance, theta = (np.array([of.get(j, 0.0) for j in inputs]) for of in (found.inputs, found.theta))
    weak = Weak(some, found.mean[kept], found.covariance[np.ix_(kept, kept)], chance, theta)
    return Judged(pip, weak, found.explained, seen.screen.columns.size)
