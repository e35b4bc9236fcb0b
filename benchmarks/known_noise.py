"""What is it worth to know the noise of every row? Asked: mean MCC of 0.97 or more, and a negative log density at least
0.3 below that of the fit that ignores it.

python -m benchmarks.known_noise            twenty draws of the toy with known noise on top of its own

`nlpd` and `gain` are of test rows with the toy's own noise alone; `gain_loud` is of the same rows with known noise of
their own, which the first fit is told and the second is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from experiments.cases import Case, main
from experiments.designs import Draw, toy
from experiments.problems import seeds
from experiments.scores import nmse, selection_scores
from ssvgp import SSVGPRegressor

LEAST, MOST = 0.01, 4.0  # variance of the known noise: log-uniform between these


def louder(draw: Draw, seed: int) -> tuple[Draw, np.ndarray, np.ndarray]:
    """The draw with more noise, and its variance in each training and test row."""
    rng = np.random.default_rng([seed, 1])
    known, known_test = (np.exp(rng.uniform(np.log(LEAST), np.log(MOST), y.size)) for y in (draw.y, draw.y_test))
    y, y_test = (
        target + np.sqrt(variance) * rng.standard_normal(target.size)
        for target, variance in ((draw.y, known), (draw.y_test, known_test))
    )
    return replace(draw, y=y, y_test=y_test), known, known_test


def known(seed: int, n: int = 300, d: int = 100) -> Mapping[str, float]:
    """MCC, error and negative log density of the fit that is told the noise, and of the one that is not."""
    quiet = toy(seed, n=n, d=d)
    draw, variance, variance_test = louder(quiet, seed)
    told = SSVGPRegressor(random_state=0).fit(draw.X, draw.y, noise_variance=variance)
    plain = SSVGPRegressor(random_state=0).fit(draw.X, draw.y)
    density, ignored = (model.log_predictive_density(quiet.X_test, quiet.y_test) for model in (told, plain))
    loud = told.log_predictive_density(draw.X_test, draw.y_test, noise_variance=variance_test)
    loud_ignored = plain.log_predictive_density(draw.X_test, draw.y_test)
    return {
        "mcc": selection_scores(told.get_support(), draw.relevant)["mcc"],
        "mcc_ignored": selection_scores(plain.get_support(), draw.relevant)["mcc"],
        "nmse": nmse(quiet.y_test, told.predict(quiet.X_test)),
        "nmse_ignored": nmse(quiet.y_test, plain.predict(quiet.X_test)),
        "nlpd": float(-density.mean()),
        "nlpd_ignored": float(-ignored.mean()),
        "gain": float((density - ignored).mean()),
        "gain_loud": float((loud - loud_ignored).mean()),
    }


def smoke(seed: int) -> Mapping[str, float]:
    return known(seed, n=80, d=10)


if __name__ == "__main__":
    main(Case("known_noise", known, seeds(20), smoke, frozenset({"mcc", "mcc_ignored", "gain", "gain_loud"})))
