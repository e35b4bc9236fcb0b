"""Experiment 1: 6 of 1000 inputs from 100 rows, 50 trials, against linear, additive and Gaussian process rivals.

MCMC runs on five trials: two chains, each of the 8 * 10^5 iterations that Savitsky et al. needed on this very design
(B.2), half of them burn-in. The last methods are other readings of how the paper ran its rivals. `reflected` turns y
upside down: the paper's method rests on its sign (docs/method.md).

    python -m experiments.experiment1            see experiments/command.py for its options
"""

from __future__ import annotations

from dataclasses import replace

from experiments import designs
from experiments.command import main
from experiments.problems import Problem, drawn
from experiments.runner import Experiment

AS_IT_IS = {"target": "raw"}  # B.2 standardises the inputs only
FIVE = {"rounds": 5}  # as in B.1, with all rows in every step; at m < n the default's ten
REFLECTED = ("ssvgp", "paper_n", "paper_n2", "paper_n4")


def six(seed: int, smoke: bool) -> Problem:
    """The draw of B.2, or one with a thirtieth of its inputs."""
    return drawn(designs.experiment1(seed, n=50, d=30) if smoke else designs.experiment1(seed))


def reflected(seed: int, smoke: bool) -> Problem:
    """The same draw with 2 mean(y) - y in place of y: the same problem to any method that does not mind the sign."""
    problem = six(seed, smoke)
    twice = 2.0 * float(problem.y.mean())
    f_test = None if problem.f_test is None else twice - problem.f_test
    return replace(problem, name="reflected", y=twice - problem.y, y_test=twice - problem.y_test, f_test=f_test)


EXPERIMENT = Experiment(
    name="experiment1",
    designs={"experiment1": six, "reflected": reflected},
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
            "paper_n2_standardised",
            "mlii_raw",
            "mlii_learned",
            "gam_lasso_r",
            "gam_ssl_r",
            "gam_ssl_r5",
        ),
        "reflected": REFLECTED,
    },
    trials=50,
    except_for={"mcmc": 5} | {f"reflected/{name}": 20 for name in REFLECTED},
    settings={
        "mcmc": {"iterations": 1_600_000},
        "paper_n": AS_IT_IS | FIVE,
        "paper_n2": AS_IT_IS,
        "paper_n4": AS_IT_IS,
    },
    smoke_designs=("experiment1",),
    limit=7200.0,
)

if __name__ == "__main__":
    main(EXPERIMENT)
