"""Does power grow with the number of rows? Weak effects that only all rows together show, and a product.

    y = sin(1.2 x0) + sum_j b_j x_j + 0.05 x7 x8 + noise of sd 1,   d = 30, b = 0.02, 0.03, 0.05, 0.08, 0.12

Asked for: PIP of at least 0.95 for every effect of eight standard errors or more, those of the product included, and no
idle input selected. `power_noise` has nothing to find: nothing may be selected.

    python -m benchmarks.power            five draws of each n
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import numpy as np

from experiments.cases import Case, main
from experiments.problems import seeds
from ssvgp import SSVGPRegressor

EFFECTS = {1: 0.02, 2: 0.03, 3: 0.05, 4: 0.08, 5: 0.12}
PRODUCT = 0.05
ROWS = (20_000, 100_000, 1_000_000)
IDLE = [6, *range(9, 30)]


def table(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """One draw of the table above."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 30))
    y = np.sin(1.2 * X[:, 0]) + PRODUCT * X[:, 7] * X[:, 8] + rng.standard_normal(n)
    for j, b in EFFECTS.items():
        y += b * X[:, j]
    return X, y


def weak(seed: int, n: int) -> Mapping[str, float]:
    """PIPs of all effects, the largest of an idle input, and the error of predictions of f."""
    X, y = table(seed, n)
    start, cpu = time.perf_counter(), time.process_time()
    model = SSVGPRegressor(random_state=0, n_jobs=2).fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    pip = model.pip_
    found = {f"pip_{b}": float(pip[j]) for j, b in EFFECTS.items()}
    found |= {"pip_product": float(min(pip[7], pip[8])), "idle": float(pip[IDLE].max())}
    found["selected_idle"] = float((pip[IDLE] > 0.5).sum())
    X_new = np.random.default_rng(seed + 1).standard_normal((2000, 30))
    f = np.sin(1.2 * X_new[:, 0]) + PRODUCT * X_new[:, 7] * X_new[:, 8]
    f += sum(b * X_new[:, j] for j, b in EFFECTS.items())
    found["mse"] = float(np.mean((model.predict(X_new) - f) ** 2))
    return found | {"n": float(n), "seconds": seconds, "cpu": cpu}


def noise(seed: int, n: int, d: int) -> Mapping[str, float]:
    """How many inputs are selected where there is nothing to find, and the largest PIP."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    pip = SSVGPRegressor(random_state=0, n_jobs=2).fit(X, y).pip_
    return {"n": float(n), "d": float(d), "selected": float((pip > 0.5).sum()), "largest": float(pip.max())}


if __name__ == "__main__":
    main(
        *(Case(f"power_weak_{n}", partial(weak, n=n), seeds(5), partial(weak, n=3000)) for n in ROWS),
        *(
            Case(f"power_noise_{n}_{d}", partial(noise, n=n, d=d), seeds(10), partial(noise, n=1500, d=20))
            for n, d in ((20_000, 100), (10**6, 100), (10_000, 10_000))
        ),
    )
