"""Beyond Laplace: integrate theta and phi within a set by importance sampling around the mode.

Where the data leave the parameters of a set open, Laplace misjudges its evidence and a point estimate predicts with
too little variance. A few dozen quasi-random draws correct both: their mean weight is the evidence, and the draws
themselves, with their weights, are components of the predictive mixture.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2, norm, qmc

from ssvgp.evidence.ascent import apart
from ssvgp.evidence.laplace import Fit, Problem, fit, log_joint_values, log_model_prior, mode, with_curvature
from ssvgp.evidence.logs import log_mean, log_sum
from ssvgp.gp.linalg import factor, solve
from ssvgp.gp.marginal import settled
from ssvgp.gp.sites import fair
from ssvgp.records import has_sites
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings.regime import FEW_INPUTS

FREEDOM = 8.0  # of the t distribution that proposes
FEWEST_EFFECTIVE = 4.0  # below this many effective draws the Laplace evidence is kept
ENOUGH = 0.3  # share of effective draws below which the proposal is adapted once
IDLE = (-2.0, 1.3)  # mean and sd of log theta of an input that does nothing
LARGEST = FEW_INPUTS  # parameters beyond which a few dozen draws cannot cover the space
# SciPy 1.15 renamed the generator of a sequence from `seed`; the numbers are the same by either name.
GENERATOR = "rng" if "rng" in inspect.signature(qmc.Sobol.__init__).parameters else "seed"


@dataclass(frozen=True)
class Refined:
    """Draws z (r, q) with normalised log weights (r,), the evidence they give and their effective number."""

    z: np.ndarray
    log_weights: np.ndarray
    log_evidence: float
    effective: float


def refine(
    problem: Problem, modes: Sequence[Fit], draws: int, seed: int, weak: bool = False, workers: Executor = SERIAL
) -> Refined:
    """Importance sampling of z from a mixture of t distributions at the modes of one set.

    Where few draws carry the weight, as on curved posteriors, a second round adds a component with their mean and
    covariance. Where that fails too, or z is long, the evidence stays that of Laplace at the first mode. `weak` says
    that inputs may be idle: then log theta has a long tail to the left that no draw at a mode can see, a component is
    put there, and the second round is always run.
    """
    first = modes[0]
    q = first.summit.z.size
    if q > LARGEST:
        return Refined(first.summit.z[None], np.zeros(1), fair_evidence(problem, first), 1.0)
    proposal = [_Component(f.summit.z, f.root, f.log_volume) for f in modes]
    if weak and first.candidate.size:
        proposal.append(_idle(first))
    found = _sample(problem, first, proposal, draws, seed, workers)
    if found.effective >= ENOUGH * draws and not weak:
        return found
    again = _sample(problem, first, [*proposal, _adapted(found, first)], draws, seed + 1, workers)
    return again if weak or again.effective > found.effective else found


def fair_evidence(problem: Problem, found: Fit) -> float:
    """The log evidence of a fit with what the bound of a likelihood gave away at its mode, for all blocks."""
    at, value = mode(problem, found), found.log_evidence
    for block, start in zip(problem.blocks, found.sites, strict=False):  # no sites, nothing to get back
        if has_sites(block.noise):
            rows, gram = block.X[:, found.candidate.columns], block.grams.get(found.candidate.background)
            here = settled(block.noise, problem.kernel, rows, block.y, at, gram, start)
            value += fair(block.noise, block.y, at, here) - here.value
    return value


def all_modes(problem: Problem, found: Fit, starts: Sequence[np.ndarray] = (), workers: Executor = SERIAL) -> list[Fit]:
    """The modes of a set: `found`, what an ascent from each start leads to, and the opposite of `found`.

    The opposite of a rough mode (strong inputs, little noise) is a smooth and noisy one, and the reverse.
    """
    where = found.candidate.coordinates
    opposite = found.summit.z.copy()
    rough = opposite[where.theta].mean() > np.log(0.45)
    opposite[where.theta] = np.log(0.2) if rough else 0.0
    opposite[where.slot("scale")] = 0.5 if rough else 0.0
    if "noise" in where:
        opposite[where.slot("noise")] = -0.2 if rough else -1.2
    modes = [found]
    for start in (*starts, opposite):
        other = fit(problem, found.candidate, start, workers=workers, sites=found.sites, known=found.summit.z)
        if not apart(other.summit.z, found.summit.z):
            continue
        other = with_curvature(problem, other, workers)
        if all(apart(other.summit.z, known.summit.z) for known in modes):
            modes.append(other)
    return modes


@dataclass(frozen=True)
class _Component:
    """A t distribution: centre (q,), root (q, q) of its scale matrix, log |root|."""

    centre: np.ndarray
    root: np.ndarray
    log_volume: float

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return _log_t(solve(self.root, (z - self.centre).T).T) - self.log_volume


def _idle(first: Fit) -> _Component:
    """A component where every input is near idle and noise is what the mode has."""
    where = first.candidate.coordinates
    theta, scale = where.theta, where.slot("scale")
    centre = first.summit.z.copy()
    centre[theta] = np.minimum(centre[theta], IDLE[0])
    spread = np.sqrt((first.root**2).sum(1))
    spread[theta] = np.maximum(spread[theta], IDLE[1])
    spread[scale] = max(spread[scale], IDLE[1])
    return _Component(centre, np.diag(spread), float(np.log(spread).sum()))


def _sample(
    problem: Problem, first: Fit, proposal: Sequence[_Component], draws: int, seed: int, workers: Executor
) -> Refined:
    """Equal draws of every component, weighed against the density of the whole mixture."""
    q, each = first.summit.z.size, -(-draws // len(proposal))
    parts = [c.centre + _standard_draws(q, each, seed + 7 * i) @ c.root.T for i, c in enumerate(proposal)]
    z = np.concatenate(parts)
    log_proposal = log_mean([c.log_density(z) for c in proposal])
    log_target = log_joint_values(problem, first.candidate, z, workers, first.sites, fair)
    log_weights = log_target - log_proposal
    total = log_sum(log_weights)
    if not np.isfinite(total):
        return Refined(z, log_weights, fair_evidence(problem, first), 0.0)
    effective = float(np.exp(2.0 * total - log_sum(2.0 * log_weights)))
    evidence = total - float(np.log(len(z))) + log_model_prior(first.candidate, problem)
    if effective < FEWEST_EFFECTIVE:
        evidence = fair_evidence(problem, first)
    return Refined(z, log_weights - total, evidence, effective)


@lru_cache(maxsize=64)
def _standard_draws(q: int, draws: int, seed: int) -> np.ndarray:
    """Quasi-random draws (r, q) of a standard t distribution."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number of draws that is no power of two is balanced enough
        uniform = qmc.Sobol(q + 1, scramble=True, **{GENERATOR: np.random.default_rng(seed)}).random(draws)
    uniform = np.clip(uniform, 1e-12, 1.0 - 1e-12)
    return norm.ppf(uniform[:, :q]) / np.sqrt(chi2.ppf(uniform[:, q:], FREEDOM) / FREEDOM)


def _adapted(found: Refined, first: Fit) -> _Component:
    """A component with the weighted mean and covariance of the draws so far.

    A fifth of the Laplace covariance is mixed in: it keeps the root regular where very few draws count.
    """
    weights = np.exp(found.log_weights) if found.effective > 0 else np.full(len(found.z), 1.0 / len(found.z))
    centre = weights @ found.z
    gap = found.z - centre
    root = factor((gap.T * weights) @ gap + 0.2 * first.root @ first.root.T)
    return _Component(centre, root.lower, 0.5 * root.log_determinant())


def _log_t(standard: np.ndarray) -> np.ndarray:
    """log density of a standard multivariate t at rows of `standard` (r, q)."""
    q = standard.shape[1]
    constant = gammaln(0.5 * (FREEDOM + q)) - gammaln(0.5 * FREEDOM) - 0.5 * q * np.log(FREEDOM * np.pi)
    return constant - 0.5 * (FREEDOM + q) * np.log1p((standard**2).sum(1) / FREEDOM)
