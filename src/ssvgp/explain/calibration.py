"""How well a fit predicts rows that are left out: the target beside its prediction, and where in it the target fell.

The place of a target in its predictive distribution, P(Y_i <= y_i | the other rows), is uniform between 0 and 1 where
predictions are as uncertain as they say. A central interval of level l holds the target where this place is no farther
than l / 2 from the middle, so that the coverage of every interval can be read from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.evidence.loo import LeaveOneOut, exact, sample_rows, truncated
from ssvgp.explain.effects import heaviest
from ssvgp.explain.fitted import Fitted
from ssvgp.gp.mixture import distribution, log_density, quantiles
from ssvgp.records import Member, Prediction, Response, has_sites
from ssvgp.settings.regime import MEMBERS


@dataclass(frozen=True)
class Check:
    """Rows (r,) of n with their targets and what the other rows predict, in units of y.

    `lower` and `upper` (r,) are the ends of the central 90% interval, `place` (r,) is P(Y_i <= y_i), of counts less
    half of P(Y_i = y_i).
    """

    rows: np.ndarray
    observed: np.ndarray
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    place: np.ndarray
    n: int

    @property
    def rmse(self) -> float:
        """Root mean square error of the predictions."""
        return float(np.sqrt(np.mean((self.mean - self.observed) ** 2)))

    @property
    def r2(self) -> float:
        """Share of the variance of the target that the predictions explain; 0 for a target that does not vary."""
        spread = float(np.var(self.observed))
        return 1.0 - self.rmse**2 / spread if spread > 0 else 0.0

    def coverage(self, level: float | np.ndarray) -> np.ndarray:
        """Share of targets inside the central interval of each level, of the shape of `level`."""
        return (np.abs(self.place - 0.5) <= 0.5 * np.asarray(level)[..., None]).mean(axis=-1)


def leave_each_out(fitted: Fitted) -> list[LeaveOneOut]:
    """Leave-one-out of every member, of the standardised target."""
    m, train = fitted.neighbours, fitted.train

    def each() -> list[LeaveOneOut]:
        members = fitted.ensemble.members
        return [exact(train, one) if m is None else truncated(train, one, neighbours=m) for one in members]

    return fitted.cache.once(("members left out", m), each)


def leave_one_out(fitted: Fitted) -> LeaveOneOut:
    """Leave-one-out mean, variance and log density of y in each of the user's rows, the mixture's weights held."""

    def mixed() -> LeaveOneOut:
        train, target, each = fitted.train, fitted.target, leave_each_out(fitted)
        prediction = _mixed(each, fitted.ensemble.weights, fitted, _response(fitted, fitted.ensemble.members))
        y = fitted.standardised
        restored = target.moments(prediction)
        density = log_density(prediction, y) + target.log_slope(target.restore(y))
        found = LeaveOneOut(np.arange(train.n), restored.mean, restored.sd**2, density, train.n)
        if fitted.places is None or fitted.numbers is None:
            return found
        return found.at(fitted.places, fitted.numbers)

    return fitted.cache.once(("left out", fitted.neighbours), mixed)


def densities_left_out(fitted: Fitted) -> np.ndarray:
    """Leave-one-out log density (k, n) of every target under every member."""
    density = np.stack([one.log_density for one in leave_each_out(fitted)])
    return (density if fitted.places is None else density[:, fitted.places]) + fitted.target.log_slope(fitted.observed)


def check(fitted: Fitted) -> Check:
    """Rows predicted from the others, beside their targets: all rows, or a sample of a large table."""

    def found() -> Check:
        rows, prediction = left_out(fitted)
        return _in_table(check_of(rows, prediction, fitted), fitted)

    return fitted.cache.once(("check", fitted.neighbours), found)


def _in_table(found: Check, fitted: Fitted) -> Check:
    """The check with the user's own rows, of which several may be one row of the fit."""
    if fitted.places is None or fitted.numbers is None:
        return found
    at = np.full(fitted.train.n, -1)
    at[found.rows] = np.arange(found.rows.size)
    where = at[fitted.places]
    kept, where = where >= 0, where[where >= 0]
    names = ("observed", "mean", "lower", "upper", "place")
    parts = {name: getattr(found, name)[where] for name in names}
    return Check(rows=fitted.numbers[kept], n=fitted.numbers.size, **parts)


def _response(fitted: Fitted, members: Sequence[Member]) -> Response | None:
    """What y is given f, under these members; None for Gaussian noise."""
    noise = fitted.train.noise
    return noise.response([member.parameters for member in members]) if has_sites(noise) else None


def _mixed(
    each: Sequence[LeaveOneOut], weights: np.ndarray, fitted: Fitted, response: Response | None = None
) -> Prediction:
    """What every member says about the same rows, as one mixture, with the weak part that all have in common.

    A single row has next to no part in the coefficients of that, which rest on all rows.
    """
    means, variances = np.stack([one.mean for one in each]), np.stack([one.variance for one in each])
    if fitted.weak is not None:
        rows = _rows_of(fitted, each[0].rows)
        means, variances = means + fitted.weak.at(rows), variances + fitted.weak.variance(rows)
    return Prediction(means, variances, np.zeros(len(each)), weights, response)  # noise is in already, or the response


def _rows_of(fitted: Fitted, rows: np.ndarray) -> Any:
    """These rows of the table; the table itself, which may be a view, where they are all of them."""
    return fitted.train.X if rows.size == fitted.train.n else fitted.train.X[rows]


def left_out(fitted: Fitted) -> tuple[np.ndarray, Prediction]:
    """Rows (r,) of the fit and what the others say of them: all rows, or a fixed random sample of a large table."""
    if fitted.check_rows is not None:
        return sampled(fitted, fitted.neighbours or fitted.check_neighbours, fitted.check_rows)
    each, members = leave_each_out(fitted), fitted.ensemble.members
    return each[0].rows, _mixed(each, fitted.ensemble.weights, fitted, _response(fitted, members))


def sampled(fitted: Fitted, neighbours: int, most: int) -> tuple[np.ndarray, Prediction]:
    """The same at a fixed random sample of rows, each given its nearest others, by the heaviest members.

    At most so many rows are asked for. The cost does not depend on n but through the search for neighbours.
    """
    chosen, weights = heaviest(fitted.ensemble.weights, MEMBERS)
    rows = sample_rows(fitted.train.n, most, fitted.generator())
    members = [fitted.ensemble.members[k] for k in chosen]
    each = [truncated(fitted.train, member, neighbours, rows=rows) for member in members]
    return rows, _mixed(each, weights, fitted, _response(fitted, members))


def check_of(rows: np.ndarray, prediction: Prediction, fitted: Fitted) -> Check:
    """The check from what is said about rows (r,) that were left out."""
    train, target, response = fitted.train, fitted.target, prediction.response
    y = train.y[rows] if fitted.weak is None else train.y[rows] + fitted.weak.at(_rows_of(fitted, rows))
    level = 0.9
    ends = target.restore(quantiles(prediction, np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])))
    mean, place = target.moments(prediction).mean, distribution(prediction, y)
    if response is not None and response.discrete:
        place = 0.5 * (place + distribution(prediction, y - 1.0))  # the middle of the step at y
    return Check(rows, target.restore(y), mean, ends[:, 0], ends[:, 1], place, train.n)
