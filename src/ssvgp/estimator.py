"""`SSVGPRegressor`: the whole line, from a table to inclusion probabilities and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ssvgp.answers import Answers
from ssvgp.data.curves import Curve
from ssvgp.data.inputs import Inputs, inputs_of, warn_of_columns
from ssvgp.data.memory import bytes_of, threads, warn_of_memory
from ssvgp.data.table import LARGE, new_rows, training_table
from ssvgp.data.target import Restored, target_of
from ssvgp.data.view import kept_rows
from ssvgp.explain.correlated import relatives_of
from ssvgp.gp import mixture
from ssvgp.gp.batches import Work
from ssvgp.gp.kernels.families import Kernel
from ssvgp.gp.predict import Prepared, predict, prepared, ready_bytes
from ssvgp.method.auto import auto_ensemble, nothing_to_select
from ssvgp.method.kernel_family import kernels_of, with_rough
from ssvgp.method.paper.ensemble import paper_ensemble
from ssvgp.method.target_curve import curve_by_evidence
from ssvgp.records import Ensemble, Layout, Prediction, Train
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings import LARGE_ROWS, AutoSettings, PaperSettings, Prior

CACHE_BYTES = 2**29  # factors and searches kept between calls of predict
STILL = 1e-12  # noise variance, on the standardised scale, where y does not vary at all


class SSVGPRegressor(Answers):
    """Gaussian process regression with spike-and-slab selection of inputs.

    Inputs and target are standardised inside, and this is undone in what is returned. Constant columns, and
    all but the first of identical columns, are left out with a warning and have PIP 0.

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
    threshold : inputs whose PIP lies above it are selected.
    exact_limit : rows up to which predictions and leave-one-out figures are exact; beyond it they condition on the
        `predict_neighbours` nearest rows. Fits are exact up to half as many, beyond they work on blocks of rows
        (unless `settings` say otherwise).
    predict_neighbours : nearest training rows that each prediction conditions on, beyond `exact_limit` rows.
    n_jobs : members fitted, and batches predicted, at a time; None is 1, -1 all cores. Results do not depend on it.
    max_memory : bytes, or text such as "2GB", that a fit or a prediction may take beside X: it sizes batches, what is
        kept between calls, and threads. None is for sizes that suit most machines.
    random_state : seed, RandomState or Generator.
    verbose : 1 prints one line for each step of the fit that reports progress.
    callback : function that is called with each report of progress.

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
    ensemble_ : members and weights with what the method noted, inputs counted among `kept_`.
    train_ : the standardised data that the mixture conditions on.
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
        threshold: float = 0.5,
        exact_limit: int = 2000,
        predict_neighbours: int = 256,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.prior = prior
        self.settings = settings
        self.target_transform = target_transform
        self.threshold = threshold
        self.exact_limit = exact_limit
        self.predict_neighbours = predict_neighbours
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any) -> SSVGPRegressor:
        """Select inputs and fit the mixture to rows X (n, d) and targets y (n,)."""
        kernels, limit = self._checked(), bytes_of(self.max_memory)
        X, y = training_table(self, X, y)
        inputs = inputs_of(X)
        warn_of_columns(inputs, getattr(self, "feature_names_in_", range(X.shape[1])))
        target = target_of(y, self._curve(X, y, inputs, kernels[0]))
        if self._raw_target():
            target = target.unscaled()
        large = X.shape[0] > self.exact_limit and X.size > (LARGE if limit is None else min(LARGE, limit // 32))
        train = Train(inputs.view(X) if large else inputs.standardise(X), target.standardise(y), Layout(inputs.spread))
        if target.constant or not train.d:
            found = nothing_to_select(train, STILL if target.constant else 1.0)
        else:
            with one_blas_thread():
                found = self._ensemble(train, kernels)
        if found.notes.get("interrupted"):
            warnings.warn("fit was interrupted: what it had found by then is kept", UserWarning, stacklevel=2)
        self._inputs, self._target, self.train_ = inputs, target, kept_rows(train, found.members)
        with one_blas_thread():
            self.relatives_ = relatives_of(train, inputs, found.pip)
        self._publish(found)
        return self

    def _checked(self) -> tuple[Kernel, ...]:
        """The kernels, after all parameters have been checked."""
        kinds = {"auto": AutoSettings, "paper": PaperSettings}
        if self.method not in kinds:
            raise ValueError(f"method is 'auto' or 'paper', not {self.method!r}")
        for name, kind in {"settings": kinds[self.method], "prior": Prior}.items():
            given = getattr(self, name)
            if given is not None and not isinstance(given, kind):
                raise TypeError(f"{name} must be {kind.__name__} or None, not {type(given).__name__}")
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, not {self.threshold!r}")
        if self.predict_neighbours < 1:
            raise ValueError(f"predict_neighbours must be 1 or more, not {self.predict_neighbours!r}")
        return kernels_of(self.kernel, self.method)

    def _ensemble(self, train: Train, kernels: tuple[Kernel, ...]) -> Ensemble:
        rng, most = _generator(self.random_state), max(self.exact_limit, 1000)
        n_jobs = threads(effective_n_jobs(self.n_jobs), self.max_memory, min(train.n, most))
        listen = self._listen if self.verbose or self.callback is not None else None
        if self.method == "paper":
            return paper_ensemble(train, kernels[0], self.settings or PaperSettings(), rng, n_jobs, listen)
        chosen = self._auto_settings()
        if train.n > chosen.exact_rows:
            kernels = with_rough(self.kernel, kernels)
        return auto_ensemble(train, kernels, self.prior or Prior(), chosen, rng, n_jobs, listen)

    def _auto_settings(self) -> AutoSettings:
        """The constants of the default method, given or by the limits of this estimator."""
        if isinstance(self.settings, AutoSettings):
            return self.settings
        return AutoSettings(exact_rows=self.exact_limit // 2, predict_neighbours=self.predict_neighbours)

    def _raw_target(self) -> bool:
        """Whether y is to be neither centred nor scaled, as the paper's method has it in experiment 1."""
        wanted = self.settings.target if isinstance(self.settings, PaperSettings) else "standardised"
        if wanted not in ("standardised", "raw"):
            raise ValueError(f"target of PaperSettings is 'standardised' or 'raw', not {wanted!r}")
        return wanted == "raw"

    def _curve(self, X: Any, y: np.ndarray, inputs: Inputs, kernel: Kernel) -> str | Curve | None:
        """The transform of y that was asked for, or the curve that the evidence chooses."""
        if self.target_transform != "auto":
            return self.target_transform
        if self.method == "paper" or not inputs.kept.size:
            return None
        with one_blas_thread():
            return curve_by_evidence(X, y, inputs, kernel, self.prior or Prior(), self._auto_settings())

    def _listen(self, report: Any) -> None:
        if self.verbose:
            print(f"ssvgp: {report}", flush=True)
        if self.callback is not None:
            self.callback(report)

    def _publish(self, ensemble: Ensemble) -> None:
        self.ensemble_, self.weights_ = ensemble, ensemble.weights
        self.target_curve_ = self._target.curve.told
        self.members_ = tuple(self._inputs.in_table(member) for member in ensemble.members)
        self.pip_ = self._inputs.widen(np.clip(ensemble.pip, 0.0, 1.0))  # rounding only
        self.inverse_lengthscales_ = np.zeros(self.n_features_in_)
        for member, weight in zip(self.members_, ensemble.weights, strict=True):
            self.inverse_lengthscales_[member.active] += weight * np.abs(member.parameters.theta)
        noise = float(ensemble.weights @ np.array([member.parameters.noise for member in ensemble.members]))
        self.noise_variance_ = noise * self._target.spread**2
        # a standardised y has variance one, so that without a background the sparse part has what noise leaves
        share = noise / float(np.var(self.train_.y)) if self._raw_target() else noise
        plain = {"sparse": max(1.0 - share, 0.0), "background": 0.0, "noise": min(share, 1.0)}
        self.variance_shares_ = dict(ensemble.notes.get("shares", plain))
        self.kept_, self.duplicate_of_ = self._inputs.kept, dict(self._inputs.duplicate_of)
        self._kept_results: dict[str, Any] = {}  # filled on demand, left out of pickles

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Mean (t,) of y at X (t, d), and on request its standard deviation (t,) or covariance (t, t).

        Noise is included; `predict_latent` is without it.
        """
        if return_std and return_cov:
            raise ValueError("ask for return_std or return_cov, not both: the second contains the first")
        if not return_cov:
            restored = self._target_moments(X, noise=True)
            return (restored.mean, restored.sd) if return_std else restored.mean
        rows = self._rows(X)[:]
        if self._target.curved:
            raise ValueError("return_cov does not work where y passed a curve: use sample_y, or target_transform=None")
        with one_blas_thread():
            joint = mixture.mixture_covariance(self.ensemble_, self.train_, rows, self._neighbours)
        return self._target.restore(joint.mean), joint.covariance * self._target.spread**2

    def predict_latent(self, X: Any, return_std: bool = False) -> Any:
        """Mean (t,) of f, the target without its noise, and on request its standard deviation (t,).

        Under a target transform this is f mapped back to units of y.
        """
        restored = self._target_moments(X, noise=False)
        return (restored.mean, restored.sd) if return_std else restored.mean

    def predict_quantiles(self, X: Any, q: Sequence[float] | float = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Quantiles (t, len(q)) of y at levels q between 0 and 1, noise included."""
        prediction = self._prediction(X)
        return self._target.restore(mixture.quantiles(prediction, np.asarray(q, dtype=float)))

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws (t, n_samples) of y, noise included, joint over the rows X (t, d)."""
        rows = self._rows(X)[:]
        with one_blas_thread():
            rng = _generator(random_state)
            draws = mixture.sample(self.ensemble_, self.train_, rows, n_samples, rng, self._neighbours)
        return self._target.restore(draws).T

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """log p(y_i | x_i) (t,) of each row, with noise; minus infinity where a transform excludes y_i."""
        y = np.asarray(y, dtype=float).ravel()
        prediction = self._prediction(X)
        if y.size != prediction.means.shape[1]:
            raise ValueError(f"X has {prediction.means.shape[1]} rows but y has {y.size} values")
        possible = self._target.possible(y)
        inside = np.where(possible, y, 1.0)
        density = mixture.log_density(prediction, self._target.standardise(inside))
        return np.where(possible, density + self._target.log_slope(inside), -np.inf)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X = new_rows(self, X)
        return self._inputs.view(X) if X.size > LARGE else self._inputs.standardise(X)

    @property
    def _neighbours(self) -> int | None:
        """Neighbours that a prediction is given; None for all rows. The paper's method has its own limit (B.3)."""
        if self.method == "paper":
            limit, m = max(self.exact_limit, LARGE_ROWS - 1), (self.settings or PaperSettings()).predict_neighbours
        else:
            limit, m = self.exact_limit, self.predict_neighbours
        return None if self.train_.n <= limit else m

    def _prediction(self, X: Any) -> Prediction:
        rows = self._rows(X)
        with one_blas_thread():
            work = Work(effective_n_jobs(self.n_jobs), bytes_of(self.max_memory))
            return predict(self.ensemble_, self.train_, rows, self._neighbours, self._prepared(), work)

    def _prepared(self) -> tuple[Prepared, ...] | None:
        """Members made ready for prediction, once, where they are small enough to keep."""
        limit, m = bytes_of(self.max_memory), self._neighbours
        key = f"prepared for {m}"  # neighbours may change without a new fit
        if key not in self._kept_results:
            each = [ready_bytes(one, self.train_, m) for one in self.ensemble_.members]
            warn_of_memory(max(each), self.max_memory, f"a prediction from {self.train_.n} rows")
            if sum(each) > (CACHE_BYTES if limit is None else min(CACHE_BYTES, limit // 4)):
                return None
            for old in [name for name in self._kept_results if name.startswith("prepared for")]:
                del self._kept_results[old]
            self._kept_results[key] = tuple(prepared(one, self.train_, m) for one in self.ensemble_.members)
        return self._kept_results[key]

    def _target_moments(self, X: Any, noise: bool) -> Restored:
        prediction = self._prediction(X)
        return self._target.moments(prediction, noise)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.pip_ > self.threshold

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | {"_kept_results": {}} if "_kept_results" in state else state


# --- parts of the fit --------------------------------------------------------------------------------------


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
