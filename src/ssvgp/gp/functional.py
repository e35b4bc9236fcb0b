"""Averages of f over rows in which some inputs are set to given values: what an effect is made of.

An average of f over rows is linear in f, so given a member the averages of several blocks of rows are jointly normal:
with c_b the mean of k_* over the rows of block b and k_bb' the mean of the covariances between two blocks,

    mean_b = c_b' Kt^-1 y,    covariance_bb' = k_bb' - c_b' Kt^-1 c_b'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ssvgp.gp.predict import Posterior, joint_truncated, predict_truncated
from ssvgp.gp.terms import Background
from ssvgp.gp.weak import Weak
from ssvgp.records import Ensemble, Member, Train
from ssvgp.settings.machine import CACHED

BATCH_NUMBERS = CACHED // 2  # covariances made together, with as many distances beside them


Covariance = Callable[[np.ndarray], np.ndarray]  # of some rows (a, q) with all rows of a fixed table (a, width)


@dataclass(frozen=True)
class Blocks:
    """b copies of the same r rows, with the inputs `changed` (c,) set to `values`.

    Values are (b, c, 1), or one for each row (b, c, r); NaN leaves an input as it is. `base` has r rows of all d
    inputs, and is only ever asked for columns.
    """

    base: Any
    changed: np.ndarray
    values: np.ndarray

    @property
    def count(self) -> int:
        return self.values.shape[0]

    @property
    def r(self) -> int:
        return self.base.shape[0]

    def rows(self, columns: np.ndarray) -> np.ndarray:
        """The given columns (q,) of all rows, block after block (b r, q)."""
        out = np.repeat(self.base[:, columns][None], self.count, axis=0)
        for column, values in zip(self.changed, np.moveaxis(self.values, 1, 0), strict=True):
            for place in np.flatnonzero(columns == column):
                out[:, :, place] = np.where(np.isnan(values), out[:, :, place], values)
        return out.reshape(self.count * self.r, columns.size)

    def part(self, at: slice) -> Blocks:
        return replace(self, values=self.values[at])

    def touches(self, member: Member) -> bool:
        """Whether the blocks differ at all to this member."""
        return member.background is not None or bool(np.isin(self.changed, member.active).any())


class Averages(NamedTuple):
    """Means (k, q) and variances (k, q) of q contrasts of block averages under every member."""

    means: np.ndarray
    variances: np.ndarray


def latent_means(given: Posterior, blocks: Blocks) -> np.ndarray:
    """Posterior mean of f (b, r) at every row of every block. Cost b r n."""
    member, train = given.member, given.train
    every = np.arange(train.d)
    out = []
    for part in _parts(blocks, train.n, member):
        rows = part.rows(member.active)
        cross = member.parameters.scale * member.kernel.matrix(rows, given.rows, member.parameters.theta)
        if member.background is not None:
            cross += member.parameters.background * member.background.matrix(part.rows(every), train.X)
        out.append(cross @ given.alpha + member.parameters.mean * given.alpha.sum())
    return np.concatenate(out).reshape(blocks.count, blocks.r)


def _parts(blocks: Blocks, n: int, member: Member) -> Iterator[Blocks]:
    """Successive blocks, as many together as keeps their arrays within bounded memory."""
    width = n + (blocks.base.shape[1] if member.background is not None else 0)
    step = max(1, BATCH_NUMBERS // (blocks.r * max(width, 1)))
    return (blocks.part(slice(start, start + step)) for start in range(0, blocks.count, step))


class _Dense(NamedTuple):
    """Mean background covariance of the blocks with the training rows (b, n) and with each other (b, b)."""

    cross: np.ndarray
    joint: np.ndarray


def _dense(term: Background, blocks: Blocks, train: Train) -> _Dense:
    rows = blocks.rows(np.arange(train.d))
    cross = _mean_over_rows(lambda left: term.matrix(left, train.X), rows, blocks.r, train.n)
    return _Dense(cross, _mean_over_pairs(lambda left: term.matrix(left, rows), rows, blocks.r))


def _mean_over_rows(covariance: Covariance, rows: np.ndarray, r: int, width: int) -> np.ndarray:
    """Covariances of all rows with `width` others (b r, width), averaged over the rows of each block (b, width)."""
    out = np.empty((rows.shape[0] // r, width))
    step = max(1, BATCH_NUMBERS // (r * width))
    for start in range(0, out.shape[0], step):
        some = covariance(rows[start * r : (start + step) * r])
        out[start : start + step] = some.reshape(-1, r, width).mean(axis=1)
    return out


def _mean_over_pairs(covariance: Covariance, rows: np.ndarray, r: int) -> np.ndarray:
    """Covariances of all rows with each other, averaged over the rows of both blocks (b, b)."""
    half = _mean_over_rows(covariance, rows, r, rows.shape[0])
    out = half.reshape(half.shape[0], -1, r).mean(axis=2)
    return 0.5 * (out + out.T)


def average_covariance(given: Posterior, blocks: Blocks, dense: _Dense | None = None) -> np.ndarray:
    """Posterior covariance (b, b) of the averages of f over the rows of each block. Cost (b r)^2 + b n^2."""
    at, n = given.member.parameters, given.train.n
    rows, kernel = blocks.rows(given.member.active), given.member.kernel
    cross = _mean_over_rows(lambda left: kernel.matrix(left, given.rows, at.theta), rows, blocks.r, n)
    joint = _mean_over_pairs(lambda left: kernel.matrix(left, rows, at.theta), rows, blocks.r)
    cross, joint = at.scale * cross + at.mean, at.scale * joint + at.mean
    if given.member.background is not None:
        dense = dense or _dense(given.member.background, blocks, given.train)
        cross, joint = cross + at.background * dense.cross, joint + at.background * dense.joint
    half = given.factor.half_solve(cross.T)
    return joint - half.T @ half


def averages(given: Iterable[Posterior], blocks: Blocks, fewer: Blocks, contrasts: np.ndarray) -> Averages:
    """Contrasts (q, b) of block averages under every member, exactly.

    Covariances are those of averages over the rows of `fewer`, which are part of those of `blocks`: an average over
    part of the rows is on the whole less certain than one over all, so they err to the wide side.
    """
    means, variances = [], []
    dense: dict[str, _Dense] = {}  # the background is the same for all members that have it
    for one in given:
        member = one.member
        if not blocks.touches(member):  # all blocks are alike
            total, first = contrasts.sum(axis=1), slice(0, 1)
            means.append(total * latent_means(one, blocks.part(first)).mean())
            variances.append(total**2 * average_covariance(one, fewer.part(first))[0, 0])
            continue
        name = "" if member.background is None else member.background.name
        if member.background is not None and name not in dense:
            dense[name] = _dense(member.background, fewer, one.train)
        means.append(contrasts @ latent_means(one, blocks).mean(axis=1))
        variances.append(_quadratic(contrasts, average_covariance(one, fewer, dense.get(name))))
    return Averages(np.stack(means), np.maximum(np.stack(variances), 0.0))


def _quadratic(contrasts: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Diagonal (q,) of contrasts covariance contrasts'."""
    return np.einsum("qb,qb->q", contrasts @ covariance, contrasts)


# --- many rows: each row of a block given its nearest training rows -------------------------------------------


def averages_truncated(ensemble: Ensemble, train: Train, blocks: Blocks, m: int, contrasts: np.ndarray) -> Averages:
    """Contrasts (q, b) of block averages under every member, by the truncated joint prediction at all rows."""
    means, variances = [], []
    for member in ensemble.members:
        kept = blocks if blocks.touches(member) else blocks.part(slice(0, 1))
        weights = contrasts if kept is blocks else contrasts.sum(axis=1, keepdims=True)
        small, rows, table = _compacted(member, train, kept)
        joint = joint_truncated(small, table, rows, m)
        means.append(weights @ joint.mean.reshape(kept.count, kept.r).mean(axis=1))
        covariance = joint.covariance.reshape(kept.count, kept.r, kept.count, kept.r).mean(axis=(1, 3))
        variances.append(_quadratic(weights, covariance))
    return Averages(np.stack(means), np.maximum(np.stack(variances), 0.0))


def latent_means_truncated(member: Member, train: Train, asked: Sequence[Blocks], m: int) -> list[np.ndarray]:
    """Mean of f (b, r) at every row of each of several blocks, each given its m nearest training rows."""
    small, rows, table = _compacted(member, train, *asked)
    means = predict_truncated(small, table, rows, m).mean
    ends = np.cumsum([blocks.count * blocks.r for blocks in asked])[:-1]
    return [part.reshape(b.count, b.r) for part, b in zip(np.split(means, ends), asked, strict=True)]


def _compacted(member: Member, train: Train, *blocks: Blocks) -> tuple[Member, np.ndarray, Train]:
    """Member, rows of all blocks and training rows in the inputs that have a part: the active ones, or all."""
    if member.background is not None:
        return member, np.concatenate([one.rows(np.arange(train.d)) for one in blocks]), train
    rows = np.concatenate([one.rows(member.active) for one in blocks])
    return replace(member, active=np.arange(member.active.size)), rows, train.columns(member.active)


# --- the weak part, which all members have in common ----------------------------------------------------------


def weak_means(weak: Weak | None, blocks: Blocks) -> np.ndarray | float:
    """Mean of the weak part (b, r) at every row of each block; nothing where there is none."""
    if weak is None:
        return 0.0
    return (_weak_values(weak, blocks) @ weak.mean).reshape(blocks.count, blocks.r)


def with_weak(found: Averages, weak: Weak | None, blocks: Blocks, contrasts: np.ndarray) -> Averages:
    """Contrasts (q, b) of block averages with those of the weak part added, which are linear in its coefficients."""
    if weak is None:
        return found
    values = _weak_values(weak, blocks).reshape(blocks.count, blocks.r, -1).mean(axis=1)
    along = contrasts @ values
    return Averages(found.means + along @ weak.mean, found.variances + _quadratic(along, weak.covariance))


def _weak_values(weak: Weak, blocks: Blocks) -> np.ndarray:
    """The features (b r, f) of all rows of all blocks."""
    own = replace(weak.features, columns=np.arange(weak.columns.size))
    return own.values(blocks.rows(weak.columns))
