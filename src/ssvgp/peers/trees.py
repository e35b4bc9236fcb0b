"""Boosted trees by LightGBM, the number of trees chosen by cross-validation.

The predictive variance is the mean squared error of out-of-fold predictions, the same for every new row: quantile
losses would need two more models, each with its own number of trees, and promise an interval rather than a variance.
"""

from __future__ import annotations

import lightgbm
import numpy as np

from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.folds import splits


class LightGBM(Peer):
    """Gradient boosting; the score of an input is its share of the total gain of all splits.

    Keeps the inputs with more than an equal share, 1 / p. It is a rule of thumb, and boosting was made to predict and
    not to select: noise inputs share the gain of chance splits.
    """

    def __init__(
        self, trees: int = 2000, patience: int = 50, rate: float = 0.05, folds: int = 5, random_state: int = 0
    ) -> None:
        super().__init__(random_state)
        self.trees, self.patience, self.rate, self.folds = trees, patience, rate, folds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        settings = self._settings(len(y))
        parts = splits(len(y), self.folds, self.random_state)
        outcome = lightgbm.cv(
            settings, self._dataset(X, y, settings), num_boost_round=self.trees, folds=parts, return_cvbooster=True,
            callbacks=[lightgbm.early_stopping(self.patience, verbose=False)], stratified=False,
        )  # fmt: skip
        boosters = outcome["cvbooster"]
        held_out = np.empty(len(y))
        for (_, test), booster in zip(parts, boosters.boosters, strict=True):
            held_out[test] = booster.predict(X[test], num_iteration=boosters.best_iteration)
        self._error = float(np.mean((held_out - y) ** 2))
        self._model = lightgbm.train(settings, self._dataset(X, y, settings), num_boost_round=boosters.best_iteration)
        self.notes = {"trees": float(boosters.best_iteration)}

    def _settings(self, n: int) -> dict[str, object]:
        """Small trees on small tables: leaves of a twentieth of the rows, between 5 and LightGBM's own 20."""
        return {
            "objective": "regression", "metric": "l2", "learning_rate": self.rate, "num_leaves": 15,
            "min_data_in_leaf": int(np.clip(n // 20, 5, 20)), "feature_fraction": 0.5, "bagging_fraction": 0.8,
            "bagging_freq": 1, "seed": self.random_state, "deterministic": True, "force_row_wise": True,
            "num_threads": 1, "verbosity": -1,
        }  # fmt: skip

    def _dataset(self, X: np.ndarray, y: np.ndarray, settings: dict[str, object]) -> lightgbm.Dataset:
        # The leaf size already matters here: LightGBM leaves out columns that no split of that size can use.
        return lightgbm.Dataset(X, y, params=settings, free_raw_data=False)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._model.predict(X), np.full(len(X), self._error)

    def _relevance(self) -> Relevance:
        gains = self._model.feature_importance(importance_type="gain")
        shares = gains / max(float(gains.sum()), 1e-300)
        return Relevance(shares, shares > 1.0 / len(shares))
