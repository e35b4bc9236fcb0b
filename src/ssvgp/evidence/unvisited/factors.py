"""The worth of adding each excluded input to a set, for all inputs and all slab scales at once and without a fit.

Along theta_j, with everything else at the mode, the log likelihood of a set with one more input is close to that of one
more random effect of variance rho = theta_j^2,

    L(rho) - L(0) = -1/2 log(1 + rho cost_j) + 1/2 rho gain_j / (1 + rho cost_j),

exact where d Kt / d rho has rank one. Its slope at zero, (gain_j - cost_j) / 2, is the exact one. Integrating it over
the slab gives the Bayes factor of every irrelevant input: small, but honest, and never zero. `measured` evaluates the
likelihood itself along theta_j; where there are too many inputs for that, it corrects the formula on a sample.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import erf

from ssvgp.evidence.laplace import Fit, Path, Problem, mode
from ssvgp.evidence.logs import NEGLIGIBLE, log_mean
from ssvgp.gp.sites import fair
from ssvgp.gp.stacks import stack_size, stack_values
from ssvgp.records import Parameters
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings import Prior

SAMPLE = 5  # inputs that correct the formula where not all are measured
THETAS = np.array([0.02, 0.06, 0.12, 0.22, 0.4, 0.7, 1.2, 2.0])  # where the likelihood is evaluated
SCALE_STEPS = np.array([-1.0, 0.0, 1.0])  # sds from the prior mean of log scale, where no set has fixed a scale


def bayes_factors(
    problem: Problem, found: Fit, gain: np.ndarray, cost: np.ndarray, most_measured: int, workers: Executor = SERIAL
) -> np.ndarray:
    """log p(y | S + j, s) / p(y | S) for every slab scale s and input j: (scales, d), minus infinity inside S.

    gain and cost (d,) are those of `screen`, for unit scale where the set is empty. Up to
    `most_measured` inputs are all measured; beyond this is the formula, which `correction` corrects.
    """
    scales = _kernel_scales(problem, found)
    out = log_mean([log_bayes_factors(gain * tau, cost * tau, problem.prior) for tau in scales])
    outside = np.setdiff1d(np.arange(problem.d), found.candidate.active)
    if outside.size <= most_measured:
        out[:, outside] = _measure(problem, found, outside, workers)
    out[:, list(found.candidate.active)] = -np.inf
    return out


def correction(
    problem: Problem, found: Fit, log_factors: np.ndarray, most_measured: int, workers: Executor = SERIAL
) -> np.ndarray:
    """What the formula is off by at each slab scale (scales,): the median over inputs spread over its range."""
    outside = np.setdiff1d(np.arange(problem.d), found.candidate.active)
    if outside.size <= most_measured:
        return np.zeros(len(log_factors))
    by_rank = outside[np.argsort(log_factors[-1, outside], kind="stable")]
    chosen = by_rank[np.linspace(0, by_rank.size - 1, SAMPLE).astype(int)]
    return np.median(_measure(problem, found, chosen, workers) - log_factors[:, chosen], axis=1)


def _measure(problem: Problem, found: Fit, inputs: np.ndarray, workers: Executor) -> np.ndarray:
    scales, at = _kernel_scales(problem, found), mode(problem, found)
    base = float(_likelihoods(problem, found, found.candidate.columns, [at])[0])
    table = workers.map(measured, [(problem, found, int(j), scales, base) for j in inputs])
    return np.reshape(table, (inputs.size, len(problem.prior.slabs))).T


def log_bayes_factors(gain: np.ndarray, cost: np.ndarray, prior: Prior) -> np.ndarray:
    """The formula above integrated over the slab of every scale (scales, d).

    It is kept sane where the kernel makes the cost negative or tiny: the slope stays exact.
    """
    slope = 0.5 * (gain - cost)
    cost = np.maximum(np.maximum(cost, gain / 25.0), 1e-6)
    gain = np.maximum(cost + 2.0 * slope, 0.0)
    rho = THETAS[:, None] ** 2
    grown = 1.0 + rho * cost
    log_ratio = -0.5 * np.log(grown) + 0.5 * rho * gain / grown
    top = log_ratio.max(0)
    return np.log(slab_cells(prior.slabs).T @ np.exp(log_ratio - top)) + top


def measured(problem: Problem, found: Fit, j: int, scales: np.ndarray, base: float) -> np.ndarray:
    """log Bayes factors (scales,) of input j by quadrature over theta_j, all else at the mode of the set.

    `base` is the log likelihood of the set itself. Where the set is empty, its kernel has no scale yet, and that is
    averaged over too. The stronger half is not tried where the weaker one
    is hopeless already. Cost 4 likelihoods then, else 8.
    """
    ratio = np.full(THETAS.size, -np.inf)
    for nodes in np.split(np.arange(THETAS.size), 2):
        ratio[nodes] = _ratios(problem, found, j, THETAS[nodes], scales) - base
        if ratio[nodes[-1]] < max(ratio.max(), 0.0) - NEGLIGIBLE:
            break
    top = ratio.max()
    if not np.isfinite(top):
        return np.full(len(problem.prior.slabs), top)
    return np.asarray(np.log(slab_cells(problem.prior.slabs).T @ np.exp(ratio - top)) + top)


def _ratios(problem: Problem, found: Fit, j: int, thetas: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """log likelihood (r,) of the set with input j at each of these strengths (r,)."""
    at = mode(problem, found)
    taus = scales if found.candidate.size == 0 else [at.scale]
    own = problem.candidate([j]).columns  # of an untied input all are tried at one strength
    each = [replace(at, theta=np.append(at.theta, [t] * len(own)), scale=float(tau)) for tau in taus for t in thetas]
    values = _likelihoods(problem, found, [*found.candidate.columns, *own], each).reshape(len(taus), -1)
    return log_mean(values)


@lru_cache(maxsize=64)
def slab_cells(scales: tuple[float, ...]) -> np.ndarray:
    """Probability of each slab in the cells around THETAS, cut at their geometric means: (thetas, scales)."""
    edges = np.concatenate([[0.0], np.sqrt(THETAS[1:] * THETAS[:-1]), [np.inf]])
    return np.diff(erf(edges[:, None] / (np.sqrt(2.0) * np.asarray(scales, dtype=float))), axis=0)


def _kernel_scales(problem: Problem, found: Fit) -> np.ndarray:
    """Multipliers of gain and cost: one where the set has a scale, else a few from the prior of the scale."""
    if found.candidate.size:
        return np.ones(1)
    mean, sd = problem.prior.log_scale
    return np.exp(mean + sd * SCALE_STEPS)


def _likelihoods(problem: Problem, found: Fit, columns: list[int], each: list[Parameters]) -> np.ndarray:
    total = np.zeros(len(each))
    for block, begin in zip(problem.blocks, Path(found.sites).for_blocks(len(problem.blocks)), strict=True):
        gram = block.grams.get(found.candidate.background)
        step = stack_size(block.y.size)
        for start in range(0, len(each), step):
            some = each[start : start + step]
            total[start : start + step] += stack_values(
                problem.kernel, block.X[:, columns], block.y, some, gram, block.noise, begin, fair
            )
    return total
