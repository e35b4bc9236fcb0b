"""Gaussian processes with the sparse axis-aligned prior (SAAS, Eriksson and Jankowiak 2021) by BoTorch.

A Matérn-5/2 kernel with half-Cauchy priors that pull every inverse lengthscale to zero unless the data object.
`SaasMap` is BoTorch's ensemble of maxima of the posterior, one for each of a few random global shrinkages; `SaasNuts`
samples the posterior by NUTS (NumPyro). Both see inputs scaled to the unit cube, where the prior is meant to live.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from botorch.fit import fit_fully_bayesian_model_nuts, fit_gpytorch_mll
from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms.input import Normalize
from gpytorch.mlls import ExactMarginalLogLikelihood

from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.gpytorch_parts import BATCH, seeded, tensor

# A slope's standard deviation, in those of y per that of the input. As for `mlii_lbfgs`, inverse lengthscales alone
# would not do: the scale of these models starts at 10 and may run to 10^4, and a linear effect then has a tiny one.
THRESHOLD = 0.1


class Saas(Peer):
    """What both versions share: scaling to the cube, prediction as a mixture, and slopes as relevance."""

    _model: Any

    def __init__(self, rows: int | None, random_state: int) -> None:
        super().__init__(random_state)
        self.rows = rows

    def _data(self, X: np.ndarray, y: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, Normalize]:
        """Inputs (n, d), target (n, 1) and the map of the inputs to the unit cube."""
        X, y = some_rows(X, y, self.rows, self.random_state)
        self.notes = {"rows": len(y)}
        spread = X.max(axis=0) - X.min(axis=0)
        # A subset of rows can hold a column constant: the cube leaves it where it is.
        self._width = np.where(spread > 0, spread, 1.0)
        low = tensor(X.min(axis=0), "float64")
        bounds = torch.stack([low, low + tensor(self._width, "float64")])
        return tensor(X, "float64"), tensor(y[:, None], "float64"), Normalize(X.shape[1], bounds=bounds)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        means, variances = [], []
        with torch.no_grad(), seeded(self.random_state):
            for start in range(0, len(X), BATCH):
                mixture = self._model.posterior(tensor(X[start : start + BATCH], "float64"), observation_noise=True)
                means.append(mixture.mixture_mean.squeeze(-1).numpy())
                variances.append(mixture.mixture_variance.squeeze(-1).numpy())
        return np.concatenate(means), np.concatenate(variances)

    def _relevance(self) -> Relevance:
        """Median over the ensemble of the slope's sd: tau^1/2 theta_j, times (5/3)^1/2 for this kernel."""
        kernel = self._model.covar_module
        theta = 1.0 / kernel.base_kernel.lengthscale.detach().squeeze(-2).numpy() / self._width
        scale = kernel.outputscale.detach().numpy()
        scores = np.median(math.sqrt(5 / 3) * np.sqrt(scale)[:, None] * theta, axis=0)
        return Relevance(scores, scores > THRESHOLD)


class SaasMap(Saas):
    """`members` maxima of the posterior by L-BFGS, each at a global shrinkage drawn from its half-Cauchy prior."""

    def __init__(
        self,
        members: int = 4,
        iterations: int = 500,
        rows: int | None = 2000,
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(rows, random_state)
        self.members, self.iterations, self.max_seconds = members, iterations, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock, steps = Clock(self.max_seconds), 0
        inputs, target, cube = self._data(X, y)

        def stop_in_time(*_: object) -> None:
            # Called after each step of each member; BoTorch's own timeout does not reach ensembles.
            nonlocal steps
            steps += 1
            if clock.over():
                raise StopIteration

        with seeded(self.random_state):
            self._model = EnsembleMapSaasSingleTaskGP(
                inputs, target, num_taus=self.members, input_transform=cube, outcome_transform=None
            )
            # BoTorch starts at lengthscales of 1: with a thousand inputs all correlations vanish there, and so do all
            # gradients. The paper's start for all its methods, d^1/2 standard deviations (B.1), has neither fault.
            self._model.covar_module.base_kernel.lengthscale = tensor(math.sqrt(X.shape[1]) / self._width, "float64")
            evidence = ExactMarginalLogLikelihood(self._model.likelihood, self._model)
            fit_gpytorch_mll(
                evidence, optimizer_kwargs={"callback": stop_in_time, "options": {"maxiter": self.iterations}}
            )
        self.notes["steps"] = steps / self.members


class SaasNuts(Saas):
    """Samples of the posterior by NUTS: `warmup` steps to adapt, then `samples`, of which every `thinning`-th stays."""

    def __init__(
        self,
        warmup: int = 256,
        samples: int = 128,
        thinning: int = 8,
        tree_depth: int = 6,
        rows: int | None = 500,
        random_state: int = 0,
    ) -> None:
        super().__init__(rows, random_state)
        self.warmup, self.samples, self.thinning, self.tree_depth = warmup, samples, thinning, tree_depth

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        inputs, target, cube = self._data(X, y)
        with seeded(self.random_state):
            self._model = SaasFullyBayesianSingleTaskGP(inputs, target, input_transform=cube, outcome_transform=None)
            fit_fully_bayesian_model_nuts(
                self._model,
                max_tree_depth=self.tree_depth,
                warmup_steps=self.warmup,
                num_samples=self.samples,
                thinning=self.thinning,
                disable_progbar=True,
                seed=self.random_state,
            )
        self.notes["kept"] = self._model.num_mcmc_samples
