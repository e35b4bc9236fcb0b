"""A league of all methods on six synthetic designs and ten real sets, three draws or random 4:1 splits of each.

The seven smallest sets have test parts of 13 to 56 rows, on which three splits are a lottery: quick methods run on ten,
on thirty where the test part has at most 20 rows, and so do rivals that were ahead of ours on fewer (`AHEAD`), which
favours ours.

The sets were chosen by kind, before any score was seen, so that no method is at home everywhere:

| set | n x d | kind |
|---|---|---|
| tecator | 215 x 100 | spectra with fewer inputs than rows |
| cassava_nir | 280 x 1050 | spectra with many more inputs than rows |
| riboflavin | 71 x 4088 | genes: few rows, many weak effects |
| liver_toxicity | 64 x 3116 | genes: few rows, strong effects |
| bloodbrain | 208 x 134 | QSAR: chemical descriptors |
| permeability | 165 x 1107 | QSAR: binary fingerprints, many copies |
| prostate | 97 x 8 | clinical: hardly anything to select |
| communities_crime | 1994 x 99 | social: all inputs related, much noise |
| supercon_magpie | 12440 x 132 | materials: many rows, many inputs |
| uci_elevators | 16599 x 18 | engineering: many rows, few inputs |

A method that factors a matrix of all rows trains on 2000 random rows where there are more, samplers on 500; the
number is in the results ("rows"). MCMC and NUTS run at a reduced length here, and training by gradients (SAAS, GPBoost,
SGP, SVGP, on the three large sets ML-II too) stops after a minute. At most 2000 test rows are predicted.

    python -m experiments.league            see experiments/command.py for its options
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from experiments import datasets, designs
from experiments.command import main
from experiments.designs import Draw
from experiments.methods import RIVALS
from experiments.problems import Problem, drawn, from_table
from experiments.runner import Experiment

SYNTHETIC: dict[str, tuple[Callable[..., Draw], Mapping[str, Any]]] = {
    "toy": (designs.toy, {"n": 60, "d": 12}),
    "toy_weak": (designs.toy_weak, {"n": 60, "d": 12, "q": 5}),
    "experiment1": (designs.experiment1, {"n": 50, "d": 30}),
    "friedman1": (designs.friedman1, {"n": 60, "d": 12}),
    "interactions": (designs.interactions, {"n": 60, "d": 12}),
    "ar1": (designs.ar1, {"n": 60, "d": 20}),
}
REAL = (
    "tecator",
    "cassava_nir",
    "riboflavin",
    "liver_toxicity",
    "bloodbrain",
    "permeability",
    "prostate",
    "communities_crime",
    "supercon_magpie",
    "uci_elevators",
)
METHODS = ("ssvgp", "paper_n4", *RIVALS)
QUICK = ("ssvgp", "lasso", "mcp", "mlii_lbfgs")
SMALL_SETS = REAL[:7]
AHEAD = (  # of ours on few splits
    "prostate/saas_map",
    "prostate/saas_nuts",
    "riboflavin/mlii",
    "cassava_nir/mlii",
    "cassava_nir/paper_n4",
    "tecator/gpboost",
)
REPEATED = (*(f"{name}/{method}" for name in SMALL_SETS for method in QUICK), *AHEAD)
TINY_TESTS = ("riboflavin", "liver_toxicity", "prostate")  # of 14, 13 and 20 rows
MOST_TEST = 2000
SMOKE_ROWS = 80


def synthetic(name: str, seed: int, smoke: bool) -> Problem:
    """A draw of a design at its own size, or a small one."""
    design, small = SYNTHETIC[name]
    return drawn(design(seed, n_test=40, **small) if smoke else design(seed))


def real(name: str, seed: int, smoke: bool) -> Problem:
    """A split of a real set."""
    X, y = datasets.load(name)
    return from_table(name, X, y, seed, MOST_TEST, SMOKE_ROWS if smoke else None)


EXPERIMENT = Experiment(
    name="league",
    designs={name: partial(synthetic, name) for name in SYNTHETIC} | {name: partial(real, name) for name in REAL},
    methods=dict.fromkeys((*SYNTHETIC, *REAL), METHODS),
    trials=3,
    except_for={one: 30 if one.split("/")[0] in TINY_TESTS else 10 for one in REPEATED},
    settings={
        "paper_n4": {"minibatch": None},  # n/4 to 2000 rows, 256 beyond
        "mcmc": {"iterations": 50_000},
        **{f"{name}/mcmc": {"iterations": 5_000} for name in REAL[7:]},
        **{f"{name}/mlii": {"max_seconds": 60.0} for name in REAL[7:]},
        "saas_map": {"max_seconds": 60.0},
        "saas_nuts": {"warmup": 32, "samples": 32, "tree_depth": 5},
        "gpboost": {"max_seconds": 60.0},
        "sgp": {"max_seconds": 60.0},
        "svgp": {"max_seconds": 60.0},
    },
    smoke_designs=("friedman1", "prostate"),
    unavailable={name: partial(datasets.missing, name) for name in REAL},
    limit=300.0,
)

if __name__ == "__main__":
    main(EXPERIMENT)
