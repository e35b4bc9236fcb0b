"""Problems of classes and counts: tables of people read by the package's own reader, and designs with noise columns.

| set | rows x inputs | target |
|---|---|---|
| alzheimer | 333 x 130 | 2 classes |
| cells | 2019 x 56 | 2 classes |
| credit | 4454 x 13 | 2 classes, gaps and texts |
| scat | 110 x 18 | 3 classes, gaps and texts |
| khan | 83 x 2308 | 4 classes |
| breast_cancer | 569 x 30 | 2 classes (scikit-learn) |
| digits_3_5 | 365 x 64 | 2 classes (scikit-learn) |
| biochemists | 915 x 5 | counts |
| azpro | 3589 x 5 | counts |
| classes_toy | 500 x 100 | the toy's five sines as a logit of standard deviation 3 |
| classes_products | 600 x 50 | x1 x2 + sin(2 x3 x4) as a logit of standard deviation 3 |
| classes_wide | 600 x 1000 | six uniform inputs of experiment 1 as a logit of standard deviation 3 |
| counts_toy | 400 x 100 | the toy's five sines as a log rate of standard deviation 1, mean about 1 |
| counts_spread | 400 x 100 | the same with mean about 20, gamma-mixed (dispersion 1/4) |

Gaps are filled with medians, texts become columns of 0 and 1; splits are random, 4:1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits

from experiments import datasets
from experiments.problems import Problem, halved
from ssvgp.tables.prepare import Choice, prepare
from ssvgp.tables.source import open_table

TARGETS = {  # of each table: its target, and whether it is one of classes or counts
    "alzheimer": ("Class", "classes"),
    "cells": ("class", "classes"),
    "credit": ("Status", "classes"),
    "scat": ("Species", "classes"),
    "khan": ("tumour", "classes"),
    "biochemists": ("art", "counts"),
    "azpro": ("los", "counts"),
}
N_TEST = 500
MOST_TEST = 1000
Signal = Callable[[np.ndarray], np.ndarray]


def missing(name: str) -> str | None:
    """Why a table cannot be read here, or None if it can."""
    path = datasets.folder() / "tables" / f"{name}.csv"
    return None if path.is_file() else f"no file tables/{path.name} in the data folder: set SSVGP_DATA to where it is"


def table(name: str, seed: int, smoke: bool) -> Problem:
    """A random split of a table."""
    target, kind = TARGETS[name]
    likelihood = "classes" if kind == "classes" else "negative-binomial"
    choice = Choice(target, missing="median", categories="onehot", likelihood=likelihood)
    read = prepare(open_table(datasets.folder() / "tables" / f"{name}.csv"), choice)
    y = read.y.astype(str) if kind == "classes" else read.y
    return _split(name, read.X, y, kind, seed, smoke)


def breast_cancer(seed: int, smoke: bool) -> Problem:
    """Malignant or benign, from measurements of cell nuclei."""
    X, y = load_breast_cancer(return_X_y=True)
    return _split("breast_cancer", X, np.where(y == 1, "benign", "malignant"), "classes", seed, smoke)


def digits(seed: int, smoke: bool) -> Problem:
    """Threes and fives, 8 x 8 pixels."""
    X, y = load_digits(return_X_y=True)
    some = (y == 3) | (y == 5)
    return _split("digits_3_5", X[some], y[some].astype(str), "classes", seed, smoke)


def _split(name: str, X: np.ndarray, y: np.ndarray, kind: str, seed: int, smoke: bool) -> Problem:
    if smoke:
        some = np.random.default_rng(seed).permutation(y.size)[:120]
        X, y = X[some][:, :40], y[some]
    train, test = halved(y.size, seed)
    test = test[:MOST_TEST]
    return Problem(name, X[train], y[train], X[test], y[test], kind=kind)


def toy_signal(X: np.ndarray) -> np.ndarray:
    """The toy's sum of five sines (B.1)."""
    return np.sin(X[:, :5] * np.linspace(0.5, 1.0, 5)).sum(axis=1)


def product_signal(X: np.ndarray) -> np.ndarray:
    """Four inputs that act in pairs alone."""
    return X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2] * X[:, 3])


def wide_signal(X: np.ndarray) -> np.ndarray:
    """The six inputs of experiment 1 (B.2)."""
    return X[:, :4].sum(axis=1) + np.sin(3.0 * X[:, 4]) + np.sin(5.0 * X[:, 5])


@dataclass(frozen=True)
class Design:
    """Inputs, of which the first `relevant` decide by a signal; `outcome` maps the standardised signal to targets.

    `inputs` maps a generator and a shape to a table.
    """

    name: str
    kind: str
    signal: Signal
    relevant: int
    n: int
    d: int
    outcome: Callable[..., np.ndarray]
    inputs: Callable[..., np.ndarray] = np.random.Generator.standard_normal

    def draw(self, seed: int, n_test: int = N_TEST) -> Problem:
        """A problem of this design."""
        rng = np.random.default_rng(seed)
        X = self.inputs(rng, size=(self.n + n_test, self.d))
        f = self.signal(X)
        f = (f - f[: self.n].mean()) / f[: self.n].std()
        y, cut = self.outcome(f, rng), self.n
        truth = np.arange(self.d) < self.relevant
        return Problem(self.name, X[:cut], y[:cut], X[cut:], y[cut:], f[cut:], truth, self.kind)


def by_logit(f: np.ndarray, rng: np.random.Generator, sd: float = 3.0) -> np.ndarray:
    """Labels "yes" and "no" by a logit of that standard deviation."""
    return np.where(rng.random(f.size) < expit(sd * f), "yes", "no")


def by_rate(f: np.ndarray, rng: np.random.Generator, mean: float = 1.0, dispersion: float = 0.0) -> np.ndarray:
    """Counts by a log rate of standard deviation one about a mean, gamma-mixed where they are dispersed."""
    rate = mean * np.exp(f - 0.5)  # E exp(f) = exp(1/2)
    if dispersion:
        rate = rate * rng.gamma(1.0 / dispersion, dispersion, size=f.size)
    return rng.poisson(rate).astype(float)


SYNTHETIC = {
    one.name: one
    for one in (
        Design("classes_toy", "classes", toy_signal, 5, 500, 100, by_logit),
        Design("classes_products", "classes", product_signal, 4, 600, 50, by_logit),
        Design("classes_wide", "classes", wide_signal, 6, 600, 1000, by_logit, np.random.Generator.random),
        Design("counts_toy", "counts", toy_signal, 5, 400, 100, by_rate),
        Design("counts_spread", "counts", toy_signal, 5, 400, 100, partial(by_rate, mean=20.0, dispersion=0.25)),
    )
}
