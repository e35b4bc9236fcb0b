"""Small problems for the search, of which the truth is known."""

from __future__ import annotations

import numpy as np

from ssvgp.evidence.laplace import Block, Problem
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.search.book import Book
from ssvgp.settings import Prior


def book_of(X: np.ndarray, y: np.ndarray, kernel: str = "se", blocks: int = 1, ladder: float | None = None) -> Book:
    """An empty book of a standardised table; rows are dealt out to blocks in turn."""
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    parts = tuple(Block(X[i::blocks], y[i::blocks]) for i in range(blocks))
    return Book(Problem(parts, kernel_named(kernel), Prior().for_data(y.size, X.shape[1])), ladder=ladder)


def additive(seed: int = 0, n: int = 100, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A wave, a line and a parabola, of inputs 2, 7 and 11."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 2]) + 0.7 * X[:, 7] + 0.6 * X[:, 11] ** 2 + 0.2 * rng.standard_normal(n)
