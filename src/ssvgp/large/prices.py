"""What one more input costs beside a strong part, beyond its own shapes: the price that exact fits ask.

In the process of a member an input multiplies all the others: with theta it brings not only functions of itself but
their products with everything that is strong, and rows that show none of these speak against it. As far as all rows can
be modelled jointly this is measured, as exact fits do (evidence/unvisited/factors.py): the likelihood of all rows along
theta, through the kernel, against the closed form of the shapes alone: for the inputs in question, and for a few that
stand for all others. Where rows are too many for that, a weak input acts by itself and has no such price, and neither
has it under a linear kernel, in which inputs add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.evidence.unvisited.factors import SAMPLE, THETAS
from ssvgp.gp.linalg import forms_of_each
from ssvgp.gp.marginal import log_likelihood
from ssvgp.gp.weak import Features, Shapes
from ssvgp.large.rows import sums
from ssvgp.large.terms import shape_variances
from ssvgp.records import Member, Train
from ssvgp.run.workers import SERIAL, Executor


def prices(
    train: Train,
    member: Member,
    shapes: Shapes,
    asked: np.ndarray,
    rng: np.random.Generator,
    workers: Executor = SERIAL,
) -> np.ndarray:
    """log prices (d, nodes) of all inputs at each of `THETAS`, all rows one group.

    Inputs that are asked for (a,) have their own, all others the median of a few outside the member.
    """
    if float(member.kernel.diagonal(np.ones((1, 1)), np.zeros(1))[0]) == 0.0:  # idle inputs leave nothing: they add up
        return np.zeros((train.d, THETAS.size))
    outside = np.setdiff1d(np.arange(train.d), member.active)
    some = rng.permutation(outside)[: (SAMPLE + 1) // 2]
    every, base = np.union1d(some, asked).astype(np.intp), _through_kernel(train, member)
    own = np.array(workers.map(_gap, [(train, member, shapes, int(j), base) for j in every]))
    out = np.tile(np.median(own[np.isin(every, some)], axis=0), (train.d, 1))
    out[np.sort(asked)] = own[np.isin(every, asked)]
    return out


def _gap(train: Train, member: Member, shapes: Shapes, j: int, base: float) -> np.ndarray:
    """By how much (nodes,) the likelihood of an input lies above that of its shapes alone.

    Strengths beyond one that is hopeless have the gap of that one: nobody will ask for them.
    """
    alone, gap = _by_shapes(train, member, shapes, j), np.zeros(THETAS.size)
    for node, theta in enumerate(THETAS):
        value = _through_kernel(train, member, j, float(theta)) - base
        gap[node:] = value - alone[node]
        if value < -NEGLIGIBLE:
            break
    return gap


def _through_kernel(train: Train, member: Member, *more: int | float) -> float:
    """log likelihood of all rows under the member, or with one more input (number, theta)."""
    at, columns = member.parameters, member.active
    if more:
        at, columns = replace(at, theta=np.append(at.theta, more[1])), np.append(columns, int(more[0]))
    return log_likelihood(member.kernel, np.asarray(train.X[:, columns]), train.y, at, None, 0.0, train.noise)


def _by_shapes(train: Train, member: Member, shapes: Shapes, j: int) -> np.ndarray:
    """log p(y | the shapes of an input beside the member) / p(y | member) at every node (nodes,)."""
    degrees = int((np.cumprod(shapes.sizes[:, j] > 0) > 0).sum())
    singles = np.stack([np.zeros(degrees, dtype=np.intp), np.arange(degrees)], axis=1)
    features = Features(np.array([j]), shapes.columns(np.array([j])), singles, np.empty((0, 2), dtype=np.intp))
    found = sums(train, member, features, train.n)
    rho = member.parameters.scale * shape_variances(shapes.degrees)[:, :degrees]
    systems = np.repeat(found.C[None], len(rho), axis=0)
    systems[:, np.arange(degrees), np.arange(degrees)] += 1.0 / rho
    squares, determinants = forms_of_each(systems, np.repeat(found.g[None], len(rho), axis=0))
    return 0.5 * (squares - determinants) - 0.5 * np.log(rho).sum(axis=1)
