"""Which excluded inputs look promising to a fitted member, all scored at once by matrix products.

With P = Kt^-1 and alpha = P y at the member, a new additive effect of a known shape phi (n,) has the score statistic
t = (phi' alpha)^2 / (phi' P phi), chi-square with one degree of freedom where the effect is absent. Three shapes
per input (x, x^2, x^3 made orthogonal in turn) see effects that are not monotone, to which the derivative in theta is
blind. Effects that act through interaction with the member show in the slope of log p in theta_j^2 at zero. Products
of two inputs that are both outside the member are found by `pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.gp.marginal import State

SHAPES = 3
PAIR_STRIP = 128  # inputs whose pairs with all others are scored at a time
COLUMNS = 2048  # inputs handled at a time, so that memory stays bounded when d is large


@dataclass(frozen=True)
class Scores:
    """For all d inputs: `additive` (chi-square of three shapes) and, through the kernel, `gain` and `cost`.

    slope of log p in theta_j^2 at zero = (gain_j - cost_j) / 2; under no effect gain is about cost times a chi-square.
    """

    additive: np.ndarray
    gain: np.ndarray
    cost: np.ndarray


def shapes(columns: np.ndarray) -> np.ndarray:
    """x, x^2, x^3 of each column (n, q), orthonormal to the constant and to each other: (3, n, q).

    A shape that the column cannot carry (x^2 of a binary input) is left zero.
    """
    n = columns.shape[0]
    out = np.zeros((SHAPES, *columns.shape))
    power = np.ones_like(columns)
    for b in range(SHAPES):
        power = power * columns
        rest = power - power.mean(0)
        before = np.sqrt((rest**2).sum(0)) + 1e-300
        for earlier in out[:b]:
            rest = rest - earlier * (earlier * rest).sum(0)
        norm = np.sqrt((rest**2).sum(0))
        kept = norm > 1e-4 * np.maximum(before, 1e-8 * np.sqrt(n))
        out[b] = np.where(kept, rest / np.where(kept, norm, 1.0), 0.0)
    return out


def screen(
    blocks: Sequence[np.ndarray],
    at: Sequence[State],
    scale: float,
    additive: bool = True,
    known: Sequence[np.ndarray] | None = None,
) -> Scores:
    """Scores of all inputs against a member, summed over blocks X (m, d) with states. Cost m^2 d per block.

    `known` are the shapes (3, m, d) of each block: a caller that asks often may remember them.
    """
    d = blocks[0].shape[1]
    total = np.zeros((3, d))
    for index, (X, here) in enumerate(zip(blocks, at, strict=True)):
        for start in range(0, d, COLUMNS):
            columns = X[:, start : start + COLUMNS]
            part = slice(start, start + COLUMNS)
            if additive:
                phis = shapes(columns) if known is None else known[index][:, :, part]
                total[0, part] += _additive(phis, here)
            pull = np.outer(here.alpha, here.alpha)
            total[1, part] += scale * here.kernel.slopes(pull, columns)
            total[2, part] += scale * here.kernel.slopes(here.precision, columns)
    return Scores(total[0], total[1], total[2])


def _additive(phis: np.ndarray, here: State) -> np.ndarray:
    """Sum over shapes (3, m, q) of (phi' alpha)^2 / (phi' P phi) less its mean 1, for each column (q,)."""
    score = np.zeros(phis.shape[2])
    for phi in phis:
        spread = np.einsum("aj,aj->j", phi, here.precision @ phi)
        present = spread > 1e-12
        score += np.where(present, (here.alpha @ phi) ** 2 / np.where(present, spread, 1.0) - 1.0, 0.0)
    return score


def pairs(blocks: Sequence[np.ndarray], at: Sequence[State], most: int, columns: np.ndarray) -> np.ndarray:
    """The `most` pairs (q, 2) of inputs whose product correlates best with alpha, among `columns`. Cost n d^2.

    The score of the pair (a, b) is (x_a * x_b)' alpha over the norm of x_a * x_b: matrix products for all pairs with a
    in one strip of the inputs. A later strip adds only what beats the worst of those kept so far.
    """
    tables = [(X[:, columns], here.alpha - here.alpha.mean()) for X, here in zip(blocks, at, strict=True)]
    best, score, bar = np.empty((0, 2), dtype=np.intp), np.empty(0), 0.0
    for start in range(0, columns.size, PAIR_STRIP):
        squares = _pair_scores(tables, start)
        if start == 0 and squares.size > most:
            bar = max(0.0, float(np.partition(squares, -most, axis=None)[-most]))
        found = np.argwhere(squares >= bar)
        best = np.concatenate([best, found + start])
        score = np.concatenate([score, squares[found[:, 0], found[:, 1]]])
        if score.size > most:
            kept = np.sort(np.argpartition(-score, most)[:most])  # in the order of the inputs, which settles ties
            best, score, bar = best[kept], score[kept], float(score[kept].min())
    return columns[best[np.argsort(-score, kind="stable")[:most]]]


def _pair_scores(tables: Sequence[tuple[np.ndarray, np.ndarray]], start: int) -> np.ndarray:
    """Squared scores of the pairs (a, b), a in the strip that begins at `start` and b from there; -1 unless a < b."""
    shape = (min(PAIR_STRIP, tables[0][0].shape[1] - start), tables[0][0].shape[1] - start)
    score, size = np.zeros(shape), np.full(shape, 1e-12)
    for table, alpha in tables:
        strip, rest = table[:, start : start + PAIR_STRIP], table[:, start:]
        score += (strip * alpha[:, None]).T @ rest
        size += (strip * strip).T @ (rest * rest)
    score *= score  # its square has the same order
    score /= size
    score[np.tril_indices(shape[0], m=shape[1])] = -1.0
    return score
