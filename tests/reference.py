"""A Gaussian process written slowly and obviously, with nothing shared with the package but its records."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from scipy.stats import halfnorm, norm

from ssvgp.records import Member, Train
from ssvgp.settings import Prior


def squared_exponential(left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """exp(-||theta * (x - x')||^2 / 2), one pair of rows at a time."""
    out = np.empty((len(left), len(right)))
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            out[i, j] = np.exp(-0.5 * np.sum((theta * (a - b)) ** 2))
    return out


def covariance_of_f(member: Member, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """scale C + background X X' / d + mean, for a member with the squared exponential kernel."""
    at = member.parameters
    sparse = squared_exponential(left[:, member.active], right[:, member.active], at.theta)
    return at.scale * sparse + at.background * left @ right.T / left.shape[1] + at.mean


def predict(member: Member, train: Train, X_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (t,) and latent covariance (t, t) by plain solves."""
    covariance_of_y = covariance_of_f(member, train.X, train.X) + member.parameters.noise * np.eye(train.n)
    cross = covariance_of_f(member, X_new, train.X)
    mean = cross @ np.linalg.solve(covariance_of_y, train.y)
    return mean, covariance_of_f(member, X_new, X_new) - cross @ np.linalg.solve(covariance_of_y, cross.T)


def nearest(reference: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """Indices (t, m) of the nearest rows, by sorting all distances; equal distances in order of rows."""
    distance = ((query[:, None, :] - reference[None, :, :]) ** 2).sum(axis=2)
    return np.argsort(distance, axis=1, kind="stable")[:, :m]


def central_difference(function, at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Gradient of a scalar function of a vector by central differences."""
    out = np.empty(at.shape[0])
    for j in range(at.shape[0]):
        up, down = at.copy(), at.copy()
        up[j] += step
        down[j] -= step
        out[j] = (function(up) - function(down)) / (2.0 * step)
    return out


def log_evidence_by_quadrature(
    x: np.ndarray, y: np.ndarray, prior: Prior, nodes: tuple[int, int, int] = (45, 41, 41)
) -> float:
    """log p(y | {x}) of one input (n,) by the rectangle rule over log theta, log scale and log noise.

    Squared exponential kernel, half-normal slabs averaged over their scales, normal priors of the logs. Every density
    here falls off smoothly at both ends, so that the rule converges faster than any power of the step.
    """
    log_theta = np.linspace(-8.0, 2.0, nodes[0])
    log_scale = np.linspace(prior.log_scale[0] - 10.0, prior.log_scale[0] + 8.0, nodes[1])
    log_noise = np.linspace(prior.log_noise[0] - 6.0, prior.log_noise[0] + 6.0, nodes[2])
    scale, noise = np.meshgrid(np.exp(log_scale), np.exp(log_noise), indexing="ij")
    others = norm.logpdf(np.log(scale), *prior.log_scale) + norm.logpdf(np.log(noise), *prior.log_noise)
    n, slices = y.size, []
    for u in log_theta:
        sparse = np.exp(-0.5 * np.exp(2.0 * u) * (x[:, None] - x[None, :]) ** 2)
        of_y = scale[..., None, None] * sparse + prior.mean + noise[..., None, None] * np.eye(n)
        lower = np.linalg.cholesky(of_y)
        white = np.linalg.solve(lower, np.broadcast_to(y[:, None], (*scale.shape, n, 1)))[..., 0]
        log_diagonal = np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(-1)
        likelihood = -0.5 * (white**2).sum(-1) - log_diagonal - 0.5 * n * np.log(2.0 * np.pi)
        slab = np.log(np.mean(halfnorm.pdf(np.exp(u), scale=np.array(prior.slabs))))
        slices.append(logsumexp(likelihood + others) + slab + u)
    cell = np.diff(log_theta)[0] * np.diff(log_scale)[0] * np.diff(log_noise)[0]
    return float(logsumexp(slices) + np.log(cell))
