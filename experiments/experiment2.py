"""Experiment 2: two interacting inputs among 10^4 (wide) or 10^2 (tall), n d = 10^8, 3 trials of each shape.

SGP and SVGP train as B.3 says: 200 iterations and 200 epochs on the wide table, 100 and 25 on the tall one, which takes
hours: one trial each. They stop after a budget of seconds, write checkpoints, and go on where they were when the
budget is raised; what they had done by then, and their error on the way, is in the notes of each result.

    python -m experiments.experiment2            see experiments/command.py for its options
"""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments import designs
from experiments.command import main
from experiments.problems import Problem, drawn
from experiments.runner import Experiment

SHAPES = {"wide": (10_000, 10_000), "tall": (1_000_000, 100)}
SMALL = {"wide": (200, 30), "tall": (2100, 5)}  # the second is beyond what is fitted exactly
BUDGET = 9000.0  # seconds of training of SGP and SVGP
LONG = {"max_seconds": BUDGET, "dtype": "float32"}


def surface(shape: str, seed: int, smoke: bool) -> Problem:
    """A draw of B.3 with its 10^4 test rows on a grid, or a small one."""
    n, d = (SMALL if smoke else SHAPES)[shape]
    return drawn(designs.experiment2(seed, n=n, d=d, n_test=625 if smoke else 10_000, dtype=np.float64))


METHODS = ("ssvgp", "paper_256", "paper_128", "paper_64", "sgp", "svgp")
EXPERIMENT = Experiment(
    name="experiment2",
    designs={shape: partial(surface, shape) for shape in SHAPES},
    methods=dict.fromkeys(SHAPES, METHODS),
    trials=3,
    except_for={"sgp": 1, "svgp": 1},
    settings={
        "wide/sgp": {"iterations": 200, **LONG},
        "wide/svgp": {"epochs": 200, **LONG},
        "tall/sgp": {"iterations": 100, **LONG},
        "tall/svgp": {"epochs": 25, **LONG},
    },
    limit=6 * 3600.0,
    surfaces=True,
)

if __name__ == "__main__":
    main(EXPERIMENT)
