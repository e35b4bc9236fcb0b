"""A fitted model for ArviZ, so that its leave-one-out score stands beside those of other models.

The group `log_likelihood` holds log p(y_i | y_-i, theta_s, phi_s), the density of each target given all others and one
draw of set, kernel and parameters. That is what importance-sampled leave-one-out needs of a Gaussian process, whose
targets are not independent given the parameters (Buerkner, Gabry and Vehtari 2021): az.loo and az.compare then also
account for what y_i itself taught the weights and parameters, which `loo_` does not. az.waic has no meaning here. Draws
are members repeated by their weights, so that far fewer than `DRAWS` are distinct, and k-hat is a rough guide.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ssvgp.explain.calibration import densities_left_out
from ssvgp.explain.fitted import Fitted
from ssvgp.run.optional import require

DRAWS = 1000


def to_arviz(fitted: Fitted) -> Any:
    """InferenceData of a fit with groups posterior, log_likelihood and observed_data.

    In units of y; `posterior` has noise_sd (of the transformed y under a transform) and the number of active inputs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its next version when it is imported
        library = require("arviz", "to_arviz()")
    density, members = densities_left_out(fitted), fitted.ensemble.members
    draws = _draws(np.asarray(fitted.ensemble.weights), fitted.generator())
    noise = np.array([np.sqrt(member.parameters.noise) * fitted.target.spread for member in members])
    size = np.array([member.active.size for member in members])
    groups = {
        "posterior": {"noise_sd": noise[None, draws], "active_inputs": size[None, draws]},
        "log_likelihood": {"y": density[None, draws]},
        "observed_data": {"y": fitted.observed},
    }
    if int(library.__version__.split(".")[0]) >= 1:
        return library.from_dict(groups)
    return library.from_dict(**groups)


def _draws(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Members (DRAWS,) in proportion to their weights, in an order that says nothing."""
    points = (np.arange(DRAWS) + 0.5) / DRAWS
    members = np.minimum(np.searchsorted(np.cumsum(weights), points), weights.size - 1)
    return rng.permutation(members)
