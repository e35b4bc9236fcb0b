"""What a fitted set shows of single inputs: shapes of each, alone and times what is active, scored against it.

At a set with P = Kt^-1 and alpha = P y, one more random effect along a vector phi changes the log likelihood by what
g = (phi' alpha)^2 and c = phi' P phi say; without such an effect t = g / c is about chi-square(1). For the column
itself and its first shapes c is exact, else from the diagonal of P, which ranks as well; leaders are scored by their
shapes together, g' C^-1 g with C = Phi' P Phi. Strengths are in nats: minus the log of the probability that shapes
without effect score as high. Products of several inputs are in search/dictionary.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc, gammaln, log_ndtr

from ssvgp.gp.linalg import forms_along, leading_directions
from ssvgp.search.shapes import FINE, LEAST, SLOW, Shapes
from ssvgp.settings.machine import CACHED, STRIP
from ssvgp.settings.regime import SLIGHT

DIRECTIONS = 5  # of what the set explains: with one the pairs of a real table of 32 inputs ranked 29th to 388th
THROUGH = 2  # slow shapes that are taken times these directions
NESTED = (SLOW, FINE)  # waves that are summed for smooth effects and less smooth ones, beside all of them
COLUMNS = CACHED // STRIP  # inputs at a time
LEADERS = 32  # inputs whose shapes are scored together


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

    @cached_property
    def alone(self) -> np.ndarray:
        """Strength (d,) of every input alone."""
        return single_nats(self)


def scene(alpha: np.ndarray, precisions: Sequence[np.ndarray], sparse: np.ndarray | None, shapes: Shapes) -> Scene:
    """The scene at a fit with the inverse covariances of its blocks and its sparse kernel matrix (n, n), if any."""
    directions = np.ones((1, alpha.size))
    blocks = tuple(one.astype(np.float32) for one in precisions)
    weight = np.concatenate([np.diagonal(one) for one in blocks])
    if sparse is not None:
        directions = np.concatenate([directions, leading_directions(sparse, DIRECTIONS)])
    return Scene(alpha.astype(np.float32), weight, blocks, directions.astype(np.float32), shapes)


def tail_nats(total: np.ndarray, freedom: int | np.ndarray) -> np.ndarray:
    """-log P(chi-square(freedom) > total), also where that is below the smallest double; zero where freedom is none."""
    total = np.maximum(np.asarray(total, dtype=float), 0.0)
    if isinstance(freedom, int) and freedom == 1:
        return np.asarray(-log_ndtr(-np.sqrt(total)) - np.log(2.0))
    some = np.maximum(freedom, 1)
    with np.errstate(divide="ignore"):
        usual = -np.log(chdtrc(some, total))
    half, order = np.maximum(0.5 * total, 1.0), 0.5 * some
    # the first two terms of the tail
    far = half - (order - 1.0) * np.log(half) + gammaln(order) - np.log1p((order - 1.0) / half)
    return np.where(np.equal(freedom, 0), 0.0, np.where(np.isinf(usual), far, usual))


def single_nats(view: Scene) -> np.ndarray:
    """Strength (d,) of every input alone: as it is, by few waves, by all, or by slow waves times what is active.

    The leaders by c of single shapes are scored again by what their shapes show together, and stand before all others.
    Cost n^2 d.
    """
    out = np.empty(view.shapes.d)
    for start in range(0, out.size, COLUMNS):
        part = slice(start, start + COLUMNS)
        out[part] = _single(view, view.shapes.plain(part), view.shapes.waves(part))
    leaders = np.sort(np.argsort(-out, kind="stable")[:LEADERS])
    together = _jointly(view, view.shapes.plain(leaders), view.shapes.waves(leaders))
    out = np.minimum(out, together.min())
    out[leaders] = together
    return out


def loud_nats(view: Scene) -> np.ndarray:
    """Strength (d,) by which the size of alpha goes with every input, whatever its sign.

    The log of the square of a product is a sum over its inputs: each shows here by itself, however many they are,
    unless it is a step, whose square is one. Noise may be loud for other reasons, so this ranks and selects nothing.
    Cost n d.
    """
    size = np.log(view.alpha**2 / np.mean(view.alpha**2) + SLIGHT)
    size = size - size.mean()
    out = np.empty(view.shapes.d)
    for start in range(0, out.size, COLUMNS):
        waves = view.shapes.waves(slice(start, start + COLUMNS))
        t = np.stack([(size @ wave) ** 2 for wave in waves]) / max(float(size @ size), 1e-30)
        freedom = np.any(waves, axis=1)
        part = [tail_nats(t[:count].sum(0), freedom[:count].sum(0)) for count in _nested(len(waves))]
        out[start : start + COLUMNS] = np.max(part, axis=0)
    return out


def _single(view: Scene, plain: np.ndarray, waves: np.ndarray) -> np.ndarray:
    squares = waves * waves
    alone = np.stack([_ratio(view, view.directions[0], *one) for one in zip(waves, squares, strict=True)])
    for k in range(min(NESTED[0], len(waves))):  # what the set or its background explains in part has a smaller c
        alone[k] = (view.alpha @ waves[k]) ** 2 / np.maximum(_spread(view, waves[k]), 1e-30)
    as_it_is = (view.alpha @ plain) ** 2 / np.maximum(_spread(view, plain), 1e-30)
    own = np.any(waves, axis=1)
    through = [
        _ratio(view, u, waves[k], squares[k]) for u in view.directions[1:] for k in range(min(THROUGH, len(waves)))
    ]
    nats = [tail_nats(as_it_is, 1)]
    nats += [tail_nats(alone[:count].sum(0), own[:count].sum(0)) for count in _nested(len(waves))]
    if through:
        few = NESTED[0]
        freedom = own[:few].sum(0) + len(view.directions[1:]) * own[:THROUGH].sum(0)
        nats.append(tail_nats(alone[:few].sum(0) + np.sum(through, axis=0), freedom))
    return np.max(nats, axis=0)


def _nested(waves: int) -> list[int]:
    return [count for count in (*NESTED, waves) if count <= waves]


def _jointly(view: Scene, plain: np.ndarray, waves: np.ndarray) -> np.ndarray:
    """Strength (q,) of inputs by g' C^-1 g of their shapes together, C = Phi' P Phi: shapes alike count once.

    Cost n^2 q for each shape.
    """
    through = [u[:, None] * wave for u in view.directions[1:] for wave in waves[:THROUGH]]
    shapes = np.stack([plain, *waves, *through])  # (s, n, q)
    pushed, start = np.empty_like(shapes), 0
    for precision in view.precisions:
        rows = slice(start, start + len(precision))
        pushed[:, rows] = precision @ shapes[:, rows]
        start += len(precision)
    forms = np.einsum("snq,tnq->qst", shapes, pushed, optimize=True).astype(float)
    pulls = np.einsum("n,snq->qs", view.alpha, shapes).astype(float)
    count = len(waves)
    parts = [np.arange(1), *(np.arange(1, 1 + few) for few in _nested(count))]
    if through:
        parts.append(np.concatenate([np.arange(1, 1 + NESTED[0]), np.arange(1 + count, len(shapes))]))
    return np.max(
        [tail_nats(*forms_along(forms[:, part][:, :, part], pulls[:, part], LEAST)) for part in parts], axis=0
    )


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
