"""The Gaussian process of the GPBoost library (Sigrist 2022): squared exponential with one range for each input.

Its likelihood is climbed from the paper's initial values (B.1), exactly up to `exact_rows` rows and with Vecchia's
approximation beyond. The library computes gradients input by input, which makes a step slow where inputs are many:
hence the few `iterations` by default. Its trees are left out on purpose. With a process over the same inputs as the
trees the process interpolates, the noise falls to zero and boosting diverges (on the toy of B.1 to errors beyond
1e60); they are meant for tables in which places or groups stand apart from the inputs.

As for `mlii_lbfgs` the scores are slopes' standard deviations, tau^1/2 theta_j; those above 0.1 count as selected.
"""

from __future__ import annotations

import gpboost
import numpy as np

from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.thresholds import THRESHOLD

# Steps between two looks at the clock: the library cannot be interrupted, and a new call forgets its curvature. With a
# thousand inputs a step can take many seconds, and the budget is overrun by up to this many.
STEPS = 2


class BoostedGP(Peer):
    """GPBoost's GPModel with ARD; of more than `rows` rows a random subset is used."""

    def __init__(
        self,
        iterations: int = 30,
        exact_rows: int = 2000,
        neighbours: int = 20,
        rows: int | None = 20_000,
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        self.iterations, self.exact_rows, self.neighbours = iterations, exact_rows, neighbours
        self.rows, self.max_seconds = rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        X, y = some_rows(X, y, self.rows, self.random_state)
        n, d = X.shape
        approximation = {} if n <= self.exact_rows else {"gp_approx": "vecchia", "num_neighbors": self.neighbours}
        self._process = gpboost.GPModel(
            gp_coords=X, cov_function="gaussian_ard", likelihood="gaussian", seed=self.random_state, **approximation
        )
        # Noise, scale, ranges; the library's kernel is exp(-sum_j (x_j - x'_j)^2 / range_j^2): range = 2^1/2 / theta.
        at = np.concatenate([[1.0, 1.0], np.full(d, np.sqrt(2.0 * d))])
        steps, chunk = 0, self.iterations if self.max_seconds is None else min(STEPS, self.iterations)
        while steps < self.iterations and not (steps and clock.over()):
            self._process.fit(y, params={"init_cov_pars": at, "maxit": chunk, "trace": False})
            at = np.asarray(self._process.get_cov_pars(format_pandas=False), dtype=float).ravel()
            made = self._process._get_num_optim_iter()
            steps += made
            if made < chunk:
                break
        self._slopes = np.sqrt(at[1]) * np.sqrt(2.0) / at[2:]
        self.notes = {"iterations": steps, "rows": n}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        forecast = self._process.predict(gp_coords_pred=X, predict_var=True, predict_response=True)
        return np.asarray(forecast["mu"]), np.asarray(forecast["var"])

    def _relevance(self) -> Relevance:
        return Relevance(self._slopes, self._slopes > THRESHOLD)
