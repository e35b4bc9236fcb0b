"""Are the PIPs those of the exact posterior? Asked: mean absolute error <= 0.04, worst <= 0.2, over 20 weak draws.

The reference visits all 2^d sets and integrates theta, scale and noise of each by importance sampling with thousands of
draws, three rounds of which adapt the proposal; `reference_error` is the difference between two independent halves.

    python -m benchmarks.pip_exact            twenty draws of d = 7, some minutes
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping

import numpy as np
from scipy.special import logsumexp

from experiments.cases import Case, main
from experiments.problems import seeds
from ssvgp import SSVGPRegressor
from ssvgp.evidence.laplace import Block, Problem, log_joint_value, log_model_prior
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.priors import Candidate
from ssvgp.settings import Prior

FREEDOM = 5.0


def weak_data(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two or three inputs with effects near the edge of what n rows can show, among d."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    strengths = rng.uniform(0.2, 0.6, size=3) * (rng.uniform(size=3) < 0.8)
    f = strengths[0] * X[:, 0] + strengths[1] * np.sin(2.0 * X[:, 1]) + strengths[2] * (X[:, 2] ** 2 - 1.0)
    return X, f + rng.normal(size=n)


def integral(problem: Problem, candidate: Candidate, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """log of the integral of p(y, z | S) over z twice, from independent draws of an adapted t proposal.

    No mode is sought and no Hessian is used: the first proposal is the prior's own spread, and each round takes over
    the weighted mean and covariance of the last.
    """
    q = candidate.size + (2 if candidate.size else 1)
    mean = np.concatenate([np.full(candidate.size, -1.5), [0.5] * (q - candidate.size - 1), [-0.5]])
    covariance = np.diag(np.full(q, 1.5**2))
    for _ in range(4):
        z, log_weights = _sample(problem, candidate, mean, covariance, draws // 2, rng)
        weights = np.exp(np.minimum(log_weights - log_weights.max(), np.log(1.0)))
        weights = np.maximum(weights / weights.sum(), 1e-12)
        weights /= weights.sum()
        mean = weights @ z
        covariance = 1.3 * ((z - mean).T * weights) @ (z - mean) + 1e-3 * np.eye(q)
    pair = []
    for _ in range(2):
        log_weights = _sample(problem, candidate, mean, covariance, draws, rng)[1]
        pair.append(float(logsumexp(log_weights) - np.log(draws)))
    return pair[0], pair[1]


def _sample(
    problem: Problem,
    candidate: Candidate,
    mean: np.ndarray,
    covariance: np.ndarray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    from scipy.stats import multivariate_t

    proposal = multivariate_t(mean, covariance, FREEDOM)
    z = np.atleast_2d(proposal.rvs(draws, random_state=rng).reshape(draws, mean.size))
    target = np.array([log_joint_value(problem, candidate, row) for row in z])
    return z, target - proposal.logpdf(z)


def exact_pips(problem: Problem, d: int, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """PIPs (d,) from two independent sets of integrals over all 2^d sets."""
    sets = [s for k in range(d + 1) for s in itertools.combinations(range(d), k)]
    table = np.array([integral(problem, Candidate(s), draws, rng) for s in sets])
    table += np.array([log_model_prior(Candidate(s), problem) for s in sets])[:, None]
    weights = np.exp(table - logsumexp(table, axis=0))
    member = np.array([[j in s for j in range(d)] for s in sets], dtype=float)
    return weights[:, 0] @ member, weights[:, 1] @ member


def errors(pip: np.ndarray, first: np.ndarray, second: np.ndarray) -> Mapping[str, float]:
    """How far PIPs (d,) are from the exact ones, which are known twice, by independent draws."""
    error = np.abs(pip - 0.5 * (first + second))
    return {
        "mean_error": float(error.mean()),
        "worst_error": float(error.max()),
        "reference_error": float(np.abs(first - second).max()),
        "undecided": float(((first > 0.1) & (first < 0.9)).sum()),
    }


def compare(seed: int, n: int = 50, d: int = 7, draws: int = 1200) -> Mapping[str, float]:
    """Our PIPs beside the exact ones, under the squared exponential and no background (d is far below n)."""
    X, y = weak_data(seed, n, d)
    start = time.perf_counter()
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    train = model.train_
    prior = Prior().for_data(n, d)
    problem = Problem((Block(train.X, train.y),), kernel_named("se"), prior)
    first, second = exact_pips(problem, d, draws, np.random.default_rng(seed))
    return {**errors(model.pip_, first, second), "seconds": seconds}


def small(seed: int) -> Mapping[str, float]:
    """The same with four inputs."""
    return compare(seed, d=4, draws=500)


if __name__ == "__main__":
    main(Case("pip_exact", compare, seeds(20), smoke=small))
