"""Whether a target of many rows had better pass a curve, judged by evidence.

Targets that cannot be negative (counts, rates, concentrations) often have a long tail, and noise that grows with them.
A process with one noise for all rows then follows the quiet rows too closely and the loud ones too loosely. A root or
a logarithm makes the noise alike; which of them, or none, is asked of the evidence on a part of the rows, with
the Jacobian that makes densities of different curves comparable. Few rows cannot tell a curved target from curved
effects, so this is done where rows are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ssvgp.data.curves import Curve, Straight, YeoJohnson
from ssvgp.data.inputs import scale_of
from ssvgp.data.target import quartiles, target_of
from ssvgp.evidence.laplace import Block, Problem
from ssvgp.gp.kernels.families import Kernel
from ssvgp.model.likelihoods import GaussianNoise
from ssvgp.search.book import Book
from ssvgp.search.growth import grow
from ssvgp.search.moves import empty_fit
from ssvgp.settings import Prior, Regime
from ssvgp.settings.regime import FEW_INPUTS

SKEWED = 1.0  # skewness from which a curve is looked for
COMMON = 0.1  # share of rows with one and the same value from which none is: a density there means nothing
POWERS = (0.5, 0.25, 0.0)  # of the curves looked at; 0 is the logarithm
START = 0.05  # of the lower quartile of y is added before the root or the logarithm, for the sake of zeros


def curve_by_evidence(
    X: Any,
    y: np.ndarray,
    kernel: Kernel,
    prior: Prior,
    regime: Regime,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> Curve:
    """The curve for targets y (n,) of standardised rows X (n, d): none, a root or a logarithm.

    The set that is found without a curve chooses between the curves; where the one it chooses is not clearly better,
    that searches for itself. Cost of one short search, or of two.
    """
    curves = candidates(y, weights)
    if regime.first.exact or len(curves) == 1:
        return curves[0]
    (sampling,) = rng.spawn(1)
    rows = np.sort(sampling.choice(y.size, min(2 * regime.settings.block_rows, y.size), replace=False))
    table = X[rows]
    search = replace(regime.settings.search, groups=0, largest=FEW_INPUTS)
    prior = prior.for_data(*table.shape)
    share = 1.0 if weights is None else weights[rows]
    noise = None if weights is None else GaussianNoise(weights[rows], np.zeros(rows.size))

    def book_of(curve: Curve) -> tuple[Book, float]:
        """An empty book of the rows under a curve, and the log Jacobian."""
        target = target_of(y, curve, weights)
        block = Block(table, target.standardise(y[rows]), noise=noise)
        return Book(Problem((block,), kernel, prior)), float((share * target.log_slope(y[rows])).sum())

    books = [book_of(curve) for curve in curves]
    plain = grow(books[0][0], empty_fit(books[0][0]), search)
    worth = [book.carry(plain).log_evidence + jacobian for book, jacobian in books]
    best, needed = int(np.argmax(worth)), worth[0] + 2.0 * regime.search.reach
    if best and worth[best] <= needed:  # its own set may still be
        book, jacobian = books[best]
        worth[best] = max(worth[best], grow(book, empty_fit(book), search).log_evidence + jacobian)
    return curves[best] if worth[best] > needed else curves[0]


def candidates(y: np.ndarray, weights: np.ndarray | None = None) -> Sequence[Curve]:
    """No curve, and for a skewed target without negative values roots and logarithm of y + u with a small u.

    Below u the curve is a line, so that u is small beside nearly all rows: the lower quartile is their unit. A standard
    deviation is not, since a single huge target makes it larger than most others.
    Where many rows have the same value, such as none at all, a curve would win by the density it heaps up there.
    """
    scale = scale_of(y, weights)
    if scale.constant or y.min() < 0.0 or np.mean(((y - scale.centre) / scale.spread) ** 3) <= SKEWED:
        return (Straight(),)
    if np.unique(y, return_counts=True)[1].max() > COMMON * y.size:
        return (Straight(),)
    unit = START * (quartiles(y, weights)[0] or float(scale.spread))
    return (Straight(), *(YeoJohnson(unit, power) for power in POWERS))
