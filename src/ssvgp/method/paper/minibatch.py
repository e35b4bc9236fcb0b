"""Minibatches of rows for stochastic gradients of the likelihood (section 3.2, B.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.records import RowNoise, Train, row_noise
from ssvgp.settings.machine import CACHED, HELD


@dataclass(frozen=True)
class Pool:
    """The rows a round draws its minibatches from: X (r, p) on the active inputs, y (r,), their noise, the m to draw.

    `squares` holds X * X (r, p), which turns a search for neighbours into two matrix-vector products. An X of more than
    `HELD` numbers is in single precision: its products are then too (gp/kernels/families.py), all that is m x m stays
    in double precision.
    """

    X: np.ndarray
    y: np.ndarray
    m: int
    kind: str
    squares: np.ndarray | None
    noise: RowNoise | None = None

    @property
    def whole(self) -> bool:
        return self.m >= self.X.shape[0]


def pool(train: Train, active: np.ndarray, m: int, kind: str, candidates: int, rng: np.random.Generator) -> Pool:
    """The pool of a round: all rows, or a random subset of `candidates` of them (B.3), on the active inputs.

    The subset is drawn once a round, so that gathering it does not cost more than searching it.
    """
    if kind not in ("nearest", "uniform"):
        raise ValueError(f"minibatch_kind is 'nearest' or 'uniform', not {kind!r}")
    n, y, noise = train.n, train.y, row_noise(train.noise)
    rows = np.arange(n)
    if m < n and n > max(candidates, m):
        rows = np.sort(rng.choice(n, max(candidates, m), replace=False))
        y, noise = y[rows], None if noise is None else noise.rows(rows)
    table = _gathered(train.X, rows, active)
    cached = kind == "nearest" and m < rows.size and table.dtype == np.float64
    return Pool(table, y, min(m, rows.size), kind, table * table if cached else None, noise)


def _gathered(X: Any, rows: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The rows (r,) and inputs (p,) asked for, (r, p): in pieces and in single precision where they are many."""
    n, d = X.shape
    if rows.size * active.size <= HELD:
        if rows.size == n:
            return np.ascontiguousarray(X[:, active] if active.size < d else X[:])
        return np.ascontiguousarray(X[rows][:, active] if active.size < d else X[rows])
    out = np.empty((rows.size, active.size), dtype=np.float32)
    step = max(1, HELD // (8 * d))
    for start in range(0, rows.size, step):
        part = X[rows[start : start + step]]
        out[start : start + step] = part[:, active] if active.size < d else part
    return out


def draw(source: Pool, theta: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, RowNoise | None]:
    """Rows (m, p), targets (m,) and noise of one minibatch; neighbours are nearest in ||theta * (x - x')||."""
    if source.whole:
        return source.X, source.y, source.noise
    if source.kind == "uniform" or theta.size == 0:
        rows = rng.choice(source.X.shape[0], source.m, replace=False)
    else:
        centre = int(rng.integers(source.X.shape[0]))
        distance = squared_distances(source, theta, centre)
        rows = np.argpartition(distance, source.m - 1)[: source.m]
    return source.X[rows], source.y[rows], None if source.noise is None else source.noise.rows(rows)


def squared_distances(source: Pool, theta: np.ndarray, centre: int) -> np.ndarray:
    """||theta * (x_i - x_centre)||^2 (r,) less the part common to all rows; -inf at the centre itself."""
    weight = theta * theta
    if source.squares is not None:
        distance = source.X @ (-2.0 * weight * source.X[centre])
        distance += source.squares @ weight
    else:
        distance = _distances_in_one_pass(source.X, weight.astype(source.X.dtype), source.X[centre])
    distance[centre] = -np.inf
    return distance


def _distances_in_one_pass(X: np.ndarray, weight: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """sum_j w_j (x_ij - c_j)^2 (r,), each number of X (r, p) read from memory once, which is what a large X costs."""
    out = np.empty(X.shape[0])
    step = max(1, CACHED // X.shape[1])
    work = np.empty((step, X.shape[1]), dtype=X.dtype)
    for start in range(0, X.shape[0], step):
        part = X[start : start + step]
        gap = np.subtract(part, centre, out=work[: part.shape[0]])
        gap *= gap
        out[start : start + step] = gap @ weight
    return out
