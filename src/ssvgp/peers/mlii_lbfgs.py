"""The ML-II Gaussian process once more, on this package's own likelihood and by L-BFGS: no library beyond the base.

The likelihood and the initial values are those of `mlii` (B.1), so that a difference between the two is one of
optimisers. An optimiser that arrives meets a likelihood that is nearly flat in one direction: where effects are close
to linear the scale tau grows and all theta shrink as tau^-1/2, and no fixed threshold on theta means anything. The
scores are therefore theta_j tau^1/2, the standard deviation of the slope in input j: the same ranking, on a scale
that the flat direction does not move. Those above 0.1 count as selected.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.marginal import gradient
from ssvgp.gp.predict import posterior, predict_posterior
from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.thresholds import THRESHOLD
from ssvgp.records import Member, Parameters, Train

# On standardised targets: GPyTorch's own floor of the noise, and about as far as 1000 steps of Adam at 0.1 can go.
NOISE = (1e-4, 1e2)
SCALE = (1e-2, 1e2)


class MaximumLikelihoodLBFGS(Peer):
    """ML-II by L-BFGS in (theta, log scale, log noise); of more than `rows` rows a random subset. Cost n^3 a step."""

    def __init__(
        self,
        iterations: int = 1000,
        rows: int | None = 5000,
        max_seconds: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        self.iterations, self.rows, self.max_seconds = iterations, rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        X, y = some_rows(X, y, self.rows, self.random_state)
        d, kernel = X.shape[1], squared_exponential()

        def descent(point: np.ndarray) -> tuple[float, np.ndarray]:
            at = gradient(kernel, X, y, _parameters(point))
            return -at.value, -np.concatenate([at.theta, [at.log_scale, at.log_noise]])

        def stop_in_time(intermediate_result: object) -> None:
            if clock.over():
                raise StopIteration

        # The derivative in theta_j vanishes at 0 by symmetry, so the start must lie away from there.
        start = np.concatenate([np.full(d, d**-0.5), [0.0, 0.0]])
        bounds = [(None, None)] * d + [tuple(np.log(SCALE)), tuple(np.log(NOISE))]
        found = minimize(
            descent,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=stop_in_time,
            options={"maxiter": self.iterations, "maxfun": 20 * self.iterations},
        )
        member = Member(np.arange(d), _parameters(found.x), kernel, np.ones(d))
        self._posterior = posterior(member, Train(X, y))
        self.notes = {"iterations": int(found.nit), "rows": len(y), "log_likelihood": -float(found.fun)}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        latent = predict_posterior(self._posterior, X)
        return latent.mean, latent.variance + self._posterior.member.parameters.noise

    def _relevance(self) -> Relevance:
        parameters = self._posterior.member.parameters
        scores = np.abs(parameters.theta) * np.sqrt(parameters.scale)
        return Relevance(scores, scores > THRESHOLD)


def _parameters(point: np.ndarray) -> Parameters:
    return Parameters(point[:-2], float(np.exp(point[-2])), float(np.exp(point[-1])))
