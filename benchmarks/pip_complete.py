"""Are the PIPs of a search those of all 2^d sets? Nine inputs, 160 to 400 rows, effects near the edge of what is seen.

`benchmarks/pip_exact.py` asks this of tables so small that every set is visited. Here the search visits some dozens of
sets; the reference has every one of them fitted under every kernel, with as many importance draws as small tables get.

    python -m benchmarks.pip_complete         twenty draws, some minutes
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from experiments.cases import Case, main
from experiments.problems import seeds
from ssvgp import SSVGPRegressor
from ssvgp.settings import AutoSettings, SearchSettings

D = 9
ROWS = (160, 250, 400)


def normal(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, D))


def neighbours_alike(n: int, rng: np.random.Generator) -> np.ndarray:
    """Correlation 0.9 with the next column."""
    X = rng.normal(size=(n, D))
    for j in range(1, D):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1.0 - 0.81) * X[:, j]
    return X


def three_factors(n: int, rng: np.random.Generator) -> np.ndarray:
    return 0.6 * (rng.normal(size=(n, D)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, D)))


def falling(X: np.ndarray) -> np.ndarray:
    """Eight effects, each less than the one before."""
    f: np.ndarray = np.tanh(X[:, :8]) @ np.geomspace(1.0, 0.25, 8)
    return f


def square_of_sum(X: np.ndarray) -> np.ndarray:
    f: np.ndarray = np.tanh(X[:, :5]).sum(axis=1) ** 2
    return f


def extremes(X: np.ndarray) -> np.ndarray:
    f: np.ndarray = np.maximum(X[:, 0], X[:, 1]) + np.minimum(X[:, 2], X[:, 3])
    return f


INPUTS: tuple[Callable[[int, np.random.Generator], np.ndarray], ...] = (normal, neighbours_alike, three_factors)
FUNCTIONS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (falling, falling, square_of_sum, extremes)


def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 9) and y (n,): noise of the signal's sd or twice that."""
    rng = np.random.default_rng([19, seed])
    n, kind, function = int(rng.choice(ROWS)), rng.integers(len(INPUTS)), rng.integers(len(FUNCTIONS))
    X = INPUTS[kind](n, rng)
    f = FUNCTIONS[function](X)
    return X, f / f.std() + rng.choice([1.0, 2.0]) * rng.normal(size=n)


def compare(seed: int) -> Mapping[str, float]:
    """Errors of the PIPs (mean, worst), sets visited, and seconds of both."""
    X, y = table(seed)
    every = AutoSettings(search=replace(SearchSettings(), cheap_rows=y.size, all_sets=D))
    start = time.perf_counter()
    found = SSVGPRegressor(likelihood="gaussian", random_state=0).fit(X, y)
    between = time.perf_counter()
    whole = SSVGPRegressor(likelihood="gaussian", random_state=0, settings=every).fit(X, y)
    gaps = np.abs(found.pip_ - whole.pip_)
    return {
        "error": float(gaps.mean()),
        "worst": float(gaps.max()),
        "visited": float(found.ensemble_.notes["visited"]),
        "seconds": between - start,
        "reference_seconds": time.perf_counter() - between,
    }


if __name__ == "__main__":
    main(Case("pip_complete", compare, seeds(20)))
