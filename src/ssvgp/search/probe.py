"""First looks at a candidate beside the parameters of a relative: starts for a fit, and an estimate of its evidence."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.evidence.laplace import Fit, Problem, Starts, fit, log_joint_value, log_joint_values, log_model_prior
from ssvgp.evidence.logs import log_sum
from ssvgp.evidence.transplant import NEW_THETA, transplant
from ssvgp.model.priors import Candidate
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings import Prior

OPEN_STRENGTH = 1.5  # sd of log background from which one first try is not enough
STRONG = 3.0  # nats beyond an estimate, or beyond chance, that settle a question at once


@dataclass(frozen=True)
class Bold:
    """Starts beside the parent's parameters: new inputs at these strengths, and for a group one that is `rough`."""

    theta: tuple[float, ...] = ()
    rough: float | None = None


LEVELS = (0.15, 0.4, 1.0, 2.0)  # of theta at which modes are looked for, from smooth to rough
MODEST, BOLD = Bold(), Bold(LEVELS[1:])
ROUGH = Bold(BOLD.theta, BOLD.theta[-1])


@dataclass(frozen=True)
class Probe:
    """A first look at a candidate with the parent's parameters held fixed: starts for a fit, estimated evidence."""

    candidate: Candidate
    starts: tuple[np.ndarray, ...]
    inverse_hessian: np.ndarray
    estimate: float
    sites: Starts = ()  # of the parent, where the likelihood is not Gaussian


def probe(
    problem: Problem, parent: Fit, candidate: Candidate, bold: Bold = MODEST, workers: Executor = SERIAL
) -> Probe:
    """Try new inputs at three strengths beside the parent's parameters, and estimate the candidate's evidence.

    The estimate integrates the new inputs' common log theta over the three strengths and takes the parent's Laplace
    volume for the rest; since the rest is not refitted it errs low, most for strong inputs, which are fitted anyway.
    """
    z, b, added = transplant(parent, candidate, problem)
    if added.size == 0:
        if candidate.background and not parent.candidate.background:
            z = _with_best_strength(problem, candidate, z, workers)
        value = log_joint_value(problem, candidate, z, workers, parent.sites)
        return Probe(candidate, (z,), b, value + _rest(parent, candidate, problem), parent.sites)
    tries = []
    for theta in NEW_THETA:
        trial = z.copy()
        trial[added] = np.log(theta)
        tries.append(trial)
    tries += [bold_start(z, added, candidate, theta) for theta in bold.theta]
    values = list(log_joint_values(problem, candidate, np.stack(tries), workers, parent.sites))
    spacing = float(np.diff(np.log(NEW_THETA)).mean())
    # one new input: the rectangle rule in log theta; several: as if each had the width of one node
    estimate = log_sum(values) + added.size * float(np.log(spacing)) + _rest(parent, candidate, problem)
    modest = tries[int(np.argmax(values[: len(NEW_THETA)]))]
    # Where a bold start looks best there may be two modes, one with the new inputs at work and one with them idle:
    # the fit tries both.
    best = int(np.argmax(values))
    starts: tuple[np.ndarray, ...] = (tries[best], modest) if best >= len(NEW_THETA) else (modest,)
    if bold.theta and 1 < added.size < candidate.coordinates.size:
        rough = () if bold.rough is None else (bold_start(z, added, candidate, bold.rough),)
        starts = (shared_start(z, added, candidate), *rough, tries[best])
    return Probe(candidate, starts, b, estimate, parent.sites)


def background_strengths(prior: Prior) -> list[float]:
    """Where log background is first tried: at the mean of its prior, and above where that leaves much open."""
    mean, sd = prior.of_slot("background")
    return [mean] if sd < OPEN_STRENGTH else [mean + step * sd for step in (0.0, 1.0, 2.0)]


def _with_best_strength(problem: Problem, candidate: Candidate, z: np.ndarray, workers: Executor) -> np.ndarray:
    """z (q,) with the strength of a new background that serves it best."""
    strengths = background_strengths(problem.prior)
    if len(strengths) == 1:
        return z
    tries = np.tile(z, (len(strengths), 1))
    tries[:, candidate.coordinates.slot("background")] = strengths
    return tries[np.argmax(log_joint_values(problem, candidate, tries, workers))]


def fit_probe(problem: Problem, seen: Probe, bar: float = -np.inf, workers: Executor = SERIAL) -> list[Fit]:
    """The fits of a candidate from the starts of its probe, until one of them settles the question.

    One that will clearly not reach `bar` is given up on its way.
    """
    *bold, last = seen.starts
    # far from the parent's mode its curvature means nothing
    starts = [*((start, None) for start in bold), (last, seen.inverse_hessian)]
    tasks = [(problem, seen.candidate, *start, None, bar, workers, seen.sites) for start in starts]
    found: list[Fit] = []
    # threads that would wait try all starts at once; what comes after one that settles the question is not used
    at_once = len(problem.blocks) < workers.n_jobs
    for one in workers.map(fit, tasks) if at_once else itertools.starmap(fit, tasks):
        found.append(one)
        if len(found) < len(tasks) and one.log_evidence > seen.estimate + STRONG:
            break
    return found


def fit_once(*task: Any) -> list[Fit]:
    """A fit from one start, as `fit` takes it."""
    return [fit(*task)]


def bold_start(z: np.ndarray, added: np.ndarray, candidate: Candidate, theta: float) -> np.ndarray:
    """A start from which inputs are found that show only once they are fitted: strong, less noise, no long plateaus.

    Beside the parent's own noise and scale an interaction looks worthless; the likelihood has one mode with the new
    inputs idle and one with them at work, and this start lies in the basin of the second.
    """
    where = candidate.coordinates
    trial = z.copy()
    trial[where.theta] = np.maximum(trial[where.theta], np.log(0.3))
    trial[added] = np.log(theta)
    scale = where.slot("scale")
    trial[scale] = min(trial[scale], np.log(3.0))
    if "noise" in where:
        trial[where.slot("noise")] -= 1.0
    return trial


def shared_start(z: np.ndarray, added: np.ndarray, candidate: Candidate) -> np.ndarray:
    """A start at which several new inputs take over their share of the roughness, the sum of theta^2, from the old.

    Each input more makes a product kernel decay faster: beside inputs as strong as they were, a group looks worthless.
    """
    where, trial = candidate.coordinates, z.copy()
    old = np.setdiff1d(np.arange(where.size), added)
    roughness = float(np.exp(2.0 * z[old]).sum())
    trial[added] = 0.5 * np.log(roughness / old.size)
    trial[where.theta] += 0.5 * np.log(old.size / where.size)
    if "noise" in where:
        trial[where.slot("noise")] -= 1.0
    return trial


def _rest(parent: Fit, candidate: Candidate, problem: Problem) -> float:
    """The Laplace volume of the parameters common with the parent, and the prior of the candidate."""
    common = parent.summit.z.size
    own, kept = parent.candidate.labels, set(candidate.labels)
    lost = [i for i, label in enumerate(own) if label not in kept]
    gone = len(lost)
    volume = parent.log_volume + 0.5 * (common - gone) * float(np.log(2.0 * np.pi))
    if gone:
        sd = np.sqrt(np.diagonal(parent.summit.inverse_hessian)[: len(own)])
        volume -= float(np.log(np.maximum(sd[lost], 1e-3)).sum())
    return volume + log_model_prior(candidate, problem)
