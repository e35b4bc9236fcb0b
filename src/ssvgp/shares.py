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
    """The shares of the given columns of the table (q,), in units of the (transformed) target's variance.

    Pairs are looked at only where both inputs have a total share above their first: a pair is part of the difference.
    """
    places = [int(np.flatnonzero(fitted.inputs.kept == j)[0]) for j in indices]
    q = len(places)
    first, total, pairs = np.zeros(q), np.zeros(q), np.zeros((q, q))
    names = tuple(fitted.names[j] for j in indices)
    as_they_are = np.full((1, 1, 1), np.nan)
    f = _mean(fitted, np.array([0]), as_they_are, MOST_ROWS)[0] if q else np.zeros(1)
    if (variance := float(f.var())) > 0.0:
        for i, place in enumerate(places):
            first[i] = _first(fitted, place) / variance
            total[i] = max(_total(fitted, place, f) / variance, first[i])  # as it is where inputs are independent
        rest = total - first
        for i in range(q):
            for j in range(i):
                if min(rest[i], rest[j]) > NOTABLE:
                    pairs[i, j] = pairs[j, i] = _pair(fitted, places[i], places[j], f) / variance
    return Shares(names, np.asarray(indices), first, total, pairs)


def _mean(fitted: Fitted, places: np.ndarray, values: np.ndarray, most: int) -> np.ndarray:
    """Mixture mean of f (b, r) at blocks of up to `most` rows."""
    train, ensemble = fitted.train, fitted.ensemble
    base = train.X[fitted.reference(most)]
    blocks = Blocks(base, places, values)
    if fitted.neighbours is None:
        means = (latent_means(one, blocks) for one in fitted.exact_posteriors())
    else:
        m = fitted.neighbours
        means = (latent_means_truncated(member, train, blocks, m) for member in ensemble.members)
    return sum((w * mean for w, mean in zip(ensemble.weights, means, strict=True)), np.zeros(()))


def _rows(fitted: Fitted, blocks: int) -> int:
    """Rows to average over, so that so many blocks cost a bounded time."""
    if fitted.neighbours is not None:
        return int(np.clip(TRUNCATED_ROWS // blocks, FEWEST_ROWS, MOST_ROWS))
    cost = len(fitted.ensemble.members) * fitted.train.n * blocks
    return int(np.clip(CROSS / cost, FEWEST_ROWS, MOST_ROWS))


def _values(fitted: Fitted, place: int) -> np.ndarray:
    """Standardised values (r,) of an input over the rows that variances are taken over."""
    return fitted.train.X[fitted.reference(MOST_ROWS)][:, np.array([place])][:, 0]


def _taken(fitted: Fitted, place: int) -> np.ndarray:
    """The input taken from other rows (s, r): from the next ones round the random order that rows are in."""
    x = _values(fitted, place)
    return np.stack([np.roll(x, shift) for shift in range(1, EXCHANGES + 1)])


def _knots(x: np.ndarray) -> np.ndarray:
    """All values of an input if few, else its quantiles from the least to the greatest."""
    distinct = np.unique(x)
    return distinct if distinct.size <= FEW_VALUES else np.unique(np.quantile(x, np.linspace(0, 1, KNOTS)))


def _first(fitted: Fitted, place: int) -> float:
    """Variance of E_j over the rows, read off its curve."""
    x = _values(fitted, place)
    knots = _knots(x)
    curve = _mean(fitted, np.array([place]), knots[:, None, None], _rows(fitted, knots.size)).mean(axis=1)
    return float(np.interp(x, knots, curve).var())


def _total(fitted: Fitted, place: int, f: np.ndarray) -> float:
    """Half the mean squared change of f where rows take the input from others."""
    changed = _mean(fitted, np.array([place]), _taken(fitted, place)[:, None], MOST_ROWS)
    return 0.5 * float(((changed - f) ** 2).mean())


def _pair(fitted: Fitted, a: int, b: int, f: np.ndarray) -> float:
    """A quarter of the mean squared second difference of f where rows take each input from a row of its own."""
    first, second = _taken(fitted, a), _taken(fitted, b)[::-1]
    own = np.full_like(first, np.nan)
    values = np.concatenate([np.stack(pair, axis=1) for pair in ((first, own), (own, second), (first, second))])
    one, other, both = np.split(_mean(fitted, np.array([a, b]), values, MOST_ROWS), 3)
    return 0.25 * float(((f - one - other + both) ** 2).mean())
