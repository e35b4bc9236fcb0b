"""Does the paper's method give the paper's numbers on the toy? All columns of its speed-up table, the row of
Bayesian model averaging, and the average PIP by v, each beside what is printed.

    python -m benchmarks.paper_toy            ten draws, a few minutes on one core
    python -m benchmarks.paper_toy --smoke    two draws at a third of the rows
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from experiments.cases import RESULTS, Case, main
from experiments.designs import toy
from experiments.scores import nmse, selection_scores
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.predict import predict_member
from ssvgp.method.paper.ensemble import paper_ensemble
from ssvgp.records import Ensemble, Train
from ssvgp.settings import PaperSettings

SEEDS = range(10)
ONE_V = PaperSettings(v=(1e4,), thin=None)
MEAN_FIELD = replace(ONE_V, posterior="mean-field", prune=0.0)
BY_V = tuple(10.0**power for power in range(2, 7))

METHODS: dict[str, PaperSettings] = {
    "mf": MEAN_FIELD,
    "zt": replace(ONE_V, prune=0.0, minibatch=1.0),
    "zt_drop": replace(ONE_V, minibatch=1.0),
    "zt_drop_quarter": ONE_V,
    "bma": PaperSettings(),
    "bma_kappa1": PaperSettings(kappa=1.0),
    "bma_noise": PaperSettings(kappa_place="noise"),
    "bma_noise_kappa1": PaperSettings(kappa=1.0, kappa_place="noise"),
    "bma_shared_kappa1": PaperSettings(kappa=1.0, shared_first_round=True),
    "bma_shared_noise_kappa1": PaperSettings(kappa=1.0, kappa_place="noise", shared_first_round=True),
}

# Tables 1 to 4 of the paper; None where it prints nothing.
BMA = {"nmse": 0.064, "average_pip": None, "mcc": 0.98, "seconds": 14.6}
PIP_BY_V = {"v1e2": 0.0, "v1e3": 0.05, "v1e4": 0.07, "v1e5": 0.34, "v1e6": 1.0}
PRINTED: dict[str, dict[str, float | None]] = {
    "mf": {"nmse": 0.068, "average_pip": 0.07, "mcc": 0.82, "seconds": 27.8},
    "zt": {"nmse": 0.068, "average_pip": 0.05, "mcc": None, "seconds": 24.1},
    "zt_drop": {"nmse": 0.064, "average_pip": 0.06, "mcc": None, "seconds": 10.5},
    "zt_drop_quarter": {"nmse": 0.065, "average_pip": 0.05, "mcc": None, "seconds": 1.3},
    **{name: BMA for name in METHODS if name.startswith("bma")},
    "by_v_mf": PIP_BY_V,
    "by_v_zt": PIP_BY_V,
}


@dataclass(frozen=True)
class Problem:
    """Standardised training data, test inputs in the same units, test targets in their own, truth (d,)."""

    train: Train
    X_test: np.ndarray
    y_test: np.ndarray
    centre: float
    spread: float
    relevant: np.ndarray


def problem(seed: int, n: int) -> Problem:
    """A draw of the toy, scaled by the moments of its training rows."""
    drawn = toy(seed, n=n)
    mean, sd = drawn.X.mean(0), drawn.X.std(0)
    centre, spread = float(drawn.y.mean()), float(drawn.y.std())
    train = Train((drawn.X - mean) / sd, (drawn.y - centre) / spread)
    return Problem(train, (drawn.X_test - mean) / sd, drawn.y_test, centre, spread, drawn.relevant)


def mixture_mean(ensemble: Ensemble, train: Train, X_test: np.ndarray) -> np.ndarray:
    """Predictive mean (t,) of the mixture, A.4, each member on all training rows."""
    means = [predict_member(member, train, X_test).mean for member in ensemble.members]
    return ensemble.weights @ np.array(means)


def one_fit(seed: int, settings: PaperSettings, n: int = 300) -> Mapping[str, float]:
    """Error, selection and seconds (training and leave-one-out; prediction apart) of one fit."""
    at = problem(seed, n)
    start = time.perf_counter()
    ensemble = paper_ensemble(at.train, squared_exponential(), settings, np.random.default_rng(seed))
    seconds = time.perf_counter() - start
    mean = at.centre + at.spread * mixture_mean(ensemble, at.train, at.X_test)
    return {
        "nmse": nmse(at.y_test, mean),
        "average_pip": float(ensemble.pip.mean()),
        **selection_scores(ensemble.pip > 0.5, at.relevant),
        "seconds": seconds,
    }


def by_v(seed: int, settings: PaperSettings, n: int = 300) -> Mapping[str, float]:
    """Average PIP at each v (table 2)."""
    at = problem(seed, n)
    settings = replace(settings, v=BY_V, predictive_samples=1)
    ensemble = paper_ensemble(at.train, squared_exponential(), settings, np.random.default_rng(seed))
    average = ensemble.notes["average_pip"]
    return {f"v1e{power}": float(value) for power, value in zip(range(2, 7), average, strict=True)}


def case(name: str, draw: partial[Mapping[str, float]]) -> Case:
    return Case(f"paper_toy_{name}", draw, SEEDS, smoke=partial(draw, n=100))


CASES = (
    *(case(name, partial(one_fit, settings=settings)) for name, settings in METHODS.items()),
    case("by_v_mf", partial(by_v, settings=MEAN_FIELD)),
    case("by_v_zt", partial(by_v, settings=ONE_V)),
)


def compare() -> None:
    """Print the means of the last full runs beside the paper's numbers."""
    for name, printed in PRINTED.items():
        path = RESULTS / f"paper_toy_{name}.jsonl"
        last = json.loads(path.read_text().splitlines()[-1]) if path.exists() else {}
        if "summary" not in last:
            continue
        cells = [
            f"{key} {last['summary'][key]['mean']:.4g} (paper {'-' if value is None else value})"
            for key, value in printed.items()
        ]
        print(f"{name:25s}" + "  ".join(cells))


if __name__ == "__main__":
    main(*CASES)
    compare()
