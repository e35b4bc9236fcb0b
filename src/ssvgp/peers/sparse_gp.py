"""The sparse Gaussian process of Titsias (2009) by GPyTorch: 512 inducing points, 100 steps of Adam at rate 0.1 (B.3).

A step costs rows x inducing x (inducing + d) in time and several tables of rows x inducing in memory, so that of more
than `rows` rows a random subset is used. Nothing is selected: every input moves the predictions, as the paper's
"variables used" counts them (B.4); the scores are inverse lengthscales.
"""

from __future__ import annotations

import gpytorch
import numpy as np
import torch

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

# GPyTorch passes all training rows through the kernel again for every batch, so batches of new rows are large here.
BATCH = 10_000


class SparseGP(Peer):
    """SGP: the collapsed bound of Titsias over kernel, noise and the places of the inducing points."""

    def __init__(
        self,
        inducing: int = 512,
        iterations: int = 100,
        learning_rate: float = 0.1,
        rows: int | None = 100_000,
        dtype: str = "float64",
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        self.inducing, self.iterations, self.learning_rate = inducing, iterations, learning_rate
        self.rows, self.dtype, self.max_seconds = rows, dtype, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        X, y = some_rows(X, y, self.rows, self.random_state)
        inputs, target = tensor(X, self.dtype), tensor(y, self.dtype)
        with seeded(self.random_state):
            places = inputs[torch.randperm(len(y))[: self.inducing]].clone()
            self._likelihood = paper_likelihood()
            kernel = gpytorch.kernels.InducingPointKernel(paper_kernel(X.shape[1]), places, self._likelihood)
            self._model = Process(inputs, target, self._likelihood, kernel)
            steps = train(self._model, self.iterations, self.learning_rate, clock)
        self.notes = {"iterations": steps, "rows": len(y), "inducing": len(places)}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return moments(self._model, self._likelihood, X, self.dtype, BATCH)

    def _relevance(self) -> Relevance:
        scores = inverse_lengthscales(self._model.covariance.base_kernel)
        return Relevance(scores, np.ones(scores.size, dtype=bool))
