"""GAM with the spike-and-slab group LASSO (Bai et al. 2020; B.2), written here since no Python library has it.

The paper ran R's sparseGAM: 6 B-splines for each input, slab scale 1, theta ~ Beta(1, d), 20 spikes, the smallest error
of 3 folds. The same here, with two differences, both from Bai et al. (2020): the noise variance is learned beside
theta, and the spikes rise, so that groups are pruned and not let in.
"""

from __future__ import annotations

import numpy as np

from ssvgp.peers.additive import AdditivePeer
from ssvgp.peers.folds import choose
from ssvgp.peers.group_ssl import FULL, Problem, State, climb
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
        self._keep(climb(problem, ladder[: choice.place + 1])[-1], y, choice.error, choice.penalty)

    def _keep(self, state: State, y: np.ndarray, error: float, spike: float) -> None:
        self._coefficients, self._intercept, self._error = state.coefficients, float(y.mean()), error
        self.notes = {"spike": spike, "sigma2": state.sigma2, "theta": state.theta}

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


class SpikeSlabGroupLassoGIC(SpikeSlabGroupLasso):
    """The same path on all rows, the spike chosen by the generalised information criterion and not by folds.

    GIC = n log(||r||^2 / n) + log(log n) log(p m) v for v coefficients (Fan and Tang 2013), as R's SSGL offers. Folds
    take rows away, and where few rows separate a good path from a stuck one their errors mislead. The predictive
    variance is ||r||^2 / (n - v) times 1 + (1 + ||z||^2) / n, z the active columns of the new row: noise and the error
    of least squares on the active groups, were those orthogonal to each other.
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        columns = self._columns(X)
        self._groups = Groups.fit(columns)
        problem = self._problem(self._groups, columns, y)
        ladder, n = self._ladder(problem), len(y)
        path = climb(problem, ladder)
        best = int(np.argmin([_criterion(problem, state) for state in path]))
        state = path[best]
        error = float(state.residual @ state.residual) / max(n - problem.size(state), 1)
        self._keep(state, y, error, float(ladder[best]))
        self._rows = n

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, noise = super()._predict(X)
        design = self._groups.transform(self._basis.transform(X)).reshape(len(X), *self._coefficients.shape)
        active = design[:, np.any(self._coefficients, axis=1)]
        return mean, noise * (1.0 + (1.0 + np.sum(active**2, axis=(1, 2))) / self._rows)


def _criterion(problem: Problem, state: State) -> float:
    """GIC; infinite where the groups leave too few rows for it to mean anything."""
    n, size = len(problem.y), problem.size(state)
    if size > FULL * n:
        return np.inf
    price = np.log(max(np.log(n), 1.0)) * np.log(problem.design.shape[1])
    return n * np.log(max(float(state.residual @ state.residual) / n, 1e-300)) + price * size
