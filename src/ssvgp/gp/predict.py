"""Prediction at new rows: exact, truncated to nearest neighbours, and joint over rows; one member or all.

With Kt the covariance of y, k_* that between f at a new row and y, and k_** the variance of f there,

    mean = k_*' Kt^-1 y,    variance = k_** - k_*' Kt^-1 k_*.

All variances and covariances are of the latent f; `Prediction` carries the noise of every member beside them. Under a
likelihood that is not Gaussian, its sites stand for y and the noise, and f is the process plus the likelihood's level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from ssvgp.gp.batches import Work
from ssvgp.gp.covariances import between, near, of_target, prior_variance, sites_of
from ssvgp.gp.inducing import Inducing, inducing_of, predict_inducing
from ssvgp.gp.linalg import Factor, factor
from ssvgp.gp.local import Local, Moments, joined, local_of, predict_local
from ssvgp.records import Ensemble, Member, Prediction, Train, has_sites
from ssvgp.settings.machine import HELD

JOINT_ROWS = isqrt(HELD)  # training rows that a truncated joint prediction may condition on


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


# --- one member, exactly --------------------------------------------------------------------------------


def posterior(member: Member, train: Train) -> Posterior:
    """Factor the training side of a member once, for predictions at any number of rows. Cost n^3 / 3."""
    if has_sites(train.noise):
        settled = sites_of(member, train.X, train.y, train.noise)
        return Posterior(member, train, train.X[:, member.active], settled.factor, settled.alpha)
    chol = factor(of_target(member, train.X, train.noise))
    return Posterior(member, train, train.X[:, member.active], chol, chol.solve(train.y))


def predict_posterior(given: Posterior, X_new: Any, work: Work | None = None) -> Moments:
    """Exact moments at standardised rows X_new (t, d), in batches of bounded memory. Cost n^2 t."""

    def batch(at: slice) -> Moments:
        rows = near(X_new[at])
        cross = between(given.member, rows, given.train.X)
        half = given.factor.half_solve(cross.T)
        variance = prior_variance(given.member, rows) - np.einsum("ij,ij->j", half, half)
        return Moments(cross @ given.alpha, np.maximum(variance, 0.0))  # rounding can leave it just below zero

    return joined((work or Work()).over_batches(batch, X_new.shape[0], 24 * given.train.n))


def predict_member(member: Member, train: Train, X_new: np.ndarray) -> Moments:
    """Exact moments of one member at standardised rows X_new (t, d)."""
    return predict_posterior(posterior(member, train), X_new)


def joint_posterior(given: Posterior, X_new: np.ndarray) -> JointMoments:
    """Exact joint moments at standardised rows X_new (t, d). Cost n^2 t + n t^2."""
    X_new = near(X_new)
    cross = between(given.member, X_new, given.train.X)
    half = given.factor.half_solve(cross.T)
    joint = between(given.member, X_new, X_new) - half.T @ half
    joint = 0.5 * (joint + joint.T)
    np.fill_diagonal(joint, np.maximum(np.diagonal(joint), 0.0))
    return JointMoments(cross @ given.alpha, joint)


# --- one member, truncated to nearest neighbours (section 3.2) ------------------------------------------


def predict_truncated(member: Member, train: Train, X_new: Any, m: int) -> Moments:
    """Moments at rows X_new (t, d), each given its m nearest training rows only. Cost t m^3 / 3.

    With m = n or more this is exact prediction, and computed as such.
    """
    return _predict_one(prepared(member, train, m, X_new.shape[0]), X_new, Work())


def joint_truncated(member: Member, train: Train, X_new: np.ndarray, m: int) -> JointMoments:
    """Joint moments at rows X_new (t, d) whose mean and diagonal are those of `predict_truncated`.

    Correlations between the new rows are taken given one common set of training rows, the nearest of each.
    """
    if m >= train.n:
        return joint_posterior(posterior(member, train), X_new)
    ready = prepared(member, train, m, X_new.shape[0])
    moments = _predict_one(ready, X_new, Work())
    each = min(m, max(1, JOINT_ROWS // max(X_new.shape[0], 1)))
    common = np.unique(_common(ready, member, train, near(X_new), each))
    joint = joint_posterior(posterior(member, train.rows(common)), X_new).covariance
    spread = np.sqrt(np.diagonal(joint))
    ratio = np.divide(np.sqrt(moments.variance), spread, out=np.zeros_like(spread), where=spread > 0)
    joint = joint * np.outer(ratio, ratio)
    np.fill_diagonal(joint, moments.variance)
    return JointMoments(moments.mean, joint)


def _common(ready: Prepared, member: Member, train: Train, X_new: np.ndarray, each: int) -> np.ndarray:
    """Indices of the nearest training rows of every new row, in the table itself: none are averaged."""
    if isinstance(ready, Local) and not ready.condensed:  # its search is over the table
        whole = replace(ready, m=min(each, ready.m))
    else:
        whole = local_of(member, train, each, X_new.shape[0], condensing=False)
    return whole.neighbours(X_new[:, whole.columns])


# --- all members ----------------------------------------------------------------------------------------


Prepared = Posterior | Local | Inducing


def prepared(
    member: Member, train: Train, neighbours: int | None, queries: int | None = None, masses: bool = False
) -> Prepared:
    """The training side of a member: factored where it is given all rows, else ready for searches of neighbours.

    Where `masses` of rows will be asked for, all rows through a few of them, if these can stand for them.
    """
    if neighbours is not None and neighbours < 1:
        raise ValueError(f"prediction needs at least one neighbour per row, but m is {neighbours}")
    if neighbours is None or neighbours >= train.n:
        return posterior(member, train)
    return (inducing_of(member, train) if masses else None) or local_of(member, train, neighbours, queries)


def ready_bytes(member: Member, train: Train, neighbours: int | None) -> int:
    """About what `prepared` returns takes in memory, at most."""
    exact = neighbours is None or neighbours >= train.n
    width = train.d if member.background is not None else member.active.size
    return 8 * train.n * (train.n if exact else 3 * width + 4)


def _predict_one(given: Prepared, X_new: Any, work: Work) -> Moments:
    if isinstance(given, Inducing):
        return predict_inducing(given, X_new, work)
    return predict_local(given, X_new, work) if isinstance(given, Local) else predict_posterior(given, X_new, work)


def predict(
    ensemble: Ensemble,
    train: Train,
    X_new: Any,
    neighbours: int | None = None,
    given: Sequence[Prepared | None] | None = None,
    work: Work | None = None,
) -> Prediction:
    """Moments of every member at standardised rows X_new (t, d), an array or a view, as one mixture (A.4).

    Exact, or given the nearest `neighbours` rows; `given` holds members that are prepared already.
    """
    if not ensemble.members:
        raise ValueError("an ensemble without members predicts nothing; fit one first")
    moments = []
    for member, ready in zip(ensemble.members, given or [None] * len(ensemble.members), strict=True):
        one = ready or prepared(member, train, neighbours, X_new.shape[0])
        moments.append(_predict_one(one, X_new, work or Work()))
    found = Prediction(
        means=np.stack([one.mean for one in moments]),
        variances=np.stack([one.variance for one in moments]),
        noises=np.array([member.parameters.noise for member in ensemble.members]),
        weights=np.asarray(ensemble.weights, dtype=float),
    )
    if not has_sites(train.noise):
        return found
    response = train.noise.response([member.parameters for member in ensemble.members])
    return replace(found, means=found.means + train.noise.level, response=response)
