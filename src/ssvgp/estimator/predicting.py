"""The part of the regressor that predicts: moments, quantiles, draws and densities of y at new rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvgp.data.rows import checked_exposure, checked_numbers
from ssvgp.data.table import new_rows
from ssvgp.disk.collections import is_dask
from ssvgp.explain import predictions
from ssvgp.explain.fitted import Fitted
from ssvgp.gp import mixture
from ssvgp.model.likelihoods import COUNTS
from ssvgp.records import Prediction
from ssvgp.run.randomness import generator_of


class Predicting:
    """Predictions from a fit of one target or of many, of rows in memory or of Dask."""

    def predict(self: Any, X: Any, return_std: bool = False, return_cov: bool = False, exposure: Any = None) -> Any:
        """Mean (t,) of y at X (t, d), and on request its standard deviation (t,) or covariance (t, t).

        Noise is included; `predict_latent` is without it. Counts are those of `exposure` (t,), of one where none is
        given. Of a Dask collection the answer is one too, not yet computed.
        """
        if return_std and return_cov:
            raise ValueError("ask for return_std or return_cov, not both: the second contains the first")
        if return_cov:
            return predictions.covariance(self.fitted_, self._rows(X)[:])
        return self._moments(X, return_std, True, exposure)

    def predict_latent(self: Any, X: Any, return_std: bool = False, exposure: Any = None) -> Any:
        """Mean (t,) of f, the target without its noise, and on request its standard deviation (t,).

        Under a target transform this is f mapped back to units of y; of classes it is the probability of 1, of counts
        their rate.
        """
        return self._moments(X, return_std, False, exposure)

    def _moments(self: Any, X: Any, return_std: bool, noise: bool, exposure: Any = None) -> Any:
        if is_dask(X):
            check_is_fitted(self)
            return self._predict_lazily(X, return_std, noise)

        def ask(fitted: Fitted, rows: Any) -> np.ndarray:
            prediction = fitted.predict(rows, self._exposure(fitted, exposure, rows.shape[0]))
            restored = fitted.target.moments(prediction, noise)
            return np.stack(restored if return_std else restored[:1])

        found = self._answers(X, ask, axis=2)
        return (found[0], found[1]) if return_std else found[0]

    def predict_quantiles(
        self: Any, X: Any, q: Sequence[float] | float = (0.025, 0.5, 0.975), exposure: Any = None
    ) -> np.ndarray:
        """Quantiles (t, len(q)) of y at levels q between 0 and 1, noise included; (t, targets, len(q)) of many.

        Those of counts are whole numbers.
        """
        levels = np.asarray(q, dtype=float)

        def ask(fitted: Fitted, rows: Any) -> np.ndarray:
            prediction = fitted.predict(rows, self._exposure(fitted, exposure, rows.shape[0]))
            return fitted.target.restore(mixture.quantiles(prediction, levels))

        return self._answers(X, ask, axis=1)

    def predict_mixture(self: Any, X: Any, exposure: Any = None) -> Prediction:
        """Moments of every component at X (t, d), on the standardised scale that `fitted_.target` undoes.

        Of classes and counts they are those of the logit and of the log rate.
        """
        rows = self._rows(X)
        return self.fitted_.predict(rows, self._exposure(self.fitted_, exposure, rows.shape[0]))

    @staticmethod
    def _exposure(fitted: Fitted, exposure: Any, rows: int) -> np.ndarray | None:
        """The exposure (t,) of new rows, which counts alone may have."""
        if exposure is None:
            return None
        if fitted.likelihood not in COUNTS:
            raise ValueError(f"exposure belongs to counts, but the likelihood is {fitted.likelihood!r}")
        return checked_exposure(exposure, rows)

    def sample_y(self: Any, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws (t, n_samples) of y, noise included, joint over the rows X (t, d)."""
        return predictions.sample(self.fitted_, self._rows(X)[:], n_samples, generator_of(random_state))

    def log_predictive_density(
        self: Any, X: Any, y: Any, noise_variance: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """log p(y_i | x_i) (t,) of each row, with noise; minus infinity where a transform excludes y_i.

        `noise_variance` (t,) is known noise of these rows, as in `fit`: it adds to what was learned; so is `exposure`.
        """
        if hasattr(self, "_several"):
            return self._densities(X, np.asarray(y, dtype=float), noise_variance)
        y = np.asarray(y, dtype=float).ravel()
        rows = self._rows(X)
        if y.size != rows.shape[0]:
            raise ValueError(f"X has {rows.shape[0]} rows but y has {y.size} values")
        known = checked_numbers(noise_variance, "noise_variance", y.size)
        exposed = None if exposure is None else checked_exposure(exposure, y.size)
        return predictions.log_density(self.fitted_, rows, y, known, exposed)

    def _rows(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return self._fitted.inputs.rows(new_rows(self, X))
