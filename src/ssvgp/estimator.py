"""`SSVGPRegressor`: the whole line, from a table to inclusion probabilities and predictions, and what to ask after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from ssvgp.data.rows import checked_exposure, checked_numbers, sample_of
from ssvgp.data.table import new_rows, training_table
from ssvgp.disk.front import RowsOnDisk, is_on_disk
from ssvgp.disk.lazy import is_dask
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.explain import calibration, effects, predictions, sobol
from ssvgp.explain.calibration import Check
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.sobol import Shares
from ssvgp.gp import mixture
from ssvgp.many.front import OF_SEVERAL, ManyTargets
from ssvgp.many.targets import are_several
from ssvgp.method.line import fit_table, warn_of_notes
from ssvgp.method.request import checked_request
from ssvgp.model.likelihoods import CLASSES, COUNTS
from ssvgp.records import Prediction, Searched
from ssvgp.run.progress import listener
from ssvgp.run.randomness import generator_of
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings import PaperSettings, Prior, Regime, regime_for


class SSVGPRegressor(RowsOnDisk, ManyTargets, RegressorMixin, SelectorMixin, BaseEstimator):
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
    likelihood : what ties y to f: "auto" lets the evidence decide between Gaussian noise, heavy tails, outliers and, if
        y is skewed, a curve; or by name "gaussian", "student-t", "outliers" (a few rows are gross errors), "poisson"
        and "negative-binomial" (counts), "bernoulli" (0 and 1), or one that `ssvgp.register_likelihood` was given.
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
        rows than that; None is for 100000 of the former and for all of an array. Columns are standardised by all rows.
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
        column, or a Dask collection, with y another: see `sample_rows`.
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

    # --- predictions

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, exposure: Any = None) -> Any:
        """Mean (t,) of y at X (t, d), and on request its standard deviation (t,) or covariance (t, t).

        Noise is included; `predict_latent` is without it. Counts are those of `exposure` (t,), of one where none is
        given. Of a Dask collection the answer is one too, not yet computed.
        """
        if return_std and return_cov:
            raise ValueError("ask for return_std or return_cov, not both: the second contains the first")
        if return_cov:
            return predictions.covariance(self.fitted_, self._rows(X)[:])
        return self._moments(X, return_std, True, exposure)

    def predict_latent(self, X: Any, return_std: bool = False, exposure: Any = None) -> Any:
        """Mean (t,) of f, the target without its noise, and on request its standard deviation (t,).

        Under a target transform this is f mapped back to units of y; of classes it is the probability of 1, of counts
        their rate.
        """
        return self._moments(X, return_std, False, exposure)

    def _moments(self, X: Any, return_std: bool, noise: bool, exposure: Any = None) -> Any:
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
        self, X: Any, q: Sequence[float] | float = (0.025, 0.5, 0.975), exposure: Any = None
    ) -> np.ndarray:
        """Quantiles (t, len(q)) of y at levels q between 0 and 1, noise included; (t, targets, len(q)) of many.

        Those of counts are whole numbers.
        """
        levels = np.asarray(q, dtype=float)

        def ask(fitted: Fitted, rows: Any) -> np.ndarray:
            prediction = fitted.predict(rows, self._exposure(fitted, exposure, rows.shape[0]))
            return fitted.target.restore(mixture.quantiles(prediction, levels))

        return self._answers(X, ask, axis=1)

    def predict_mixture(self, X: Any, exposure: Any = None) -> Prediction:
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

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws (t, n_samples) of y, noise included, joint over the rows X (t, d)."""
        return predictions.sample(self.fitted_, self._rows(X)[:], n_samples, generator_of(random_state))

    def log_predictive_density(self, X: Any, y: Any, noise_variance: Any = None, exposure: Any = None) -> np.ndarray:
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

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._fitted.inputs.rows(new_rows(self, X))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(np.atleast_2d(self.pip_ > self.threshold).any(axis=0))

    # --- explanations

    @property
    def loo_(self) -> LeaveOneOut:
        """Leave-one-out mean, variance and log density (n,) of y, the mixture's weights held."""
        return calibration.leave_one_out(self.fitted_)

    def loo_by_member(self) -> np.ndarray:
        """Leave-one-out log density (k, n) of every target under every member of the mixture."""
        return calibration.densities_left_out(self.fitted_)

    def check(self) -> Check:
        """Rows predicted from the others, beside their targets: all rows, or a sample of a large table."""
        return calibration.check(self.fitted_)

    def effect(self, feature: int | str, grid: Any = None, level: float = 0.9) -> Effect:
        """What one input does, alone, with a band: see `ssvgp.explain.effects`. `feature` is a name or a number."""
        with one_blas_thread():
            return effects.effect(self.fitted_, feature, grid, level)

    def interaction(
        self, a: int | str, b: int | str, grids: tuple[Any, Any] | None = None, level: float = 0.9
    ) -> Interaction:
        """What two inputs do together beyond what each does alone, with a band: see `ssvgp.explain.effects`."""
        with one_blas_thread():
            return effects.interaction(self.fitted_, a, b, grids, level)

    def effect_shares(self) -> Shares:
        """How much of the variation of the predictions each selected input, and each pair, explains."""
        return sobol.cached_shares(self.fitted_)

    # --- tables, files and notebooks

    def summary(self) -> Any:
        """The answer as a pandas DataFrame, a row for each input: see `ssvgp.report.table.records`.

        Of many targets a row for each target and input, without shares of variance.
        """
        from ssvgp.report.table import frame, long_frame

        check_is_fitted(self)
        return frame(self.fitted_) if hasattr(self, "_fitted") else long_frame(self.several_)

    def to_arviz(self) -> Any:
        """Leave-one-out densities for az.loo and az.compare: see `ssvgp.report.arviz`."""
        from ssvgp.report.arviz import to_arviz

        return to_arviz(self.fitted_)

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
