"""What a set of inputs is worth: log p(y | S) p(S), by Laplace in the logs of all parameters.

theta has a half-normal slab with a common scale that is averaged over, so adding an input costs nats that the
likelihood must repay; sets have a Beta-Binomial prior, which corrects for the number of inputs looked at. All is
done in z = (log theta, log scale, log noise, log background). In log theta the posterior has an inner mode even where
the likelihood is highest at theta = 0: there ordinary Laplace in theta fails, and Laplace in log theta is wrong by the
constant factor exp(-1/2) sqrt(2) = 0.86, which `refine` then removes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ssvgp.evidence.ascent import Height, Objective, Summit, climb, unknown
from ssvgp.evidence.logs import NOTICED
from ssvgp.evidence.problem import Block, Fit, Path, Problem, Starts
from ssvgp.gp.information import SLOTS, curvature, informed
from ssvgp.gp.linalg import NotPositiveDefiniteError, symmetric_square_root_inverse
from ssvgp.gp.marginal import (
    LOG_2PI,
    Gradient,
    State,
    gradient,
    log_likelihood,
    settled,
    state,
)
from ssvgp.gp.sites import Worth, as_settled
from ssvgp.gp.stacks import stack_size, stack_values
from ssvgp.model.priors import (
    Candidate,
    learned_share,
    log_prior,
    log_priors,
    log_set_prior,
    unpack,
    unpack_all,
)
from ssvgp.records import Parameters, Settling, has_sites
from ssvgp.run.workers import SERIAL, Executor

__all__ = [
    "Block",
    "Fit",
    "Path",
    "Problem",
    "Starts",
    "fit",
    "log_joint",
    "log_joint_value",
    "log_joint_values",
    "log_model_prior",
    "mode",
    "states",
    "unexplained",
    "with_curvature",
]

FLATTEST = 0.2  # least curvature of a direction in z: the priors alone give about this much


def log_joint(
    problem: Problem, candidate: Candidate, workers: Executor = SERIAL, path: Path | None = None
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """z -> log p(y, z | S) and its gradient; minus infinity where a covariance cannot be factored.

    Sites start where the `path` says.
    """
    heights = _heights(problem, candidate, workers, Path() if path is None else path, gradient)
    return lambda z: heights(z)[:2]


def _heights(
    problem: Problem, candidate: Candidate, workers: Executor, path: Path, evaluate: Callable[..., Gradient]
) -> Objective:
    """`log_joint`, with the curvature at z where `evaluate` tells the information of the blocks."""
    if not candidate.size and not candidate.background and all(b.noise is None for b in problem.blocks):
        return _constant_and_noise(problem)
    active, kind = candidate.columns, candidate.background
    parts = [(np.ascontiguousarray(b.X[:, active]), b.y, b.grams.get(kind), b.noise) for b in problem.blocks]
    where = candidate.coordinates
    slots, places = [(where.slot(name), f"log_{name}") for name in where.slots], _places(candidate)

    def objective(z: np.ndarray) -> Height:
        value, total, own = log_prior(z, candidate, problem.prior)
        parameters = unpack(z, candidate, problem.prior)
        learned = learned_share(parameters.noise, problem.prior)
        try:
            starts = path.for_blocks(len(parts))
            each = [
                (problem.kernel, rows, y, parameters, gram, 0.0, noise, start)
                for (rows, y, gram, noise), start in zip(parts, starts, strict=True)
            ]
            found = workers.map(evaluate, each)
            path.walk(tuple(at.sites for at in found))
            for at in found:
                value += at.value
                total[where.theta] += candidate.gathered(at.theta * parameters.theta)
                for place, name in slots:
                    total[place] += getattr(at, name) * (learned if name == "log_noise" else 1.0)
        except NotPositiveDefiniteError:
            return Height(-np.inf, total)
        curved = _curvature(places, parameters, learned, found)
        if curved is not None:
            curved.flat[:: len(curved) + 1] += own
        return Height(value, total, curved)

    return objective


def _places(candidate: Candidate) -> np.ndarray:
    """Which coordinate of z each parameter of the information moves with (q, p + 3): tied columns with the same one."""
    where, p = candidate.coordinates, len(candidate.columns)
    places = np.zeros((len(where), p + len(SLOTS)))
    if p:
        places[where.theta, :p] = np.stack([candidate.gathered(one) for one in np.eye(p)], axis=1)
    for place, name in enumerate(SLOTS, start=p):
        if name in where.slots:
            places[where.slot(name), place] = 1.0
    return places


def _curvature(places: np.ndarray, parameters: Parameters, learned: float, found: list[Gradient]) -> np.ndarray | None:
    """The curvature (q, q) of the log likelihood in z, from the information of the blocks; None where one has none."""
    each = [at.information for at in found if at.information is not None]
    if len(each) < len(found):
        return None
    rates = np.concatenate([parameters.theta, [1.0, learned, 1.0]])  # by which each moves with its logarithm
    whole: np.ndarray = places @ (rates[:, None] * curvature(each) * rates) @ places.T
    return whole


def _constant_and_noise(problem: Problem) -> Objective:
    """`log_joint` of the empty set: y = constant + noise, with Kt = mean 11' + noise I in closed form."""
    empty, mean = Candidate(()), problem.prior.level
    sums = [(b.y.size, b.y.size * float(b.y.mean()) ** 2, float(b.y @ b.y)) for b in problem.blocks]

    def objective(z: np.ndarray) -> Height:
        value, slope, _ = log_prior(z, empty, problem.prior)
        noise = unpack(z, empty, problem.prior).noise
        for n, along, square in sums:  # y'y has the part along the constant, with variance `wide`, and the rest
            wide, rest = noise + n * mean, square - along
            determinant = (n - 1) * math.log(noise) + math.log(wide)
            value -= 0.5 * (rest / noise + along / wide + determinant + n * LOG_2PI)
            pull = 0.5 * (rest / noise + noise * along / wide**2 - (n - 1) - noise / wide)
            slope[0] += learned_share(noise, problem.prior) * pull
        return Height(value, slope)

    return objective


def log_joint_value(
    problem: Problem, candidate: Candidate, z: np.ndarray, workers: Executor = SERIAL, sites: Starts = ()
) -> float:
    """log p(y, z | S) alone, a third of the cost of its gradient; `sites` are those of a relative to start from."""
    parameters = unpack(z, candidate, problem.prior)
    value = log_prior(z, candidate, problem.prior)[0]
    active, kind = candidate.columns, candidate.background
    each = [
        (problem.kernel, b.X[:, active], b.y, parameters, b.grams.get(kind), 0.0, b.noise, start)
        for b, start in zip(problem.blocks, Path(sites).for_blocks(len(problem.blocks)), strict=True)
    ]
    try:
        return value + sum(workers.map(log_likelihood, each))
    except NotPositiveDefiniteError:
        return -np.inf


def log_joint_values(
    problem: Problem,
    candidate: Candidate,
    z: np.ndarray,
    workers: Executor = SERIAL,
    sites: Starts = (),
    worth: Worth = as_settled,
) -> np.ndarray:
    """log p(y, z | S) (r,) at each row of z (r, q): `log_joint_value` in stacks, spread over the workers."""
    each = unpack_all(z, candidate, problem.prior)
    total = log_priors(z, candidate, problem.prior)
    active, tasks = candidate.columns, []
    for block, begin in zip(problem.blocks, Path(sites).for_blocks(len(problem.blocks)), strict=True):
        rows, gram = np.ascontiguousarray(block.X[:, active]), block.grams.get(candidate.background)
        step = min(stack_size(block.y.size), -(-len(each) // workers.n_jobs))
        for start in range(0, len(each), step):
            part = slice(start, start + step)
            tasks.append((part, (problem.kernel, rows, block.y, each[part], gram, block.noise, begin, worth)))
    found = workers.map(stack_values, [arguments for _, arguments in tasks])
    for (part, _), values in zip(tasks, found, strict=True):
        total[part] += values
    return total


def states(problem: Problem, fit: Fit, floor: float = 0.0) -> list[State]:
    """The factored process of every block at the mode of a fit."""
    parameters = mode(problem, fit)
    active, kind, to = fit.candidate.columns, fit.candidate.background, Settling.STEP
    return [
        state(problem.kernel, b.X[:, active], b.y, parameters, b.grams.get(kind), 0.0, floor, b.noise, start, to)
        for b, start in zip(problem.blocks, Path(fit.sites).for_blocks(len(problem.blocks)), strict=True)
    ]


def unexplained(problem: Problem, fit: Fit) -> float:
    """The share of what there is to explain that is left at the mode of a fit: the noise of a standardised y."""
    parameters, first = mode(problem, fit), problem.blocks[0]
    if not has_sites(first.noise):
        return min(1.0, parameters.noise)
    columns, gram = first.X[:, fit.candidate.columns], first.grams.get(fit.candidate.background)
    start = Path(fit.sites).for_blocks(len(problem.blocks))[0]
    here = settled(first.noise, problem.kernel, columns, first.y, parameters, gram, start)
    return first.noise.unexplained(first.y, here, parameters)


def mode(problem: Problem, fit: Fit) -> Parameters:
    """The parameters at the mode of a fit."""
    return unpack(fit.summit.z, fit.candidate, problem.prior)


def log_model_prior(candidate: Candidate, problem: Problem) -> float:
    """log prior of the set and of having a background or not."""
    share, kinds = problem.prior.with_background, len(problem.backgrounds)
    background = 0.0
    if kinds and 0.0 < share < 1.0:
        background = math.log(share / kinds if candidate.background else 1.0 - share)
    return log_set_prior(candidate.size, problem.d, problem.prior) + background


def _assemble(problem: Problem, candidate: Candidate, summit: Summit, hessian: np.ndarray | None) -> Fit:
    """Laplace: log p(y, z^) + q/2 log 2 pi - 1/2 log |H|."""
    if hessian is None:
        root, log_det_covariance = symmetric_square_root_inverse(summit.inverse_hessian, 1e-6)
        # R R' = B^-1 for the inverse Hessian B: turn it into a root of B itself
        covariance_root = summit.inverse_hessian @ root
        log_determinant = -log_det_covariance
    else:
        covariance_root, log_determinant = symmetric_square_root_inverse(hessian, FLATTEST)
    evidence = summit.value + summit.promised + 0.5 * summit.z.size * LOG_2PI - 0.5 * log_determinant
    evidence += log_model_prior(candidate, problem)
    volume = -0.5 * log_determinant
    return Fit(candidate, summit, covariance_root, evidence, volume, hessian is not None, summit.evaluations)


def fit(
    problem: Problem,
    candidate: Candidate,
    start: np.ndarray,
    inverse_hessian: np.ndarray | None = None,
    tolerance: float | None = None,
    bar: float = -np.inf,
    workers: Executor = SERIAL,
    sites: Starts = (),
    known: np.ndarray | None = None,
) -> Fit:
    """Climb to the posterior mode of a candidate and price it with the curvature met on the way.

    One whose evidence will clearly not reach `bar` stops training, and so does one that comes to a `known` mode (q,):
    what it has by then is its price. `sites` are those of a relative.
    """
    if inverse_hessian is None:
        inverse_hessian = unknown(start.size)
    beside = 0.5 * start.size * LOG_2PI + log_model_prior(candidate, problem)  # value and volume
    path = Path(sites)
    objective = _heights(problem, candidate, workers, path, informed)
    tolerance = problem.close if tolerance is None else tolerance
    summit = climb(objective, start, inverse_hessian, tolerance, bar=bar - beside, known=known)
    return replace(_assemble(problem, candidate, summit, None), sites=path.sites)


def with_curvature(
    problem: Problem, found: Fit, workers: Executor = SERIAL, step: float = 1e-3, tolerance: float = NOTICED
) -> Fit:
    """The same fit priced with the Hessian itself, by differences of the gradient. Cost q evaluations.

    What is left to climb is counted as the Hessian promises it. Where there are sites the gradient at the summit is one
    of those that are compared: as settled as they are.
    """
    path = Path(found.sites)
    climbing, objective = (_heights(problem, found.candidate, workers, path, way) for way in (informed, gradient))
    summit = climb(climbing, found.summit.z, found.summit.inverse_hessian, tolerance, 20)
    q, settles = summit.z.size, has_sites(problem.blocks[0].noise)
    here = objective(summit.z).gradient if settles else summit.gradient
    path.fixed = True
    moved = workers.map(objective, [(summit.z + step * axis,) for axis in np.eye(q)])
    hessian = np.reshape([(here - at.gradient) / step for at in moved], (q, q))
    hessian = 0.5 * (hessian + hessian.T)
    root, _ = symmetric_square_root_inverse(hessian, FLATTEST)
    covariance = root @ root.T
    summit = replace(summit, inverse_hessian=covariance, promised=0.5 * float(here @ covariance @ here))
    return replace(
        _assemble(problem, found.candidate, summit, hessian),
        evaluations=found.evaluations + summit.evaluations + q + settles,
        sites=path.sites,
    )
