"""Do the bands of effects hold the true curves? Asked: 90% bands cover 80% of the grid on toy and experiment 1.

python -m benchmarks.effects            ten draws of each
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments.cases import HIGH_IS_GOOD, Case, main
from experiments.designs import Draw, experiment1, toy
from experiments.problems import seeds
from ssvgp import SSVGPRegressor

Curve = Callable[[np.ndarray], np.ndarray]
TOY: tuple[Curve, ...] = tuple(lambda x, a=a: np.sin(a * x) for a in np.linspace(0.5, 1.0, 5))
EXPERIMENT1: tuple[Curve, ...] = (*(lambda x: x for _ in range(4)), lambda x: np.sin(3 * x), lambda x: np.sin(5 * x))


def measure(draw: Draw, curves: Sequence[Curve]) -> Mapping[str, float]:
    """Share of the grid that bands cover over all inputs and at the worst one, error of the curves, seconds of each.

    Both designs are sums of curves, so that the effect of an input is its curve less the curve's mean over the rows,
    and no two inputs interact.
    """
    model = SSVGPRegressor(random_state=0).fit(draw.X, draw.y)
    start = time.perf_counter()
    effects = [model.effect(j) for j in range(len(curves))]
    seconds = (time.perf_counter() - start) / len(curves)
    inside, errors, truths = [], [], []
    for j, (curve, found) in enumerate(zip(curves, effects, strict=True)):
        true = curve(found.grid) - curve(draw.X[found.rows, j]).mean()
        inside.append(float(np.mean((found.lower <= true) & (true <= found.upper))))
        errors.append(np.mean((found.mean - true) ** 2))
        truths.append(np.var(true))
    pair = model.interaction(0, len(curves) - 1)
    return {
        "covered": float(np.mean(inside)),
        "worst_input": min(inside),
        "nmse": float(np.sum(errors) / np.sum(truths)),
        "pair_covered": float(np.mean((pair.lower <= 0.0) & (0.0 <= pair.upper))),
        "seconds": seconds,
    }


def on_toy(seed: int) -> Mapping[str, float]:
    """One draw of the toy."""
    return measure(toy(seed), TOY)


def on_experiment1(seed: int) -> Mapping[str, float]:
    """One draw of experiment 1."""
    return measure(experiment1(seed), EXPERIMENT1)


def small(seed: int) -> Mapping[str, float]:
    """Experiment 1 with few noise inputs."""
    return measure(experiment1(seed, n=60, d=20), EXPERIMENT1)


if __name__ == "__main__":
    good = HIGH_IS_GOOD | {"covered", "worst_input", "pair_covered"}
    main(
        Case("effects_toy", on_toy, seeds(10), smoke=small, high_is_good=good),
        Case("effects_experiment1", on_experiment1, seeds(10), smoke=small, high_is_good=good),
    )
