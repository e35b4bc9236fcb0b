"""What an input does, alone and together with another, and how much of the variation it explains.

The effect of input j at g is the mean change of f over the rows of the table when x_j is set to g in all of them:

    E_j(g) = mean_i [ f(g, x_i,-j) - f(x_i) ],

a partial dependence measured from where the rows are. What inputs a and b do together that neither does alone is

    I_ab(g, h) = mean_i [ f(g, h, x_i,-ab) - f(g, x_i,-a) - f(h, x_i,-b) + f(x_i) ].

Both are linear in f, so each member gives them a normal posterior; bands are quantiles of the mixture. The level of f,
mean_i f(x_i), is kept apart, so that bands speak of shape.

Where y is not f with noise (a probability, a rate), an effect is that on E(y | f) at the mean level: the link rises, so
that means and bands go through it as they do through a curve of y. Scale "latent" leaves them as they are on f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.explain.fitted import Fitted
from ssvgp.explain.values import FEW_VALUES, check_level, grid_of, place_of, standardised
from ssvgp.gp.functional import Averages, Blocks, averages, averages_truncated, with_weak
from ssvgp.gp.mixture import quantiles
from ssvgp.records import Ensemble, Member, Prediction, has_sites
from ssvgp.settings.regime import CHECKED_ROWS, SLIGHT

GRID = 30
MOST_ROWS, FEWEST_ROWS = 256, 16  # of the table, that an effect is averaged over
CROSS = 2e7  # covariances that means may cost over all members, and bands as many
DENSE = 1e10  # products that the covariances of a background may cost


@dataclass(frozen=True)
class Effect:
    """Mean change of the target (g,) with a band, when one input is set to the values of `grid` (g,).

    `average` is the level that the change is counted from, the mean of f over the rows `rows` (r,) of the table.
    """

    name: str
    index: int
    grid: np.ndarray
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float
    average: float
    average_lower: float
    average_upper: float
    rows: np.ndarray


@dataclass(frozen=True)
class Interaction:
    """What two inputs do together (g, h) beyond the sum of what they do alone, over the product of two grids."""

    names: tuple[str, str]
    indices: tuple[int, int]
    grids: tuple[np.ndarray, np.ndarray]
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float
    rows: np.ndarray


def effect(fitted: Fitted, feature: int | str, grid: Any = None, level: float = 0.9, scale: str = "response") -> Effect:
    """The effect of one input, by name or number, at `grid` or at values that span the table."""
    check_level(level)
    index, place = place_of(fitted, feature)
    values = grid_of(fitted, place, grid, GRID)
    own = np.full(1, np.nan)
    settings = np.concatenate([own, standardised(fitted, place, values)])[:, None]
    # the first contrast is the level: block 0 has all rows as they are
    contrasts = np.eye(values.size + 1)
    contrasts[1:, 0] = -1.0
    rows, found = _averages(fitted, np.array([place]), settings, contrasts)
    way = _way_back(fitted, scale)
    average, average_band = _restored(fitted, found, slice(0, 1), level, way, around=False)
    mean, band = _restored(fitted, found, slice(1, None), level, way)
    ends = (float(average[0]), float(average_band[0, 0]), float(average_band[0, 1]))
    return Effect(fitted.names[index], index, values, mean, band[:, 0], band[:, 1], level, *ends, rows)


def interaction(
    fitted: Fitted,
    a: int | str,
    b: int | str,
    grids: tuple[Any, Any] | None = None,
    level: float = 0.9,
    scale: str = "response",
) -> Interaction:
    """What two inputs do together beyond what each does alone, by name or number."""
    check_level(level)
    (first, at), (second, bt) = place_of(fitted, a), place_of(fitted, b)
    if at == bt:
        raise ValueError(f"an interaction needs two different inputs, but {a!r} and {b!r} are one column of the fit")
    given = grids or (None, None)
    left, right = grid_of(fitted, at, given[0], FEW_VALUES), grid_of(fitted, bt, given[1], FEW_VALUES)
    settings = _pair_settings(standardised(fitted, at, left), standardised(fitted, bt, right))
    contrasts = np.concatenate([np.eye(1, settings.shape[0]), _pair_contrasts(left.size, right.size)])
    rows, found = _averages(fitted, np.array([at, bt]), settings, contrasts)
    mean, band = _restored(fitted, found, slice(1, None), level, _way_back(fitted, scale))
    shape = (left.size, right.size)
    surfaces = (mean.reshape(shape), band[:, 0].reshape(shape), band[:, 1].reshape(shape))
    names = (fitted.names[first], fitted.names[second])
    return Interaction(names, (first, second), (left, right), *surfaces, level, rows)


def _pair_settings(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Values (1 + g + h + g h, 2) of two inputs: none set, the first set, the second set, both set."""
    both = np.stack(np.meshgrid(left, right, indexing="ij"), axis=-1).reshape(-1, 2)
    first = np.column_stack([left, np.full(left.size, np.nan)])
    second = np.column_stack([np.full(right.size, np.nan), right])
    return np.concatenate([np.full((1, 2), np.nan), first, second, both])


def _pair_contrasts(g: int, h: int) -> np.ndarray:
    """Weights (g h, 1 + g + h + g h) that turn the averages of `_pair_settings` into I_ab."""
    none = np.ones((g * h, 1))
    first, second = np.repeat(np.eye(g), h, axis=0), np.tile(np.eye(h), (g, 1))
    return np.concatenate([none, -first, -second, np.eye(g * h)], axis=1)


def without_faint_background(ensemble: Ensemble) -> Ensemble:
    """The mixture with every slight background counted as noise: what one input does in it is little beside the band.

    Members then look at their active inputs alone, which among many rows is several times as fast.
    """

    def plain(member: Member) -> Member:
        at = member.parameters
        if member.background is None or at.background >= SLIGHT:
            return member
        faint = replace(at, background=0.0, noise=at.noise + at.background)
        return replace(member, parameters=faint, background=None)

    return replace(ensemble, members=tuple(plain(member) for member in ensemble.members))


def heaviest(weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (q,) of the heaviest members, at most `most`, in their order, and weights (q,) that sum to one.

    Those that carry next to nothing are left out however few they are.
    """
    order = np.argsort(-weights, kind="stable")
    enough = int(np.searchsorted(np.cumsum(weights[order]), (1.0 - SLIGHT) * weights.sum())) + 1
    chosen = np.sort(order[: min(enough, most)])
    return chosen, weights[chosen] / weights[chosen].sum()


# --- from settings of inputs to the mixture --------------------------------------------------------------------


def _averages(
    fitted: Fitted, places: np.ndarray, settings: np.ndarray, contrasts: np.ndarray
) -> tuple[np.ndarray, Averages]:
    """Rows (r,) that were averaged over, and the contrasts under every member."""
    train, count = fitted.train, settings.shape[0]
    values = settings[:, :, None]
    if fitted.neighbours is not None:
        rows = fitted.reference(int(np.clip(CHECKED_ROWS // count, FEWEST_ROWS, MOST_ROWS)))
        blocks = Blocks(train.X[rows], places, values)
        ensemble = without_faint_background(fitted.ensemble)
        found = averages_truncated(ensemble, train, blocks, fitted.neighbours, contrasts)
        return rows, with_weak(found, fitted.weak, blocks, contrasts)
    rows, some = _exact_rows(fitted, count)
    blocks, fewer = (Blocks(train.X[part], places, values) for part in (rows, some))
    found = averages(fitted.exact_posteriors(), blocks, fewer, contrasts)
    return rows, with_weak(found, fitted.weak, blocks, contrasts)


def _exact_rows(fitted: Fitted, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to average means over and, fewer, covariances, so that `count` blocks of them cost a bounded time."""
    k, n = len(fitted.ensemble.members), fitted.train.n
    cross, pairs = CROSS / (k * n * count), np.sqrt(CROSS / k) / count
    if any(member.background is not None for member in fitted.ensemble.members):
        cross = min(cross, DENSE / (k * n * count * fitted.train.d))
        pairs = min(pairs, np.sqrt(DENSE / fitted.train.d) / count)
    many = int(np.clip(cross, FEWEST_ROWS, MOST_ROWS))
    return fitted.reference(many), fitted.reference(int(np.clip(pairs, FEWEST_ROWS, many)))


@dataclass(frozen=True)
class WayBack:
    """From the process to what an effect is told in: a map that rises, whether it bends, and its slope if it does not.

    The process is counted from `level`, which a likelihood may have of its own.
    """

    restore: Callable[[np.ndarray], np.ndarray]
    bent: bool
    slope: float
    level: float = 0.0


def _way_back(fitted: Fitted, scale: str) -> WayBack:
    """Units of the target, or on the scale "latent" those of f where the likelihood has a link."""
    noise, target = fitted.train.noise, fitted.target
    if not has_sites(noise):
        return WayBack(target.restore, target.curved, target.spread)
    if scale == "latent":
        return WayBack(lambda f: f, False, 1.0, noise.level)
    response = noise.response([member.parameters for member in fitted.ensemble.members[:1]])

    def expected(f: np.ndarray) -> np.ndarray:
        values = np.asarray(f, dtype=float).reshape(1, -1)
        return target.restore(response.expected(values, np.zeros_like(values))[0]).reshape(np.shape(f))

    return WayBack(expected, True, 1.0, noise.level)


def _restored(
    fitted: Fitted, found: Averages, which: slice, level: float, way: WayBack, around: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (q,) and band (q, 2) in units of the target.

    A change `around` the level is mapped back from the mean level: restore(m + change) - restore(m), which is a change
    of scale unless the target was transformed or has a link. Quantiles go through the map, and so does the mean.
    """
    weights = fitted.ensemble.weights
    prediction = Prediction(found.means[:, which], found.variances[:, which], np.zeros(weights.size), weights)
    tail = 0.5 * (1.0 - level)
    mean, band = prediction.mean(), quantiles(prediction, np.array([tail, 1.0 - tail]), noise=False)
    if not around:
        return way.restore(way.level + mean), way.restore(way.level + band)
    if not way.bent:
        return way.slope * mean, way.slope * band
    base = way.level + float(weights @ found.means[:, 0])
    zero = way.restore(np.array(base))
    return way.restore(base + mean) - zero, way.restore(base + band) - zero
