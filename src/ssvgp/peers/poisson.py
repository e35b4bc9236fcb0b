"""Poisson regression with an L1 penalty, chosen by the out-of-fold deviance.

Newton's steps on the log likelihood are weighted least squares, here with the penalty: at the mean mu = exp(eta) the
working target is eta + (y - mu) / mu and its weight mu (as in R's glmnet).
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.metrics import mean_poisson_deviance

from ssvgp.peers.contract import CountPeer, Relevance
from ssvgp.peers.folds import falling, splits

STEPS, TOLERANCE = 25, 1e-6
REACH = 30.0  # of log rates, beyond which a step has run away


def poisson_path(X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Coefficients and intercept (k, p + 1) at penalties of the mean negative log likelihood, each from the last."""
    model = Lasso(warm_start=True, max_iter=5000, tol=1e-7)
    eta = np.full(len(y), np.log(max(float(y.mean()), 1e-6)))
    path = np.empty((len(penalties), X.shape[1] + 1))
    for place, penalty in enumerate(penalties):
        for _ in range(STEPS):
            mean = np.exp(eta)
            model.alpha = penalty / float(mean.mean())  # scikit-learn's weights have mean one
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, eta + (y - mean) / mean, sample_weight=mean)
            before, eta = eta, np.clip(model.predict(X), -REACH, REACH)
            if np.max(np.abs(eta - before)) < TOLERANCE:
                break
            eta = before + np.clip(eta - before, -2.0, 2.0)  # a count of zero asks for minus infinity
        path[place] = [*model.coef_, model.intercept_]
    return path


class PoissonL1(CountPeer):
    """Keeps the inputs whose coefficient is not zero."""

    def __init__(self, folds: int = 5, penalties: int = 20, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.folds, self.penalties = folds, penalties

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        largest = float(np.max(np.abs(X.T @ (y - y.mean())))) / len(y)  # above it all coefficients are zero
        penalties = falling(largest, X.shape[0], X.shape[1], self.penalties)
        deviances = np.zeros(len(penalties))
        for train, test in splits(len(y), self.folds, self.random_state):
            for place, one in enumerate(poisson_path(X[train], y[train], penalties)):
                deviances[place] += len(test) * mean_poisson_deviance(y[test], _mean(X[test], one))
        best = int(np.argmin(deviances))
        self._coefficients = poisson_path(X, y, penalties[: best + 1])[-1]
        self.notes = {"penalty": float(penalties[best])}

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return _mean(X, self._coefficients)

    def _relevance(self) -> Relevance:
        return Relevance(np.abs(self._coefficients[:-1]), self._coefficients[:-1] != 0)


def _mean(X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    return np.exp(np.clip(X @ coefficients[:-1] + coefficients[-1], -REACH, REACH))
