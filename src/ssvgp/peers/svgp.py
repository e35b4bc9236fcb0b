"""The stochastic variational Gaussian process of Hensman et al. (2013) by GPyTorch (B.3).

1024 inducing points, 100 epochs over batches of 1024 rows. As GPyTorch's documentation advises, the variational
distribution takes natural gradient steps of size 0.1 and Adam at rate 0.01 moves the kernel, the noise and the places
of the inducing points. The cost of a step does not depend on n. Nothing is selected: every input moves the
predictions, as the paper's "variables used" counts them (B.4); the scores are inverse lengthscales.
"""

from __future__ import annotations

import gpytorch
import numpy as np
import torch

from ssvgp.peers.budget import Clock
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.gpytorch_parts import inverse_lengthscales, moments, paper_kernel, paper_likelihood, seeded, tensor


class VariationalModel(gpytorch.models.ApproximateGP):
    """A zero-mean process with the paper's kernel and a full Gaussian q(u) at inducing points (m, d)."""

    def __init__(self, inducing: torch.Tensor) -> None:
        q = gpytorch.variational.NaturalVariationalDistribution(inducing.shape[0])
        super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, q))
        self.covariance = paper_kernel(inducing.shape[1])
        self.to(inducing)

    def forward(self, X: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(X.new_zeros(X.shape[:-1]), self.covariance(X))


class StochasticVariationalGP(Peer):
    """SVGP in minibatches: natural gradients for q(u), Adam for everything else."""

    def __init__(
        self,
        inducing: int = 1024,
        epochs: int = 100,
        batch: int = 1024,
        learning_rate: float = 0.01,
        natural_rate: float = 0.1,
        dtype: str = "float64",
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        self.inducing, self.epochs, self.batch = inducing, epochs, batch
        self.learning_rate, self.natural_rate = learning_rate, natural_rate
        self.dtype, self.max_seconds = dtype, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        inputs, target = tensor(X, self.dtype), tensor(y, self.dtype)
        with seeded(self.random_state):
            places = inputs[torch.randperm(len(y))[: self.inducing]].clone()
            self._model, self._likelihood = VariationalModel(places), paper_likelihood().to(inputs)
            self._model.train()
            self._likelihood.train()
            epochs = self._train(inputs, target, clock)
        self.notes = {"epochs": epochs, "inducing": len(places)}

    def _train(self, inputs: torch.Tensor, target: torch.Tensor, clock: Clock) -> float:
        """How many epochs were made, parts of one included, before all were or the clock was over."""
        n = len(target)
        bound = gpytorch.mlls.VariationalELBO(self._likelihood, self._model, num_data=n)
        others = [*self._model.hyperparameters(), *self._likelihood.parameters()]
        optimisers = (
            gpytorch.optim.NGD(self._model.variational_parameters(), num_data=n, lr=self.natural_rate),
            torch.optim.Adam(others, lr=self.learning_rate),
        )
        for epoch in range(self.epochs):
            order = torch.randperm(n)
            for start in range(0, n, self.batch):
                if clock.over():
                    return epoch + start / n
                rows = order[start : start + self.batch]
                for optimiser in optimisers:
                    optimiser.zero_grad()
                (-bound(self._model(inputs[rows]), target[rows])).backward()
                for optimiser in optimisers:
                    optimiser.step()
        return float(self.epochs)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return moments(self._model, self._likelihood, X, self.dtype)

    def _relevance(self) -> Relevance:
        scores = inverse_lengthscales(self._model.covariance)
        return Relevance(scores, np.ones(scores.size, dtype=bool))
