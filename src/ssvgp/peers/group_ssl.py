"""The spike-and-slab group LASSO (Bai, Moran, Antonelli, Chen and Boland 2020): penalty, coordinate step, descent.

A group of r coefficients has the prior theta Psi(b | lambda1) + (1 - theta) Psi(b | lambda0), with
Psi(b | lambda) ~ lambda^r exp(-lambda ||b||): a wide slab lambda1 and a narrow spike lambda0. Minus its logarithm,
as a function rho(t) of t = ||b|| with rho(0) = 0, is concave with slope lambda*(t), the mean of the two lambdas under
the probability of the slab. With orthonormal groups the objective at fixed theta and sigma2,

    ||y - Zb||^2 / 2 sigma2 + sum_g rho_g(||b_g||),

has an exact coordinate step: a group points along Z_g'(y - the others) and its length solves a scalar problem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

NOISE_FLOOR = 1e-4
FULL = 0.8
# Groups that enter together. The strongest few take with them what made many others look relevant.
ENTER = 10


@dataclass(frozen=True)
class Mixture:
    """The penalty of one group: spike and slab scales, inclusion rate theta and the group's rank."""

    spike: float
    slab: float
    theta: float
    rank: int

    def log_odds(self, t: float) -> float:
        """Logarithm of the odds of the slab at length t."""
        at_zero = math.log(self.theta / (1.0 - self.theta)) + self.rank * math.log(self.slab / self.spike)
        return at_zero + (self.spike - self.slab) * t

    def slope(self, t: float) -> float:
        """lambda*(t), the derivative of the penalty: between the spike's scale at small t and the slab's at large."""
        odds = self.log_odds(t)
        off = 1.0 / (1.0 + math.exp(odds)) if odds < 500.0 else 0.0
        return self.slab + (self.spike - self.slab) * off

    def value(self, t: float) -> float:
        """rho(t) = slab t + log p(t) - log p(0), with p the probability of the slab: zero at zero."""
        return self.slab * t + _log1pexp(-self.log_odds(0.0)) - _log1pexp(-self.log_odds(t))


@dataclass(frozen=True)
class State:
    """Coefficients (p, m), the residual (n,) they leave, theta and sigma2."""

    coefficients: np.ndarray
    residual: np.ndarray
    theta: float
    sigma2: float


@dataclass(frozen=True)
class Problem:
    """design (n, p m) with orthonormal groups, Fortran order; ranks (p,); slab scale; Beta(a, b) prior of theta."""

    design: np.ndarray
    y: np.ndarray
    ranks: np.ndarray
    slab: float = 1.0
    a: float = 1.0
    b: float = 1.0

    def start(self) -> State:
        """No input; theta at its prior mean, sigma2 at the mode of a prior that puts 0.9 of its mass below var(y)."""
        empty = np.zeros((len(self.ranks), self.design.shape[1] // len(self.ranks)))
        return State(empty, self.y.copy(), self.a / (self.a + self.b), self.first_sigma2())

    def first_sigma2(self) -> float:
        """Mode of the scaled inverse chi-squared with 3 degrees of freedom whose 0.9 quantile is var(y)."""
        freedom = 3.0
        return float(chi2.ppf(0.1, freedom)) / (freedom + 2.0) * float(self.y @ self.y) / len(self.y)

    def refreshed(self, state: State) -> State:
        """theta at its approximate posterior mean (a + q) / (a + b + p), sigma2 at its mode ||r||^2 / (n + 2)."""
        n, p, q = len(self.y), len(self.ranks), int(np.any(state.coefficients, axis=1).sum())
        # An exact fit has no noise to learn; the floor keeps the descents finite.
        floor = NOISE_FLOOR * float(self.y @ self.y) / n
        sigma2 = max(float(state.residual @ state.residual) / (n + 2), floor)
        return replace(state, theta=(self.a + q) / (self.a + self.b + p), sigma2=sigma2)

    def size(self, state: State) -> int:
        """The number of coefficients in the active groups."""
        return int(self.ranks[np.any(state.coefficients, axis=1)].sum())


def best_length(pull: float, n: int, sigma2: float, mixture: Mixture) -> float:
    """The t >= 0 that minimises n t^2 / 2 - pull t + sigma2 rho(t), everywhere, not only nearby.

    Stationary points solve t = (pull - sigma2 lambda*(t)) / n, whose right side grows with t: iterating it from above
    reaches the largest of them, from zero the smallest, and no minimum lies elsewhere.
    """

    def settled(t: float) -> float:
        for _ in range(500):
            following = max(pull - sigma2 * mixture.slope(t), 0.0) / n
            if abs(following - t) <= 1e-13 * (1.0 + t):
                return following
            t = following
        return t

    def cost(t: float) -> float:
        return n * t * t / 2.0 - pull * t + sigma2 * mixture.value(t)

    large, small = settled(pull / n), settled(0.0)
    return large if cost(large) < cost(small) else small


def threshold(n: int, sigma2: float, mixture: Mixture) -> float:
    """The smallest pull at which a group leaves zero: between sigma2 lambda1 and sigma2 lambda*(0)."""
    low, high = sigma2 * mixture.slab, sigma2 * mixture.slope(0.0)
    while high - low > 1e-6 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if best_length(middle, n, sigma2, mixture) > 0 else (middle, high)
    return low


def objective(problem: Problem, state: State, spike: float) -> float:
    """||r||^2 / 2 sigma2 + sum_g rho_g(||b_g||)."""
    lengths = np.sqrt(np.sum(state.coefficients**2, axis=1))
    penalty = sum(
        Mixture(spike, problem.slab, state.theta, int(problem.ranks[g])).value(lengths[g])
        for g in np.flatnonzero(lengths)
    )
    return float(state.residual @ state.residual) / (2.0 * state.sigma2) + penalty


def sweep(problem: Problem, state: State, spike: float, groups: np.ndarray) -> State:
    """One exact coordinate step for each of the groups, at fixed theta and sigma2."""
    n, width = len(problem.y), state.coefficients.shape[1]
    coefficients, residual = state.coefficients.copy(), state.residual.copy()
    for g in groups:
        block = problem.design[:, g * width : (g + 1) * width]
        old = coefficients[g].copy()
        direction = block.T @ residual + n * old
        pull = math.sqrt(direction @ direction)
        length = best_length(pull, n, state.sigma2, Mixture(spike, problem.slab, state.theta, int(problem.ranks[g])))
        new = direction * (length / pull) if length > 0 else np.zeros(width)
        if np.any(new != old):
            residual -= block @ (new - old)
            coefficients[g] = new
    return replace(state, coefficients=coefficients, residual=residual)


def waiting(problem: Problem, state: State, spike: float) -> np.ndarray:
    """The strongest of the groups at zero that a coordinate step would move from there, at most ENTER."""
    n = len(problem.y)
    pulls = np.sqrt(np.sum((problem.design.T @ state.residual).reshape(state.coefficients.shape) ** 2, axis=1))
    levels = {
        rank: threshold(n, state.sigma2, Mixture(spike, problem.slab, state.theta, int(rank)))
        for rank in np.unique(problem.ranks[problem.ranks > 0])
    }
    bars = np.array([levels.get(rank, np.inf) for rank in problem.ranks])
    moved = np.flatnonzero((pulls > bars) & ~np.any(state.coefficients, axis=1))
    return moved[np.argsort(-pulls[moved], kind="stable")[:ENTER]]


def settle(
    problem: Problem, state: State, spike: float, most: float = math.inf, tol: float = 1e-5, rounds: int = 200
) -> State:
    """At fixed theta and sigma2: sweep the active groups until they rest, let waiting groups in, repeat.

    Gives up as soon as more than `most` coefficients are in.
    """
    active = np.flatnonzero(np.any(state.coefficients, axis=1))
    for _ in range(rounds):
        for _ in range(rounds):
            before = state.coefficients[active]
            state = sweep(problem, state, spike, active)
            if problem.size(state) > most:
                return state
            if active.size == 0 or np.max(np.abs(state.coefficients[active] - before)) < tol:
                break
        entering = waiting(problem, state, spike)
        if entering.size == 0:
            break
        active = np.union1d(np.flatnonzero(np.any(state.coefficients, axis=1)), entering)
    return state


def climb(problem: Problem, spikes: np.ndarray, turns: int = 10) -> list[State]:
    """The states at rising spikes, each from the one before; theta and sigma2 are renewed between descents.

    sigma2 stays where it started until the groups leave rows enough to learn it from. After that, at a spike too wide
    for the noise level just learned, one group lets in the next until the rows are full: such a descent is undone, and
    a narrower spike tries again from the same state.
    """
    state, path, learned = problem.start(), [], False
    full = FULL * len(problem.y)
    for spike in spikes:
        for _ in range(turns):
            settled = settle(problem, state, float(spike), full if learned else math.inf)
            if problem.size(settled) > full:
                state = state if learned else settled
                break
            old, state, learned = state, problem.refreshed(settled), True
            if abs(state.sigma2 / old.sigma2 - 1.0) < 1e-3 and state.theta == old.theta:
                break
        path.append(state)
    return path


def _log1pexp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
