"""Very many rows in few active inputs: rows that no kernel can tell apart are averaged into one.

Rows within a cell of a small part of a lengthscale are repeated measurements at one place to the process, as long as
what f varies by within a cell is little beside the noise. Their mean, with the noise variance divided by their number,
carries the same information, so that a few neighbours stand for thousands of rows. Where rows have noise of their own,
they count by the learned noise over theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.gp.batches import pieces
from ssvgp.records import Member, Train, has_sites, row_noise
from ssvgp.settings.machine import CACHED, HELD

SIDES = ((0.1, 16.0), (0.05, 2.0))  # of a cell, in lengthscales, with the rows it must hold on average to be of use
WITHIN = 0.1  # the variance of f within a cell may be this share of the noise


@dataclass(frozen=True)
class Condensed:
    """Means of cells: X (c, p), y (c,), the variance of their noise (c,), and how many rows each stands for (c,)."""

    X: np.ndarray
    y: np.ndarray
    variance: np.ndarray
    counts: np.ndarray


def condense(train: Train, member: Member) -> Condensed | None:
    """Cell means of rows that have the active inputs (n, p) of the member alone; None where none would be good.

    The wider cells are taken where they still hold many rows.
    """
    X, y, noise = train.X, train.y, member.parameters.noise
    n, p = X.shape
    if has_sites(train.noise):  # a mean of rows is no row of such a likelihood
        return None
    rows = row_noise(train.noise)
    counted = None if rows is None else noise / rows.at(noise).variance
    if p == 0 or not member.kernel.local or not (member.parameters.theta > 0).all():
        return None
    for side, least in SIDES:
        if varies_within(member, side) <= WITHIN * noise:
            found = _cells(X, y, counted, side / member.parameters.theta, n / least)
            if found is not None:
                *means, counts, occupants = found
                return Condensed(np.stack(means[:-1], axis=1), means[-1], noise * (1.0 / counts), occupants)
    return None


def varies_within(member: Member, side: float) -> float:
    """Variance that f has within a cell: 1 - correlation at sqrt(p / 6) sides, the distance of two rows in it."""
    at = member.parameters
    pair = np.stack([np.zeros(at.theta.size), side / np.sqrt(6.0) / at.theta])
    covariance = member.kernel.matrix(pair, pair, at.theta)
    return float(at.scale * (covariance[0, 0] - covariance[0, 1]))


def _cells(
    X: np.ndarray, y: np.ndarray, counted: np.ndarray | None, sides: np.ndarray, most: float
) -> list[np.ndarray] | None:
    """Means over the cells of a grid of these sides (p,): every column of X, then y, each (c,).

    Then how much the rows of each cell count together, once each where `counted` is None, and how many they are. None
    where more than `most` cells are occupied.
    """
    low = np.floor(X.min(axis=0) / sides)
    spans = np.floor(X.max(axis=0) / sides) - low + 1.0
    if np.prod(spans) > HELD:  # cells of the whole grid, occupied or not: their sums are kept in arrays
        return None
    strides, total = np.concatenate([[1.0], np.cumprod(spans[:-1])]), int(np.prod(spans))
    keys = np.empty(X.shape[0], dtype=np.int32)
    for at in pieces(X.shape[0], CACHED // X.shape[1]):
        keys[at] = (np.floor(X[at] / sides) - low) @ strides
    counts = np.bincount(keys, minlength=total)
    occupied = np.flatnonzero(counts)
    if occupied.size > most:
        return None
    occupants = counts[occupied].astype(float)
    if counted is None:
        sums = (np.bincount(keys, column, minlength=total)[occupied] for column in (*X.T, y))
        return [*(column / occupants for column in sums), occupants, occupants]
    whole = np.bincount(keys, counted, minlength=total)[occupied]
    sums = (np.bincount(keys, counted * column, minlength=total)[occupied] for column in (*X.T, y))
    return [*(column / whole for column in sums), whole, occupants]
