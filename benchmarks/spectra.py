"""What is the evened background worth on spectra?

Five random 4:1 splits of each set, with and without it: nmse, negative log density, 95% coverage.

    python -m benchmarks.spectra            needs the data sets: SSVGP_DATA names their folder
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from experiments.cases import Case, main
from experiments.datasets import folder, load
from experiments.problems import halved
from experiments.scores import coverage, nmse
from ssvgp import AutoSettings, SSVGPRegressor

SETS = ("tecator", "cassava_nir", "tablets_nir", "nirsoil", "gasoline_nir")
USUAL = AutoSettings()
CHOICES = {"": USUAL, "_without": replace(USUAL, backgrounds=tuple(k for k in USUAL.backgrounds if k != "evened"))}


def draw(name: str, seed: int) -> Mapping[str, float]:
    """One split, with and without the evened background; rows without a target are left out."""
    X, y = load(name)
    X = X.astype(float)
    X, y = X[np.isfinite(y)], y[np.isfinite(y)]
    train, test = halved(y.size, seed)
    found = {}
    for label, settings in CHOICES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # columns constant or duplicate within the split
            model = SSVGPRegressor(random_state=0, settings=settings).fit(X[train], y[train])
        band = model.predict_quantiles(X[test], [0.025, 0.975])
        found |= {
            f"nmse{label}": nmse(y[test], model.predict(X[test])),
            f"nlpd{label}": float(-np.mean(model.log_predictive_density(X[test], y[test]))),
            f"coverage{label}": coverage(y[test], band[:, 0], band[:, 1]),
            f"selected{label}": float(model.get_support().sum()),
        }
    return found


if __name__ == "__main__":
    if not folder().is_dir():
        sys.exit(f"no data sets in {folder()}: set SSVGP_DATA to their folder")
    main(*(Case(f"spectra_{name}", partial(draw, name), range(100, 105)) for name in SETS))
