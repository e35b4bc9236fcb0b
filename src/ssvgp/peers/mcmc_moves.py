"""The moves of the chain: add, delete and swap between sets; single steps and a joint step within a set.

Every move is a pair of functions: one proposes a state and returns it with the log of the Metropolis-Hastings ratio

    log pi(new) q(new -> old) - log pi(old) q(old -> new),

and the ratios of add and delete are one function read in both directions, so that neither can forget what the other
counts. The theta of an added input is drawn from its prior given the thetas of the set: prior and proposal cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ssvgp.peers.mcmc_target import (
    State,
    Target,
    at_distance,
    at_kernel,
    draw_excluded,
    draw_theta,
    draw_uniform,
    log_chance_of,
    log_prior,
    squared_differences,
)

KINDS = ("add", "delete", "swap", "theta", "scale", "noise", "ridge")
RELATED = 0.5  # share of swaps that replace an input by one correlated with it
WANTED = 0.44  # acceptance that single random-walk steps are tuned to
STEP_LIMITS = (math.log(0.02), math.log(6.0))


@dataclass(frozen=True)
class Proposal:
    """A proposed state and its log ratio, or no state where the move is impossible or known to be refused."""

    state: State | None
    log_ratio: float


NOTHING = Proposal(None, -math.inf)


@dataclass
class Steps:
    """log step sizes of the random walks: theta of each input (d,), log scale, log noise, ridge; tuned in burn-in."""

    theta: np.ndarray
    others: dict[str, float] = field(default_factory=lambda: {"scale": 0.0, "noise": -0.7, "ridge": -0.7})
    rounds: int = 0

    def tune(self, kind: str, j: int, accepted: bool) -> None:
        """One step of Robbins and Monro towards the acceptance wanted."""
        self.rounds += 1
        change = (float(accepted) - WANTED) / (1.0 + 0.01 * self.rounds) ** 0.6
        if kind == "theta":
            self.theta[j] = min(max(self.theta[j] + change, STEP_LIMITS[0]), STEP_LIMITS[1])
        else:
            self.others[kind] = min(max(self.others[kind] + change, STEP_LIMITS[0]), STEP_LIMITS[1])


def log_ratio_of_addition(small: State, large: State, target: Target) -> float:
    """log ratio of the move from a set to the set with one input more, its last; minus that of the way back.

    pi(large) / pi(small) has the prior of the new theta, which its proposal cancels. The way there draws the input by
    `log_chance_of`, the way back draws one of the k + 1 inputs uniformly.
    """
    k, j = len(small.active), large.active[-1]
    return (
        target.power * (large.log_likelihood - small.log_likelihood)
        + target.set_prior[k + 1]
        - target.set_prior[k]
        - math.log(k + 1)
        - log_chance_of(j, small, target)
    )


def add(state: State, target: Target, rng: np.random.Generator) -> Proposal:
    """One more input, with theta from its prior given the set."""
    if len(state.active) == target.d:
        return NOTHING
    j, theta = draw_excluded(state, target, rng), draw_theta(state.theta, target.prior, rng)
    distance = squared_differences(target, j)
    distance *= theta * theta
    distance += state.distance
    large = at_distance(target, (*state.active, j), (*state.theta, theta), state.log_scale, state.log_noise, distance)
    return Proposal(large, log_ratio_of_addition(state, large, target))


def delete(state: State, target: Target, rng: np.random.Generator, log_bar: float = -math.inf) -> Proposal:
    """One input less. Where the ratio cannot reach `log_bar`, whatever the chance of the way back, it is refused."""
    k = len(state.active)
    if k == 0:
        return NOTHING
    state = _with_last(state, int(rng.integers(k)))
    j, theta = state.active[-1], state.theta[-1]
    distance = squared_differences(target, j)
    distance *= -theta * theta
    distance += state.distance
    if k == 1:
        distance = np.zeros_like(distance)
    small = at_distance(target, state.active[:-1], state.theta[:-1], state.log_scale, state.log_noise, distance)
    # the chance of drawing j again is at most one: most deletions need not be told how much less
    most = target.power * (small.log_likelihood - state.log_likelihood)
    most += target.set_prior[k - 1] - target.set_prior[k] + math.log(k)
    if most < log_bar:
        return NOTHING
    return Proposal(small, -log_ratio_of_addition(small, state, target))


def _with_last(state: State, place: int) -> State:
    """The same state with the input at a place moved to the end."""
    active, theta = state.active, state.theta
    return State(
        (*active[:place], *active[place + 1 :], active[place]),
        (*theta[:place], *theta[place + 1 :], theta[place]),
        state.log_scale,
        state.log_noise,
        state.distance,
        state.sparse,
        state.alpha,
        state.log_likelihood,
        state.scores,
    )


def log_chance_of_swap(old: int, new: int, excluded_of: State, target: Target) -> float:
    """log probability that `new` takes the place of `old` in a set, by their correlation or uniformly."""
    related = _relation(old, excluded_of, target)
    return math.log((1.0 - RELATED) / (target.d - len(excluded_of.active)) + RELATED * float(related[new]))


def _relation(old: int, state: State, target: Target) -> np.ndarray:
    """Squared correlations (d,) of the excluded inputs with `old`, squared again, as shares of their sum."""
    related = ((target.columns @ target.columns[old]) / target.y.size) ** 4
    related += 1e-30  # inputs of a factorial design have no correlations at all
    related[list(state.active)] = 0.0
    return related / float(related.sum())


def swap(state: State, target: Target, rng: np.random.Generator) -> Proposal:
    """An excluded input takes the place and the theta of an included one: the prior does not change."""
    k = len(state.active)
    if k == 0 or k == target.d:
        return NOTHING
    state = _with_last(state, int(rng.integers(k)))
    old, theta = state.active[-1], state.theta[-1]
    if rng.random() < RELATED:
        cumulative = np.cumsum(_relation(old, state, target))
        new = min(int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")), target.d - 1)
        if new in state.active:  # rounding at the very end of the sum
            return NOTHING
    else:
        new = draw_uniform(state, target, rng)
    distance = squared_differences(target, new)
    distance -= squared_differences(target, old)
    distance *= theta * theta
    distance += state.distance
    moved = at_distance(target, (*state.active[:-1], new), state.theta, state.log_scale, state.log_noise, distance)
    log_ratio = target.power * (moved.log_likelihood - state.log_likelihood)
    log_ratio += log_chance_of_swap(new, old, moved, target) - log_chance_of_swap(old, new, state, target)
    return Proposal(moved, log_ratio)


def _within(state: State, moved: State, target: Target) -> Proposal:
    """A symmetric step in the logs of the parameters of one set."""
    log_ratio = target.power * (moved.log_likelihood - state.log_likelihood)
    return Proposal(moved, log_ratio + log_prior(moved, target) - log_prior(state, target))


def step_theta(state: State, place: int, change: float, target: Target) -> Proposal:
    """A step of log theta of the input at a place of the set."""
    before = state.theta[place]
    after = before * math.exp(change)
    distance = squared_differences(target, state.active[place])
    distance *= after * after - before * before
    distance += state.distance
    theta = (*state.theta[:place], after, *state.theta[place + 1 :])
    moved = at_distance(target, state.active, theta, state.log_scale, state.log_noise, distance)
    return _within(state, moved, target)


def step_others(state: State, scale: float, noise: float, target: Target) -> Proposal:
    """A step of log scale or log noise: the kernel matrix stays as it is, and the empty set does not see its scale."""
    log_scale, log_noise = state.log_scale + scale, state.log_noise + noise
    if not state.active and noise == 0.0:
        moved = State(
            (), (), log_scale, log_noise, state.distance, state.sparse, state.alpha, state.log_likelihood, state.scores
        )
    else:
        moved = at_kernel(target, state.active, state.theta, log_scale, log_noise, state.distance, state.sparse)
    return _within(state, moved, target)


def step_ridge(state: State, change: float, target: Target) -> Proposal:
    """log scale goes up by twice what all log theta go down: smooth functions look the same along this ridge.

    To first order in r^2 the kernel is scale (1 - r^2 / 2), so that scale theta^2 alone matters. A shift of all
    coordinates by multiples of one number: its Jacobian is one.
    """
    if not state.active:
        return step_others(state, 2.0 * change, 0.0, target)
    shrink = math.exp(-change)
    theta = tuple(t * shrink for t in state.theta)
    distance = state.distance * (shrink * shrink)
    moved = at_distance(target, state.active, theta, state.log_scale + 2.0 * change, state.log_noise, distance)
    return _within(state, moved, target)


def draw_within(state: State, steps: Steps, target: Target, rng: np.random.Generator) -> tuple[str, int, Proposal]:
    """One of the k + 3 steps within the set: its kind, the input that it moved (-1 if none) and the proposal."""
    k = len(state.active)
    choice, draw = int(rng.integers(k + 3)), float(rng.standard_normal())
    if choice < k:
        j = state.active[choice]
        return "theta", j, step_theta(state, choice, draw * math.exp(steps.theta[j]), target)
    kind = ("scale", "noise", "ridge")[choice - k]
    change = draw * math.exp(steps.others[kind])
    if kind == "ridge":
        return kind, -1, step_ridge(state, change, target)
    return kind, -1, step_others(state, change if kind == "scale" else 0.0, change if kind == "noise" else 0.0, target)
