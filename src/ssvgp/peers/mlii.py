"""The ML-II Gaussian process: squared exponential with ARD, parameters by maximum likelihood, no prior on them.

The paper's own baseline: GPyTorch with 1000 steps of Adam at rate 0.1 (B.1); `mlii_lbfgs` climbs the same likelihood
otherwise. It selects nothing by itself: inverse lengthscales above 0.1 count as selected, and
`thresholds.threshold_sweep` gives the best case of B.2.

Experiment 1 standardises the inputs only (B.2), and GPyTorch's example of an exact process has a constant mean that is
learned; the paper says neither of its own. Both are settings: `target="raw"` and `mean="learned"`.
"""

from __future__ import annotations

import numpy as np

from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.gpytorch_parts import (
    MEANS,
    Process,
    inverse_lengthscales,
    moments,
    paper_kernel,
    paper_likelihood,
    seeded,
    tensor,
    train,
)
from ssvgp.peers.thresholds import THRESHOLD

TARGETS = ("standardised", "raw")


class MaximumLikelihood(Peer):
    """ML-II by GPyTorch, as in B.1; of more than `rows` rows a random subset is used. Cost n^3 a step.

    `mean` is "zero" or "learned"; with `target="raw"` the process sees y as it was given, neither centred nor scaled.
    """

    def __init__(
        self,
        iterations: int = 1000,
        learning_rate: float = 0.1,
        rows: int | None = 5000,
        max_seconds: float | None = None,
        mean: str = "zero",
        target: str = "standardised",
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        if mean not in MEANS or target not in TARGETS:
            raise ValueError(
                f"mean is {mean!r} and target is {target!r}; give a mean of {', '.join(MEANS)} and a target of"
                f" {', '.join(TARGETS)}"
            )
        self.mean, self.target = mean, target
        self.iterations, self.learning_rate = iterations, learning_rate
        self.rows, self.max_seconds = rows, max_seconds

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        clock = Clock(self.max_seconds)
        X, y = some_rows(X, y, self.rows, self.random_state)
        # The contract standardises y; a raw target undoes that.
        self._shift, self._unit = (self._middle, self._spread) if self.target == "raw" else (0.0, 1.0)
        inputs, target = tensor(X, "float64"), tensor(self._shift + self._unit * y, "float64")
        with seeded(self.random_state):
            self._likelihood = paper_likelihood()
            self._model = Process(inputs, target, self._likelihood, paper_kernel(X.shape[1]), self.mean)
            steps = train(self._model, self.iterations, self.learning_rate, clock)
        self.notes = {"iterations": steps, "rows": len(y)}

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = moments(self._model, self._likelihood, X, "float64")
        return (mean - self._shift) / self._unit, variance / self._unit**2

    def _relevance(self) -> Relevance:
        scores = inverse_lengthscales(self._model.covariance)
        return Relevance(scores, scores > THRESHOLD)
