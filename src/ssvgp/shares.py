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
from typing import Any

import numpy as np

from ssvgp.effects import FEW_VALUES, FEWEST_ROWS, MOST_ROWS, TRUNCATED_ROWS, Fitted
from ssvgp.gp.functional import Blocks, latent_means, latent_means_truncated

KNOTS = 24  # of the grid that an effect is read from
EXCHANGES = 4  # other rows that each row takes an input from
NOTABLE = 0.01  # pairs that can explain no more than this are passed over
CROSS = 1e7  # covariances that one input or pair may cost, over all members


@dataclass(frozen=True)
class Shares:
    """Shares of the variance of the predictions for q inputs: first and total (q,), pairs (q, q) with zero diagonal."""

    names: tuple[str, ...]
    indices: np.ndarray
    first: np.ndarray
    total: np.ndarray
    pairs: np.ndarray


def shares(fitted: Fitted, indices: np.ndarray) -> Shares:
    """The shares of the given columns of the table (q,) in the variance of f, that of the transformed target if any.

    Pairs are looked at only where both inputs have a total share above their first: a pair is part of the difference.
    """
    places = [int(np.flatnonzero(fitted.inputs.kept == j)[0]) for j in indices]
    q = len(places)
    first, total, pairs = np.zeros(q), np.zeros(q), np.zeros((q, q))
    active = [i for i, place in enumerate(places) if fitted.looked_at(place)]  # others have no share in the mean
    if active:
        asked = [ask(fitted, places[i]) for i in active for ask in (_curve, _taken)]
        f, *found = _means(fitted, [_unchanged(fitted), *asked])
        variance = max(float(f.var()), np.finfo(float).tiny)
        for i, at_knots, taken in zip(active, found[::2], found[1::2], strict=True):
            first[i] = _first(fitted, places[i], at_knots) / variance
            # no less than first, which holds for independent inputs up to sampling
            total[i] = max(0.5 * float(((taken - f) ** 2).mean()) / variance, first[i])
        rest = total - first
        chosen = [(i, j) for i in active for j in active if j < i and min(rest[i], rest[j]) > NOTABLE]
        surfaces = _means(fitted, [_both_taken(fitted, places[i], places[j]) for i, j in chosen])
        for (i, j), surface in zip(chosen, surfaces, strict=True):
            one, other, both = np.split(surface, 3)
            pairs[i, j] = pairs[j, i] = 0.25 * float(((f - one - other + both) ** 2).mean()) / variance
    return Shares(tuple(fitted.names[j] for j in indices), np.asarray(indices), first, total, pairs)


def _means(fitted: Fitted, asked: list[Blocks]) -> list[np.ndarray]:
    """Mixture mean of f (b, r) at each of several blocks: every member is factored once for all of them."""
    out = [np.zeros((blocks.count, blocks.r)) for blocks in asked]
    if not asked:
        return out
    weights, m = fitted.ensemble.weights, fitted.neighbours
    members: Any = fitted.ensemble.members if m is not None else fitted.exact_posteriors()
    for weight, member in zip(weights, members, strict=True):
        for total, blocks in zip(out, asked, strict=True):
            if m is None:
                total += weight * latent_means(member, blocks)
            else:
                total += weight * latent_means_truncated(member, fitted.train, blocks, m)
    return out


# --- rows that are asked for ------------------------------------------------------------------------------------


def _blocks(fitted: Fitted, places: list[int], values: np.ndarray, rows: int = MOST_ROWS) -> Blocks:
    return Blocks(fitted.train.X[fitted.reference(rows)], np.array(places), values)


def _unchanged(fitted: Fitted) -> Blocks:
    """The rows as they are (1, r)."""
    return _blocks(fitted, [0], np.full((1, 1, 1), np.nan))


def _curve(fitted: Fitted, place: int) -> Blocks:
    """Rows with the input set to each of its knots in turn (g, r)."""
    knots = _knots(_values(fitted, place))
    return _blocks(fitted, [place], knots[:, None, None], _rows(fitted, knots.size))


def _taken(fitted: Fitted, place: int) -> Blocks:
    """Rows that take the input from others (s, r)."""
    return _blocks(fitted, [place], _elsewhere(fitted, place)[:, None])


def _both_taken(fitted: Fitted, a: int, b: int) -> Blocks:
    """Rows that take a, b, or both from others (3 s, r), each from a row of its own."""
    first, second = _elsewhere(fitted, a), _elsewhere(fitted, b)[::-1]
    own = np.full_like(first, np.nan)
    values = [np.stack(pair, axis=1) for pair in ((first, own), (own, second), (first, second))]
    return _blocks(fitted, [a, b], np.concatenate(values))


def _values(fitted: Fitted, place: int) -> np.ndarray:
    """Standardised values (r,) of an input over the rows that variances are taken over."""
    return fitted.train.X[fitted.reference(MOST_ROWS)][:, np.array([place])][:, 0]


def _elsewhere(fitted: Fitted, place: int) -> np.ndarray:
    """The input of other rows (s, r): of the next ones round the random order that rows are in."""
    x = _values(fitted, place)
    return np.stack([np.roll(x, shift) for shift in range(1, EXCHANGES + 1)])


def _knots(x: np.ndarray) -> np.ndarray:
    """All values of an input if few, else its quantiles from the least to the greatest."""
    distinct = np.unique(x)
    return distinct if distinct.size <= FEW_VALUES else np.unique(np.quantile(x, np.linspace(0, 1, KNOTS)))


def _rows(fitted: Fitted, blocks: int) -> int:
    """Rows to average a curve over, so that so many blocks cost a bounded time."""
    if fitted.neighbours is not None:
        return int(np.clip(TRUNCATED_ROWS // blocks, FEWEST_ROWS, MOST_ROWS))
    cost = len(fitted.ensemble.members) * fitted.train.n * blocks
    return int(np.clip(CROSS / cost, FEWEST_ROWS, MOST_ROWS))


def _first(fitted: Fitted, place: int, at_knots: np.ndarray) -> float:
    """Variance of E_j over the rows, read off its curve at the knots (g, r)."""
    x = _values(fitted, place)
    return float(np.interp(x, _knots(x), at_knots.mean(axis=1)).var())
