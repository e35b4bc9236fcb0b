"""Prediction at new rows: exact, truncated to nearest neighbours, and joint over rows; one member or all.

With Kt the covariance of y, k_* that between f at a new row and y, and k_** the variance of f there,

    mean = k_*' Kt^-1 y,    variance = k_** - k_*' Kt^-1 k_*.

All variances and covariances are of the latent f; `Prediction` carries the noise of every member beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ssvgp.gp.background import gram, gram_diagonal
from ssvgp.gp.condense import condense
from ssvgp.gp.likelihood import covariance
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.neighbours import close_together, nearest
from ssvgp.records import Ensemble, Member, Prediction, Train

BATCH_BYTES = 2**26
FARTHEST = 1e15  # in standard deviations: farther rows are moved here, where their squares do not overflow
CELL_FACTOR, FEWEST_CELLS = 8.0, 64  # condensed neighbours stand for this many times the rows asked for
GROUP = 32  # new rows that are tried together first
JOINT_ROWS = 4096  # training rows that a truncated joint prediction may condition on


class Moments(NamedTuple):
    """Mean (t,) and latent variance (t,)."""

    mean: np.ndarray
    variance: np.ndarray


class JointMoments(NamedTuple):
    """Mean (t,) and latent covariance (t, t)."""

    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True)
class Posterior:
    """A member with its training side factored: active rows (n, p), factor of Kt, alpha = Kt^-1 y (n,)."""

    member: Member
    train: Train
    rows: np.ndarray
    factor: Factor
    alpha: np.ndarray


# --- covariances of a member ----------------------------------------------------------------------------


def _near(X_new: np.ndarray) -> np.ndarray:
    return np.clip(X_new, -FARTHEST, FARTHEST)


def _between(member: Member, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Covariance (a, b) of f between standardised rows left (a, d) and right (b, d), all inputs given."""
    at = member.parameters
    rows = left[:, member.active]
    # a kernel that is shown the same object twice knows that its diagonal has distance zero
    others = rows if right is left else right[:, member.active]
    out = at.scale * member.kernel.matrix(rows, others, at.theta)
    if at.background:
        out += at.background * gram(at.background_kind, left, right, member.units)
    return out + at.mean


def _prior_variance(member: Member, X_new: np.ndarray) -> np.ndarray:
    """Variance (t,) of f before any data."""
    at = member.parameters
    out = at.scale * member.kernel.diagonal(X_new[:, member.active], at.theta) + at.mean
    if at.background:
        out = out + at.background * gram_diagonal(at.background_kind, X_new, member.units)
    return out


def _of_target(member: Member, X: np.ndarray) -> np.ndarray:
    """Kt (n, n) of the rows X (n, d)."""
    rows = X[:, member.active]
    sparse = member.kernel.matrix(rows, rows, member.parameters.theta)
    at = member.parameters
    return covariance(sparse, at, gram(at.background_kind, X, X, member.units) if at.background else None)


def _batches(t: int, bytes_each: int) -> Iterator[slice]:
    step = max(1, BATCH_BYTES // max(bytes_each, 1))
    return (slice(start, min(start + step, t)) for start in range(0, t, step))


# --- one member, exactly --------------------------------------------------------------------------------


def posterior(member: Member, train: Train) -> Posterior:
    """Factor the training side of a member once, for predictions at any number of rows. Cost n^3 / 3."""
    chol = factor(_of_target(member, train.X))
    return Posterior(member, train, train.X[:, member.active], chol, chol.solve(train.y))


def predict_posterior(given: Posterior, X_new: np.ndarray) -> Moments:
    """Exact moments at standardised rows X_new (t, d), in batches of bounded memory. Cost n^2 t."""
    X_new = _near(X_new)
    mean, variance = np.empty(X_new.shape[0]), np.empty(X_new.shape[0])
    for at in _batches(X_new.shape[0], 8 * given.train.n):
        cross = _between(given.member, X_new[at], given.train.X)
        half = given.factor.half_solve(cross.T)
        mean[at] = cross @ given.alpha
        variance[at] = _prior_variance(given.member, X_new[at]) - np.einsum("ij,ij->j", half, half)
    return Moments(mean, np.maximum(variance, 0.0))  # rounding can leave a variance just below zero


def predict_member(member: Member, train: Train, X_new: np.ndarray) -> Moments:
    """Exact moments of one member at standardised rows X_new (t, d)."""
    return predict_posterior(posterior(member, train), X_new)


def joint_posterior(given: Posterior, X_new: np.ndarray) -> JointMoments:
    """Exact joint moments at standardised rows X_new (t, d). Cost n^2 t + n t^2."""
    X_new = _near(X_new)
    cross = _between(given.member, X_new, given.train.X)
    half = given.factor.half_solve(cross.T)
    joint = _between(given.member, X_new, X_new) - half.T @ half
    joint = 0.5 * (joint + joint.T)
    np.fill_diagonal(joint, np.maximum(np.diagonal(joint), 0.0))
    return JointMoments(cross @ given.alpha, joint)


# --- one member, truncated to nearest neighbours (section 3.2) ------------------------------------------


def _neighbours(member: Member, train: Train, X_new: np.ndarray, m: int) -> np.ndarray:
    """Indices (t, m) of the training rows nearest in theta * (x - x'), the metric of the kernel."""
    if member.active.size:
        theta = member.parameters.theta
        return nearest(train.X[:, member.active] * theta, X_new[:, member.active] * theta, m)
    if member.parameters.background:
        return nearest(train.X, X_new, m)
    # no input matters: rows spread over the table, since the first m may be all alike in a sorted one
    spread = np.linspace(0, train.n - 1, m).round().astype(np.intp)
    return np.broadcast_to(spread, (X_new.shape[0], m))


def predict_truncated(member: Member, train: Train, X_new: np.ndarray, m: int) -> Moments:
    """Moments at rows X_new (t, d), each given its m nearest training rows only. Cost t m^3 / 3.

    With m = n or more this is exact prediction, and computed as such.
    """
    if m < 1:
        raise ValueError(f"prediction needs at least one neighbour per row, but m is {m}")
    if m >= train.n:
        return predict_member(member, train, X_new)
    member, train, X_new = _compact(member, train, X_new)
    train, counts = _condensed(member, train)
    if counts is not None:  # a few cells stand for many rows
        m = int(np.clip(m * CELL_FACTOR / counts.mean(), min(m, FEWEST_CELLS), m))
    index = _neighbours(member, train, X_new, min(m, train.n))
    mean, explained = np.empty(X_new.shape[0]), np.empty(X_new.shape[0])
    for group in _groups(member, X_new, index):
        some = np.unique(index[group])
        kt = _of_target(member, train.X[some])
        if counts is not None:
            kt.flat[:: some.size + 1] += member.parameters.noise * (1.0 / counts[some] - 1.0)
        chol = factor(kt)
        half = chol.half_solve(_between(member, X_new[group], train.X[some]).T)
        mean[group] = half.T @ chol.half_solve(train.y[some])
        explained[group] = np.einsum("ij,ij->j", half, half)
    return Moments(mean, np.maximum(_prior_variance(member, X_new) - explained, 0.0))


def _compact(member: Member, train: Train, X_new: np.ndarray) -> tuple[Member, Train, np.ndarray]:
    """The same problem with the active inputs alone, where the others have no part: all later gathers are small.

    New rows are moved to where they can be computed with; of a wide table only in the columns that count.
    """
    if member.parameters.background:
        return member, train, _near(X_new)
    active = np.arange(member.active.size)
    small = Train(np.ascontiguousarray(train.X[:, member.active]), train.y)
    return replace(member, active=active), small, _near(np.ascontiguousarray(X_new[:, member.active]))


def _condensed(member: Member, train: Train) -> tuple[Train, np.ndarray | None]:
    """The training rows averaged where they lie too dense to be told apart, and how many each one stands for."""
    if member.parameters.background or not member.kernel.local:
        return train, None
    found = condense(train.X, train.y, member.parameters.theta)
    return (train, None) if found is None else (Train(found.X, found.y), found.counts)


def _groups(member: Member, X_new: np.ndarray, index: np.ndarray) -> Iterator[np.ndarray]:
    """New rows that share one system of all their neighbours, wherever that costs less than a system for each.

    Rows close to each other have most neighbours in common. A group of g rows with u neighbours together costs u^3
    against g m^3; where the training rows are so dense that neighbours differ, groups are halved down to single rows.
    """
    scaled = X_new[:, member.active] * member.parameters.theta
    order = close_together(scaled, GROUP)
    waiting = [order[start : start + GROUP] for start in range(0, order.size, GROUP)][::-1]
    while waiting:
        group = waiting.pop()
        if group.size == 1 or np.unique(index[group]).size <= index.shape[1] * group.size ** (1.0 / 3.0):
            yield group
        else:
            waiting += [group[group.size // 2 :], group[: group.size // 2]]


def joint_truncated(member: Member, train: Train, X_new: np.ndarray, m: int) -> JointMoments:
    """Joint moments at rows X_new (t, d) whose mean and diagonal are those of `predict_truncated`.

    Correlations between the new rows are taken given one common set of training rows, the nearest of each.
    """
    if m >= train.n:
        return joint_posterior(posterior(member, train), X_new)
    moments = predict_truncated(member, train, X_new, m)
    each = min(m, max(1, JOINT_ROWS // max(X_new.shape[0], 1)))
    common = np.unique(_neighbours(member, train, _near(X_new), each))
    small = Train(train.X[common], train.y[common])
    joint = joint_posterior(posterior(member, small), X_new).covariance
    spread = np.sqrt(np.diagonal(joint))
    ratio = np.divide(np.sqrt(moments.variance), spread, out=np.zeros_like(spread), where=spread > 0)
    joint = joint * np.outer(ratio, ratio)
    np.fill_diagonal(joint, moments.variance)
    return JointMoments(moments.mean, joint)


# --- all members ----------------------------------------------------------------------------------------


def posteriors(ensemble: Ensemble, train: Train) -> tuple[Posterior, ...]:
    """The factored training side of every member, kept for repeated calls of `predict`. Memory k n^2."""
    return tuple(posterior(member, train) for member in ensemble.members)


def predict(
    ensemble: Ensemble,
    train: Train,
    X_new: np.ndarray,
    neighbours: int | None = None,
    given: Sequence[Posterior] | None = None,
) -> Prediction:
    """Moments of every member at standardised rows X_new (t, d), as one mixture (A.4).

    Exact, or given the nearest `neighbours` rows; `given` saves the factorisations of an exact prediction.
    """
    if not ensemble.members:
        raise ValueError("an ensemble without members predicts nothing; fit one first")
    if given is not None:
        moments = [predict_posterior(one, X_new) for one in given]
    else:
        m = train.n if neighbours is None else neighbours
        moments = [predict_truncated(member, train, X_new, m) for member in ensemble.members]
    return Prediction(
        means=np.stack([one.mean for one in moments]),
        variances=np.stack([one.variance for one in moments]),
        noises=np.array([member.parameters.noise for member in ensemble.members]),
        weights=np.asarray(ensemble.weights, dtype=float),
    )
