"""Experiment 2: a million rows, or ten thousand inputs. How long, how well, in how much memory?

Asked for n = 10^6, d = 100: fit and prediction of 10^4 rows within 15 times the time to standardise X once, nmse
<= 0.2515, memory <= 2.5 X; for n = d = 10^4: within 25000 units, nmse <= 0.262, memory <= 2.5 X; in both the two inputs
and no other. Memory is the peak of the process over what it had when the data were there, plus X.

    python -m benchmarks.experiment2            three draws of each shape; memory counts in the first draw alone
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import numpy as np

from experiments.cases import Case, main
from experiments.designs import experiment2
from experiments.experiment2 import SHAPES
from experiments.problems import seeds
from experiments.processes import peak_bytes
from experiments.scores import nmse
from ssvgp import SSVGPRegressor


def standardising(X: np.ndarray) -> float:
    """Seconds to standardise a table with NumPy."""
    start = time.perf_counter()
    _ = (X - X.mean(0)) / X.std(0)
    return time.perf_counter() - start


def draw(n: int, d: int, seed: int) -> Mapping[str, float]:
    """One draw: fit, predict the grid, and what both took."""
    data = experiment2(seed, n=n, d=d)
    before = peak_bytes()
    start = time.perf_counter()
    model = SSVGPRegressor(random_state=0, n_jobs=2).fit(data.X, data.y)
    fitted = time.perf_counter()
    mean = model.predict(data.X_test)
    done = time.perf_counter()
    memory = 1.0 + max(0.0, peak_bytes() - before) / data.X.nbytes  # before the next line, which needs a copy of X
    unit = standardising(data.X)
    support = model.get_support()
    return {
        "nmse": nmse(data.y_test, mean),
        "floor": nmse(data.y_test, data.f_test),
        "exact": float(np.array_equal(support, data.relevant)),
        "fit_seconds": fitted - start,
        "seconds": done - start,
        "standardising": (done - start) / unit,
        "memory_over_X": memory,
    }


if __name__ == "__main__":
    small = partial(draw, 4000, 20)
    main(*(Case(f"experiment2_{name}", partial(draw, *SHAPES[name]), seeds(3), small) for name in ("tall", "wide")))
