"""How long is one fit of the default, in units of benchmarks/unit.py?

Asked for n_jobs=2: <= 300 for experiment 1 and <= 400 for the toy, with the accuracy of one job.

    python -m benchmarks.time_default            ten draws of each, one at a time: run it on a quiet machine
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import experiment1, toy
from experiments.problems import seeds
from ssvgp import SSVGPRegressor


def wide(seed: int) -> Mapping[str, float]:
    """One fit of experiment 1."""
    return measure(experiment1(seed), SSVGPRegressor(random_state=0, n_jobs=2))


def tall(seed: int) -> Mapping[str, float]:
    """One fit of the toy."""
    return measure(toy(seed), SSVGPRegressor(random_state=0, n_jobs=2))


if __name__ == "__main__":
    main(Case("time_experiment1", wide, seeds(10)), Case("time_toy", tall, seeds(10)))
