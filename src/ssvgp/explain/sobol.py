"""How much of the variation of the predictions each input, and each pair of inputs, explains.

With f the mixture mean and all variances taken over rows of the table,

    first_j = Var E_j(x_j) / Var f,
    total_j = mean [ f - f_j ]^2 / (2 Var f),
    pair_ab = mean [ f - f_a - f_b + f_ab ]^2 / (4 Var f),

with E as in `effects`, and f_j the value of f where a row takes input j from another row. Where inputs are independent
these are Sobol's indices: first_j is due to j alone, total_j to j alone and together with others, pair_ab to a and b
together, with or without others (the superset importance of Liu and Owen 2006). If no more than two inputs act
together, first and pair shares of all inputs sum to one; what three or more do together is counted in each pair of
them. Correlated inputs share variation, and then the sum may lie on either side of one. What is missing from one is due
to inputs that were not selected, or to a dense background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.explain.effects import (
    FEWEST_ROWS,
    GRID,
    MOST_ROWS,
    heaviest,
    without_faint_background,
)
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.values import FEW_VALUES
from ssvgp.gp.functional import Blocks, latent_means, latent_means_truncated, weak_means
from ssvgp.settings.regime import MEMBERS, SLIGHT

EXCHANGES = 4  # other rows that each row takes an input from
BUDGET = 4e8  # covariances that all inputs, their curves, and all pairs may each cost


@dataclass(frozen=True)
class Shares:
    """Shares of the variance of the predictions for q inputs: first and total (q,), pairs (q, q) with zero diagonal."""

    names: tuple[str, ...]
    indices: np.ndarray
    first: np.ndarray
    total: np.ndarray
    pairs: np.ndarray


@dataclass(frozen=True)
class _Plan:
    """How much is asked for: a bounded time, whatever the numbers of rows, members and inputs.

    Variances are taken over `rows` rows, curves over `curve_rows` at `knots` values; `pairs` are looked at, at most.
    """

    rows: int
    exchanges: int
    knots: int
    curve_rows: int
    pairs: int


def _plan(fitted: Fitted, q: int) -> _Plan:
    exact = fitted.neighbours is None
    knots, exchanges = (GRID, EXCHANGES) if exact else (GRID // 2, EXCHANGES // 2)
    k = len(fitted.ensemble.members)
    # a truncated prediction takes about as long as the covariances of all pairs of its neighbours
    unit = k * fitted.train.n if fitted.neighbours is None else min(k, MEMBERS) * fitted.neighbours**2
    of_one = BUDGET / (unit * q)
    rows, curve_rows = (int(np.clip(of_one / each, FEWEST_ROWS, MOST_ROWS)) for each in (exchanges, knots))
    # each pair takes three values of every row; an input has one pair at least
    return _Plan(rows, exchanges, knots, curve_rows, max(q, int(BUDGET / (unit * 3 * exchanges * rows))))


def shares(fitted: Fitted, indices: np.ndarray) -> Shares:
    """The shares of the given columns of the table (q,) in the variance of f, that of the transformed target if any.

    Pairs are looked at only where both inputs have a total share above their first: a pair is part of the difference.
    Of many such pairs, those with the largest differences are.
    """
    places = [int(np.flatnonzero(fitted.inputs.kept == j)[0]) for j in indices]
    q = len(places)
    first, total, pairs = np.zeros(q), np.zeros(q), np.zeros((q, q))
    active = [i for i, place in enumerate(places) if fitted.looked_at(place)]  # others have no share in the mean
    if active:
        plan = _plan(fitted, len(active))
        asked = [ask(fitted, plan, places[i]) for i in active for ask in (_curve, _taken)]
        f, *found = _means(fitted, [_unchanged(fitted, plan), *asked])
        variance = max(float(f.var()), np.finfo(float).tiny)
        for i, at_knots, taken in zip(active, found[::2], found[1::2], strict=True):
            first[i] = _first(fitted, plan, places[i], at_knots) / variance
            # no less than first, which holds for independent inputs up to sampling
            total[i] = max(0.5 * float(((taken - f) ** 2).mean()) / variance, first[i])
        chosen = _notable(total - first, active)[: plan.pairs]
        surfaces = _means(fitted, [_both_taken(fitted, plan, places[i], places[j]) for i, j in chosen])
        for (i, j), surface in zip(chosen, surfaces, strict=True):
            one, other, both = np.split(surface, 3)
            pairs[i, j] = pairs[j, i] = 0.25 * float(((f - one - other + both) ** 2).mean()) / variance
    return Shares(tuple(fitted.names[j] for j in indices), np.asarray(indices), first, total, pairs)


def cached_shares(fitted: Fitted) -> Shares:
    """The same of the selected columns, worked out once for each choice: a threshold may change without a new fit."""
    indices = np.flatnonzero(fitted.support)
    key = ("shares", tuple(indices.tolist()), fitted.neighbours)
    return fitted.cache.once(key, lambda: shares(fitted, indices))


def _notable(rest: np.ndarray, active: list[int]) -> list[tuple[int, int]]:
    """Pairs that may explain more than next to nothing, those first that may explain most."""
    pairs = [(i, j) for i in active for j in active if j < i and min(rest[i], rest[j]) > SLIGHT]
    return sorted(pairs, key=lambda pair: -min(rest[pair[0]], rest[pair[1]]))


def _means(fitted: Fitted, asked: list[Blocks]) -> list[np.ndarray]:
    """Mixture mean of f (b, r) at each of several blocks: every member is made ready once for all of them."""
    out = [np.zeros((blocks.count, blocks.r)) for blocks in asked]
    if not asked:
        return out
    if fitted.neighbours is not None:
        out = _means_truncated(fitted, asked, max(1, fitted.neighbours // 2))
    else:
        for weight, member in zip(fitted.ensemble.weights, fitted.exact_posteriors(), strict=True):
            for total, blocks in zip(out, asked, strict=True):
                total += weight * latent_means(member, blocks)
    return [total + weak_means(fitted.weak, blocks) for total, blocks in zip(out, asked, strict=True)]


def _means_truncated(fitted: Fitted, asked: list[Blocks], m: int) -> list[np.ndarray]:
    """The same from m neighbours each, by the heaviest members."""
    chosen, weights = heaviest(fitted.ensemble.weights, MEMBERS)
    lean = without_faint_background(fitted.ensemble)
    members = [lean.members[k] for k in chosen]
    every = [latent_means_truncated(member, fitted.train, asked, m) for member in members]
    return [np.tensordot(weights, np.stack(one), axes=1) for one in zip(*every, strict=True)]


# --- rows that are asked for ------------------------------------------------------------------------------------


def _blocks(fitted: Fitted, rows: int, places: list[int], values: np.ndarray) -> Blocks:
    return Blocks(fitted.train.X[fitted.reference(rows)], np.array(places), values)


def _unchanged(fitted: Fitted, plan: _Plan) -> Blocks:
    """The rows as they are (1, r)."""
    return _blocks(fitted, plan.rows, [0], np.full((1, 1, 1), np.nan))


def _curve(fitted: Fitted, plan: _Plan, place: int) -> Blocks:
    """Rows with the input set to each of its knots in turn (g, r)."""
    knots = _knots(_values(fitted, MOST_ROWS, place), plan.knots)
    return _blocks(fitted, plan.curve_rows, [place], knots[:, None, None])


def _taken(fitted: Fitted, plan: _Plan, place: int) -> Blocks:
    """Rows that take the input from others (s, r)."""
    return _blocks(fitted, plan.rows, [place], _elsewhere(fitted, plan, place)[:, None])


def _both_taken(fitted: Fitted, plan: _Plan, a: int, b: int) -> Blocks:
    """Rows that take a, b, or both from others (3 s, r), each from a row of its own."""
    first, second = _elsewhere(fitted, plan, a), _elsewhere(fitted, plan, b)[::-1]
    own = np.full_like(first, np.nan)
    values = [np.stack(pair, axis=1) for pair in ((first, own), (own, second), (first, second))]
    return _blocks(fitted, plan.rows, [a, b], np.concatenate(values))


def _values(fitted: Fitted, rows: int, place: int) -> np.ndarray:
    """Standardised values (r,) of an input over the first rows that variances are taken over."""
    return fitted.train.X[fitted.reference(rows)][:, np.array([place])][:, 0]


def _elsewhere(fitted: Fitted, plan: _Plan, place: int) -> np.ndarray:
    """The input of other rows (s, r): of the next ones round the random order that rows are in."""
    x = _values(fitted, plan.rows, place)
    return np.stack([np.roll(x, shift) for shift in range(1, plan.exchanges + 1)])


def _knots(x: np.ndarray, count: int) -> np.ndarray:
    """All values of an input if few, else its quantiles from the least to the greatest."""
    distinct = np.unique(x)
    return distinct if distinct.size <= FEW_VALUES else np.unique(np.quantile(x, np.linspace(0, 1, count)))


def _first(fitted: Fitted, plan: _Plan, place: int, at_knots: np.ndarray) -> float:
    """Variance of E_j over the rows, read off its curve at the knots (g, r)."""
    x = _values(fitted, MOST_ROWS, place)
    return float(np.interp(x, _knots(x, plan.knots), at_knots.mean(axis=1)).var())
