"""What a chain's record says of the chain: effective sample size, split R-hat, and whether chains agree on inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def autocovariance(trace: np.ndarray) -> np.ndarray:
    """Autocovariances (n,) of a trace (n,) at all lags, each divided by n, by Fourier transform. Cost n log n."""
    n = trace.size
    spectrum = np.fft.rfft(trace - trace.mean(), 2 * n)  # as long again of zeros, so that the ends do not meet
    return np.fft.irfft(spectrum * spectrum.conj(), 2 * n)[:n] / n


def effective_size(trace: np.ndarray) -> float:
    """How many independent draws a trace (n,) is worth: n / (1 + 2 sum of its autocorrelations).

    The sum ends where sums of neighbouring pairs, which are positive and decreasing for a reversible chain, are first
    negative, and is made decreasing before (Geyer 1992). A trace that never moves is worth one draw.
    """
    trace = np.asarray(trace, dtype=float)
    if trace.size < 4:
        return float(trace.size)
    covariances = autocovariance(trace)
    if not covariances[0] > 1e-14 * (1.0 + trace.mean() ** 2):
        return 1.0
    correlations = covariances / covariances[0]
    even = correlations.size // 2 * 2
    pairs = correlations[:even].reshape(-1, 2).sum(1)
    negative = np.flatnonzero(pairs <= 0.0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if negative.size else None])
    time = max(2.0 * float(pairs.sum()) - 1.0, 1.0 / np.log10(trace.size))
    return float(min(trace.size / time, trace.size * np.log10(trace.size)))


def split_rhat(traces: Sequence[np.ndarray]) -> float:
    """Split R-hat of traces of equal length: near 1 where halves and chains agree (Gelman et al., BDA3, 11.4)."""
    half = min(trace.size for trace in traces) // 2
    if half < 2:
        return float("nan")
    parts = np.array([part for trace in traces for part in (trace[:half], trace[-half:])], dtype=float)
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within <= 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def largest_disagreement(inclusions: Sequence[np.ndarray]) -> float:
    """The largest difference between chains in how often they held an input, from frequencies (d,) of each chain."""
    table = np.asarray(inclusions)
    return float((table.max(axis=0) - table.min(axis=0)).max())
