"""GAM with the spike-and-slab group LASSO (Bai et al. 2020; B.2), written here since no Python library has it.

The paper ran R's sparseGAM: 6 B-splines for each input, slab scale 1, theta ~ Beta(1, d), 20 spikes falling evenly from
n to n / 20, the smallest error of 3 folds. The same here, with one difference: the noise variance is learned beside
theta, as in Bai et al. (2020).
"""

from __future__ import annotations

import numpy as np

from ssvgp.peers.additive import AdditivePeer
from ssvgp.peers.folds import choose
from ssvgp.peers.group_ssl import Problem, climb
from ssvgp.peers.splines import Groups

LOW, HIGH = 0.05, 20.0


class SpikeSlabGroupLasso(AdditivePeer):
    """Additive splines under the spike-and-slab group LASSO; keeps the inputs whose coefficients are not zero."""

    def __init__(
        self, width: int = 6, folds: int = 3, spikes: int = 20, slab: float = 1.0, random_state: int = 0
    ) -> None:
        super().__init__(width, folds, random_state)
        self.spikes, self.slab = spikes, slab

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        columns = self._columns(X)
        self._groups = Groups.fit(columns)
        problem = self._problem(self._groups, columns, y)
        ladder = self._ladder(problem)
        choice = choose(self._held_out, columns, y, ladder, self.folds, self.random_state)
        last = climb(problem, ladder[: choice.place + 1])[-1]
        self._coefficients, self._intercept, self._error = last.coefficients, float(y.mean()), choice.error
        self.notes = {"spike": choice.penalty, "sigma2": last.sigma2, "theta": last.theta}

    def _problem(self, groups: Groups, columns: np.ndarray, y: np.ndarray) -> Problem:
        return Problem(groups.transform(columns), y - y.mean(), groups.ranks, self.slab, 1.0, float(len(groups.ranks)))

    def _ladder(self, problem: Problem) -> np.ndarray:
        """Spikes (k,): the first lets in all groups within LOW of the strongest, the last hardly any at all."""
        pulls = np.sum((problem.design.T @ problem.y).reshape(len(problem.ranks), -1) ** 2, axis=1)
        strongest = float(np.sqrt(pulls.max())) / problem.first_sigma2()
        return np.maximum(strongest * np.geomspace(LOW, HIGH, self.spikes), self.slab)

    def _held_out(self, columns: np.ndarray, y: np.ndarray, new: np.ndarray, spikes: np.ndarray) -> np.ndarray:
        """Predictions (k, t) at new columns (t, p, m) of the whole path."""
        groups = Groups.fit(columns)
        path = climb(self._problem(groups, columns, y), spikes)
        return y.mean() + np.stack([state.coefficients.ravel() for state in path]) @ groups.transform(new).T
