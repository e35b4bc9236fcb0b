"""The covariances that a member gives: between rows, of one row, and of the targets."""

from __future__ import annotations

import numpy as np

from ssvgp.gp.marginal import covariance, of_process
from ssvgp.gp.neighbours import FARTHEST
from ssvgp.gp.sites import Settled
from ssvgp.gp.terms import terms_of
from ssvgp.records import Likelihood, Member, Settling, Sites


def near(X_new: np.ndarray) -> np.ndarray:
    """New rows (t, d), none of them so far that squares overflow."""
    return np.clip(X_new, -FARTHEST, FARTHEST)


def between(member: Member, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Covariance (a, b) of f between standardised rows left (a, d) and right (b, d), all inputs given."""
    (scale, sparse), *others = terms_of(member)
    out = scale * sparse.matrix(left, right)
    for strength, term in others:
        out += strength * term.matrix(left, right)
    return out


def prior_variance(member: Member, X_new: np.ndarray) -> np.ndarray:
    """Variance (t,) of f before any data."""
    return sum((strength * term.diagonal(X_new) for strength, term in terms_of(member)), np.zeros(X_new.shape[0]))


def of_target(member: Member, X: np.ndarray, noise: Likelihood | None = None) -> np.ndarray:
    """Kt (n, n), the covariance of y at the rows X (n, d) with this noise, None for the learned one alone."""
    rows = X[:, member.active]
    sparse = member.kernel.matrix(rows, rows, member.parameters.theta)
    return covariance(sparse, member.parameters, background_of(member, X), rows_noise=noise)


def sites_of(member: Member, X: np.ndarray, y: np.ndarray, sites: Sites) -> Settled:
    """The sites (n,) of the rows X (n, d) with targets y under a member. Cost n^3 / 3 a step."""
    rows = X[:, member.active]
    sparse = member.kernel.matrix(rows, rows, member.parameters.theta)
    prior = of_process(sparse, member.parameters, background_of(member, X), sparse)
    found: Settled = sites.settle(prior, y, member.parameters, None, Settling.VALUE)
    return found


def background_of(member: Member, X: np.ndarray) -> np.ndarray | None:
    """The background matrix (n, n) of the rows X (n, d), with unit strength; None for a member without one."""
    return None if member.background is None else member.background.matrix(X, X)
