"""What a fit says about new rows, in units of y; rows are standardised already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ssvgp.explain.fitted import Fitted
from ssvgp.gp import mixture
from ssvgp.gp.linalg import symmetric_square_root
from ssvgp.records import Prediction
from ssvgp.run.workers import one_blas_thread


def covariance(fitted: Fitted, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (t,) of y and its covariance (t, t), noise included."""
    if fitted.target.curved:
        raise ValueError("return_cov does not work where y passed a curve: use sample_y, or target_transform=None")
    with one_blas_thread():
        joint = mixture.mixture_covariance(fitted.ensemble, fitted.train, rows, fitted.neighbours)
    mean, covariance = joint.mean, joint.covariance
    if fitted.weak is not None:
        values = fitted.weak.features.values(rows)
        mean, covariance = mean + values @ fitted.weak.mean, covariance + values @ fitted.weak.covariance @ values.T
    return fitted.target.restore(mean), covariance * fitted.target.spread**2


def sample(fitted: Fitted, rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draws (t, count) of y, noise included, joint over the rows."""
    with one_blas_thread():
        draws = mixture.sample(fitted.ensemble, fitted.train, rows, count, rng, fitted.neighbours)
        if fitted.weak is not None:
            weak = fitted.weak
            spread = rng.standard_normal((count, weak.mean.size)) @ symmetric_square_root(weak.covariance)
            draws = draws + (weak.mean + spread) @ weak.features.values(rows).T
    return fitted.target.restore(draws).T


def log_density(
    fitted: Fitted, rows: Any, y: np.ndarray, known: np.ndarray | None, exposure: np.ndarray | None = None
) -> np.ndarray:
    """log p(y_i | x_i) (t,) with noise, of which a `known` part (t,) is this row's own.

    Minus infinity where a transform excludes y_i.
    """
    target, prediction = fitted.target, fitted.predict(rows, exposure)
    if known is not None:
        target.refuse_known_noise()
        prediction = _noisier(prediction, known / target.spread**2)
    possible = target.possible(y)
    inside = np.where(possible, y, 1.0)
    density = mixture.log_density(prediction, target.standardise(inside))
    return np.where(possible, density + target.log_slope(inside), -np.inf)


def _noisier(prediction: Prediction, variance: np.ndarray) -> Prediction:
    """The same with more variance (t,) at each row."""
    return replace(prediction, variances=prediction.variances + variance)
