"""What an estimator can do with many targets: fit them, give one of them out, and ask all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ssvgp.data.inputs import warn_of_columns
from ssvgp.data.table import new_rows, training_rows
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.several import Several
from ssvgp.many.targets import targets_of
from ssvgp.method.request import Request
from ssvgp.run.progress import listener

if TYPE_CHECKING:
    from ssvgp.many.run import Order

# attributes of a fit of one target, and of one of several: a new fit forgets those of the other kind
OF_ONE = (
    "_fitted",
    "ensemble_",
    "train_",
    "weights_",
    "members_",
    "variance_shares_",
    "target_curve_",
    "relatives_",
    "sampling_",
)
OF_SEVERAL = ("_several", "targets_", "errors_", "sampling_")


class ManyTargets:
    """The part of an estimator that knows of several targets; `_several` is there once they are fitted."""

    _several: Several
    noise_variance_: Any  # one number, or one for each target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags

    def _refuse_several(self) -> None:
        if hasattr(self, "_several"):
            raise ValueError(f"there are {len(self._several)} targets: ask the model of one, target(name) or target(0)")

    def _fit_several(self: Any, request: Request, X: Any, Y: Any, weights: Any, noise: Any) -> Any:
        from ssvgp.many.run import fit_several

        targets, X = targets_of(Y), training_rows(self, X)
        check_consistent_length(X, targets.Y)
        several = fit_several(X, targets, weights, noise, self._order(request))
        warn_of_columns(several.inputs, getattr(self, "feature_names_in_", range(X.shape[1])))
        return self._hold_several(several)

    def _order(self: Any, request: Request) -> Order:
        """What a run over many targets is asked for; its modules are loaded by who has many targets."""
        from ssvgp.many.fitting import Asked
        from ssvgp.many.run import Order

        return Order(
            Asked(request, self._regime_of(), self.exact_limit),
            self.get_params(deep=False),
            self.random_state,
            self.n_jobs,
            self.checkpoint,
            listener(self.verbose, self.callback),
        )

    @classmethod
    def from_several(cls, several: Several, **parameters: Any) -> Any:
        """The same for the fits of many targets."""
        model: Any = cls(**parameters)
        first = next(one for one in several.fits if one is not None)
        model.n_features_in_ = several.inputs.d
        if first.given_names is not None:
            model.feature_names_in_ = np.array(first.given_names, dtype=object)
        return model._hold_several(several)

    def _hold_several(self: Any, several: Several) -> Any:
        self._drop(OF_ONE)
        self._several, self.targets_, self.errors_ = several, np.array(several.names, object), dict(several.errors)
        self.pip_, self.inverse_lengthscales_ = several.pip, several.table(lambda one: one.inverse_lengthscales)
        self.noise_variance_ = several.table(lambda one: one.noise_variance)
        self.kept_, self.duplicate_of_ = several.inputs.kept, dict(several.inputs.duplicate_of)
        return self

    def _drop(self: Any, names: Sequence[str]) -> None:
        """Forget what an earlier fit of another kind has left."""
        for name in names:
            self.__dict__.pop(name, None)

    @property
    def several_(self: Any) -> Several:
        """The fits of many targets, each as the parameters ask of it now."""
        check_is_fitted(self)
        if not hasattr(self, "_several"):
            raise AttributeError("there is one target: fitted_ has its fit")
        return replace(
            self._several, fits=tuple(None if one is None else self._as_asked(one) for one in self._several.fits)
        )

    def target(self: Any, name: int | str) -> Any:
        """The model of one of many targets, by its name or number: all that a single fit can be asked."""
        found = self.several_.one(name)
        return type(self).from_fitted(found, **self.get_params(deep=False))

    def _answers(self: Any, X: Any, ask: Callable[[Fitted, Any], np.ndarray], axis: int) -> np.ndarray:
        """What is asked of the fit at rows X, or of each of many, which then stand along an axis; NaN for no fit."""
        check_is_fitted(self)
        if hasattr(self, "_fitted"):
            return ask(self.fitted_, self._rows(X))
        table, several, standardised = new_rows(self, X), self.several_, dict[int, Any]()
        for _, one in several:
            if one is not None and id(one.inputs) not in standardised:
                standardised[id(one.inputs)] = one.inputs.rows(table)
        return np.moveaxis(several.table(lambda one: ask(one, standardised[id(one.inputs)])), 0, axis)

    def _densities(self: Any, X: Any, Y: np.ndarray, noise_variance: Any) -> np.ndarray:
        """The same of each of many targets: (t, q)."""
        out = np.full(Y.shape, np.nan)
        for k, (name, one) in enumerate(self._several):
            if one is not None:
                out[:, k] = self.target(name).log_predictive_density(X, Y[:, k], noise_variance)
        return out
