"""A million new rows against a million training rows: rows per second, memory, and how good?

`predict_large_two` is experiment 2, two active inputs of 100, where training rows are so dense that they are averaged;
`predict_large_ten` has 10^5 new rows and ten active inputs of twelve (Friedman's function and five more). Memory is the
peak of the process over what it had after the fit, so that neither X counts; asked for: at most 1 GB. `lost_nmse` and
`lost_nlpd` are what the prediction of 2000 of the rows gets worse by in comparison with a system for every row.

    python -m benchmarks.predict_large            one draw of each
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from experiments.cases import Case, main
from experiments.designs import Draw, experiment2
from experiments.problems import seeds
from experiments.processes import peak_bytes
from experiments.scores import negative_log_density, nmse
from ssvgp import SSVGPRegressor
from ssvgp.gp import local

CHECKED = 2000


def two(seed: int, n: int, t: int) -> Draw:
    """Experiment 2 with test rows like the training rows."""
    both = experiment2(seed, n=n + t, d=100, n_test=1)
    return Draw(both.X[:n], both.y[:n], both.X[n:], both.y[n:], both.y[n:], both.relevant, "two")


def ten(seed: int, n: int, t: int) -> Draw:
    """Friedman's five inputs and five more of twelve, noise of variance one."""
    rng = np.random.default_rng(seed)
    X = rng.random((n + t, 12))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    f += 3 * np.sin(2 * np.pi * X[:, 5]) + 4 * X[:, 6] * X[:, 7] + 3 * np.cos(3 * X[:, 8]) + 3 * np.abs(X[:, 9] - 0.5)
    y = f + rng.standard_normal(n + t)
    return Draw(X[:n], y[:n], X[n:], y[n:], f[n:], np.arange(12) < 10, "ten")


def draw(design: Callable[[int, int, int], Draw], n: int, t: int, seed: int) -> Mapping[str, float]:
    """Fit, predict all test rows, and a few of them one by one."""
    data = design(seed, n, t)
    model = SSVGPRegressor(random_state=0).fit(data.X, data.y)
    before = fresh_peak()
    start = time.perf_counter()
    cpu = time.process_time()
    mean, sd = model.predict(data.X_test, return_std=True)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = peak_bytes() - before
    some = np.arange(0, t, max(1, t // CHECKED))
    group, local.GROUP = local.GROUP, 1
    alone, alone_sd = model.predict(data.X_test[some], return_std=True)
    local.GROUP = group
    y = data.y_test[some]
    return {
        "nmse": nmse(data.y_test, mean),
        "lost_nmse": nmse(y, mean[some]) - nmse(y, alone),
        "lost_nlpd": negative_log_density(y, mean[some], sd[some]) - negative_log_density(y, alone, alone_sd),
        "members": float(len(model.members_)),
        "active": float(max(member.active.size for member in model.members_)),
        "seconds": seconds,
        "rows_per_second": t / seconds,
        "rows_per_cpu_second": t / cpu,
        "memory_gigabytes": memory / 1e9,
    }


def fresh_peak() -> float:
    """Forget the peak so far, which drawing the data has set, and return the resident memory now (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


if __name__ == "__main__":
    main(
        Case("predict_large_two", partial(draw, two, 10**6, 10**6), seeds(1), partial(draw, two, 10**4, 10**4)),
        Case("predict_large_ten", partial(draw, ten, 10**6, 10**5), seeds(1), partial(draw, ten, 10**4, 10**4)),
    )
