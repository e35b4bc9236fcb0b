"""Random forests of scikit-learn for classes and for counts, the size of leaves chosen out of bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import log_loss, mean_poisson_deviance

from ssvgp.peers.contract import ClassPeer, CountPeer, Relevance, shares

LEAVES = (1, 3, 10)  # rows of the smallest leaf


class ForestOfClasses(ClassPeer):
    """Scores are shares of the fall in impurity. A class that no tree votes for has one vote of `trees` + c."""

    def __init__(self, trees: int = 500, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees = trees

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        codes = np.arange(y.max() + 1)
        made = [self._forest(leaf).fit(X, y) for leaf in LEAVES]
        losses = [log_loss(y, self._smooth(one.oob_decision_function_), labels=codes) for one in made]
        self._model = made[int(np.argmin(losses))]

    def _forest(self, leaf: int) -> Any:
        return RandomForestClassifier(
            self.trees, min_samples_leaf=leaf, oob_score=True, random_state=self.random_state, n_jobs=1
        )

    def _smooth(self, votes: np.ndarray) -> np.ndarray:
        known = np.nan_to_num(votes)  # a row that was in every bag
        return (self.trees * known + 1.0) / (self.trees * known.sum(axis=1, keepdims=True) + known.shape[1])

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._smooth(self._model.predict_proba(X))

    def _relevance(self) -> Relevance:
        return shares(self._model.feature_importances_)


class ForestOfCounts(CountPeer):
    """Splits by least squares: on counts they are many times quicker than splits by deviance, and rank alike."""

    def __init__(self, trees: int = 500, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees = trees

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        made = [
            RandomForestRegressor(
                self.trees, min_samples_leaf=leaf, max_features=1 / 3, oob_score=True,
                random_state=self.random_state, n_jobs=1,
            ).fit(X, y)
            for leaf in LEAVES
        ]  # fmt: skip
        self._least = 0.5 / len(y)  # a leaf of zeros does not exclude a count
        held_out = [np.maximum(np.nan_to_num(one.oob_prediction_), self._least) for one in made]
        self._model = made[int(np.argmin([mean_poisson_deviance(y, mean) for mean in held_out]))]

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.maximum(self._model.predict(X), self._least)

    def _relevance(self) -> Relevance:
        return shares(self._model.feature_importances_)
