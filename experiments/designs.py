"""Synthetic regression problems whose relevant inputs are known.

Every design takes a seed or a `numpy.random.Generator` and its sizes as keywords, and returns a `Draw`.
A noise ratio is the variance of the noise over the variance of the signal on the training rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

Seed = int | Generator
Signal = Callable[[np.ndarray], np.ndarray]
Inputs = Callable[[Generator, int], np.ndarray]


@dataclass(frozen=True)
class Draw:
    """X (n, d), y (n,); test rows X_test (t, d), y_test (t,) and their signal f_test (t,); the truth (d,)."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    f_test: np.ndarray
    relevant: np.ndarray
    name: str


def toy(seed: Seed, *, n: int = 300, d: int = 100, q: int = 5, n_test: int = 100) -> Draw:
    """Sum of sin(a_j x_j), a_j on a grid over [0.5, 1], normal inputs, noise ratio 0.05 (3.3, B.1)."""
    return _sines(seed, np.linspace(0.5, 1.0, q), n, d, n_test, "toy")


def toy_weak(seed: Seed, *, n: int = 300, d: int = 100, q: int = 25, n_test: int = 100) -> Draw:
    """The toy with 25 nearly linear inputs, a_j on a grid over [0.05, 0.1] (B.1.1)."""
    return _sines(seed, np.linspace(0.05, 0.1, q), n, d, n_test, "toy_weak")


def experiment1(seed: Seed, *, n: int = 100, d: int = 1000, n_test: int = 20, noise_sd: float = 0.05) -> Draw:
    """x1 + x2 + x3 + x4 + sin(3 x5) + sin(5 x6) on uniform inputs (B.2).

    The main text prints N(0, 0.05), the appendix N(0, 0.05^2): the standard deviation is 0.05 here.
    """

    def signal(X: np.ndarray) -> np.ndarray:
        return X[:, :4].sum(axis=1) + np.sin(3 * X[:, 4]) + np.sin(5 * X[:, 5])

    return _draw(seed, partial(_uniform, d=d), signal, range(6), n, n_test, "experiment1", noise_sd=noise_sd)


def experiment2(seed: Seed, *, n: int = 10_000, d: int = 100, n_test: int = 10_000, dtype: type = np.float64) -> Draw:
    """Two interacting uniform inputs and d - 2 noise inputs of correlation 0.5 with all others (B.3).

    The noise ratio is 1/3, so that the normalised test error has its floor near 0.25. Test rows have (x1, x2)
    on a square grid over [0, 1]^2, and n_test must be a square. Use dtype float32 to halve the memory.
    """
    rng = np.random.default_rng(seed)
    side = math.isqrt(n_test)
    if side * side != n_test:
        raise ValueError(f"n_test is {n_test}; the test rows form a square grid, so give a square number")
    if d < 2:
        raise ValueError(f"d is {d}; the signal alone needs 2 inputs")
    pair = rng.random((n, 2))
    grid = np.linspace(0.0, 1.0, side)
    pair_test = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid, indexing="ij")])
    X, X_test = (_with_correlated_noise(rng, inputs, d, dtype) for inputs in (pair, pair_test))
    f, f_test = _experiment2_signal(pair), _experiment2_signal(pair_test)
    noise_sd = math.sqrt(np.var(f) / 3.0)
    y = f + noise_sd * rng.standard_normal(n)
    y_test = f_test + noise_sd * rng.standard_normal(n_test)
    return Draw(X, y, X_test, y_test, f_test, _mask(d, range(2)), "experiment2")


def noise(seed: Seed, *, n: int = 300, d: int = 100, n_test: int = 100) -> Draw:
    """A standard normal target that has nothing to do with the standard normal inputs."""
    return _draw(seed, partial(_normal, d=d), lambda X: np.zeros(len(X)), (), n, n_test, "noise", noise_sd=1.0)


def interactions(seed: Seed, *, n: int = 300, d: int = 100, n_test: int = 100, noise_sd: float = 0.3) -> Draw:
    """x1 x2 + sin(2 x3 x4) on normal inputs: four inputs, none with an effect of its own."""

    def signal(X: np.ndarray) -> np.ndarray:
        return X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2] * X[:, 3])

    return _draw(seed, partial(_normal, d=d), signal, range(4), n, n_test, "interactions", noise_sd=noise_sd)


def ar1(
    seed: Seed,
    *,
    n: int = 300,
    d: int = 100,
    n_test: int = 100,
    rho: float = 0.9,
    ratio: float = 0.1,
) -> Draw:
    """Five effects on normal inputs with correlation rho^|i - j|, at random places at least d // 10 apart.

    The effects, in random order over the places: x, -0.7 x, sin(1.5 x), 0.8 sin(2 x), 0.5 (x^2 - 1).
    Alone they have variances 1, 0.49, 0.49, 0.32 and 0.5. The noise ratio is 0.1.
    """
    rng = np.random.default_rng(seed)
    first, second, third, fourth, fifth = places = rng.permutation(_separated(rng, d, 5, d // 10))

    def signal(X: np.ndarray) -> np.ndarray:
        linear = X[:, first] - 0.7 * X[:, second]
        waves = np.sin(1.5 * X[:, third]) + 0.8 * np.sin(2 * X[:, fourth])
        return linear + waves + 0.5 * (X[:, fifth] ** 2 - 1)

    return _draw(rng, partial(_autoregressive, d=d, rho=rho), signal, places, n, n_test, "ar1", ratio=ratio)


def friedman1(seed: Seed, *, n: int = 200, d: int = 500, n_test: int = 500, noise_sd: float = 1.0) -> Draw:
    """10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 on uniform inputs (Friedman 1991)."""

    def signal(X: np.ndarray) -> np.ndarray:
        smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
        return smooth + 10 * X[:, 3] + 5 * X[:, 4]

    return _draw(seed, partial(_uniform, d=d), signal, range(5), n, n_test, "friedman1", noise_sd=noise_sd)


def step_and_kink(seed: Seed, *, n: int = 300, d: int = 100, n_test: int = 200, ratio: float = 0.1) -> Draw:
    """Rough effects, inputs uniform on [-1, 1]: 1[a > 0], 2 |b|, 1.5 max(c, 0) and e, at random places."""
    rng = np.random.default_rng(seed)
    a, b, c, e = places = rng.choice(d, size=4, replace=False)

    def signal(X: np.ndarray) -> np.ndarray:
        return (X[:, a] > 0) + 2 * np.abs(X[:, b]) + 1.5 * np.maximum(X[:, c], 0.0) + X[:, e]

    return _draw(rng, partial(_uniform, d=d, low=-1.0), signal, places, n, n_test, "step_and_kink", ratio=ratio)


def heavy_tail_inputs(
    seed: Seed,
    *,
    n: int = 300,
    d: int = 100,
    n_test: int = 200,
    df: float = 3.0,
    ratio: float = 0.1,
) -> Draw:
    """Student t inputs: 1.5 tanh(a), log(1 + b^2), sin(c) and 0.5 e, at random places."""
    rng = np.random.default_rng(seed)
    a, b, c, e = places = rng.choice(d, size=4, replace=False)

    def inputs(generator: Generator, rows: int) -> np.ndarray:
        return generator.standard_t(df, size=(rows, d))

    def signal(X: np.ndarray) -> np.ndarray:
        return 1.5 * np.tanh(X[:, a]) + np.log1p(X[:, b] ** 2) + np.sin(X[:, c]) + 0.5 * X[:, e]

    return _draw(rng, inputs, signal, places, n, n_test, "heavy_tail_inputs", ratio=ratio)


def binary_inputs(
    seed: Seed,
    *,
    n: int = 300,
    d: int = 100,
    n_test: int = 200,
    share: float = 0.4,
    ratio: float = 0.2,
) -> Draw:
    """Inputs that are 0 or 1: a - 0.8 b + 1.5 c e, at random places; `share` of the entries are 1."""
    rng = np.random.default_rng(seed)
    a, b, c, e = places = rng.choice(d, size=4, replace=False)

    def inputs(generator: Generator, rows: int) -> np.ndarray:
        return (generator.random((rows, d)) < share).astype(float)

    def signal(X: np.ndarray) -> np.ndarray:
        return X[:, a] - 0.8 * X[:, b] + 1.5 * X[:, c] * X[:, e]

    return _draw(rng, inputs, signal, places, n, n_test, "binary_inputs", ratio=ratio)


def mixed_frequency(seed: Seed, *, n: int = 300, d: int = 50, n_test: int = 200, ratio: float = 0.1) -> Draw:
    """Lengthscales far apart, uniform inputs: sin(2 pi a), 0.8 sin(6 pi b), 2 c, e^2, at random places."""
    rng = np.random.default_rng(seed)
    a, b, c, e = places = rng.choice(d, size=4, replace=False)

    def signal(X: np.ndarray) -> np.ndarray:
        waves = np.sin(2 * np.pi * X[:, a]) + 0.8 * np.sin(6 * np.pi * X[:, b])
        return waves + 2 * X[:, c] + X[:, e] ** 2

    return _draw(rng, partial(_uniform, d=d), signal, places, n, n_test, "mixed_frequency", ratio=ratio)


def _draw(
    seed: Seed,
    inputs: Inputs,
    signal: Signal,
    places: Sequence[int] | np.ndarray,
    n: int,
    n_test: int,
    name: str,
    *,
    noise_sd: float | None = None,
    ratio: float = 0.0,
) -> Draw:
    """Training and test rows of one signal, with noise of a given sd or a given ratio to the signal."""
    rng = np.random.default_rng(seed)
    X, X_test = inputs(rng, n), inputs(rng, n_test)
    f, f_test = signal(X), signal(X_test)
    sd = math.sqrt(ratio * np.var(f)) if noise_sd is None else noise_sd
    y = f + sd * rng.standard_normal(n)
    y_test = f_test + sd * rng.standard_normal(n_test)
    return Draw(X, y, X_test, y_test, f_test, _mask(X.shape[1], places), name)


def _sines(seed: Seed, slopes: np.ndarray, n: int, d: int, n_test: int, name: str) -> Draw:
    """The family of both toys: the first inputs enter as sin(a_j x_j)."""
    q = len(slopes)
    return _draw(
        seed,
        partial(_normal, d=d),
        lambda X: np.sin(slopes * X[:, :q]).sum(axis=1),
        range(q),
        n,
        n_test,
        name,
        ratio=0.05,
    )


def _uniform(rng: Generator, rows: int, d: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Independent uniform inputs, (rows, d)."""
    return rng.uniform(low, high, size=(rows, d))


def _normal(rng: Generator, rows: int, d: int) -> np.ndarray:
    """Independent standard normal inputs, (rows, d)."""
    return rng.standard_normal((rows, d))


def _autoregressive(rng: Generator, rows: int, d: int, rho: float) -> np.ndarray:
    """Standard normal inputs with correlation rho^|i - j|, (rows, d)."""
    X = rng.standard_normal((rows, d))
    innovation = math.sqrt(1.0 - rho**2)
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + innovation * X[:, j]
    return X


def _separated(rng: Generator, d: int, count: int, gap: int) -> np.ndarray:
    """Random places in increasing order, (count,), no two closer than `gap`, uniform over all such."""
    free = d - (count - 1) * (max(gap, 1) - 1)
    if free < count:
        raise ValueError(f"{count} places at least {gap} apart do not fit into {d} inputs")
    return np.sort(rng.choice(free, size=count, replace=False)) + np.arange(count) * (max(gap, 1) - 1)


def _experiment2_signal(pair: np.ndarray) -> np.ndarray:
    """The latent surface of experiment 2 at (x1, x2), (rows, 2) to (rows,)."""
    ends = np.tan(pair).sum(axis=1) + np.sin(2 * np.pi * pair).sum(axis=1)
    product = pair[:, 0] * pair[:, 1]
    return ends + np.cos(4 * np.pi**2 * product) + np.tan(product)


def _with_correlated_noise(rng: Generator, pair: np.ndarray, d: int, dtype: type) -> np.ndarray:
    """The pair (rows, 2) followed by d - 2 uniform inputs through a Gaussian copula, (rows, d).

    With g1, g2 independent and all other correlations 1/2, z given g is N((g1 + g2) / 2, I / 2): the noise
    inputs are conditionally independent, and no d x d matrix is needed.
    """
    # The grid touches 0 and 1, whose normal scores are infinite.
    scores = ndtri(np.clip(pair, 1e-6, 1.0 - 1e-6))
    centre = (0.5 * scores.sum(axis=1)).astype(dtype)
    X = np.empty((len(pair), d), dtype=dtype)
    X[:, :2] = pair
    # Slices of rows bound the memory to little more than X itself.
    rows = max(1, 10_000_000 // d)
    for start in range(0, len(pair), rows):
        part = slice(start, start + rows)
        z = rng.standard_normal((len(centre[part]), d - 2), dtype=dtype)
        z *= dtype(math.sqrt(0.5))
        z += centre[part, None]
        X[part, 2:] = ndtr(z)
    return X


def _mask(d: int, places: Sequence[int] | np.ndarray) -> np.ndarray:
    """The truth as a boolean vector, (d,)."""
    relevant = np.zeros(d, dtype=bool)
    relevant[np.asarray(places, dtype=int)] = True
    return relevant
