"""GPBoost's Gaussian process with a logit or a Poisson likelihood (Laplace), one range for each input.

As `boosted_gp`: its likelihood is climbed from scale 1 and theta_j = d^-1/2, by Vecchia's approximation beyond
`exact_rows`; the scores are standard deviations of slopes, and those above 0.1 count as selected.
"""

from __future__ import annotations

from typing import Any

import gpboost
import numpy as np

from ssvgp.peers.boosted_gp import STEPS
from ssvgp.peers.budget import Clock
from ssvgp.peers.contract import ClassPeer, CountPeer, Relevance
from ssvgp.peers.thresholds import THRESHOLD


class LatentGP:
    """A process under a likelihood by name, fitted to X (n, p) and y (n,)."""

    def __init__(self, likelihood: str, iterations: int, exact_rows: int, clock: Clock, seed: int) -> None:
        self._likelihood, self._iterations, self._exact_rows = likelihood, iterations, exact_rows
        self._clock, self._seed = clock, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> LatentGP:
        n, d = X.shape
        approximation: dict[str, Any] = {} if n <= self._exact_rows else {"gp_approx": "vecchia", "num_neighbors": 20}
        self._process = gpboost.GPModel(
            gp_coords=X, cov_function="gaussian_ard", likelihood=self._likelihood, seed=self._seed, **approximation
        )
        # the library's kernel is exp(-sum_j (x_j - x'_j)^2 / range_j^2): range = 2^1/2 / theta
        at = np.concatenate([[1.0], np.full(d, np.sqrt(2.0 * d))])
        steps = 0
        while steps < self._iterations and not (steps and self._clock.over()):
            # a constant beside the process, which alone would pull rare classes to one half
            self._process.fit(y, X=np.ones((n, 1)), params={"init_cov_pars": at, "maxit": STEPS, "trace": False})
            at = np.asarray(self._process.get_cov_pars(format_pandas=False), dtype=float).ravel()
            made = self._process._get_num_optim_iter()
            steps += made
            if made < STEPS:
                break
        self.slopes = np.sqrt(at[0]) * np.sqrt(2.0) / at[1:]
        return self

    def mean(self, X: np.ndarray) -> np.ndarray:
        """Mean (t,) of y at new rows."""
        ones = np.ones((len(X), 1))
        return np.asarray(self._process.predict(gp_coords_pred=X, X_pred=ones, predict_response=True)["mu"])


class BoostedGPOfClasses(ClassPeer):
    """Two classes by the logit, more one against the rest."""

    def __init__(
        self, iterations: int = 30, exact_rows: int = 500, max_seconds: float | None = None, random_state: int = 0
    ) -> None:
        super().__init__(random_state)
        self.iterations, self.exact_rows, self.max_seconds = iterations, exact_rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        codes = range(1, 2) if y.max() == 1 else range(int(y.max()) + 1)
        share = None if self.max_seconds is None else self.max_seconds / len(codes)
        self._processes = [
            LatentGP("bernoulli_logit", self.iterations, self.exact_rows, Clock(share), self.random_state).fit(
                X, (y == code).astype(float)
            )
            for code in codes
        ]

    def _predict(self, X: np.ndarray) -> np.ndarray:
        each = np.column_stack([one.mean(X) for one in self._processes])
        return np.hstack([1.0 - each, each]) if len(self._processes) == 1 else each

    def _relevance(self) -> Relevance:
        slopes = np.max([one.slopes for one in self._processes], axis=0)
        return Relevance(slopes, slopes > THRESHOLD)


class BoostedGPOfCounts(CountPeer):
    """Counts under the Poisson likelihood."""

    def __init__(
        self, iterations: int = 30, exact_rows: int = 500, max_seconds: float | None = None, random_state: int = 0
    ) -> None:
        super().__init__(random_state)
        self.iterations, self.exact_rows, self.max_seconds = iterations, exact_rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        made = LatentGP("poisson", self.iterations, self.exact_rows, Clock(self.max_seconds), self.random_state)
        self._process = made.fit(X, y)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._process.mean(X)

    def _relevance(self) -> Relevance:
        return Relevance(self._process.slopes, self._process.slopes > THRESHOLD)
