"""A league of methods for classes and counts on nine real tables and five synthetic designs, three splits of each.

The tables and their treatment are in experiments/outcome_designs.py. GPBoost trains on at most 1000 random rows and for
two minutes; EBM leaves out pairs where inputs are many; of khan's 2308 inputs EBM and BART are not asked, whose time
they would take.

    python -m experiments.outcomes_league            see experiments/command.py for its options
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from experiments import outcome_designs as designs
from experiments.command import main
from experiments.problems import Maker, Problem
from experiments.runner import Experiment

CLASS_METHODS = (
    "ssvgp_classes",
    "logistic_l1",
    "forest_classes",
    "lightgbm_classes",
    "ebm_classes",
    "gpboost_classes",
    "bart_classes",
)
COUNT_METHODS = ("ssvgp_counts", "poisson_l1", "forest_counts", "lightgbm_counts", "ebm_counts", "gpboost_counts")
REAL_CLASSES = ("alzheimer", "cells", "credit", "scat", "khan", "breast_cancer", "digits_3_5")
REAL_COUNTS = ("biochemists", "azpro")
SMALL = {"n": 120, "d": 12}


def synthetic(name: str, seed: int, smoke: bool) -> Problem:
    """A draw of a design at its own size, or a small one."""
    design = designs.SYNTHETIC[name]
    return (replace(design, n=SMALL["n"], d=SMALL["d"]) if smoke else design).draw(seed)


SYNTHETIC_CLASSES = ("classes_toy", "classes_products", "classes_wide")
SYNTHETIC_COUNTS = ("counts_toy", "counts_spread")
MAKERS: dict[str, Maker] = {
    **{name: partial(synthetic, name) for name in (*SYNTHETIC_CLASSES, *SYNTHETIC_COUNTS)},
    **{name: partial(designs.table, name) for name in designs.TARGETS},
    "breast_cancer": designs.breast_cancer,
    "digits_3_5": designs.digits,
}
DESIGNS = (*REAL_CLASSES, *SYNTHETIC_CLASSES, *REAL_COUNTS, *SYNTHETIC_COUNTS)
TOO_WIDE = ("ebm_classes", "bart_classes")

EXPERIMENT = Experiment(
    name="outcomes_league",
    designs={name: MAKERS[name] for name in DESIGNS},
    methods={
        name: (
            tuple(one for one in CLASS_METHODS if name != "khan" or one not in TOO_WIDE)
            if name in REAL_CLASSES + SYNTHETIC_CLASSES
            else COUNT_METHODS
        )
        for name in DESIGNS
    },
    trials=3,
    settings={
        "gpboost_classes": {"max_seconds": 120.0},
        "gpboost_counts": {"max_seconds": 120.0},
        "alzheimer/ebm_classes": {"pairs": 0},
        "classes_wide/ebm_classes": {"pairs": 0, "bags": 2},
    },
    smoke_designs=("classes_toy", "counts_toy"),
    unavailable={name: partial(designs.missing, name) for name in designs.TARGETS},
    limit=600.0,
)

if __name__ == "__main__":
    main(EXPERIMENT)
