"""Fits whose numbers are kept: synthetic designs, real tables, both methods, n on either side of every threshold.

A case is small enough for a test, or `slow`. Real tables come from scikit-learn or from the folder of experiments; one
that is not there is left out with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from experiments import datasets, designs
from ssvgp import AutoSettings, PaperSettings, SSVGPRegressor

Table = tuple[np.ndarray, np.ndarray]
FEW_STEPS = PaperSettings(v=(1e2, 1e4, 1e6), rounds=3, first_steps=60, steps=30)


@dataclass(frozen=True)
class Case:
    """A table (X, y), the parameters of the estimator, and how many rows are for training.

    A `sensitive` fit ends in another mode where last bits differ, as they do with other libraries or processors.
    """

    name: str
    table: Callable[[], Table]
    rows: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    missing: Callable[[], str | None] = lambda: None
    slow: bool = False
    sensitive: bool = False

    def numbers(self) -> dict[str, np.ndarray]:
        """What the fit says: PIPs, weights, evidences, and predictions of rows that it has not seen."""
        X, y = self.table()
        new = X[self.rows : self.rows + 15]
        model = SSVGPRegressor(**{"random_state": 3, "n_jobs": 2} | dict(self.parameters))
        model.fit(X[: self.rows], y[: self.rows])
        mean, sd = model.predict(new, return_std=True)
        return {
            "pip": model.pip_,
            "weights": model.weights_,
            "noise": np.array([model.noise_variance_]),
            "shares": np.array([model.variance_shares_[key] for key in ("sparse", "background", "noise")]),
            "mean": mean,
            "sd": sd,
            "quantiles": model.predict_quantiles(new[:5]).ravel(),
            "density": model.log_predictive_density(new, y[self.rows : self.rows + 15]),
        } | dict(_judgements(model))


def _judgements(model: SSVGPRegressor) -> Iterator[tuple[str, np.ndarray]]:
    """Log evidence and weight of the sets of the default, or leave-one-out densities of the paper's members."""
    notes = model.ensemble_.notes
    if "sets" in notes:
        yield "evidence", np.array([log_evidence for _, _, log_evidence, _ in notes["sets"]])
        yield "set_weights", np.array([weight for *_, weight in notes["sets"]])
    if "loo" in notes:
        yield "loo", np.asarray(notes["loo"], dtype=float)


def drawn(design: Callable[..., designs.Draw], **size: int) -> Callable[[], Table]:
    """A draw of a design with its test rows behind the others."""

    def make() -> Table:
        draw = design(77, n_test=25, **size)  # 25 is a square, which experiment 2 needs
        return np.vstack([draw.X, draw.X_test]), np.concatenate([draw.y, draw.y_test])

    return make


def real(name: str) -> Callable[[], Table]:
    """A real table in random order."""

    def make() -> Table:
        X, y = load_diabetes(return_X_y=True) if name == "diabetes" else datasets.load(name)
        order = np.random.default_rng(77).permutation(y.size)
        return X[order], y[order]

    return make


def _synthetic() -> Iterator[Case]:
    sizes = {
        "experiment1": (designs.experiment1, 100, 1000),
        "toy": (designs.toy, 300, 100),
        "interactions": (designs.interactions, 200, 30),
        "ar1": (designs.ar1, 150, 40),
        "ar1_above_150": (designs.ar1, 151, 40),
        "friedman1": (designs.friedman1, 100, 8),
        "toy_weak": (designs.toy_weak, 120, 50),
    }
    for name, (design, n, d) in sizes.items():
        yield Case(name, drawn(design, n=n, d=d), n)
    for n in (999, 1000, 1001, 1999, 2000, 2001):
        yield Case(f"toy_{n}", drawn(designs.toy, n=n, d=12), n, slow=n in (999, 1000, 1999, 2000))
    yield Case("experiment2_11000", drawn(designs.experiment2, n=11_000, d=8), 11_000)


def _paper() -> Iterator[Case]:
    whole = {"method": "paper", "settings": FEW_STEPS}
    raw = {"method": "paper", "settings": PaperSettings(target="raw", v=(1e4, 1e6), minibatch=0.5, rounds=5)}
    yield Case("paper_toy", drawn(designs.toy, n=150, d=30), 150, whole)
    yield Case("paper_raw", drawn(designs.experiment1, n=80, d=60), 80, raw, sensitive=True)
    for n in (2000, 2001):
        yield Case(f"paper_{n}", drawn(designs.toy, n=n, d=8), n, whole)
    for n in (9999, 10_000):
        yield Case(f"paper_{n}", drawn(designs.experiment2, n=n, d=6), n, whole, slow=n < 10_000)


def _real() -> Iterator[Case]:
    for name, rows, slow in (
        ("prostate", 80, False),
        ("bloodbrain", 180, True),
        ("yarn_nir", 20, False),
        ("riboflavin", 55, True),
        ("communities_crime", 1500, True),
        ("uci_elevators", 5000, True),
    ):
        yield Case(f"real_{name}", real(name), rows, missing=lambda name=name: datasets.missing(name), slow=slow)
    yield Case("real_diabetes", real("diabetes"), 400, slow=True)
    light = AutoSettings(draws=8, components=8)
    yield Case("real_diabetes_light", real("diabetes"), 140, {"kernel": "se", "settings": light})


CASES = {case.name: case for case in (*_synthetic(), *_paper(), *_real())}
