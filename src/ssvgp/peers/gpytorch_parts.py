"""What the baselines on GPyTorch share: the paper's kernel and initial values (B.1), a process, Adam, batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gpytorch
import numpy as np
import torch

from ssvgp.peers.budget import Clock

# Below this many rows GPyTorch factors matrices; above, its iterative solvers would add noise of their own.
EXACT_ROWS = 20_000
# Rows to a batch of predictions: bounds the memory of what is (batch, training rows).
BATCH = 1000
# What a process does at its mean: nothing, or GPyTorch's constant, which starts at zero and is learned.
MEANS = {"zero": gpytorch.means.ZeroMean, "learned": gpytorch.means.ConstantMean}


def tensor(values: np.ndarray, dtype: str) -> torch.Tensor:
    """A copy-free tensor where the precision allows one."""
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype is {dtype!r}; give 'float64' or 'float32'")
    return torch.as_tensor(np.ascontiguousarray(values), dtype=getattr(torch, dtype))


def paper_kernel(d: int) -> gpytorch.kernels.ScaleKernel:
    """tau exp(-1/2 sum_j theta_j^2 (x_j - x'_j)^2) that starts at theta_j = d^-1/2 and tau = 1, as the SSVGP does."""
    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=d))
    kernel.base_kernel.lengthscale = math.sqrt(d)
    kernel.outputscale = 1.0
    return kernel


def paper_likelihood() -> gpytorch.likelihoods.GaussianLikelihood:
    """Gaussian noise that starts at variance 1; GPyTorch keeps it above 1e-4."""
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = 1.0
    return likelihood


def inverse_lengthscales(kernel: gpytorch.kernels.ScaleKernel) -> np.ndarray:
    """theta (d,)."""
    return 1.0 / kernel.base_kernel.lengthscale.detach().double().numpy().ravel()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's global random numbers from `seed`, put back afterwards; matrices are factored exactly meanwhile."""
    with torch.random.fork_rng(devices=[]), gpytorch.settings.max_cholesky_size(EXACT_ROWS):
        torch.manual_seed(seed)
        yield


class Process(gpytorch.models.ExactGP):
    """A process on X (n, d), y (n,) with the given kernel; its mean is zero, or a constant that is learned."""

    def __init__(
        self,
        X: torch.Tensor,
        y: torch.Tensor,
        likelihood: gpytorch.likelihoods.GaussianLikelihood,
        kernel: gpytorch.kernels.Kernel,
        mean: str = "zero",
    ) -> None:
        super().__init__(X, y, likelihood)
        self.covariance = kernel
        self.level = MEANS[mean]()
        self.to(X)

    def forward(self, X: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.level(X), self.covariance(X))


def train(process: Process, iterations: int, learning_rate: float, clock: Clock) -> int:
    """Climb the evidence of a process, or its bound where the kernel passes through inducing points; steps made."""
    process.train()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(process.likelihood, process)
    (inputs,), target = process.train_inputs, process.train_targets
    return adam(process.parameters(), lambda: -evidence(process(inputs), target), iterations, learning_rate, clock)


def adam(
    parameters: Iterator[torch.nn.Parameter],
    loss: Callable[[], torch.Tensor],
    iterations: int,
    learning_rate: float,
    clock: Clock,
) -> int:
    """Descend the loss for so many steps of Adam or until the clock is over; how many steps were made."""
    optimiser = torch.optim.Adam(parameters, lr=learning_rate)
    for step in range(iterations):
        if clock.over():
            return step
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
    return iterations


def moments(
    model: gpytorch.Module,
    likelihood: gpytorch.likelihoods.GaussianLikelihood,
    X: np.ndarray,
    dtype: str,
    batch: int = BATCH,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (t,) and variance (t,) of new targets, noise included, in batches of rows."""
    model.eval()
    likelihood.eval()
    means, variances = [], []
    with torch.no_grad(), gpytorch.settings.max_cholesky_size(EXACT_ROWS):
        for start in range(0, len(X), batch):
            forecast = likelihood(model(tensor(X[start : start + batch], dtype)))
            means.append(forecast.mean.double().numpy())
            variances.append(forecast.variance.double().numpy())
    return np.concatenate(means), np.concatenate(variances)
