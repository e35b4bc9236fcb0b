"""How long is one fit of the default, in units of benchmarks/unit.py? Asked: <= 1000 for experiment 1 and for the toy.

    python -m benchmarks.time_default            five draws of each, one job: run it on a quiet machine
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.runner import Case, main
from benchmarks.selection import measure, seeds
from experiments.designs import experiment1, toy


def wide(seed: int) -> Mapping[str, float]:
    """One fit of experiment 1."""
    return measure(experiment1(seed))


def tall(seed: int) -> Mapping[str, float]:
    """One fit of the toy."""
    return measure(toy(seed))


if __name__ == "__main__":
    main(Case("time_experiment1", wide, seeds(5)), Case("time_toy", tall, seeds(5)))
