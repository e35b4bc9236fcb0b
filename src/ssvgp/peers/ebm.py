"""Explainable boosting machines by interpret: additive models of one and two inputs (Lou et al. 2013).

Fewer bags than the library's own 14, which hardly changes a prediction and saves most of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

from ssvgp.peers.contract import ClassPeer, CountPeer, Relevance, shares


def _relevance_of(model: Any, p: int) -> Relevance:
    """Importances of terms, each given to all of its inputs, as shares (p,)."""
    gains = np.zeros(p)
    for term, gain in zip(model.term_features_, model.term_importances(), strict=True):
        gains[list(term)] += gain
    return shares(gains)


class EBMOfClasses(ClassPeer):
    """Two classes with pairs of inputs; more classes without, as the library has it."""

    def __init__(self, bags: int = 4, pairs: int = 10, rounds: int = 5000, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.bags, self.pairs, self.rounds = bags, pairs, rounds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._p = X.shape[1]
        self._model = ExplainableBoostingClassifier(
            outer_bags=self.bags, interactions=self.pairs if y.max() == 1 else 0, max_rounds=self.rounds,
            random_state=self.random_state, n_jobs=1,
        ).fit(X, y)  # fmt: skip

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._model.predict_proba(X)

    def _relevance(self) -> Relevance:
        return _relevance_of(self._model, self._p)


class EBMOfCounts(CountPeer):
    """The same with the Poisson deviance."""

    def __init__(self, bags: int = 4, pairs: int = 10, rounds: int = 5000, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.bags, self.pairs, self.rounds = bags, pairs, rounds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._p = X.shape[1]
        self._model = ExplainableBoostingRegressor(
            objective="poisson_deviance", outer_bags=self.bags, interactions=self.pairs, max_rounds=self.rounds,
            random_state=self.random_state, n_jobs=1,
        ).fit(X, y)  # fmt: skip

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._model.predict(X)

    def _relevance(self) -> Relevance:
        return _relevance_of(self._model, self._p)
