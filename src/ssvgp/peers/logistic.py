"""Logistic regression with an L1 penalty, chosen by the out-of-fold log loss; more classes one against the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from ssvgp.peers.contract import ClassPeer, Relevance
from ssvgp.peers.folds import falling


def l1_path(X: np.ndarray, y: np.ndarray, penalties: np.ndarray, seed: int = 0) -> Iterator[Any]:
    """Fits to X (n, p) and y (n,) of 0 and 1 at penalties of the mean log loss, the largest first."""
    # scikit-learn 1.8 gave the penalty another name
    named = signature(LogisticRegression).parameters["penalty"].default == "deprecated"
    kind: dict[str, Any] = {"l1_ratio": 1.0} if named else {"penalty": "l1"}
    for penalty in penalties:
        # liblinear penalises the intercept as well: as a coefficient of a large constant it hardly does
        model = LogisticRegression(
            C=1.0 / (penalty * len(y)), solver="liblinear", intercept_scaling=100.0, max_iter=200, random_state=seed,
            **kind,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield model.fit(X, y)


class LogisticL1(ClassPeer):
    """Keeps the inputs whose coefficient is not zero for some class; scores are the largest of their sizes."""

    def __init__(self, folds: int = 5, penalties: int = 20, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.folds, self.penalties = folds, penalties

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        targets = [y == code for code in range(y.max() + 1)]
        self._models = [self._one(X, one.astype(float)) for one in (targets[1:] if len(targets) == 2 else targets)]

    def _one(self, X: np.ndarray, y: np.ndarray) -> Any:
        largest = float(np.max(np.abs(X.T @ (y - y.mean())))) / len(y)  # above it all coefficients are zero
        penalties = falling(largest, X.shape[0], X.shape[1], self.penalties)
        folds = min(self.folds, int(y.sum()), int((1 - y).sum()))
        losses = np.zeros(len(penalties))
        parts = StratifiedKFold(folds, shuffle=True, random_state=self.random_state) if folds > 1 else None
        for train, test in parts.split(X, y) if parts is not None else ():
            for place, model in enumerate(l1_path(X[train], y[train], penalties, self.random_state)):
                losses[place] += log_loss(y[test], model.predict_proba(X[test])[:, 1], labels=[0, 1], normalize=False)
        return next(l1_path(X, y, penalties[[int(np.argmin(losses))]], self.random_state))

    def _predict(self, X: np.ndarray) -> np.ndarray:
        each = np.column_stack([model.predict_proba(X)[:, 1] for model in self._models])
        return np.hstack([1.0 - each, each]) if len(self._models) == 1 else each

    def _relevance(self) -> Relevance:
        sizes = np.max([np.abs(model.coef_[0]) for model in self._models], axis=0)
        return Relevance(sizes, sizes > 0)
