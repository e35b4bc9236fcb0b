"""A Gaussian process written slowly and obviously, with nothing shared with the package but its records."""

from __future__ import annotations

import numpy as np

from ssvgp.records import Member, Train


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
