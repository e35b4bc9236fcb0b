"""Experiment 1: 6 of 1000 inputs from 100 rows, 50 trials, against linear, additive and Gaussian process rivals.

MCMC runs on five trials: two chains, each of the 8 * 10^5 iterations that Savitsky et al. needed on this very design
(B.2), half of them burn-in.

    python -m experiments.experiment1            see experiments/command.py for its options
"""

from __future__ import annotations

from experiments import designs
from experiments.command import main
from experiments.problems import Problem, drawn
from experiments.runner import Experiment


def six(seed: int, smoke: bool) -> Problem:
    """The draw of B.2, or one with a thirtieth of its inputs."""
    return drawn(designs.experiment1(seed, n=50, d=30) if smoke else designs.experiment1(seed))


EXPERIMENT = Experiment(
    name="experiment1",
    designs={"experiment1": six},
    methods={
        "experiment1": (
            "ssvgp",
            "paper_n",
            "paper_n2",
            "paper_n4",
            "mlii",
            "mlii_lbfgs",
            "gam_ssl",
            "gam_ssl_gic",
            "gam_lasso",
            "lasso",
            "mcp",
            "mcmc",
        )
    },
    trials=50,
    except_for={"mcmc": 5},
    settings={"mcmc": {"iterations": 1_600_000}},
    limit=7200.0,
)

if __name__ == "__main__":
    main(EXPERIMENT)
