"""Prediction of masses of rows: a member given all of its training rows through a few of them.

With Z the m inducing rows, K_zz = L L' their covariance, A = L^-1 K_zn that of all n rows in the directions of Z, D the
variances of their noise, with what Z leaves open of f in each row as more of it, and G = I + A D^-1 A',

    mean = k_z' w,  w = L^-T G^-1 A D^-1 y,    variance = k_** - k_z' L^-T (I - G^-1) L^-1 k_z

(Snelson and Ghahramani's sparse process; the variance keeps what Z leaves open at the new row). Cost n m^2 once and m^2
a new row, whatever n is. Rows are taken into Z, each time the one of which the others leave most open, until what is
open of f is next to nothing beside the noise, on average; where that would take too many, f is too rough for this, and
neighbours serve better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.gp.batches import Work, pieces
from ssvgp.gp.covariances import between, near, prior_variance
from ssvgp.gp.linalg import factor, symmetric_square_root
from ssvgp.gp.local import Moments, joined
from ssvgp.records import Member, Train, has_sites, row_noise

MOST = 512  # inducing rows: beyond, neighbours are not much slower
LOOKED_AT = 8 * MOST  # rows that they are chosen from, spread over the table
OPEN = 0.001  # of the noise: the variance of f that inducing rows may leave open, on average


@dataclass(frozen=True)
class Inducing:
    """A member prepared for prediction through `rows` (m, p), its active inputs, which are the `columns` of a table.

    `weights` (m,) are w, and `root` (m, m) has root root' = L^-T (I - G^-1) L^-1.
    """

    member: Member
    columns: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    root: np.ndarray


def inducing_of(member: Member, train: Train, most: int = MOST, left_open: float = OPEN) -> Inducing | None:
    """The training side of a member by inducing rows; None where they would be too many.

    None too for a background, which looks at all inputs, and for sites, which settle among neighbours.
    """
    if member.background is not None or has_sites(train.noise) or not member.active.size:
        return None
    columns, given = member.active, replace(member, active=np.arange(member.active.size))
    spread = np.linspace(0, train.n - 1, min(train.n, LOOKED_AT)).round().astype(np.intp)
    rows = chosen(given, np.asarray(train.X[spread][:, columns], dtype=float), most, left_open)
    if rows is None:
        return None
    chol = factor(between(given, rows, rows))
    own, noise = row_noise(train.noise), member.parameters.noise
    variance = np.full(train.n, noise) if own is None else own.at(noise).variance
    gram, pull = np.eye(len(rows)), np.zeros(len(rows))
    for part in pieces(train.n, LOOKED_AT):
        some = np.asarray(train.X[part][:, columns], dtype=float)
        a = chol.half_solve(between(given, some, rows).T)
        left = np.maximum(prior_variance(given, some) - np.einsum("ij,ij->j", a, a), 0.0)
        sd = np.sqrt(variance[part] + left)
        a /= sd
        gram += a @ a.T
        pull += a @ (train.y[part] / sd)
    inner, back = factor(gram), chol.half_solve(np.eye(len(rows))).T
    told = symmetric_square_root(np.eye(len(rows)) - inner.inverse())
    return Inducing(given, columns, rows, back @ inner.solve(pull), back @ told)


def chosen(member: Member, rows: np.ndarray, most: int, left_open: float) -> np.ndarray | None:
    """Inducing rows (m, p) among rows (r, p): Cholesky's factorisation with pivots, row by row. Cost r m^2.

    None where `most` leave more than the share `left_open` of the noise.
    """
    open_variance, bar = prior_variance(member, rows), left_open * member.parameters.noise
    factors, taken = np.empty((min(most, len(rows)), len(rows))), []
    for step in range(len(factors)):
        at = int(np.argmax(open_variance))
        left = between(member, rows[at : at + 1], rows)[0] - factors[:step, at] @ factors[:step]
        factors[step] = left / np.sqrt(open_variance[at])
        open_variance = np.maximum(open_variance - factors[step] ** 2, 0.0)
        open_variance[at] = 0.0
        taken.append(at)
        if float(open_variance.mean()) <= bar:
            return rows[taken]
    return None


def predict_inducing(given: Inducing, X_new: Any, work: Work | None = None) -> Moments:
    """Moments at standardised rows X_new (t, d), an array or a view, in batches of bounded memory. Cost t m^2."""

    def batch(at: slice) -> Moments:
        rows = near(np.asarray(X_new[at, given.columns]))
        cross = between(given.member, rows, given.rows)
        told = cross @ given.root
        variance = prior_variance(given.member, rows) - np.einsum("ij,ij->i", told, told)
        return Moments(cross @ given.weights, np.maximum(variance, 0.0))  # rounding can leave it just below zero

    return joined((work or Work()).over_batches(batch, X_new.shape[0], 32 * len(given.rows)))
