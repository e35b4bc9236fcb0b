"""Weights of members from their scores, and what follows from them: thinning, collapsing, marginal PIPs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from ssvgp.records import Member


def score_weights(log_scores: np.ndarray) -> np.ndarray:
    """Weights (k,) in proportion to exp(log score), for scores such as log evidence or log density."""
    return softmax(np.asarray(log_scores, dtype=float))


def best_only(log_scores: np.ndarray) -> np.ndarray:
    """All weight (k,) on the member with the best score; the first of equals."""
    weights = np.zeros(len(log_scores))
    weights[int(np.argmax(log_scores))] = 1.0
    return weights


def thin(weights: np.ndarray, trials: int, rng: np.random.Generator) -> np.ndarray:
    """Weights (k,) replaced by multinomial frequencies: unbiased, many of them zero (section 4.2)."""
    if trials < 1:
        raise ValueError(f"thinning draws at least one trial, not {trials!r}")
    return rng.multinomial(trials, weights / weights.sum()) / trials


def marginal_pip(members: Sequence[Member], weights: np.ndarray, d: int) -> np.ndarray:
    """Marginal inclusion probabilities (d,): sum_k w_k lambda_k (section 4)."""
    pip = np.zeros(d)
    for member, weight in zip(members, weights, strict=True):
        pip[member.active] += weight * member.inclusion
    return np.minimum(pip, 1.0)  # rounding only


def collapse(members: Sequence[Member], log_scores: np.ndarray) -> np.ndarray:
    """Numbers of the members to keep, ascending: of those with one active set the best scored (B.3)."""
    best: dict[bytes, int] = {}
    for index, member in enumerate(members):
        key = np.sort(member.active).astype(np.int64).tobytes()
        if key not in best or log_scores[index] > log_scores[best[key]]:
            best[key] = index
    return np.array(sorted(best.values()), dtype=int)
