"""Of inputs given a PIP of p, is a share of p relevant? Asked: expected calibration error <= 0.05 over 200 draws.

Sets, inverse lengthscales, scale and noise are drawn from the prior, set so that signals are weak: scale and noise
are alike, and half of the sets are small.

    python -m benchmarks.pip_calibration
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from experiments.cases import RESULTS, Case, main
from experiments.problems import seeds
from experiments.scores import ece
from ssvgp import Prior, SSVGPRegressor
from ssvgp.gp.kernels.families import squared_exponential

N, D = 80, 12
PRIOR = Prior(a=1.0, b=5.0, log_scale=(-0.7, 0.5), log_noise=(-0.7, 0.5))


def from_prior(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the relevant inputs (d,) of one draw."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    assert PRIOR.b is not None
    relevant = rng.uniform(size=D) < rng.beta(PRIOR.a, PRIOR.b)
    theta = np.abs(rng.normal(size=int(relevant.sum()))) * rng.choice(PRIOR.slabs)
    scale, noise = np.exp(rng.normal(*PRIOR.log_scale)), np.exp(rng.normal(*PRIOR.log_noise))
    covariance = noise * np.eye(N)
    if relevant.any():
        rows = X[:, relevant]
        covariance += scale * squared_exponential().matrix(rows, rows, theta)
    return X, np.linalg.cholesky(covariance) @ rng.normal(size=N), relevant


def draw(seed: int) -> Mapping[str, float]:
    """The PIPs and the truth of one draw, as pip0, true0, pip1, ..."""
    X, y, relevant = from_prior(seed)
    start = time.perf_counter()
    model = SSVGPRegressor(kernel="se", prior=replace(PRIOR), random_state=0).fit(X, y)
    out = {"seconds": time.perf_counter() - start}
    for j in range(D):
        out[f"pip{j}"], out[f"true{j}"] = float(model.pip_[j]), float(relevant[j])
    return out


def report(name: str) -> None:
    """The calibration error of all stored draws, with the table behind it."""
    rows = [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "pip0" in row]
    pips = np.array([row[f"pip{j}"] for row in rows for j in range(D)])
    truths = np.array([row[f"true{j}"] for row in rows for j in range(D)])
    print(f"expected calibration error {ece(pips, truths):.4f} over {len(rows)} draws, {pips.size} inputs")
    for low in np.arange(0.0, 1.0, 0.1):
        part = (pips >= low) & (pips < low + 0.1 + 1e-9 * (low > 0.85))
        if part.any():
            print(
                f"  PIP {low:.1f}-{low + 0.1:.1f}: {part.sum():5d} inputs, said {pips[part].mean():.3f}, "
                f"true {truths[part].mean():.3f}"
            )


if __name__ == "__main__":
    main(Case("pip_calibration", partial(draw), seeds(200)))
    report("pip_calibration")
