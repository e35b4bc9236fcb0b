"""Does the default hold on designs it was not built on: steps, kinks, heavy tails, binary inputs, mixed frequencies?

python -m benchmarks.unseen_shapes
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from benchmarks.selection import measure
from experiments import designs
from experiments.cases import Case, main
from experiments.problems import seeds

SHAPES = ("step_and_kink", "heavy_tail_inputs", "binary_inputs", "mixed_frequency")


def draw(name: str, seed: int) -> Mapping[str, float]:
    """One draw of the design of that name."""
    return measure(getattr(designs, name)(seed))


if __name__ == "__main__":
    main(*(Case(name, partial(draw, name), seeds(10)) for name in SHAPES))
