"""Is a density still honest where rows are few and targets lie on few values?

Asked: on 24 subsamples of 60 to 120 rows of each KEGG table, whose targets take few values with long tails, and of a
table rounded to five levels, a negative log density below that of predicting the mean, on all of them. What is asked
here is the density of the next target, so that a noise driven to zero by targets that agree costs thousands of nats.

    python -m benchmarks.small_samples         needs the data sets: SSVGP_DATA names their folder
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial

import numpy as np

from experiments.cases import Case, main
from experiments.datasets import folder, load
from experiments.problems import seeds
from experiments.scores import baseline_negative_log_density, coverage, nmse
from ssvgp import SSVGPRegressor

SETS = ("uci_keggdirected", "uci_keggundirected", "uci_protein")
FIVE_LEVELS = ("uci_protein",)
N_TEST = 1000


def levels(y: np.ndarray, count: int = 5) -> np.ndarray:
    """Targets rounded to so many equally spaced levels between their 1st and 99th percentiles."""
    low, high = np.quantile(y, [0.01, 0.99])
    return np.asarray(np.round((np.clip(y, low, high) - low) / (high - low) * (count - 1)))


def draw(name: str, seed: int) -> Mapping[str, float]:
    """One subsample: our density of other rows, and that of predicting the mean."""
    X, y = load(name)
    y = levels(y) if name in FIVE_LEVELS else y
    rng = np.random.default_rng([len(name), seed])
    n = int(rng.integers(60, 121))
    some = rng.permutation(y.size)[: n + N_TEST]
    train, test = some[:n], some[n:]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns constant or duplicate within the subsample
        model = SSVGPRegressor(random_state=0).fit(X[train].astype(float), y[train])
    seconds = time.process_time() - start
    new = X[test].astype(float)
    band = model.predict_quantiles(new, [0.025, 0.975])
    ours = float(-np.mean(model.log_predictive_density(new, y[test])))
    mean = baseline_negative_log_density(y[train], y[test])
    return {
        "nlpd": ours,
        "nlpd_mean": mean,
        "below": float(ours < mean),
        "nmse": nmse(y[test], model.predict(new)),
        "coverage": coverage(y[test], band[:, 0], band[:, 1]),
        "selected": float(model.get_support().sum()),
        "seconds": seconds,
    }


CASES = [Case(f"small_samples_{name.removeprefix('uci_')}", partial(draw, name), seeds(24)) for name in SETS]

if __name__ == "__main__":
    if not folder().is_dir():
        sys.exit("no data sets: set SSVGP_DATA to the folder that holds them")
    main(*CASES)
