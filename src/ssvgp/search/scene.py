"""What a fitted set shows of single inputs: shapes of each, alone and times what is active, scored against it.

At a set with P = Kt^-1 and alpha = P y, one more random effect along a vector phi changes the log likelihood by what
g = (phi' alpha)^2 and c = phi' P phi say; without such an effect t = g / c is about chi-square(1). For the first shapes
of single inputs c is exact, else from the diagonal of P, which ranks as well. Strengths are in nats: minus the log of
the probability that a shape without effect scores as high. Products of several inputs are in search/dictionary.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, gammaln, log_ndtr

from ssvgp.gp.linalg import leading_directions
from ssvgp.search.shapes import Shapes

DIRECTIONS = 5  # of what the set explains: with one the pairs of a real table of 32 inputs ranked 29th to 388th
THROUGH = 2  # slow shapes that are taken times these directions
NESTED = (3, 6)  # waves that are summed for smooth effects and less smooth ones, beside all of them
COLUMNS = 2048  # inputs at a time


@dataclass(frozen=True)
class Scene:
    """What is scored against: alpha and the diagonal of P (n,), directions (R + 1, n), the shapes of all inputs.

    `precisions` are P itself, block by block.
    """

    alpha: np.ndarray
    weight: np.ndarray
    precisions: tuple[np.ndarray, ...]
    directions: np.ndarray
    shapes: Shapes

    @property
    def n(self) -> int:
        return int(self.alpha.size)


def scene(alpha: np.ndarray, precisions: Sequence[np.ndarray], sparse: np.ndarray | None, shapes: Shapes) -> Scene:
    """The scene at a fit with the inverse covariances of its blocks and its sparse kernel matrix (n, n), if any."""
    directions = np.ones((1, alpha.size))
    blocks = tuple(one.astype(np.float32) for one in precisions)
    weight = np.concatenate([np.diagonal(one) for one in blocks])
    if sparse is not None:
        directions = np.concatenate([directions, leading_directions(sparse, DIRECTIONS)])
    return Scene(alpha.astype(np.float32), weight, blocks, directions.astype(np.float32), shapes)


def tail_nats(total: np.ndarray, freedom: int) -> np.ndarray:
    """-log P(chi-square(freedom) > total), also where that is below the smallest double."""
    total = np.maximum(np.asarray(total, dtype=float), 0.0)
    if freedom == 1:
        return np.asarray(-log_ndtr(-np.sqrt(total)) - np.log(2.0))
    with np.errstate(divide="ignore"):
        usual = -np.log(chdtrc(freedom, total))
    half, order = np.maximum(0.5 * total, 1.0), 0.5 * freedom
    # the first two terms of the tail
    far = half - (order - 1.0) * np.log(half) + gammaln(order) - np.log1p((order - 1.0) / half)
    return np.where(np.isinf(usual), far, usual)


def single_nats(view: Scene) -> np.ndarray:
    """Strength (d,) of every input alone: by few waves, by all, or by slow waves times what is active. Cost n d."""
    out = np.empty(view.shapes.d)
    for start in range(0, out.size, COLUMNS):
        part = slice(start, start + COLUMNS)
        out[part] = _single(view, view.shapes.waves(part))
    return out


def _single(view: Scene, waves: np.ndarray) -> np.ndarray:
    squares = waves * waves
    alone = np.stack([_ratio(view, view.directions[0], *one) for one in zip(waves, squares, strict=True)])
    for k in range(min(NESTED[0], len(waves))):  # what the set or its background explains in part has a smaller c
        alone[k] = (view.alpha @ waves[k]) ** 2 / np.maximum(_spread(view, waves[k]), 1e-30)
    totals = [(alone[:count].sum(0), count) for count in (*NESTED, len(waves)) if count <= len(waves)]
    through = [
        _ratio(view, u, waves[k], squares[k]) for u in view.directions[1:] for k in range(min(THROUGH, len(waves)))
    ]
    if through:
        totals.append((alone[: NESTED[0]].sum(0) + np.sum(through, axis=0), NESTED[0] + len(through)))
    return np.max([tail_nats(total, freedom) for total, freedom in totals], axis=0)


def _spread(view: Scene, phi: np.ndarray) -> np.ndarray:
    """phi' P phi (q,) of shapes (n, q). Cost n^2 q for each block."""
    out, start = np.zeros(phi.shape[1]), 0
    for precision in view.precisions:
        rows = phi[start : start + len(precision)]
        out += np.einsum("ij,ij->j", rows, precision @ rows)
        start += len(precision)
    return out


def _ratio(view: Scene, u: np.ndarray, phi: np.ndarray, square: np.ndarray) -> np.ndarray:
    """t (q,) of shapes phi (n, q) times u (n,)."""
    g = (view.alpha * u) @ phi
    return np.asarray(g * g / np.maximum((view.weight * u * u) @ square, 1e-30))
