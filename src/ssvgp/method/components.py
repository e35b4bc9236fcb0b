"""The components of the mixture, drawn from the sets that carry weight, and what these explain of y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssvgp.evidence.entry import Entry, member_at
from ssvgp.evidence.laplace import mode, states
from ssvgp.records import Member, Train, has_sites


def members_of(
    entries: list[Entry], weights: np.ndarray, train: Train, components: int, rng: np.random.Generator
) -> tuple[tuple[Member, ...], np.ndarray]:
    """Components of the mixture: draws of (theta, phi) for sets with weight, the mode for the rest."""
    kept = weights > 0.002
    share = np.where(kept, weights, 0.0) / weights[kept].sum()
    members: list[Member] = []
    out: list[float] = []
    for entry, w in zip(entries, share, strict=True):
        if w == 0.0:
            continue
        rows, row_weights = _rows(entry, max(1, round(components * w)), rng)
        for z, row_weight in zip(rows, row_weights, strict=True):
            members.append(member_at(entry, z))
            out.append(w * row_weight)
    total = np.asarray(out)
    return tuple(members), total / total.sum()


def _rows(entry: Entry, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`count` draws of z by systematic resampling of the importance draws, repeated ones merged."""
    refined = entry.refined
    if refined is None or count < 2 or refined.effective < 4.0:
        return entry.fit.summit.z[None], np.ones(1)
    cumulative = np.cumsum(np.exp(refined.log_weights))
    points = (np.arange(count) + rng.uniform()) / count * cumulative[-1]
    index, counts = np.unique(np.searchsorted(cumulative, points), return_counts=True)
    return refined.z[np.minimum(index, refined.z.shape[0] - 1)], counts / count


@dataclass(frozen=True)
class Explained:
    """Variance of y by sparse part, background and noise (3,), and what its covariance needed to be factored."""

    parts: np.ndarray
    jitter: float


def variance_shares(explained: Sequence[tuple[float, Explained]], weak: float) -> dict[str, float]:
    """How much of the variance of y the sparse part, the background and the noise account for, on average.

    The weak part, a share of what would be noise without it, is sparse too.
    """
    total = np.zeros(3)
    for weight, one in explained:
        total += weight * one.parts / one.parts.sum()
    total = total / total.sum()
    total += weak * total[2] * np.array([1.0, 0.0, -1.0])
    return {"sparse": float(total[0]), "background": float(total[1]), "noise": float(total[2])}


def explained_by(entry: Entry) -> Explained:
    """Sample variance of the fitted sparse part and background, and the noise, over the rows of the first block."""
    at = mode(entry.problem, entry.fit)
    first = entry.problem.blocks[0]
    here = states(replace(entry.problem, blocks=(first,)), entry.fit)[0]
    sparse = at.scale * here.kernel.matrix @ here.alpha if at.scale else np.zeros_like(first.y)
    kind = entry.fit.candidate.background
    background = at.background * first.grams[kind] @ here.alpha if kind else np.zeros_like(first.y)
    weights = None if first.noise is None else first.noise.weights
    noise = first.noise.spread(at) if has_sites(first.noise) else at.noise
    return Explained(np.array([_variance(sparse, weights), _variance(background, weights), noise]), here.factor.jitter)


def _variance(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Sample variance of values (n,), rows counted by their weights."""
    if weights is None:
        return float(np.var(values))
    return float(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))
