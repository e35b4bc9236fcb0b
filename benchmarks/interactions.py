"""Does the default find inputs that act only through products? Asked: mean MCC >= 0.90 over 20 draws.

python -m benchmarks.interactions
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import interactions
from experiments.problems import seeds


def draw(seed: int) -> Mapping[str, float]:
    """x1 x2 + sin(2 x3 x4) among 100 inputs, 300 rows."""
    return measure(interactions(seed))


if __name__ == "__main__":
    main(Case("interactions", draw, seeds(20)))
