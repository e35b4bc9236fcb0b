"""The toy: 5 of 100 inputs (tables 1 to 4, figures 1, 2 and A1), and 25 weak ones of 100 (figure A2), 10 trials each.

python -m experiments.toy            see experiments/command.py for its options
"""

from __future__ import annotations

from experiments import designs
from experiments.command import main
from experiments.problems import Problem, drawn
from experiments.runner import Experiment


def five(seed: int, smoke: bool) -> Problem:
    """The toy of section 3.3, or one of a fifth of its size."""
    return drawn(designs.toy(seed, n=60, d=12, n_test=30) if smoke else designs.toy(seed))


def weak(seed: int, smoke: bool) -> Problem:
    """The modified toy of B.1.1 with 25 relevant inputs."""
    return drawn(designs.toy_weak(seed, n=60, d=12, q=5, n_test=30) if smoke else designs.toy_weak(seed))


EXPERIMENT = Experiment(
    name="toy",
    designs={"toy": five, "toy_weak": weak},
    methods={
        "toy": (
            "ssvgp",
            "mf",
            "zt",
            "zt_drop",
            "zt_drop_n4",
            "mf_by_v",
            "paper_n4",
            "paper_n4_log",
            "paper_n4_text",
            "mlii",
            "mlii_lbfgs",
            "pmf_bbvi_10",
            "pmf_bbvi_100",
            "pmf_one_draw",
        ),
        "toy_weak": ("ssvgp", "mf_by_v", "paper_n4", "paper_n4_log", "paper_n4_text"),
    },
    trials=10,
    smoke_designs=("toy",),
    keep=100,
)

if __name__ == "__main__":
    main(EXPERIMENT)
