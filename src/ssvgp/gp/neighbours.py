"""Nearest rows in scaled active inputs, and blocks of neighbouring rows: the only home of searches."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

TREE_INPUTS = 10  # below this many active inputs a KD-tree wins over brute force by matrix products
BATCH_BYTES = 2**26


def nearest(reference: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """Indices (t, m) of the m rows of reference (n, p) nearest to each row of query (t, p), nearest first.

    Inputs are already multiplied by theta. Exact: a KD-tree for few inputs, blocked products otherwise.
    """
    m = min(m, reference.shape[0])
    if reference.shape[1] == 0:
        return np.broadcast_to(np.arange(m), (query.shape[0], m)).copy()
    if reference.shape[1] <= TREE_INPUTS:
        index = cKDTree(reference).query(query, k=m, workers=1)[1]
        return np.asarray(index).reshape(query.shape[0], m)
    return _nearest_by_products(reference, query, m)


def _nearest_by_products(reference: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """Brute force in batches of bounded memory: ||a - b||^2 up to a constant per query row."""
    out = np.empty((query.shape[0], m), dtype=np.intp)
    norms = np.einsum("ij,ij->i", reference, reference)
    step = max(1, BATCH_BYTES // (8 * reference.shape[0]))
    for start in range(0, query.shape[0], step):
        distance = norms - 2.0 * (query[start : start + step] @ reference.T)
        if m < reference.shape[0]:
            part = np.argpartition(distance, m - 1, axis=1)[:, :m]
        else:
            part = np.broadcast_to(np.arange(m), (distance.shape[0], m))
        order = np.argsort(np.take_along_axis(distance, part, axis=1), axis=1, kind="stable")
        out[start : start + step] = np.take_along_axis(part, order, axis=1)
    return out


def close_together(rows: np.ndarray, size: int) -> np.ndarray:
    """An order (t,) of rows (t, p) in which those that follow each other are near: the leaves of a KD-tree."""
    if rows.shape[1] == 0 or rows.shape[0] <= size:
        return np.arange(rows.shape[0])
    return np.asarray(cKDTree(rows, leafsize=max(1, size // 2)).indices)


def block(scaled: np.ndarray, centre: int, m: int) -> np.ndarray:
    """A row and its m - 1 nearest (section 3.2): indices (m,) into scaled (n, p), the centre first."""
    difference = scaled - scaled[centre]
    distance = np.einsum("ij,ij->i", difference, difference)
    distance[centre] = -1.0
    m = min(m, scaled.shape[0])
    if m == scaled.shape[0]:
        return np.argsort(distance, kind="stable")
    part = np.argpartition(distance, m - 1)[:m]
    return part[np.argsort(distance[part], kind="stable")]
