"""Sparse Bayesian additive regression trees by bartz: a Dirichlet prior on the inputs that splits use (Linero 2018)."""

from __future__ import annotations

import numpy as np
from bartz.BART import gbart

from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.linear import Lasso


class SparseBART(Peer):
    """Sum of Bayesian trees; the score of an input is the share of draws in which any tree splits on it.

    Keeps the inputs with a share above one half. The variance is that of the mean over draws plus the mean noise
    variance. Fifty trees: with 200 the toy kept five false inputs more and predicted no better. bartz works in
    float32, and `seconds` includes the compilation that JAX repeats for each new shape.
    """

    def __init__(self, trees: int = 50, burn_in: int = 1000, draws: int = 1000, random_state: int = 0) -> None:
        super().__init__(random_state)
        self.trees, self.burn_in, self.draws = trees, burn_in, draws

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        # The prior of the noise wants a guess from above. Least squares, its usual source, needs more rows than inputs.
        guess = float(np.sqrt(np.median(Lasso(folds=5, penalties=50).fit(X, y).predict(X[:1]).variance)))
        self._model = gbart(
            X.astype(np.float32), y.astype(np.float32), sparse=True, usequants=True, ntree=self.trees, sigest=guess,
            nskip=self.burn_in, ndpost=self.draws, printevery=None, seed=self.random_state,
        )  # fmt: skip
        used = np.asarray(self._model.varcount) > 0
        self._inclusion = used.mean(axis=0)
        # `sigma` holds the burn-in too; the draws that were kept are its end.
        noise = np.asarray(self._model.sigma, dtype=float).reshape(-1)[-self.draws :]
        self._noise = float(np.mean(noise**2))
        self.notes = {"noise": self._noise, "inputs_in_a_draw": float(used.sum(axis=1).mean())}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        draws = np.asarray(self._model.predict(X.astype(np.float32)), dtype=float)
        return draws.mean(axis=0), draws.var(axis=0) + self._noise

    def _relevance(self) -> Relevance:
        return Relevance(self._inclusion, self._inclusion > 0.5)
