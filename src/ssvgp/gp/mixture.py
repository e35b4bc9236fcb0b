"""The mixture of Gaussians that an ensemble predicts (A.4).

Its density, distribution and quantiles row by row, and its covariance and draws jointly over rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from ssvgp.gp.batches import BATCH_BYTES
from ssvgp.gp.linalg import symmetric_square_root
from ssvgp.gp.marginal import LOG_2PI
from ssvgp.gp.predict import JointMoments, joint_truncated
from ssvgp.records import Ensemble, Prediction, Response, Train, has_sites


def _spreads(prediction: Prediction, noise: bool) -> np.ndarray:
    """Standard deviations (k, t) of every component, kept off zero so that they can divide."""
    variances = prediction.variances + (prediction.noises[:, None] if noise else 0.0)
    return np.sqrt(np.maximum(variances, np.finfo(float).tiny))


def log_density(prediction: Prediction, y: np.ndarray) -> np.ndarray:
    """log p(y_i | x_i) (t,) of the mixture, noise included, row by row; of a count, its probability."""
    if prediction.response is not None:
        each = prediction.response.log_density(prediction.means, prediction.variances, y)
        return logsumexp(each, axis=0, b=prediction.weights[:, None])
    spread = _spreads(prediction, noise=True)
    with np.errstate(over="ignore"):  # a component without spread has log density -inf away from its mean
        each = -0.5 * (((y - prediction.means) / spread) ** 2 + LOG_2PI) - np.log(spread)
    return logsumexp(each, axis=0, b=prediction.weights[:, None])


def distribution(prediction: Prediction, y: np.ndarray, noise: bool = True) -> np.ndarray:
    """P(Y_i <= y_i | x_i) (t,) of the mixture."""
    if prediction.response is not None and noise:
        return prediction.weights @ prediction.response.distribution(prediction.means, prediction.variances, y)
    return prediction.weights @ ndtr((y - prediction.means) / _spreads(prediction, noise))


# --- quantiles ------------------------------------------------------------------------------------------


def quantiles(prediction: Prediction, q: np.ndarray | float, noise: bool = True) -> np.ndarray:
    """Quantiles (t, len(q)) of the mixture at levels q strictly between 0 and 1, never falling as q rises.

    A mixture quantile lies between the least and the greatest of the components' own, which brackets Newton's
    steps, and makes the quantile of a single component exact. Where y is a whole number, so is its quantile: the least
    that is not exceeded with at least this probability.
    """
    levels = np.atleast_1d(np.asarray(q, dtype=float))
    if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"quantile levels are numbers strictly between 0 and 1 in one list, but q is {q!r}")
    if prediction.response is not None and noise:
        return _by_distribution(prediction, prediction.response, levels)
    keep = prediction.weights > 0
    weights = prediction.weights[keep] / prediction.weights[keep].sum()
    means, spreads = prediction.means[keep], _spreads(prediction, noise)[keep]
    order = np.argsort(levels)
    out = np.empty((means.shape[1], levels.size))
    step = max(1, BATCH_BYTES // (8 * weights.size * max(levels.size, 1)))
    for start in range(0, means.shape[1], step):
        at = slice(start, start + step)
        found = _invert(means[:, at, None], spreads[:, at, None], weights, levels[order])
        out[at, order] = np.maximum.accumulate(found, axis=1)
    return out


def _by_distribution(prediction: Prediction, response: Response, levels: np.ndarray) -> np.ndarray:
    """Quantiles (t, q) by halving a bracket of the distribution, over whole numbers where y is one."""
    means, variances = prediction.means, prediction.variances
    centre, spread = response.moments(means, variances)
    middle = prediction.weights @ centre
    width = np.sqrt(prediction.weights @ (spread + (centre - middle) ** 2)) + 1.0
    out = np.empty((means.shape[1], levels.size))
    for column, level in enumerate(levels):

        def below(y: np.ndarray, level: float = level) -> np.ndarray:
            return prediction.weights @ response.distribution(means, variances, y) < level

        out[:, column] = _halved(below, middle, width, response.discrete)
    return np.maximum.accumulate(out[:, np.argsort(levels)], axis=1)[:, np.argsort(np.argsort(levels))]


def _halved(
    below: Callable[[np.ndarray], np.ndarray], middle: np.ndarray, width: np.ndarray, discrete: bool
) -> np.ndarray:
    """The least y (t,) that is not `below`, from a bracket that is widened until it holds."""
    low, high = (np.full(middle.shape, -1.0), np.ceil(middle + width)) if discrete else (middle - width, middle + width)
    for _ in range(60):
        short, far = below(high), np.zeros(low.shape, dtype=bool) if discrete else ~below(low)
        if not (short.any() or far.any()):
            break
        width = 2.0 * width
        high = np.where(short, np.ceil(high + width) if discrete else high + width, high)
        low = np.where(far, low - width, low)
    for _ in range(60):
        y = np.floor(0.5 * (low + high)) if discrete else 0.5 * (low + high)
        under = below(y)
        low, high = np.where(under, y, low), np.where(under, high, y)
        if float((high - low).max()) <= (1.0 if discrete else 1e-10 * float(width.max())):
            break
    return high


def _invert(means: np.ndarray, spreads: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Root x (t, q) of sum_k w_k Phi((x - mean_k) / spread_k) = level, by Newton steps within a bracket."""
    own = means + spreads * ndtri(levels)
    low, high = own.min(axis=0), own.max(axis=0)
    x = np.clip(np.tensordot(weights, own, axes=1), low, high)
    done = np.zeros(x.shape, dtype=bool)
    for step in range(200):  # every third is a bisection, so these are enough for any bracket of doubles
        excess, density = _excess(x, means, spreads, weights, levels)
        low, high = np.where(excess <= 0, x, low), np.where(excess >= 0, x, high)
        with np.errstate(over="ignore"):
            newton = x - np.divide(excess, density, out=np.full_like(x, np.inf), where=density > 0)
        tolerance = 4.0 * np.finfo(float).eps * np.maximum(np.abs(x), spreads.min(axis=0))
        done |= (np.abs(newton - x) <= tolerance) | (high - low <= tolerance)
        if done.all():
            break
        inside = (newton >= low) & (newton <= high) & (step % 3 < 2)
        x = np.where(done, x, np.where(inside, newton, low + 0.5 * (high - low)))
    return x


def _excess(
    x: np.ndarray, means: np.ndarray, spreads: np.ndarray, weights: np.ndarray, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """P(Y <= x) - level and the density at x, both (t, q)."""
    z = (x - means) / spreads
    # in the upper half the tails are compared, because P itself has lost its digits to the 1 before them
    below = np.tensordot(weights, ndtr(z), axes=1) - levels
    above = (1.0 - levels) - np.tensordot(weights, ndtr(-z), axes=1)
    with np.errstate(over="ignore"):
        bell = np.exp(-0.5 * (z * z + LOG_2PI)) / spreads
    return np.where(levels < 0.5, below, above), np.tensordot(weights, bell, axes=1)


# --- joint over rows ------------------------------------------------------------------------------------


def mixture_covariance(
    ensemble: Ensemble, train: Train, X_new: np.ndarray, neighbours: int | None = None, noise: bool = True
) -> JointMoments:
    """Mean (t,) and covariance (t, t) of y, or of f without `noise`, under the mixture (A.4)."""
    t = X_new.shape[0]
    total, means, weights = np.zeros((t, t)), [], []
    for member, weight in zip(ensemble.members, ensemble.weights, strict=True):
        if weight > 0:
            joint = joint_truncated(member, train, X_new, train.n if neighbours is None else neighbours)
            total += weight * joint.covariance
            total.flat[:: t + 1] += weight * member.parameters.noise * noise
            means.append(joint.mean)
            weights.append(weight)
    stacked, shares = np.stack(means), np.array(weights)
    mean = shares @ stacked
    # sum_k w_k xi_k xi_k' - m m' in its centred form, which cannot lose its sign to rounding
    centred = np.sqrt(shares)[:, None] * (stacked - mean)
    return JointMoments(mean, total + centred.T @ centred)


def sample(
    ensemble: Ensemble,
    train: Train,
    X_new: np.ndarray,
    size: int,
    generator: np.random.Generator,
    neighbours: int | None = None,
    noise: bool = True,
) -> np.ndarray:
    """Draws (size, t) of y, or of f without `noise`, joint over the rows X_new (t, d).

    Each draw picks a member by its weight, then one function of that member. Cost t^3 for each member picked.
    """
    weights = np.asarray(ensemble.weights, dtype=float)
    picked = generator.choice(weights.size, size=size, p=weights / weights.sum())
    z, e = generator.standard_normal((2, size, X_new.shape[0]))
    out = np.empty((size, X_new.shape[0]))
    for k in np.unique(picked):
        member, draws = ensemble.members[k], picked == k
        joint = joint_truncated(member, train, X_new, train.n if neighbours is None else neighbours)
        out[draws] = joint.mean + z[draws] @ symmetric_square_root(joint.covariance)
        if has_sites(train.noise):
            out[draws] += train.noise.level
            if noise:
                out[draws] = train.noise.response([member.parameters]).draw(0, out[draws], generator)
        elif noise:
            out[draws] += np.sqrt(member.parameters.noise) * e[draws]
    return out
