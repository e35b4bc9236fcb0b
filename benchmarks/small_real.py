"""Does the default predict small noisy real sets honestly?

Asked, on 10 random 4:1 splits of each: median nmse <= 1.05 of LassoCV's, negative log density below that of
predicting the mean, 95% coverage >= 0.88.

    python -m benchmarks.small_real            needs the data sets: SSVGP_DATA names their folder
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.cases import Case, main
from experiments.datasets import folder, load
from experiments.problems import halved
from experiments.scores import baseline_negative_log_density, coverage, nmse
from ssvgp import SSVGPRegressor

SETS = ("eyedata", "riboflavin", "liver_toxicity", "prostate", "bloodbrain")


def draw(name: str, seed: int) -> Mapping[str, float]:
    """One split: ours, LassoCV's nmse, and the density of predicting the mean."""
    X, y = load(name)
    X = X.astype(float)
    train, test = halved(y.size, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # columns constant or duplicate within the split
        lasso = make_pipeline(StandardScaler(), LassoCV(cv=5, random_state=0)).fit(X[train], y[train])
        start = time.perf_counter()
        model = SSVGPRegressor(random_state=0).fit(X[train], y[train])
        seconds = time.perf_counter() - start
    band = model.predict_quantiles(X[test], [0.025, 0.975])
    ours, theirs = nmse(y[test], model.predict(X[test])), nmse(y[test], lasso.predict(X[test]))
    return {
        "nmse": ours,
        "lasso": theirs,
        "ratio": ours / theirs,
        "nlpd": float(-np.mean(model.log_predictive_density(X[test], y[test]))),
        "nlpd_mean": baseline_negative_log_density(y[train], y[test]),
        "coverage": coverage(y[test], band[:, 0], band[:, 1]),
        "selected": float(model.get_support().sum()),
        "background": model.variance_shares_["background"],
        "seconds": seconds,
    }


if __name__ == "__main__":
    if not folder().is_dir():
        sys.exit(f"no data sets in {folder()}: set SSVGP_DATA to their folder")
    main(*(Case(f"small_real_{name}", partial(draw, name), range(10)) for name in SETS))
