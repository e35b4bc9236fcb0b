"""Boosted trees by LightGBM for classes and for counts, the number of trees chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from ssvgp.peers.contract import ClassPeer, CountPeer, Relevance, shares
from ssvgp.peers.folds import splits


def boosted(X: np.ndarray, y: np.ndarray, objective: dict[str, Any], trees: int, folds: int, seed: int) -> Any:
    """A booster for rows X (n, p) with the number of trees that does best out of fold; small trees on small tables."""
    settings: dict[str, Any] = {
        **objective, "learning_rate": 0.05, "num_leaves": 15, "min_data_in_leaf": int(np.clip(len(y) // 20, 5, 20)),
        "feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "seed": seed, "deterministic": True,
        "force_row_wise": True, "num_threads": 1, "verbosity": -1,
    }  # fmt: skip

    def rows() -> lightgbm.Dataset:
        return lightgbm.Dataset(X, y, params=settings, free_raw_data=False)

    outcome = lightgbm.cv(
        settings, rows(), num_boost_round=trees, folds=splits(len(y), folds, seed), return_cvbooster=True,
        callbacks=[lightgbm.early_stopping(50, verbose=False)], stratified=False,
    )  # fmt: skip
    return lightgbm.train(settings, rows(), num_boost_round=outcome["cvbooster"].best_iteration)


class LightGBMOfClasses(ClassPeer):
    """Scores are shares of the gain of all splits."""

    def __init__(self, trees: int = 2000, folds: int = 5, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees, self.folds = trees, folds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        count = int(y.max()) + 1
        many = {"objective": "multiclass", "metric": "multi_logloss", "num_class": count}
        objective = many if count > 2 else {"objective": "binary", "metric": "binary_logloss"}
        self._model = boosted(X, y, objective, self.trees, self.folds, self.random_state)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        found = np.asarray(self._model.predict(X))
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found

    def _relevance(self) -> Relevance:
        return shares(self._model.feature_importance(importance_type="gain"))


class LightGBMOfCounts(CountPeer):
    """The same with the Poisson objective."""

    def __init__(self, trees: int = 2000, folds: int = 5, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees, self.folds = trees, folds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        objective = {"objective": "poisson", "metric": "poisson"}
        self._model = boosted(X, y, objective, self.trees, self.folds, self.random_state)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict(X))

    def _relevance(self) -> Relevance:
        return shares(self._model.feature_importance(importance_type="gain"))
