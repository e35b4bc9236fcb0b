"""The part of the regressor that is asked after a fit: checks, effects, shares and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.explain import calibration, effects, sobol
from ssvgp.explain.calibration import Check
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.sobol import Shares
from ssvgp.run.workers import one_blas_thread


class Asking:
    """What a fitted model says of itself, each by the room that knows."""

    @property
    def loo_(self: Any) -> LeaveOneOut:
        """Leave-one-out mean, variance and log density (n,) of y, the mixture's weights held."""
        return calibration.leave_one_out(self.fitted_)

    def loo_by_member(self: Any) -> np.ndarray:
        """Leave-one-out log density (k, n) of every target under every member of the mixture."""
        return calibration.densities_left_out(self.fitted_)

    def check(self: Any) -> Check:
        """Rows predicted from the others, beside their targets: all rows, or a sample of a large table."""
        return calibration.check(self.fitted_)

    def effect(self: Any, feature: int | str, grid: Any = None, level: float = 0.9) -> Effect:
        """What one input does, alone, with a band: see `ssvgp.explain.effects`. `feature` is a name or a number."""
        with one_blas_thread():
            return effects.effect(self.fitted_, feature, grid, level)

    def interaction(
        self: Any, a: int | str, b: int | str, grids: tuple[Any, Any] | None = None, level: float = 0.9
    ) -> Interaction:
        """What two inputs do together beyond what each does alone, with a band: see `ssvgp.explain.effects`."""
        with one_blas_thread():
            return effects.interaction(self.fitted_, a, b, grids, level)

    def effect_shares(self: Any) -> Shares:
        """How much of the variation of the predictions each selected input, and each pair, explains."""
        return sobol.cached_shares(self.fitted_)

    def summary(self: Any) -> Any:
        """The answer as a pandas DataFrame, a row for each input: see `ssvgp.report.table.records`.

        Of many targets a row for each target and input, without shares of variance.
        """
        from ssvgp.report.table import frame, long_frame

        check_is_fitted(self)
        return frame(self.fitted_) if hasattr(self, "_fitted") else long_frame(self.several_)

    def to_arviz(self: Any) -> Any:
        """Leave-one-out densities for az.loo and az.compare: see `ssvgp.report.arviz`."""
        from ssvgp.report.arviz import to_arviz

        return to_arviz(self.fitted_)
