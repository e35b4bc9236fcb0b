"""One problem for every method: a training table, test rows, and the truth where it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import boxcox

from experiments.designs import Draw

SPLIT = 5  # one row of five is for testing (B.4)
FIRST_SEED = 1000  # all measurements count up from here; the engine was built on seeds below 100


@dataclass(frozen=True)
class Problem:
    """X (n, d), y (n,), X_test (t, d), y_test (t,); the signal f_test (t,) and the truth relevant (d,) if known.

    The `kind` of the target is "numbers", "classes" (labels) or "counts".
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    f_test: np.ndarray | None = None
    relevant: np.ndarray | None = None
    kind: str = "numbers"


Maker = Callable[[int, bool], Problem]


def seeds(count: int) -> range:
    """The seeds of a measurement of `count` draws."""
    return range(FIRST_SEED, FIRST_SEED + count)


def drawn(draw: Draw) -> Problem:
    """A synthetic draw as a problem."""
    return Problem(draw.name, draw.X, draw.y, draw.X_test, draw.y_test, draw.f_test, draw.relevant)


def halved(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows for training and for testing, in random order, 4:1."""
    order = np.random.default_rng(seed).permutation(n)
    return order[n // SPLIT :], order[: n // SPLIT]


def from_table(name: str, X: np.ndarray, y: np.ndarray, seed: int, most_test: int, rows: int | None = None) -> Problem:
    """A random 4:1 split of a table, or of `rows` random rows of it, with at most `most_test` rows to predict."""
    if rows is not None and rows < y.size:
        some = np.random.default_rng(seed).permutation(y.size)[:rows]
        X, y = X[some], y[some]
    train, test = halved(y.size, seed)
    test = test[:most_test]  # in random order already
    return Problem(name, X[train], y[train], X[test], y[test])


def box_cox(problem: Problem, floor: float) -> Problem:
    """The problem with Box-Cox of y - floor + 1 as its target, the power from the training rows (B.4).

    `floor` is the smallest value of the whole table: Box-Cox needs positive numbers, and longitudes are negative.
    Errors are then on the transformed scale, as the paper's are.
    """
    y, power = boxcox(problem.y - floor + 1.0)
    return replace(problem, y=y, y_test=boxcox(problem.y_test - floor + 1.0, power))


def thinned(problem: Problem, most_rows: int | None, seed: int) -> Problem:
    """The problem with a random part of its training rows, for methods that cannot take all."""
    if most_rows is None or problem.y.size <= most_rows:
        return problem
    some = np.random.default_rng(seed).permutation(problem.y.size)[:most_rows]
    return replace(problem, X=problem.X[some], y=problem.y[some])
