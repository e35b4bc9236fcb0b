"""The evidence bound of a Dirac spike with paired mean field (A.7), and the gradients that climb it.

    q(theta, gamma) = prod_j [lambda_j N(theta_j | mu_j, sigma_j^2)]^gamma_j [(1 - lambda_j) delta_0]^(1 - gamma_j)

The unknowns are one vector: mu (d,), log sigma (d,), logit lambda (d,), log scale, log noise. The paper's lambda =
1 / (1 - exp(-kappa)) is read as the logistic function of kappa, since as printed it is no probability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from ssvgp.gp.kernels.families import squared_exponential, upper_at_each
from ssvgp.gp.marginal import gradient, log_likelihood
from ssvgp.gp.stacks import log_likelihoods, stack_size
from ssvgp.records import Parameters

KERNEL = squared_exponential()


@dataclass(frozen=True)
class SlabPrior:
    """Fixed chance of inclusion pi, precision v1 of the slab N(0, 1 / v1), and the jitter on the diagonal (B.1)."""

    inclusion: float = 0.05
    precision: float = 1e-2
    jitter: float = 1e-3


@dataclass(frozen=True)
class Unknowns:
    """q(theta, gamma) and the two scalars of the process, read from the vector of unknowns."""

    mu: np.ndarray
    log_sd: np.ndarray
    logit: np.ndarray
    log_scale: float
    log_noise: float

    @property
    def inclusion(self) -> np.ndarray:
        """lambda (d,)."""
        return expit(self.logit)


def initial(d: int, sd: float = 2e-3, inclusion: float = 0.5) -> np.ndarray:
    """mu = d^-1/2, sigma = 0.002, lambda = 1/2, scale = noise = 1 (B.1), as one vector (3 d + 2,)."""
    logit = float(np.log(inclusion) - np.log1p(-inclusion))
    return np.concatenate([np.full(d, d**-0.5), np.full(d, np.log(sd)), np.full(d, logit), np.zeros(2)])


def read(vector: np.ndarray) -> Unknowns:
    """The parts of the vector (3 d + 2,)."""
    mu, log_sd, logit = vector[:-2].reshape(3, -1)
    return Unknowns(mu, log_sd, logit, float(vector[-2]), float(vector[-1]))


def divergence(at: Unknowns, prior: SlabPrior) -> tuple[float, np.ndarray]:
    """KL[q(theta, gamma) || p(theta, gamma)] and its gradient (3 d + 2,), both in closed form.

    Each input adds lambda (log lambda / pi + KL of the normals) + (1 - lambda) log (1 - lambda) / (1 - pi).
    """
    inclusion, variance = at.inclusion, np.exp(2.0 * at.log_sd)
    normals = 0.5 * (prior.precision * (at.mu**2 + variance) - 1.0 - np.log(prior.precision)) - at.log_sd
    log_odds = float(np.log(prior.inclusion) - np.log1p(-prior.inclusion))
    value = inclusion @ (log_expit(at.logit) - np.log(prior.inclusion) + normals)
    value += (1.0 - inclusion) @ (log_expit(-at.logit) - np.log1p(-prior.inclusion))
    slope = np.concatenate(
        [
            inclusion * prior.precision * at.mu,
            inclusion * (prior.precision * variance - 1.0),
            inclusion * (1.0 - inclusion) * (at.logit - log_odds + normals),
            np.zeros(2),
        ]
    )
    return float(value), slope


class Draws(NamedTuple):
    """Draws of q: which inputs are in (s, d), standard normals (s, d), and theta (s, d), zero where they are out."""

    gamma: np.ndarray
    epsilon: np.ndarray
    theta: np.ndarray


def draw(at: Unknowns, count: int, rng: np.random.Generator) -> Draws:
    """`count` draws by the transformation of A.7: uniform z <= lambda decides, mu + sigma epsilon is the value."""
    gamma = rng.random((count, at.mu.size)) <= at.inclusion
    epsilon = rng.standard_normal((count, at.mu.size))
    return Draws(gamma, epsilon, np.where(gamma, at.mu + np.exp(at.log_sd) * epsilon, 0.0))


def parameters(at: Unknowns, theta: np.ndarray, prior: SlabPrior) -> Parameters:
    """Of the process with inverse lengthscales theta (p,); the jitter counts as noise."""
    return Parameters(theta, float(np.exp(at.log_scale)), float(np.exp(at.log_noise)) + prior.jitter)


def likelihoods(X: np.ndarray, y: np.ndarray, at: Unknowns, theta: np.ndarray, prior: SlabPrior) -> np.ndarray:
    """log p(y | theta) (s,) at each draw theta (s, d), in stacks. Cost per draw n^3 / 3 and n^2 times its inputs."""
    out, step, n = np.empty(len(theta)), stack_size(y.size), y.size
    stack = np.empty((step, n, n))
    for start in range(0, len(theta), step):
        part = theta[start : start + step]
        for place, one in enumerate(part):
            active = np.flatnonzero(one)
            stack[place] = upper_at_each(KERNEL, X[:, active], one[None, active])[0]
        each = [parameters(at, one, prior) for one in part]
        out[start : start + step] = log_likelihoods(stack[: len(part)], y, each)
    for index in np.flatnonzero(np.isnan(out)):  # a matrix that needs repair
        active = np.flatnonzero(theta[index])
        out[index] = log_likelihood(KERNEL, X[:, active], y, parameters(at, theta[index, active], prior))
    return out


def score_slope(values: np.ndarray, gamma: np.ndarray, at: Unknowns) -> np.ndarray:
    """Score-gradient estimate (d,) of d <log p> / d logit lambda: the mean of log p times (gamma - lambda) (BBVI, A.7).

    log q(gamma) has this slope in its logits. As in B.1 nothing is subtracted to make it less noisy.
    """
    return values @ (gamma - at.inclusion) / len(values)


def path_slope(
    X: np.ndarray, y: np.ndarray, at: Unknowns, epsilon: np.ndarray, theta: np.ndarray, prior: SlabPrior
) -> np.ndarray:
    """Reparameterised gradient (3 d + 2,) of log p at one draw; nothing of it reaches the logits (A.7)."""
    d, active = theta.size, np.flatnonzero(theta)
    here = parameters(at, theta[active], prior)
    found = gradient(KERNEL, X[:, active], y, here)
    out = np.zeros(3 * d + 2)
    out[active] = found.theta
    out[d + active] = found.theta * epsilon[active] * np.exp(at.log_sd[active])
    out[-2] = found.log_scale
    out[-1] = found.log_noise * float(np.exp(at.log_noise)) / here.noise  # the jitter does not move
    return out


class Climb(NamedTuple):
    """An estimate of the bound, and of its gradient (3 d + 2,)."""

    bound: float
    slope: np.ndarray


def estimate(
    X: np.ndarray, y: np.ndarray, vector: np.ndarray, samples: int, prior: SlabPrior, rng: np.random.Generator
) -> Climb:
    """The bound and its gradient from S1 = `samples` draws for the logits; the first serves the rest (S0 = 1)."""
    at = read(vector)
    draws = draw(at, samples, rng)
    values = likelihoods(X, y, at, draws.theta, prior)
    cost, slope = divergence(at, prior)
    slope = path_slope(X, y, at, draws.epsilon[0], draws.theta[0], prior) - slope
    slope[2 * at.mu.size : -2] += score_slope(values, draws.gamma, at)
    return Climb(float(values.mean()) - cost, slope)


def process_at(at: Unknowns, theta: np.ndarray, prior: SlabPrior) -> tuple[np.ndarray, Parameters]:
    """The inputs (p,) that a draw theta (d,) holds, and the parameters of its process."""
    active = np.flatnonzero(theta)
    return active, replace(parameters(at, theta, prior), theta=theta[active])
