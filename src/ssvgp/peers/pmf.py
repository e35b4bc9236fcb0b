"""Dirac spike-and-slab Gaussian process by paired mean field and black-box variational inference (PMF+BBVI, A.7, B.1).

Settings as the paper gives them: 500 steps of Adam, S = 10 or 100 draws for the score gradients without control
variates or Rao-Blackwellisation, lambda = 1/2 at the start, and the prior inclusion 0.05 that is true of its toy. It
prints neither the learning rate nor the slab precision v1 that it tuned over 0.1, 0.01, ..., 0.00001. Measured on one
draw of the toy (seed 100, S = 10), normalised test error: rates 0.01 and 0.05 at v1 = 0.0001 gave 0.29 and 0.14;
0.05, 0.1 and 0.2 at v1 = 0.01 gave 0.13, 0.45 and 1.0; v1 = 0.1 at 0.05 gave 0.12. Hence 0.05, and v1 = 0.01.

With S = 100 the relevant inputs end at lambda = 1 and each of the 95 others near 0.07: none is above 1/2, but a draw of
q holds about seven of them. `selection="draw"` takes the inputs of one draw for selected; see experiments/remarks.json.
"""

from __future__ import annotations

import time

import numpy as np

from ssvgp.gp.predict import predict
from ssvgp.method.paper.descent import AdamRates, adam_start, adam_step
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.pmf_bound import KERNEL, SlabPrior, draw, estimate, initial, process_at, read
from ssvgp.records import Ensemble, Member, Train

LAST = 50  # steps whose bounds are averaged for the notes
SELECTIONS = ("probability", "draw")


class PairedMeanField(Peer):
    """`samples` draws behind each score gradient, `steps` steps of Adam; predictions mix `predictive` draws of q.

    Selected are the inputs with lambda > 1/2 ("probability"), or those in the first predictive draw ("draw").
    """

    def __init__(
        self,
        samples: int = 10,
        steps: int = 500,
        learning_rate: float = 0.05,
        prior: SlabPrior | None = None,
        predictive: int = 100,
        selection: str = "probability",
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        if samples < 1 or steps < 1 or predictive < 1 or not learning_rate > 0.0:
            raise ValueError(
                "PMF+BBVI needs at least one sample, step and predictive draw and a positive learning rate; found"
                f" samples={samples}, steps={steps}, predictive={predictive}, learning_rate={learning_rate}"
            )
        if selection not in SELECTIONS:
            raise ValueError(f"selection is {selection!r}; give one of {', '.join(SELECTIONS)}")
        self.samples, self.steps, self.predictive, self.selection = samples, steps, predictive, selection
        self.rates, self.prior = AdamRates(learning_rate), prior or SlabPrior()

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._train = Train(X, y)
        climbing, self._drawing = np.random.default_rng(self.random_state).spawn(2)
        vector = initial(X.shape[1])
        state, bounds, begin = adam_start(vector.size), [], time.perf_counter()
        for _ in range(self.steps):
            at = estimate(X, y, vector, self.samples, self.prior, climbing)
            bounds.append(at.bound)
            state, vector = adam_step(state, vector, at.slope, self.rates)
        self._found = read(vector)
        self._members = self._draw_members()
        self.notes = {
            "bound": float(np.mean(bounds[-LAST:])),
            "seconds_per_step": (time.perf_counter() - begin) / self.steps,
            "expected_inputs": float(self._found.inclusion.sum()),
        }

    def _draw_members(self) -> tuple[Member, ...]:
        out = []
        for theta in draw(self._found, self.predictive, self._drawing).theta:
            active, at = process_at(self._found, theta, self.prior)
            out.append(Member(active, at, KERNEL, self._found.inclusion[active]))
        return tuple(out)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = np.full(len(self._members), 1.0 / len(self._members))
        mixture = predict(Ensemble(self._members, weights, self._found.inclusion), self._train, X)
        return mixture.mean(), mixture.variance()

    def _relevance(self) -> Relevance:
        selected = self._found.inclusion > 0.5
        if self.selection == "draw":
            selected = np.isin(np.arange(selected.size), self._members[0].active)
        return Relevance(self._found.inclusion, selected)
