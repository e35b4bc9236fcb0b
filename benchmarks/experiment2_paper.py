"""Experiment 2 by the paper's own method: how long, how well, in how much memory?

Asked of `method="paper"` with default settings, for n = 10^6, d = 100 and for n = d = 10^4: fit and prediction of
10^4 rows within 250000 units, nmse as printed or better (0.251 and 0.260, experiments/paper.json), memory <= 2.5 X.
The error moves with the draw as its floor does, so that `floor`, the error of the true signal, stands beside it.
Printed run times are 227 and 43 minutes.

    python -m benchmarks.experiment2_paper      three draws of each shape; memory counts in the first draw alone
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


def draw(n: int, d: int, seed: int) -> Mapping[str, float]:
    """One draw: fit, predict the grid, and what both took."""
    data = experiment2(seed, n=n, d=d)
    before = peak_bytes()
    start, worked = time.perf_counter(), time.process_time()
    model = SSVGPRegressor(method="paper", random_state=0).fit(data.X, data.y)
    fitted = time.perf_counter()
    mean = model.predict(data.X_test)
    done, worked = time.perf_counter(), time.process_time() - worked
    support, notes = model.get_support(), model.ensemble_.notes
    return {
        "nmse": nmse(data.y_test, mean),
        "floor": nmse(data.y_test, data.f_test),
        "exact": float(np.array_equal(support, data.relevant)),
        "selected": float(support.sum()),
        "loo_rows": float(max(score.rows.size for score in notes["loo_rows"])),
        "raced": float(notes["kept"].size),
        "fit_seconds": fitted - start,
        "seconds": done - start,
        "cpu_seconds": worked,
        "memory_over_X": 1.0 + max(0.0, peak_bytes() - before) / data.X.nbytes,
    }


if __name__ == "__main__":
    small, both = partial(draw, 4000, 20), ("tall", "wide")
    main(*(Case(f"experiment2_paper_{name}", partial(draw, *SHAPES[name]), seeds(3), small) for name in both))
