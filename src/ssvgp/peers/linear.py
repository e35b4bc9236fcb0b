"""Linear baselines of experiment 1 (B.2): LASSO and MCP, each with a cross-validated path of penalties.

The paper ran R's ncvreg with its defaults: 10 folds, 100 penalties, the smallest error, gamma = 3 for MCP. The same
here, on scikit-learn's and skglm's coordinate descent.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LassoCV

from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.folds import choose, falling, splits


class LinearPeer(Peer):
    """A sparse linear baseline: subclasses give the coefficients (p,), the intercept and the out-of-fold error."""

    _coefficients: np.ndarray
    _intercept: float
    _error: float

    def __init__(self, folds: int = 10, penalties: int = 100, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.folds, self.penalties = folds, penalties

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return X @ self._coefficients + self._intercept, np.full(len(X), self._error)

    def _relevance(self) -> Relevance:
        return Relevance(np.abs(self._coefficients), self._coefficients != 0)

    def _path_of_penalties(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        # Above max |x_j'y| / n every coefficient is zero.
        return falling(float(np.max(np.abs(X.T @ y))) / len(y), X.shape[0], X.shape[1], self.penalties)


class Lasso(LinearPeer):
    """LASSO (Tibshirani 1996) by scikit-learn; keeps the inputs whose coefficient is not zero."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        alphas = self._path_of_penalties(X, y)
        model = LassoCV(alphas=alphas, cv=splits(len(y), self.folds, self.random_state), max_iter=10_000).fit(X, y)
        self._coefficients, self._intercept = model.coef_, float(model.intercept_)
        self._error = float(np.min(model.mse_path_.mean(axis=1)))
        self.notes = {"penalty": float(model.alpha_)}


class MCP(LinearPeer):
    """Minimax concave penalty (Zhang 2010) by skglm, paths warm-started from the largest penalty down."""

    def __init__(self, gamma: float = 3.0, folds: int = 10, penalties: int = 100, random_state: int = 0) -> None:
        super().__init__(folds, penalties, random_state)
        self.gamma = gamma
        # skglm compiles its solver at the first call, ten seconds that are no part of a fit.
        mcp_path(np.eye(4), np.arange(4.0), np.array([0.1]), gamma)

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        penalties = self._path_of_penalties(X, y)

        def path(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, penalties: np.ndarray) -> np.ndarray:
            coefficients = mcp_path(X, y, penalties, self.gamma)
            return coefficients[:, :-1] @ X_new.T + coefficients[:, -1:]

        choice = choose(path, X, y, penalties, self.folds, self.random_state)
        last = mcp_path(X, y, penalties[: choice.place + 1], self.gamma)[-1]
        self._coefficients, self._intercept, self._error = last[:-1], float(last[-1]), choice.error
        self.notes = {"penalty": choice.penalty}


def mcp_path(X: np.ndarray, y: np.ndarray, penalties: np.ndarray, gamma: float) -> np.ndarray:
    """Coefficients and intercept (k, p + 1) of ||y - Xb||^2 / 2n + sum MCP(b_j), each from the one before."""
    # Imported here: the LASSO above needs none of it.
    from skglm.datafits import Quadratic
    from skglm.penalties import MCPenalty
    from skglm.solvers import AndersonCD

    # Fortran order: the solver reads one column at a time.
    X = np.asfortranarray(X)
    solver = AndersonCD(tol=1e-5, max_iter=50, fit_intercept=True, warm_start=True)
    weights, fitted = np.zeros(X.shape[1] + 1), np.zeros(len(y))
    path = np.empty((len(penalties), X.shape[1] + 1))
    for place, penalty in enumerate(penalties):
        weights = solver.solve(X, y, Quadratic(), MCPenalty(penalty, gamma), weights, fitted)[0]
        fitted = X @ weights[:-1] + weights[-1]
        path[place] = weights
    return path
