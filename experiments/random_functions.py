"""Functions that nobody tuned to: sums of terms of one to four inputs, of random shapes, in tables of random size.

A term is a product of shapes of its inputs, a ridge (a shape of their sum), a bump, a maximum, or a draw of a rough or
smooth random field. Terms may share inputs. All is drawn from the seed: size, kind of inputs, terms, noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from experiments.designs import Draw

Shape = Callable[[np.ndarray], np.ndarray]
MOST_TOGETHER = {300: 3}  # inputs of a term where d is so large; elsewhere four


def _wave(rng: Generator) -> Shape:
    speed, phase = rng.uniform(1.0, 5.0), rng.uniform(0.0, 2.0 * np.pi)
    return lambda x: np.sin(speed * x + phase)


def _step(rng: Generator) -> Shape:
    edge = rng.uniform(-0.7, 0.7)
    return lambda x: np.where(x > edge, 1.0, -1.0)


def _kink(rng: Generator) -> Shape:
    edge = rng.uniform(-0.7, 0.7)
    return lambda x: np.maximum(x - edge, 0.0)


# what a single input may do; those that rise and fall are as frequent as those that rise
SHAPES: tuple[Callable[[Generator], Shape], ...] = (
    lambda rng: lambda x: x,
    lambda rng: lambda x: x**2 - 1.0,
    lambda rng: np.tanh,
    lambda rng: lambda x: np.exp(0.7 * np.clip(x, -3, 3)),
    lambda rng: lambda x: np.exp(-2.0 * x**2),
    lambda rng: np.abs,
    _wave,
    _wave,
    _step,
    _kink,
)


def _product(X: np.ndarray, rng: Generator) -> np.ndarray:
    """Of centred shapes, so that nothing of lower order is left for normal inputs."""
    out = np.ones(len(X))
    for column in X.T:
        value = SHAPES[rng.integers(len(SHAPES))](rng)(column)
        out *= (value - value.mean()) / (value.std() + 1e-12)
    return out


def _ridge(X: np.ndarray, rng: Generator) -> np.ndarray:
    weights = rng.uniform(0.5, 1.5, X.shape[1]) * rng.choice([-1.0, 1.0], X.shape[1])
    return SHAPES[rng.integers(len(SHAPES))](rng)(X @ weights / np.sqrt((weights**2).sum()))


def _bump(X: np.ndarray, rng: Generator) -> np.ndarray:
    return np.exp(-0.5 * ((X - rng.uniform(-0.5, 0.5, X.shape[1])) ** 2).sum(1))


def _highest(X: np.ndarray, rng: Generator) -> np.ndarray:
    return (X * rng.choice([-1.0, 1.0], X.shape[1])).max(1)


def _field(X: np.ndarray, rng: Generator) -> np.ndarray:
    """A draw of a stationary process by 200 waves of random direction: smooth to fairly rough."""
    speed = rng.uniform(0.4, 1.6)
    waves = speed * rng.standard_normal((X.shape[1], 200))
    return np.cos(X @ waves + rng.uniform(0.0, 2.0 * np.pi, 200)) @ rng.standard_normal(200)


TERMS = (_product, _product, _ridge, _bump, _highest, _field)


@dataclass(frozen=True)
class Size:
    """Rows, inputs, and the most inputs that act together in a term."""

    n: int
    d: int
    together: int


def size_of(rng: Generator) -> Size:
    """n from 100 to 500, d from 10 to 300."""
    n = round(100 * 5 ** rng.uniform())
    d = int(rng.choice([10, 30, 60, 100, 300]))
    return Size(n, d, MOST_TOGETHER.get(d, 4))


def _columns(n: int, d: int, rng: Generator) -> np.ndarray:
    """Normal, uniform, correlated or partly coarse columns, of mean 0 and sd 1."""
    kind = rng.choice(["normal", "uniform", "related", "coarse"])
    X = rng.standard_normal((n, d))
    if kind == "uniform":
        return np.sqrt(12.0) * (rng.uniform(size=(n, d)) - 0.5)
    if kind == "related":  # each with its neighbours, 0.6 and 0.36 and so on
        for j in range(1, d):
            X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    if kind == "coarse":
        coarse = rng.uniform(size=d) < 0.3
        X[:, coarse] = np.round(X[:, coarse])
    return X


def random_function(seed: int, size: Size | None = None, n_test: int = 500) -> Draw:
    """One to four terms of one to four inputs with noise of 0.1 to 0.5 of the signal's standard deviation."""
    rng = np.random.default_rng([seed, 20_261_117])
    size = size or size_of(rng)
    X = _columns(size.n + n_test, size.d, rng)
    signal, relevant = np.zeros(len(X)), np.zeros(size.d, dtype=bool)
    for _ in range(rng.integers(1, 5)):
        together = min(int(rng.integers(1, size.together + 1)), size.d)
        inputs = rng.choice(size.d, together, replace=False)
        value = (
            (SHAPES[rng.integers(len(SHAPES))](rng)(X[:, inputs[0]]))
            if together == 1
            else (TERMS[rng.integers(len(TERMS))](X[:, inputs], rng))
        )
        signal += rng.uniform(0.5, 1.5) * (value - value.mean()) / (value.std() + 1e-12)
        relevant[inputs] = True
    noise = rng.uniform(0.1, 0.5) * signal[: size.n].std()
    y = signal + noise * rng.standard_normal(len(X))
    return _split(X, y, signal, relevant, size.n, "random function")


PURE: dict[str, Shape] = {
    "x": lambda x: x,
    "square": lambda x: x**2 - 1.0,
    "sine": lambda x: np.sin(2.0 * x),
    "step": np.sign,
}


def pure_product(seed: int, together: int, d: int, n: int = 400, noise: float = 0.3, n_test: int = 200) -> Draw:
    """One product of shapes of so many normal inputs and nothing else: no input and no smaller group shows anything."""
    rng = np.random.default_rng([seed, together, d, 20_261_118])
    X = ndtri(rng.uniform(size=(n + n_test, d)))
    inputs = rng.choice(d, together, replace=False)
    signal = np.ones(len(X))
    for j in inputs:
        value = PURE[str(rng.choice(list(PURE)))](X[:, j])
        signal *= (value - value.mean()) / value.std()
    relevant = np.zeros(d, dtype=bool)
    relevant[inputs] = True
    y = signal + noise * signal[:n].std() * rng.standard_normal(len(X))
    return _split(X, y, signal, relevant, n, "pure product")


def fast_wave(seed: int, n: int = 250, d: int = 60, speed: float = 6.0, alone: bool = False, n_test: int = 500) -> Draw:
    """sin(speed x1), with x2 + 0.7 x3 x4 beside it unless `alone`; noise 0.3 of the signal's standard deviation."""
    rng = np.random.default_rng([seed, 20_261_119])
    X = rng.standard_normal((n + n_test, d))
    signal = np.sin(speed * X[:, 0])
    relevant = np.zeros(d, dtype=bool)
    relevant[0] = True
    if not alone:
        signal += X[:, 1] + 0.7 * X[:, 2] * X[:, 3]
        relevant[:4] = True
    y = signal + 0.3 * signal[:n].std() * rng.standard_normal(len(X))
    return _split(X, y, signal, relevant, n, "fast wave")


def _split(X: np.ndarray, y: np.ndarray, signal: np.ndarray, relevant: np.ndarray, n: int, name: str) -> Draw:
    return Draw(X[:n], y[:n], X[n:], y[n:], signal[n:], relevant, name)
