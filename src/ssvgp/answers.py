"""What a fitted model can be asked beyond predictions: how good it is, what its inputs do, and to show or store itself.

`Answers` is the second half of `SSVGPRegressor`. It reads what a fit has left and never changes it; what costs time is
worked out once and kept in `_kept_results`.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ssvgp.data.inputs import Inputs
from ssvgp.data.target import Target
from ssvgp.evidence import loo
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.explain import effects
from ssvgp.explain.calibration import AT_ONCE, Check, check_of, sampled_check
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.sobol import Shares, shares
from ssvgp.gp import mixture
from ssvgp.records import Ensemble, Prediction, Train
from ssvgp.run.workers import one_blas_thread


class Answers(RegressorMixin, SelectorMixin, BaseEstimator):
    """Leave-one-out figures, effects, shares, summaries and files of a fitted model."""

    ensemble_: Ensemble
    weights_: np.ndarray
    train_: Train
    n_features_in_: int
    predict_neighbours: int
    _inputs: Inputs
    _target: Target
    _kept_results: dict[str, Any]

    @property
    def loo_(self) -> LeaveOneOut:
        """Leave-one-out mean, variance and log density (n,) of y, the mixture's weights held."""
        check_is_fitted(self)
        key = f"loo from {self._neighbours}"  # neighbours may change without a new fit
        if key not in self._kept_results:
            with one_blas_thread():
                self._kept_results[key] = self._leave_one_out()
        return self._kept_results[key]

    def _leave_each_out(self) -> list[LeaveOneOut]:
        """Leave-one-out of every member, of the standardised target."""
        m = self._neighbours
        key = f"each from {m}"
        if key not in self._kept_results:
            score = loo.exact if m is None else functools.partial(loo.truncated, neighbours=m)
            self._kept_results[key] = [score(self.train_, member) for member in self.ensemble_.members]
        return self._kept_results[key]

    def _leave_one_out(self) -> LeaveOneOut:
        train, each = self.train_, self._leave_each_out()
        means, variances = np.stack([one.mean for one in each]), np.stack([one.variance for one in each])
        prediction = Prediction(means, variances, np.zeros(len(each)), self.weights_)  # noise is in already
        restored = self._target.moments(prediction)
        slope = self._target.log_slope(self._target.restore(train.y))
        density = mixture.log_density(prediction, train.y) + slope
        return LeaveOneOut(np.arange(train.n), restored.mean, restored.sd**2, density, train.n)

    def check(self) -> Check:
        """Rows predicted from the others, beside their targets: all rows, or a sample of a large table."""
        check_is_fitted(self)
        key = f"check from {self._neighbours}"
        if key not in self._kept_results:
            with one_blas_thread():
                if self.train_.n <= AT_ONCE:
                    found = check_of(self._leave_each_out(), self.weights_, self.train_, self._target)
                else:
                    found = sampled_check(self._fitted(), self._neighbours or self.predict_neighbours)
            self._kept_results[key] = found
        return self._kept_results[key]

    def effect(self, feature: int | str, grid: Any = None, level: float = 0.9) -> Effect:
        """What one input does, alone, with a band: see `ssvgp.explain.effects`. `feature` is a name or a number."""
        with one_blas_thread():
            return effects.effect(self._fitted(), feature, grid, level)

    def interaction(
        self, a: int | str, b: int | str, grids: tuple[Any, Any] | None = None, level: float = 0.9
    ) -> Interaction:
        """What two inputs do together beyond what each does alone, with a band: see `ssvgp.explain.effects`."""
        with one_blas_thread():
            return effects.interaction(self._fitted(), a, b, grids, level)

    def effect_shares(self) -> Shares:
        """How much of the variation of the predictions each selected input, and each pair, explains."""
        chosen = self.get_support(indices=True)
        key = f"shares of {chosen.tolist()} from {self._neighbours}"  # the threshold too may change without a new fit
        if key not in self._kept_results:
            with one_blas_thread():
                self._kept_results[key] = shares(self._fitted(), chosen)
        return self._kept_results[key]

    def loo_by_member(self) -> np.ndarray:
        """Leave-one-out log density (k, n) of every target under every member of the mixture."""
        check_is_fitted(self)
        with one_blas_thread():
            density = np.stack([one.log_density for one in self._leave_each_out()])
        return density + self._target.log_slope(self._target.restore(self.train_.y))

    def summary(self) -> Any:
        """The answer as a pandas DataFrame, a row for each input: see `ssvgp.report.table.records`."""
        from ssvgp.report.table import frame

        return frame(self)

    def to_arviz(self) -> Any:
        """Leave-one-out densities for az.loo and az.compare: see `ssvgp.report.arviz`."""
        from ssvgp.report.arviz import to_arviz

        return to_arviz(self)

    def save(self, path: Any) -> None:
        """Write the fitted model to a file without code; `ssvgp.load` reads it."""
        from ssvgp.store import save

        save(cast(Any, self), path)  # only the whole estimator is ever made

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the selection, or before a fit scikit-learn's diagram."""
        from ssvgp.report.html import html

        return html(self) if hasattr(self, "ensemble_") else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def _fitted(self) -> effects.Fitted:
        """The fit as effects see it."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        parts = (self.ensemble_, self.train_, self._inputs, self._target, [str(name) for name in names])
        return effects.Fitted(*parts, self._neighbours, self._prepared() if self._neighbours is None else None)
