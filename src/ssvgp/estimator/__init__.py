"""`SSVGPRegressor`: thin, no mathematics; predictions and explanations are parts of it."""

from ssvgp.estimator.regressor import SSVGPRegressor, model_of

__all__ = ["SSVGPRegressor", "model_of"]
