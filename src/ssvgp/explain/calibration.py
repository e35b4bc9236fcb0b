"""How well a fit predicts rows that are left out: the target beside its prediction, and where in it the target fell.

The place of a target in its predictive distribution, P(Y_i <= y_i | the other rows), is uniform between 0 and 1 where
predictions are as uncertain as they say. A central interval of level l holds the target where this place is no farther
than l / 2 from the middle, so that the coverage of every interval can be read from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.data.target import Target
from ssvgp.evidence.loo import LeaveOneOut, sample_rows, truncated
from ssvgp.explain.effects import Fitted, heaviest
from ssvgp.gp.mixture import distribution, quantiles
from ssvgp.records import Prediction, Train

AT_ONCE = 2000  # rows up to which all are left out in turn
ROWS = 1000  # left out in turn where there are more
LEAST_ROWS = 250
PREDICTIONS = 3000  # that such a sample may cost over all members
MEMBERS = 8  # that speak for all of them where rows are many
INTERVAL = 0.9


@dataclass(frozen=True)
class Check:
    """Rows (r,) of n with their targets and what the other rows predict, in units of y.

    `lower` and `upper` (r,) are the ends of the central 90% interval, `place` (r,) is P(Y_i <= y_i).
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


def check_of(each: Sequence[LeaveOneOut], weights: np.ndarray, train: Train, target: Target) -> Check:
    """The check from what every member says about the same rows."""
    rows = each[0].rows
    means, variances = np.stack([one.mean for one in each]), np.stack([one.variance for one in each])
    prediction = Prediction(means, variances, np.zeros(len(each)), weights)  # noise is in already
    y = train.y[rows]
    ends = target.restore(quantiles(prediction, np.array([0.5 - 0.5 * INTERVAL, 0.5 + 0.5 * INTERVAL])))
    mean = target.moments(prediction).mean
    return Check(rows, target.restore(y), mean, ends[:, 0], ends[:, 1], distribution(prediction, y), train.n)


def sampled_check(fitted: Fitted, neighbours: int) -> Check:
    """The check at a fixed random sample of rows, each given its nearest others, by the heaviest members.

    The cost does not depend on n but through the search for neighbours.
    """
    chosen, weights = heaviest(fitted.ensemble.weights, MEMBERS)
    count = int(np.clip(PREDICTIONS // chosen.size, LEAST_ROWS, ROWS))
    rows = sample_rows(fitted.train.n, count, np.random.default_rng(0))
    members = [fitted.ensemble.members[k] for k in chosen]
    each = [truncated(fitted.train, member, neighbours, rows=rows) for member in members]
    return check_of(each, weights, fitted.train, fitted.target)
