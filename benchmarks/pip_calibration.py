"""Of inputs given a PIP of p, is a share of p relevant? Asked: expected calibration error <= 0.05 over 200 draws.

Sets, inverse lengthscales, scale and noise are drawn from the prior, set so that signals are weak: scale and noise
are alike, and half of the sets are small. Classes, counts and heavy tails, each by its likelihood, have more rows and
louder functions, since a label tells less than a number.

    python -m benchmarks.pip_calibration [--only pip_calibration_classes]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import expit

from experiments.cases import RESULTS, Case, main
from experiments.problems import seeds
from experiments.scores import ece
from ssvgp import Prior, SSVGPRegressor
from ssvgp.gp.kernels.families import squared_exponential

D = 12
PRIOR = Prior(a=1.0, b=5.0, log_scale=(-0.7, 0.5), log_noise=(-0.7, 0.5))
LOUD = replace(PRIOR, log_scale=(1.0, 0.5))  # of a logit


@dataclass(frozen=True)
class Kind:
    """What ties y to f: its likelihood, how many rows there are, the prior, and y (n,) from f (n,) and a noise."""

    likelihood: str
    n: int
    prior: Prior
    outcome: Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def heavy(f: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Student-t noise with degrees of freedom from the prior, where quartiles are still a unit: from one on."""
    return f + np.sqrt(noise) * rng.standard_t(max(1.0, float(np.exp(rng.normal(*PRIOR.log_freedom)))), f.size)


KINDS = {
    "": Kind("gaussian", 80, PRIOR, lambda f, noise, rng: f + np.sqrt(noise) * rng.normal(size=f.size)),
    "_heavy_tails": Kind("student-t", 120, PRIOR, heavy),
    "_classes": Kind("bernoulli", 250, LOUD, lambda f, _, rng: (rng.uniform(size=f.size) < expit(f)).astype(float)),
    "_counts": Kind("poisson", 120, PRIOR, lambda f, _, rng: rng.poisson(np.exp(0.5 + f)).astype(float)),
}


def from_prior(seed: int, kind: Kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the relevant inputs (d,) of one draw."""
    rng, prior = np.random.default_rng(seed), kind.prior
    X, f = rng.normal(size=(kind.n, D)), np.zeros(kind.n)
    level = np.sqrt(prior.level) * rng.normal()  # the unknown constant: without it a base rate would tell of relevance
    assert prior.b is not None
    relevant = rng.uniform(size=D) < rng.beta(prior.a, prior.b)
    theta = np.abs(rng.normal(size=int(relevant.sum()))) * rng.choice(prior.slabs)
    scale, noise = np.exp(rng.normal(*prior.log_scale)), np.exp(rng.normal(*prior.log_noise))
    if relevant.any():
        rows = X[:, relevant]
        covariance = scale * squared_exponential().matrix(rows, rows, theta) + 1e-10 * np.eye(kind.n)
        f = np.linalg.cholesky(covariance) @ rng.normal(size=kind.n)
    return X, kind.outcome(level + f, float(noise), rng), relevant


def draw(kind: Kind, seed: int) -> Mapping[str, float]:
    """The PIPs and the truth of one draw, as pip0, true0, pip1, ..."""
    X, y, relevant = from_prior(seed, kind)
    start = time.perf_counter()
    model = SSVGPRegressor(kernel="se", likelihood=kind.likelihood, prior=kind.prior, random_state=0).fit(X, y)
    out = {"seconds": time.perf_counter() - start}
    for j in range(D):
        out[f"pip{j}"], out[f"true{j}"] = float(model.pip_[j]), float(relevant[j])
    return out


def report(name: str) -> None:
    """The calibration error of all stored draws, with the table behind it."""
    file = RESULTS / f"{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    rows = [row for row in rows if "pip0" in row]
    if not rows:
        return
    pips = np.array([row[f"pip{j}"] for row in rows for j in range(D)])
    truths = np.array([row[f"true{j}"] for row in rows for j in range(D)])
    print(f"{name}: expected calibration error {ece(pips, truths):.4f} over {len(rows)} draws, {pips.size} inputs")
    for low in np.arange(0.0, 1.0, 0.1):
        part = (pips >= low) & (pips < low + 0.1 + 1e-9 * (low > 0.85))
        if part.any():
            print(
                f"  PIP {low:.1f}-{low + 0.1:.1f}: {part.sum():5d} inputs, said {pips[part].mean():.3f}, "
                f"true {truths[part].mean():.3f}"
            )


if __name__ == "__main__":
    main(*(Case(f"pip_calibration{name}", partial(draw, kind), seeds(200)) for name, kind in KINDS.items()))
    for name in KINDS:
        report(f"pip_calibration{name}")
