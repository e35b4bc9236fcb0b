"""What measurements on synthetic designs have in common: one fit of the default, its selection, its predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from experiments.designs import Draw
from experiments.scores import coverage, nmse, selection_scores
from ssvgp import SSVGPRegressor


def measure(draw: Draw, model: SSVGPRegressor | None = None) -> Mapping[str, float]:
    """MCC, false and missed inputs, nmse, 95% coverage, negative log density, and the seconds of the fit alone."""
    model = model or SSVGPRegressor(random_state=0)
    start = time.perf_counter()
    model.fit(draw.X, draw.y)
    seconds = time.perf_counter() - start
    support = model.get_support()
    out = selection_scores(support, draw.relevant) | {"seconds": seconds}
    if draw.y_test.size:
        band = model.predict_quantiles(draw.X_test, [0.025, 0.975])
        out["nmse"] = nmse(draw.y_test, model.predict(draw.X_test))
        out["coverage"] = coverage(draw.y_test, band[:, 0], band[:, 1])
        out["nlpd"] = float(-np.mean(model.log_predictive_density(draw.X_test, draw.y_test)))
    return out
