"""The covariances that a member gives: between rows, of one row, and of the targets."""

from __future__ import annotations

import numpy as np

from ssvgp.gp.background import gram, gram_diagonal
from ssvgp.gp.marginal import covariance
from ssvgp.records import Member

FARTHEST = 1e15  # in standard deviations: farther rows are moved here, where their squares do not overflow


def near(X_new: np.ndarray) -> np.ndarray:
    """New rows (t, d), none of them farther than squares of doubles reach."""
    return np.clip(X_new, -FARTHEST, FARTHEST)


def between(member: Member, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Covariance (a, b) of f between standardised rows left (a, d) and right (b, d), all inputs given."""
    at = member.parameters
    rows = left[:, member.active]
    # a kernel that is shown the same object twice knows that its diagonal has distance zero
    others = rows if right is left else right[:, member.active]
    out = at.scale * member.kernel.matrix(rows, others, at.theta)
    if at.background:
        out += at.background * gram(at.background_kind, left, right, member.layout)
    return out + at.mean


def prior_variance(member: Member, X_new: np.ndarray) -> np.ndarray:
    """Variance (t,) of f before any data."""
    at = member.parameters
    out = at.scale * member.kernel.diagonal(X_new[:, member.active], at.theta) + at.mean
    if at.background:
        out = out + at.background * gram_diagonal(at.background_kind, X_new, member.layout)
    return out


def of_target(member: Member, X: np.ndarray) -> np.ndarray:
    """Kt (n, n), the covariance of y at the rows X (n, d)."""
    rows = X[:, member.active]
    sparse = member.kernel.matrix(rows, rows, member.parameters.theta)
    at = member.parameters
    return covariance(sparse, at, gram(at.background_kind, X, X, member.layout) if at.background else None)
