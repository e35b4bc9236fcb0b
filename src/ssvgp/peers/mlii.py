"""The ML-II Gaussian process: squared exponential with ARD, parameters by maximum likelihood, no prior on them.

The paper's own rival: GPyTorch with 1000 steps of Adam at rate 0.1 (B.1); `mlii_lbfgs` climbs the same likelihood
otherwise. It selects nothing by itself: inverse lengthscales above 0.1 count as selected, and
`thresholds.threshold_sweep` gives the best case of B.2.
"""

from __future__ import annotations

import numpy as np

from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.gpytorch_parts import (
    Process,
    inverse_lengthscales,
    moments,
    paper_kernel,
    paper_likelihood,
    seeded,
    tensor,
    train,
)
from ssvgp.peers.thresholds import THRESHOLD


class MaximumLikelihood(Peer):
    """ML-II by GPyTorch, as in B.1; of more than `rows` rows a random subset is used. Cost n^3 a step."""

    def __init__(
        self,
        iterations: int = 1000,
        learning_rate: float = 0.1,
        rows: int | None = 5000,
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        self.iterations, self.learning_rate = iterations, learning_rate
        self.rows, self.max_seconds = rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        X, y = some_rows(X, y, self.rows, self.random_state)
        inputs, target = tensor(X, "float64"), tensor(y, "float64")
        with seeded(self.random_state):
            self._likelihood = paper_likelihood()
            self._model = Process(inputs, target, self._likelihood, paper_kernel(X.shape[1]))
            steps = train(self._model, self.iterations, self.learning_rate, clock)
        self.notes = {"iterations": steps, "rows": len(y)}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return moments(self._model, self._likelihood, X, "float64")

    def _relevance(self) -> Relevance:
        scores = inverse_lengthscales(self._model.covariance)
        return Relevance(scores, scores > THRESHOLD)
