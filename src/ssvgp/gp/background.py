"""The dense background: one fixed covariance over all inputs, whose variance alone is learned.

`linear` is ridge regression underneath the sparse part, X X' / d; `smooth` is one squared exponential of the distance over all
inputs, exp(-||x - x'||^2 / (2 d)), for data in which rows that are alike in everything have like targets.
"""

from __future__ import annotations

import numpy as np

KINDS = ("linear", "smooth")


def gram(kind: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Background covariance (a, b) with unit variance between rows of left (a, d) and right (b, d). Cost a b d."""
    d = left.shape[1]
    product = left @ right.T
    if kind == "linear":
        return product / d
    if kind == "smooth":
        product *= -2.0
        product += (left * left).sum(1)[:, None]
        product += (right * right).sum(1)[None, :]
        return np.exp(-0.5 * np.maximum(product, 0.0) / d)
    raise ValueError(f"a background is one of {', '.join(KINDS)}, not {kind!r}")


def gram_diagonal(kind: str, rows: np.ndarray) -> np.ndarray:
    """Background variance (a,) of each row."""
    return np.einsum("ij,ij->i", rows, rows) / rows.shape[1] if kind == "linear" else np.ones(rows.shape[0])
