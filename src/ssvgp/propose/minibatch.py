"""Minibatches of rows for stochastic gradients of the likelihood (section 3.2, B.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CACHE_NUMBERS = 2**24  # squares of the inputs are kept only where they are fewer than this


@dataclass(frozen=True)
class Pool:
    """The rows a round draws its minibatches from: X (r, p) on the active inputs, y (r,), and the m to draw.

    `squares` holds X * X (r, p), which turns a search for neighbours into two matrix-vector products.
    """

    X: np.ndarray
    y: np.ndarray
    m: int
    kind: str
    squares: np.ndarray | None

    @property
    def whole(self) -> bool:
        return self.m >= self.X.shape[0]


def pool(
    X: np.ndarray, y: np.ndarray, active: np.ndarray, m: int, kind: str, candidates: int,
    rng: np.random.Generator,
) -> Pool:
    """The pool of a round: all rows, or a random subset of `candidates` of them (B.3), on the active inputs.

    The subset is drawn once a round, so that gathering it does not cost more than searching it.
    """
    if kind not in ("nearest", "uniform"):
        raise ValueError(f"minibatch_kind is 'nearest' or 'uniform', not {kind!r}")
    n, d = X.shape
    if m < n and n > max(candidates, m):
        rows = np.sort(rng.choice(n, max(candidates, m), replace=False))
        X, y = X[rows], y[rows]
    if active.size < d:
        X = X[:, active]
    X = np.ascontiguousarray(X)
    cached = kind == "nearest" and m < X.shape[0] and X.size <= CACHE_NUMBERS
    return Pool(X, y, min(m, X.shape[0]), kind, X * X if cached else None)


def draw(source: Pool, theta: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows (m, p) and targets (m,) of one minibatch; neighbours are nearest in ||theta * (x - x')||."""
    if source.whole:
        return source.X, source.y
    if source.kind == "uniform" or theta.size == 0:
        rows = rng.choice(source.X.shape[0], source.m, replace=False)
    else:
        centre = int(rng.integers(source.X.shape[0]))
        distance = squared_distances(source, theta, centre)
        rows = np.argpartition(distance, source.m - 1)[: source.m]
    return source.X[rows], source.y[rows]


def squared_distances(source: Pool, theta: np.ndarray, centre: int) -> np.ndarray:
    """||theta * (x_i - x_centre)||^2 (r,) less the part common to all rows; -inf at the centre itself."""
    weight = theta * theta
    distance = source.X @ (-2.0 * weight * source.X[centre])
    if source.squares is not None:
        distance += source.squares @ weight
    else:
        step = max(1, CACHE_NUMBERS // (4 * source.X.shape[1]))
        for start in range(0, source.X.shape[0], step):
            part = source.X[start : start + step]
            distance[start : start + step] += (part * part) @ weight
    distance[centre] = -np.inf
    return distance
