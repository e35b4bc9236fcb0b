"""`SSVGPClassifier`: inclusion probabilities and probabilities of classes, by the same line as the regressor's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from ssvgp import estimator, store
from ssvgp.data.inputs import DataWarning
from ssvgp.data.rows import checked_numbers
from ssvgp.data.table import new_rows, training_table
from ssvgp.estimator import SSVGPRegressor
from ssvgp.explain import classes
from ssvgp.explain.classes import ClassCheck, Classified
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.sobol import Shares
from ssvgp.run.randomness import generator_of
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings import Prior

LIKELIHOODS = ("bernoulli", "bernoulli-probit")


class SSVGPClassifier(ClassifierMixin, SelectorMixin, BaseEstimator):
    """Gaussian process classification with spike-and-slab selection of inputs.

    Two classes are one model of the second against the first; more are one model for each class against the rest, whose
    probabilities are made to sum to one. Labels may be of any kind.

    Parameters
    ----------
    likelihood : "bernoulli", whose link is the logistic function, or "bernoulli-probit".
    class_weight : None, "balanced", or a dict from labels to weights: a row of weight two is the row twice.
    kernel : as that of `SSVGPRegressor`.
    prior : as that of `SSVGPRegressor`.
    settings : as that of `SSVGPRegressor`.
    threshold : as that of `SSVGPRegressor`.
    exact_limit : as that of `SSVGPRegressor`.
    predict_neighbours : as that of `SSVGPRegressor`.
    n_jobs : as that of `SSVGPRegressor`.
    max_memory : as that of `SSVGPRegressor`.
    random_state : as that of `SSVGPRegressor`.
    verbose : as that of `SSVGPRegressor`.
    callback : as that of `SSVGPRegressor`.

    Attributes
    ----------
    classes_ : (c,) labels in rising order.
    pip_ : (d,) probability that an input matters for any class.
    pip_by_class_ : (c, d) inclusion probability of every input for each class; both rows are the same for two.
    loo_proba_ : (n, c) probabilities of the classes of each row from the other rows, worked out when first asked for.
    relatives_ : dict from the number of an input that may matter to the columns that correlate with it.
    duplicate_of_ : dict from the number of a copied column to that of the column that stands for it.
    kept_ : (p,) numbers of the columns that were not left out.
    fitted_ : all of this as the record `Classified`, which reports, files and commands read.
    n_features_in_ : number of columns of the table.
    feature_names_in_ : (d,) their names, where the table has names.
    """

    def __init__(
        self,
        likelihood: str = "bernoulli",
        class_weight: Any = None,
        kernel: Any = "auto",
        prior: Prior | None = None,
        settings: Any = None,
        threshold: float = 0.5,
        exact_limit: int = 2000,
        predict_neighbours: int = 256,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.likelihood = likelihood
        self.class_weight = class_weight
        self.kernel = kernel
        self.prior = prior
        self.settings = settings
        self.threshold = threshold
        self.exact_limit = exact_limit
        self.predict_neighbours = predict_neighbours
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SSVGPClassifier:
        """Select inputs and fit the mixtures to rows X (n, d) and labels y (n,)."""
        if self.likelihood not in LIKELIHOODS:
            raise ValueError(f"likelihood is one of {', '.join(map(repr, LIKELIHOODS))}, not {self.likelihood!r}")
        labels, weights = self._labels(X, y, sample_weight)
        found, codes = np.unique(labels, return_inverse=True)
        if weights is not None and not weights.any():
            raise ValueError("every sample_weight is zero, so that there is no row to fit")
        present = found if weights is None else found[np.bincount(codes, weights) > 0]
        if present.size < 2:
            raise ValueError(f"y has one class alone, {str(present[0])!r}: two classes are the least")
        two = present.size == 2
        streams = [self.random_state] if two else generator_of(self.random_state).spawn(present.size)
        fits = []
        for k, (label, stream) in enumerate(zip(present[1:] if two else present, streams, strict=True)):
            with warnings.catch_warnings():
                if k:  # columns are left out for all classes alike, and said once
                    warnings.simplefilter("ignore", DataWarning)
                model = SSVGPRegressor(**self._inner(stream))
                part = model.fit(X, (labels == label).astype(float), weights).fitted_
            fits.append(part)
        return self._hold(present, fits)

    def _labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels (n,), and the weights (n,) of rows and classes together, None where all count once."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        if labels.dtype == object and type_of_target(labels) == "unknown":  # numbers in an array of objects
            labels = np.array(labels.tolist())
        if labels.dtype.kind == "f":  # before they are compared with whole numbers, which warns
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        numbers = np.unique(labels, return_inverse=True)[1]
        X, _ = training_table(self, X, numbers.astype(float))  # names and number of columns, and that lengths agree
        weights = checked_numbers(sample_weight, "sample_weight", labels.size)
        if self.class_weight is None:
            return labels, weights
        by_class = compute_sample_weight(self.class_weight, labels)
        return labels, by_class if weights is None else by_class * weights

    def _inner(self, stream: Any = None) -> dict[str, Any]:
        """The parameters of a regressor of zeros and ones."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "class_weight"}
        return {**own, "target_transform": None, "random_state": stream}

    def _hold(self, labels: np.ndarray, fits: list[Fitted]) -> SSVGPClassifier:
        # one seed: all parts leave out the same rows
        self._classified = Classified(labels, tuple(replace(one, seed=fits[0].seed) for one in fits))
        self.classes_, self.pip_ = labels, self._classified.pip
        self.pip_by_class_ = self._classified.pip_by_class
        self.relatives_ = dict(self._classified.relatives)
        self.kept_, self.duplicate_of_ = fits[0].inputs.kept, dict(fits[0].inputs.duplicate_of)
        return self

    @classmethod
    def from_fitted(cls, fitted: Classified, **parameters: Any) -> SSVGPClassifier:
        """An estimator with these parameters that is fitted already, such as one that was read from a file."""
        model = cls(**parameters)
        model.n_features_in_ = fitted.inputs.d
        if fitted.first.given_names is not None:
            model.feature_names_in_ = np.array(fitted.first.given_names, dtype=object)
        return model._hold(fitted.classes, list(fitted.parts))

    @property
    def fitted_(self) -> Classified:
        """What the fit has left, as the parameters ask of it now: those of predictions may change without a new fit."""
        check_is_fitted(self)
        names, parts = getattr(self, "feature_names_in_", None), []
        for part in self._classified.parts:
            model = SSVGPRegressor.from_fitted(part, **self._inner())
            if names is not None:
                model.feature_names_in_ = names
            parts.append(model.fitted_)
        return Classified(self.classes_, tuple(parts))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_classified")

    # --- predictions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (t, c) of the classes, in the order of `classes_`."""
        fitted = self.fitted_
        return fitted.probabilities(fitted.inputs.rows(new_rows(self, X)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms (t, c)."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class (t,) of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likeliest]

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the second of two classes (t,), or of each of more (t, c) against all others together."""
        found = self.predict_proba(X)
        odds = np.log(found) - np.log1p(-np.minimum(found, 1.0 - classes.LEAST))
        return odds[:, 1] if self.classes_.size == 2 else odds

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.pip_ > self.threshold

    # --- explanations

    @property
    def loo_proba_(self) -> np.ndarray:
        """Probabilities (n, c) of the classes of each row from the other rows, the mixture's weights held."""
        return classes.left_out(self.fitted_)

    def check(self) -> ClassCheck:
        """Rows predicted from the others, beside their classes: all rows, or a sample of a large table."""
        return classes.class_check(self.fitted_)

    def effect(
        self, feature: int | str, of: Any = None, scale: str = "probability", grid: Any = None, level: float = 0.9
    ) -> Effect:
        """What one input does to the probability of a class, or with scale="logit" to its log odds, with a band.

        `feature` is a name or a number, `of` a label; None is for the second of two classes.
        """
        with one_blas_thread():
            return classes.class_effect(self.fitted_, feature, of, scale, grid, level)

    def interaction(
        self, a: int | str, b: int | str, of: Any = None, grids: tuple[Any, Any] | None = None, level: float = 0.9
    ) -> Interaction:
        """What two inputs do together to the log odds of a class, beyond what each does alone, with a band."""
        with one_blas_thread():
            return classes.class_interaction(self.fitted_, a, b, of, grids, level)

    def effect_shares(self, of: Any = None) -> Shares:
        """How much of the variation of the log odds of a class each of its selected inputs, and each pair, explains."""
        return classes.class_shares(self.fitted_, of)

    # --- tables, files and notebooks

    def summary(self) -> Any:
        """The answer as a pandas DataFrame, a row for each input, with a column of PIPs for each of more than two."""
        from ssvgp.report.table import class_frame

        return class_frame(self.fitted_)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file without code; `ssvgp.load` reads it."""
        if type(self) is not SSVGPClassifier:
            raise store.StoreError(f"only SSVGPClassifier itself can be saved, not its subclass {type(self).__name__}")
        store.save_classes(path, self.fitted_, self.get_params(deep=False))

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the selection, or before a fit scikit-learn's diagram."""
        from ssvgp.report.html import class_html

        return class_html(self) if self.__sklearn_is_fitted__() else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle


def load(path: str | PathLike[str]) -> Any:
    """The model that `save` wrote, regressor or classifier; `StoreError` where the file is damaged or newer."""
    return model_of(store.load_any(path))


def model_of(stored: store.Stored | store.StoredSeveral | store.StoredClasses) -> Any:
    """The model of a file that was read."""
    if not isinstance(stored, store.StoredClasses):
        return estimator.model_of(stored)
    try:
        return SSVGPClassifier.from_fitted(stored.fitted, **stored.parameters)
    except TypeError as error:
        raise store.StoreError(f"the file holds a parameter that this version does not know: {error}") from error
