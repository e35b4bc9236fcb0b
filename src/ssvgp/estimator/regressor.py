"""`SSVGPRegressor`: the whole line, from a table to inclusion probabilities and predictions, and what to ask after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ssvgp import store
from ssvgp.data.inputs import inputs_of, warn_of_columns
from ssvgp.data.rows import sample_of
from ssvgp.data.table import training_table
from ssvgp.disk.front import RowsOnDisk, is_on_disk
from ssvgp.estimator.asking import Asking
from ssvgp.estimator.predicting import Predicting
from ssvgp.explain.fitted import Fitted
from ssvgp.many.front import OF_SEVERAL, ManyTargets
from ssvgp.many.targets import are_several
from ssvgp.method.line import fit_table, warn_of_notes
from ssvgp.method.request import checked_request
from ssvgp.model.likelihoods import CLASSES, COUNTS
from ssvgp.records import Searched
from ssvgp.run.progress import listener
from ssvgp.run.randomness import generator_of
from ssvgp.settings import PaperSettings, Prior, Regime, regime_for


class SSVGPRegressor(Predicting, Asking, RowsOnDisk, ManyTargets, RegressorMixin, SelectorMixin, BaseEstimator):
    """Gaussian process regression with spike-and-slab selection of inputs.

    Inputs and target are standardised inside, and this is undone in what is returned. Constant columns, and
    all but the first of identical columns, are left out with a warning and have PIP 0.

    `fit(X, Y)` with several targets Y (n, q), an array or a data frame, selects for each of them; what depends on X
    alone is worked out once. Then `pip_` is (q, d), predictions are (t, q), and `target(name)` is the model of one. A
    target that fails has its reason in `errors_` and NaN in these places. Targets run over joblib's active backend
    (`joblib.parallel_config`), `n_jobs` at a time.

    Parameters
    ----------
    method : "auto" proposes sets of inputs in many ways and averages over them by evidence; "paper" is
        Algorithm 1 over a grid of spike precisions with leave-one-out weights, alone.
    kernel : "auto", a name such as "se" or "matern52", a kernel object, or for method "auto" a list of these
        to average over.
    prior : Prior of the method "auto"; None for the default.
    settings : AutoSettings or PaperSettings, as the method needs; None for the default.
    target_transform : "auto", None, "box-cox", "log" or "yeo-johnson": a curve for y, undone in means and quantiles.
        "auto" asks the evidence whether a skewed y without negative values had better pass a root or a logarithm, where
        rows are too many for an exact fit; else, and for method "paper", it is None.
    likelihood : what ties y to f: "auto" lets evidence and left-out rows decide between Gaussian noise, heavy tails,
        outliers and, if y is skewed, a curve; or by name "gaussian", "student-t", "outliers" (a few rows are gross
        errors), "poisson" and "negative-binomial" (counts), "bernoulli" (0 and 1), or one that
        `ssvgp.register_likelihood` was given.
    threshold : inputs whose PIP lies above it are selected.
    exact_limit : rows up to which predictions and leave-one-out figures are exact; beyond it they condition on the
        `predict_neighbours` nearest rows. Fits are exact up to half as many, beyond they work on blocks of rows
        (unless `settings` say otherwise).
    predict_neighbours : nearest training rows that each prediction conditions on, beyond `exact_limit` rows.
    n_jobs : members fitted, and batches predicted, at a time; None is 1, -1 all cores. Results do not depend on it.
    max_memory : bytes, or text such as "2GB", that a fit or a prediction may take beside X: it sizes batches, what is
        kept between calls, and threads. None is for sizes that suit most machines.
    random_state : seed, RandomState or Generator.
    verbose : 1 prints one line for each step of the fit that reports progress, or for each of many targets.
    callback : function that is called with each report of progress, or with a `Done` after each of many targets.
    sample_rows : rows that are drawn at random, in one pass, from a table on disk or of Dask, or from an array of more
        rows than that; None is for 100000 of the former and for all of an array. Columns are standardised by all rows,
        and predictions go through a few rows of the sample where these can stand for it, else from neighbours.
    checkpoint : folder in which each of many targets has a file once it is finished: a run that was killed goes on
        where it was. A folder of another table, or of other settings, is refused.

    Attributes
    ----------
    pip_ : (d,) posterior inclusion probability of every input.
    inverse_lengthscales_ : (d,) mean |theta| over members, for standardised inputs; 0 where no member has the input.
    target_curve_ : the curve that y has passed, in words: "none", "log of y + 0.1" and so on.
    noise_variance_ : variance of the noise in squared units of y, of the transformed y under a transform.
    variance_shares_ : dict with the shares of `sparse` part, `background` and `noise`, which sum to one.
    loo_ : `LeaveOneOut` mean, variance and log density (n,) of the training rows, worked out when first asked for.
    members_ : the components of the mixture, k records `Member`; inputs are numbered as in the table.
    weights_ : (k,) weights of the members, which sum to one.
    relatives_ : dict from the number of an input that may matter to the columns that correlate with it, `Relative`s.
    duplicate_of_ : dict from the number of a copied column to that of the column that stands for it.
    kept_ : (p,) numbers of the columns that were not left out.
    search_ : how sure the fit is of its search, a `Searched`: sets visited, interactions looked at, what may be missed.
    regime_ : what the numbers of rows and inputs decide, a `Regime`: exact or blocks, kernels, neighbours and so on.
    ensemble_ : members and weights with what the method noted, inputs counted among `kept_`.
    train_ : the standardised data that the mixture conditions on.
    fitted_ : all of this as the record `Fitted`, which reports, files and commands read.
    targets_ : (q,) names of many targets, y0, y1 and so on where they came without.
    errors_ : dict from the names of targets that failed to the reason.
    sampling_ : what a fit to rows on disk has seen of them, in a sentence.
    n_features_in_ : number of columns of the table.
    feature_names_in_ : (d,) their names, where the table has names.
    """

    def __init__(
        self,
        method: str = "auto",
        kernel: Any = "auto",
        prior: Prior | None = None,
        settings: Any = None,
        target_transform: str | None = "auto",
        likelihood: str = "auto",
        threshold: float = 0.5,
        exact_limit: int = 2000,
        predict_neighbours: int = 256,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
        sample_rows: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.prior = prior
        self.settings = settings
        self.target_transform = target_transform
        self.likelihood = likelihood
        self.threshold = threshold
        self.exact_limit = exact_limit
        self.predict_neighbours = predict_neighbours
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.sample_rows = sample_rows
        self.checkpoint = checkpoint

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, noise_variance: Any = None, exposure: Any = None
    ) -> SSVGPRegressor:
        """Select inputs and fit the mixture to rows X (n, d) and targets y (n,), or to each of several y (n, q).

        A row of weight two is the row twice, one of weight zero is left out. `noise_variance` (n,), in squared units of
        y, is known beforehand and adds to the noise that is learned, row by row. `exposure` (n,) is the time, area or
        number of people in which the events of a row were counted: the rate of counts is multiplied by it. Of several
        targets, each leaves out the rows in which it is NaN. X may be a folder of Parquet files, with y the name of a
        column, or a Dask collection, with y another: see `sample_rows`. Weights and noise then come as y does.
        """
        request = checked_request(self)
        if exposure is not None and self.likelihood not in COUNTS:
            raise ValueError(f"exposure belongs to counts, but likelihood is {self.likelihood!r}")
        on_disk, several = is_on_disk(X, self.sample_rows), are_several(y)
        if exposure is not None and (on_disk or several):
            raise ValueError("exposure goes with one target in memory: fit each target of counts by itself")
        if on_disk:
            return self._fit_disk(request, X, y, sample_weight, noise_variance)
        if several:
            return self._fit_several(request, X, y, sample_weight, noise_variance)
        X, y = training_table(self, X, y)
        sample = sample_of(X, y, sample_weight, noise_variance, self.exact_limit, exposure)
        inputs = inputs_of(sample.X, sample.weights)
        warn_of_columns(inputs, getattr(self, "feature_names_in_", range(X.shape[1])))
        regime = self._regime(sample.y.size, inputs.kept.size)
        listen = listener(self.verbose, self.callback)
        if self.verbose:
            print(f"ssvgp: {regime}", flush=True)
        fitted = fit_table(sample, inputs, request, regime, generator_of(self.random_state), listen)
        warn_of_notes(fitted.ensemble.notes)
        return self._hold(fitted)

    def _regime_of(self) -> Callable[[int, int], Regime]:
        """What n rows and d inputs decide, with the settings and the limits of this estimator."""
        settings = self.settings or (PaperSettings() if self.method == "paper" else None)
        limits = {"exact_limit": self.exact_limit, "predict_neighbours": self.predict_neighbours}
        worth = 0.25 if self.likelihood in CLASSES else 1.0  # the information of a label about its logit is p (1 - p)
        return partial(regime_for, settings=settings, prior=self.prior, worth=worth, **limits)

    def _regime(self, n: int, d: int) -> Regime:
        return self._regime_of()(n, d)

    @property
    def regime_(self) -> Regime:
        """What the numbers of rows and inputs decide, as the parameters are now; `print` it for one line."""
        check_is_fitted(self)
        return self._regime(self._several.n if hasattr(self, "_several") else self.train_.n, self.kept_.size)

    @property
    def search_(self) -> Searched | None:
        """How sure the fit is of its search; `print` it for one sentence. None for the paper's method."""
        check_is_fitted(self)
        return self.ensemble_.notes.get("search")

    @classmethod
    def from_fitted(cls, fitted: Fitted, **parameters: Any) -> SSVGPRegressor:
        """An estimator with these parameters that is fitted already, such as one that was read from a file."""
        model = cls(**parameters)
        model.n_features_in_ = fitted.inputs.d
        if fitted.given_names is not None:
            model.feature_names_in_ = np.array(fitted.given_names, dtype=object)
        return model._hold(fitted)

    def _hold(self, fitted: Fitted) -> SSVGPRegressor:
        self._drop(OF_SEVERAL)
        self._fitted, self.ensemble_, self.train_ = fitted, fitted.ensemble, fitted.train
        self.pip_, self.weights_, self.members_ = fitted.pip, fitted.ensemble.weights, fitted.members
        self.inverse_lengthscales_ = fitted.inverse_lengthscales
        self.noise_variance_, self.variance_shares_ = fitted.noise_variance, fitted.variance_shares
        self.target_curve_, self.relatives_ = fitted.target.curve.description, dict(fitted.relatives)
        self.kept_, self.duplicate_of_ = fitted.inputs.kept, dict(fitted.inputs.duplicate_of)
        return self

    @property
    def fitted_(self) -> Fitted:
        """What the fit has left, as the parameters ask of it now: those of predictions may change without a new fit."""
        check_is_fitted(self)
        self._refuse_several()
        return self._as_asked(self._fitted)

    def _as_asked(self, fitted: Fitted) -> Fitted:
        """A fit with the parameters of predictions as they are now."""
        names, regime = getattr(self, "feature_names_in_", None), self._regime(fitted.train.n, fitted.inputs.kept.size)
        return replace(
            fitted,
            given_names=None if names is None else tuple(str(name) for name in names),
            neighbours=regime.predict_neighbours,
            check_rows=regime.check_rows,
            check_neighbours=self.predict_neighbours,
            threshold=self.threshold,
            n_jobs=effective_n_jobs(self.n_jobs),
            max_memory=self.max_memory,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted") or hasattr(self, "_several")

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(np.atleast_2d(self.pip_ > self.threshold).any(axis=0))

    # --- files and notebooks

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file without code; `ssvgp.load` reads it."""
        if type(self) is not SSVGPRegressor:
            raise store.StoreError(f"only SSVGPRegressor itself can be saved, not its subclass {type(self).__name__}")
        if hasattr(self, "_several"):
            store.save_several(path, self.several_, self.get_params(deep=False))
        else:
            store.save(path, self.fitted_, self.get_params(deep=False))

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the selection, or before a fit scikit-learn's diagram."""
        from ssvgp.report.html import html

        return html(self) if hasattr(self, "_fitted") else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle


def model_of(stored: store.Stored | store.StoredSeveral) -> SSVGPRegressor:
    """The model of a file that was read."""
    try:
        if isinstance(stored, store.StoredSeveral):
            return SSVGPRegressor.from_several(stored.several, **stored.parameters)
        return SSVGPRegressor.from_fitted(stored.fitted, **stored.parameters)
    except TypeError as error:
        raise store.StoreError(f"the file holds a parameter that this version does not know: {error}") from error
