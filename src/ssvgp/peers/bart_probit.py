"""Sparse Bayesian additive trees under a probit by bartz; more classes one against the rest."""

from __future__ import annotations

import numpy as np
from bartz.BART import gbart
from scipy.special import ndtr

from ssvgp.peers.contract import ClassPeer, Relevance


class ProbitBART(ClassPeer):
    """The score of an input is the share of draws in which any tree splits on it; kept are those above one half."""

    def __init__(self, trees: int = 50, burn_in: int = 1000, draws: int = 1000, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees, self.burn_in, self.draws = trees, burn_in, draws

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        codes = range(1, 2) if y.max() == 1 else range(int(y.max()) + 1)
        self._models = [
            gbart(
                X.astype(np.float32), (y == code).astype(np.float32), type="pbart", sparse=True, usequants=True,
                ntree=self.trees, nskip=self.burn_in, ndpost=self.draws, printevery=None, seed=self.random_state,
            )
            for code in codes
        ]  # fmt: skip

    def _predict(self, X: np.ndarray) -> np.ndarray:
        rows = X.astype(np.float32)
        each = np.column_stack([ndtr(np.asarray(one.predict(rows), dtype=float)).mean(axis=0) for one in self._models])
        return np.hstack([1.0 - each, each]) if len(self._models) == 1 else each

    def _relevance(self) -> Relevance:
        share = np.max([(np.asarray(one.varcount) > 0).mean(axis=0) for one in self._models], axis=0)
        return Relevance(share, share > 0.5)
