"""Does the default select nothing where there is nothing? Asked: nothing selected in at least 38 of 40 draws.

python -m benchmarks.noise            twenty draws of each shape; `clean` is 1 where nothing was selected
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import noise
from experiments.problems import seeds


def _clean(numbers: Mapping[str, float]) -> Mapping[str, float]:
    return {"clean": float(numbers["false"] == 0.0), **numbers}


def tall(seed: int) -> Mapping[str, float]:
    """300 rows, 100 inputs."""
    return _clean(measure(noise(seed, n=300, d=100)))


def wide(seed: int) -> Mapping[str, float]:
    """100 rows, 1000 inputs."""
    return _clean(measure(noise(seed, n=100, d=1000)))


if __name__ == "__main__":
    main(Case("noise_300x100", tall, seeds(20)), Case("noise_100x1000", wide, seeds(20)))
