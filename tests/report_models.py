"""Small fitted models that a report must cope with, each made once."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pandas as pd

from ssvgp import AutoSettings, PaperSettings, SSVGPRegressor
from ssvgp.cli.demo import read_table
from ssvgp.report.report import report

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
EVIL = "<script>alert(1)</script>"
ATTACK = '"><img src=x onerror=alert(2)>'
ODD_ONES = ["$x_1$ \"q\" 'a' & 价格", "x\x0b\x00\u202ey", "a_long_name_" * 12]
NAMES = [EVIL, *ODD_ONES, "binary", "kin", "twin", "--><b>still</b>"]


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def quietly(model: SSVGPRegressor, X: Any, y: np.ndarray) -> SSVGPRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def odd_table(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Names that are no names, a pair that acts together, a binary input, a relative, a copy and a constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    X[:, 4], X[:, 5], X[:, 6], X[:, 7] = X[:, 4] > 0, X[:, 0] + 0.4 * X[:, 5], X[:, 3], 1.0
    y = np.exp(0.5 * (np.sin(1.5 * X[:, 0]) + X[:, 3] * X[:, 1] + X[:, 4] + 0.2 * rng.normal(size=n)))
    return pd.DataFrame(X, columns=NAMES), y


@functools.cache
def odd() -> SSVGPRegressor:
    return quietly(light(), *odd_table())


@functools.cache
def curved() -> SSVGPRegressor:
    return quietly(light(target_transform="log"), *odd_table())


@functools.cache
def constant() -> SSVGPRegressor:
    return light().fit(np.random.default_rng(0).normal(size=(30, 4)), np.full(30, 2.0))


@functools.cache
def many() -> SSVGPRegressor:
    """Sixty selected inputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 60))
    model = light(threshold=0.0).fit(X, X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=60))
    model.pip_ = np.maximum(model.pip_, 1e-6)
    return model


@functools.cache
def paper() -> SSVGPRegressor:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    settings = PaperSettings(rounds=2, first_steps=100, steps=50, v=(1e2, 1e3, 1e4, 1e5))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.2 * rng.normal(size=60)
    return SSVGPRegressor(method="paper", settings=settings, random_state=0).fit(X, y)


@functools.cache
def large() -> SSVGPRegressor:
    """Predicted from neighbours, as beyond 2000 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 4))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=2100)
    return light(predict_neighbours=30).fit(X, y)


@functools.cache
def demo() -> SSVGPRegressor:
    table = read_table()
    return light().fit(pd.DataFrame(table.X, columns=list(table.names)), table.y)


ALL = {one.__name__: one for one in (odd, curved, constant, many, paper, large, demo)}


@functools.cache
def page_of(kind: str) -> str:
    """The report of one of these models; that of the odd one has a target and a note that are attacks."""
    return report(odd(), ATTACK, [f"left out {ATTACK}"]) if kind == "odd" else report(ALL[kind](), "y")
