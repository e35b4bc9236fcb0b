"""Spike-and-slab Gaussian process by Markov chain Monte Carlo, after Savitsky, Vannucci and Sha (2011).

A Dirac spike: an input is in the set or out of it, and chains add, delete and swap inputs and walk over the parameters
of the set (`mcmc_moves`). The priors are those of our own evidence, so that both ask the same question of the data.
Unlike the authors' sampler, half of the inputs to be added are drawn by how much the residual holds of them. Their
chain had 800,000 iterations of which half were burn-in, and the time that the paper quotes is for 500,000 (B.2): the
default here is 500,000 over two chains, half of each burn-in. An input without any effect of its own, which acts in
interactions alone, is proposed no more often than by chance.
"""

from __future__ import annotations

import numpy as np

from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.predict import predict
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.mcmc_chain import Draws, Schedule, run_chain, start
from ssvgp.peers.mcmc_diagnostics import effective_size, largest_disagreement, split_rhat
from ssvgp.peers.mcmc_moves import KINDS
from ssvgp.peers.mcmc_target import Target
from ssvgp.records import Ensemble, Member, Parameters, Train
from ssvgp.settings import Prior

START_SIZE = 5  # inputs that every chain but the first begins with


class SpikeSlabMCMC(Peer):
    """`iterations` in all, shared by `chains` and with `burn_in` (a share) of each given up; every `thin`-th is kept.

    The first chain begins with the empty set, the others with random inputs. Predictions average over `predictive`
    draws. `informed` is the share of proposed inputs drawn by their scores (see `mcmc_target`).
    """

    def __init__(
        self,
        iterations: int = 500_000,
        chains: int = 2,
        burn_in: float = 0.5,
        thin: int = 50,
        predictive: int = 400,
        informed: float = 0.5,
        prior: Prior | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(random_state)
        if chains < 1 or predictive < 1 or not 0.0 <= informed < 1.0 or not 0.0 <= burn_in < 1.0:
            raise ValueError(
                "MCMC needs at least one chain and one predictive draw, and 0 <= informed < 1 and 0 <= burn_in < 1;"
                f" found chains={chains}, predictive={predictive}, informed={informed}, burn_in={burn_in}"
            )
        each = iterations // chains
        self.schedule = Schedule(each, int(burn_in * each), thin)
        self.chains, self.predictive, self.informed = chains, predictive, informed
        self.prior = prior or Prior()

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._train = Train(X, y)
        target = Target(X, y, self.prior.for_data(*X.shape), self.informed)
        self.draws: list[Draws] = []
        for index, rng in enumerate(np.random.default_rng(self.random_state).spawn(self.chains)):
            first = start(target, START_SIZE if index else 0, rng)
            self.draws.append(run_chain(target, first, self.schedule, rng))
        self.notes = _notes(self.draws)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        members = self._members()
        ensemble = Ensemble(members, np.full(len(members), 1.0 / len(members)), self._inclusion())
        mixture = predict(ensemble, self._train, X)
        return mixture.mean(), mixture.variance()

    def _relevance(self) -> Relevance:
        inclusion = self._inclusion()
        return Relevance(inclusion, inclusion > 0.5)

    def _inclusion(self) -> np.ndarray:
        return np.mean([one.inclusion for one in self.draws], axis=0)

    def _members(self) -> tuple[Member, ...]:
        """Kept draws at even distances, of all chains alike, as members of a mixture."""
        out, kernel = [], squared_exponential()
        share = -(-self.predictive // self.chains)
        for one in self.draws:
            for index in np.unique(np.linspace(0, one.scale.size - 1, share).round().astype(int)):
                active, theta, scale, noise = one.draw(index)
                at = Parameters(theta, scale if active.size else 0.0, noise, mean=self.prior.level)
                out.append(Member(active, at, kernel, np.ones(active.size)))
        return tuple(out)


def _notes(draws: list[Draws]) -> dict[str, float]:
    """Acceptance by kind of move, effective sizes over all chains, split R-hat, and how far chains differ."""
    notes: dict[str, float] = {}
    for kind in KINDS:
        tried = sum(one.tried[kind] for one in draws)
        notes[f"accepted_{kind}"] = sum(one.accepted[kind] for one in draws) / tried if tried else float("nan")
    for name, traces in {
        "size": [one.sizes for one in draws],
        "log_posterior": [one.log_posterior for one in draws],
    }.items():
        notes[f"effective_{name}"] = sum(effective_size(trace) for trace in traces)
        notes[f"rhat_{name}"] = split_rhat(traces)
        notes[f"mean_{name}"] = float(np.mean(np.concatenate(traces)))
    notes["pip_disagreement"] = largest_disagreement([one.inclusion for one in draws])
    return notes
