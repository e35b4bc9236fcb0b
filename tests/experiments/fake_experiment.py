"""An experiment of seconds for the tests of the runner: one rival that predicts the mean, fails or sleeps on demand."""

from __future__ import annotations

import sys
import time

import numpy as np

from experiments import designs
from experiments.methods import METHODS, Method
from experiments.problems import Problem, drawn
from experiments.runner import Experiment
from ssvgp.peers.contract import Peer, Relevance
from ssvgp.peers.registry import PEERS, Entry


class Average(Peer):
    """Predicts the mean of y, and keeps the input that correlates most."""

    def __init__(self, random_state: int = 0, fails_at: int = -1, sleep: float = 0.0) -> None:
        super().__init__(random_state)
        self.fails_at, self.sleep = fails_at, sleep

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        time.sleep(self.sleep)
        if self.random_state == self.fails_at:
            raise RuntimeError("told to fail")
        print("a library that talks")
        self._scores = np.abs(X.T @ y) / y.size
        self.notes["heard"] = 1.0

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(X)), np.ones(len(X))

    def _relevance(self) -> Relevance:
        return Relevance(self._scores, self._scores == self._scores.max())


def tiny(seed: int, smoke: bool) -> Problem:
    """Twelve rows, or eight."""
    return drawn(designs.toy(seed, n=8 if smoke else 12, d=6, n_test=9))


sys.modules["ssvgp.peers.fake_average"] = sys.modules[__name__]
PEERS["average"] = Entry("fake_average", "Average", {})
METHODS["average"] = Method("average", "average", smoke={"sleep": 0.0})
METHODS["average_few"] = Method("average of few rows", "average", most_rows=10)

EXPERIMENT = Experiment(
    name="fake",
    designs={"tiny": tiny},
    methods={"tiny": ("average", "average_few")},
    trials=3,
    except_for={"average_few": 2},
    keep=2,
    surfaces=True,
    module="fake_experiment",
)
