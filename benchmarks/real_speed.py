"""How long do fits of real tables take, and how well do they predict?

Fifteen tables, from the folder of data sets and scikit-learn's own, of at most 1500 rows, one random 4:1 split each
unless more are asked for. Asked: breast cancer within 4000 units, diabetes within 1000, with n_jobs=2; and against the
version before, side by side in one run, a geometric mean at least four times faster with scores no worse.

    python -m benchmarks.real_speed                          on a quiet machine
    python -m benchmarks.real_speed --draws 3 --only real_breast_cancer
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import partial

import numpy as np
from sklearn import datasets as bundled

from experiments import datasets
from experiments.cases import Case, main
from experiments.scores import coverage, nmse
from ssvgp import SSVGPRegressor

MOST_ROWS = 1875  # 1500 for training
TABLES = (
    "breast_cancer",
    "diabetes",
    "prostate",
    "riboflavin",
    "liver_toxicity",
    "eyedata",
    "pac_retention",
    "tecator",
    "cassava_nir",
    "tablets_nir",
    "nirsoil",
    "communities_crime",
    "uci_parkinsons",
    "supercon_magpie",
    "chicago_ridership",
)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a table: classes of scikit-learn's sets count as numbers, rows without a target are left out."""
    if name in ("breast_cancer", "diabetes", "wine"):
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        return X, y.astype(float)
    X, y = datasets.load(name)
    known = np.isfinite(y)
    return X[known].astype(float), y[known]


def draw(name: str, seed: int) -> Mapping[str, float]:
    """One split: seconds of the fit, of processor and clock, and scores on the rows held out."""
    X, y = load(name)
    order = np.random.default_rng(seed).permutation(y.size)[:MOST_ROWS]
    test, train = order[: order.size // 5], order[order.size // 5 :]
    model = SSVGPRegressor(random_state=0, n_jobs=2)
    cpu, start = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns constant or duplicate within the split
        model.fit(X[train], y[train])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    band = model.predict_quantiles(X[test], [0.025, 0.975])
    return {
        "seconds": seconds,
        "cpu": cpu,
        "nmse": nmse(y[test], model.predict(X[test])),
        "nlpd": float(-np.mean(model.log_predictive_density(X[test], y[test]))),
        "coverage": coverage(y[test], band[:, 0], band[:, 1]),
        "selected": float(model.get_support().sum()),
        "visited": float(model.ensemble_.notes["visited"]),
        "n": float(train.size),
        "d": float(X.shape[1]),
    }


if __name__ == "__main__":
    main(*(Case(f"real_{name}", partial(draw, name), range(9000, 9001)) for name in TABLES))
