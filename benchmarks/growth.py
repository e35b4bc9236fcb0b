"""How does the time of a fit grow with rows and inputs?

Asked for: from n = 10^5 to n = 10^6 at d = 100 at most 2 times; from d = 10^3 to d = 10^4 at n = 10^4 at most 12 times;
from n = 250 to n = 2000 at d = 100 no worse than n^2.5, which is 181 times. All sizes of one table are fitted one after
the other within a draw, so that ratios are of the same minutes; the first two are experiment 2, the third is the toy.

    python -m benchmarks.growth            three draws
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.cases import Case, main
from experiments.designs import experiment2, toy
from experiments.problems import seeds
from ssvgp import SSVGPRegressor


def seconds(X: np.ndarray, y: np.ndarray) -> float:
    """One fit on two jobs."""
    start = time.perf_counter()
    SSVGPRegressor(random_state=0, n_jobs=2).fit(X, y)
    return time.perf_counter() - start


def rows(seed: int, sizes: Sequence[int] = (10_000, 100_000, 1_000_000)) -> Mapping[str, float]:
    """Fits to the first rows of one table of 100 inputs."""
    data = experiment2(seed, n=max(sizes), d=100)
    found = {f"seconds_n{n}": seconds(data.X[:n], data.y[:n]) for n in sizes}
    return found | {"growth": found[f"seconds_n{sizes[-1]}"] / found[f"seconds_n{sizes[-2]}"]}


def inputs(seed: int, sizes: Sequence[int] = (100, 1000, 10_000), n: int = 10_000) -> Mapping[str, float]:
    """Fits to tables of as many rows with more and more inputs."""
    found = {}
    for d in sizes:
        data = experiment2(seed, n=n, d=d)
        found[f"seconds_d{d}"] = seconds(data.X, data.y)
    return found | {"growth": found[f"seconds_d{sizes[-1]}"] / found[f"seconds_d{sizes[-2]}"]}


def exact(seed: int, sizes: Sequence[int] = (250, 500, 1000, 2000)) -> Mapping[str, float]:
    """Fits of all rows at once, 100 inputs; the power of n that the growth amounts to."""
    found = {}
    for n in sizes:
        data = toy(seed, n=n)
        found[f"seconds_n{n}"] = seconds(data.X, data.y)
    growth = found[f"seconds_n{sizes[-1]}"] / found[f"seconds_n{sizes[0]}"]
    return found | {"growth": growth, "power": float(np.log(growth) / np.log(sizes[-1] / sizes[0]))}


if __name__ == "__main__":
    main(
        Case("growth_exact", exact, seeds(3), lambda seed: exact(seed, (100, 200))),
        Case("growth_inputs", inputs, seeds(3), lambda seed: inputs(seed, (20, 100), 3000)),
        Case("growth_rows", rows, seeds(3), lambda seed: rows(seed, (3000, 6000))),
    )
