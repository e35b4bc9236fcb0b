"""Does the default find 6 of 1000 inputs from 100 rows (experiment 1)? Asked: mean MCC >= 0.99, mean nmse <= 0.010.

python -m benchmarks.experiment1            fifty draws
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import experiment1
from experiments.problems import seeds


def draw(seed: int) -> Mapping[str, float]:
    """One draw at the paper's size, with its 20 test rows."""
    return measure(experiment1(seed))


def small(seed: int) -> Mapping[str, float]:
    """The same with a tenth of the inputs."""
    return measure(experiment1(seed, d=100))


if __name__ == "__main__":
    main(Case("experiment1", draw, seeds(50), smoke=small))
