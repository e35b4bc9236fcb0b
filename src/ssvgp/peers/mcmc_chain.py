"""One chain: burn-in with tuning, then draws that are kept compactly, with counts of what was tried and accepted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ssvgp.peers import mcmc_moves as moves
from ssvgp.peers.mcmc_target import State, Target, log_posterior, state_at

BETWEEN = 0.5  # share of iterations that try another set
ADD, DELETE = 0.4, 0.8  # of those: add below the first, delete below the second, swap above
FRESH = 1000  # iterations after which r^2 is summed anew, so that rounding cannot pile up
START_THETA = 0.3


@dataclass(frozen=True)
class Schedule:
    """How long a chain is: iterations in all, how many of them burn in, and how many lie between two kept draws."""

    iterations: int
    burn_in: int
    thin: int

    def __post_init__(self) -> None:
        if not 0 <= self.burn_in < self.iterations or not 1 <= self.thin <= self.iterations - self.burn_in:
            raise ValueError(
                f"a chain needs 0 <= burn_in < iterations and thin from 1 to what is left, but has {self}: give more"
                " iterations or a smaller thin"
            )


@dataclass(frozen=True)
class Draws:
    """Kept draws: sets one after another in `inputs` and `theta`, cut at `ends` (k,); scale, noise, log posterior (k,).

    `inclusion` (d,) counts every iteration after the burn-in, kept or not. `tried` and `accepted` are by kind of move.
    """

    inputs: np.ndarray
    theta: np.ndarray
    ends: np.ndarray
    scale: np.ndarray
    noise: np.ndarray
    log_posterior: np.ndarray
    inclusion: np.ndarray
    tried: dict[str, int]
    accepted: dict[str, int]

    @property
    def sizes(self) -> np.ndarray:
        """The number of inputs in each draw (k,)."""
        return np.diff(self.ends, prepend=0)

    def draw(self, index: int) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Set (p,), theta (p,), scale and noise of one draw."""
        part = slice(self.ends[index - 1] if index else 0, self.ends[index])
        return self.inputs[part], self.theta[part], float(self.scale[index]), float(self.noise[index])


@dataclass
class _Record:
    """Growing lists behind `Draws`. How long each input has been in is settled when it leaves."""

    d: int
    inputs: list[int] = field(default_factory=list)
    theta: list[float] = field(default_factory=list)
    rows: list[tuple[int, float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stay = np.zeros(self.d)
        self.tried = dict.fromkeys(moves.KINDS, 0)
        self.accepted = dict.fromkeys(moves.KINDS, 0)

    def change(self, before: tuple[int, ...], after: tuple[int, ...], time: int) -> None:
        for j in set(before) - set(after):
            self.stay[j] += time
        for j in set(after) - set(before):
            self.stay[j] -= time

    def keep(self, state: State, target: Target) -> None:
        self.inputs.extend(state.active)
        self.theta.extend(state.theta)
        self.rows.append((len(self.inputs), state.log_scale, state.log_noise, log_posterior(state, target)))

    def finish(self, iterations: int) -> Draws:
        table = np.array(self.rows)
        return Draws(
            np.array(self.inputs, dtype=np.int32),
            np.array(self.theta),
            table[:, 0].astype(int),
            np.exp(table[:, 1]),
            np.exp(table[:, 2]),
            table[:, 3],
            self.stay / iterations,
            self.tried,
            self.accepted,
        )


def start(target: Target, size: int, rng: np.random.Generator) -> State:
    """A chain's first state: a random set of a given size, all theta alike, scale and noise at their prior means."""
    active = rng.choice(target.d, size=min(size, target.d), replace=False).tolist()
    return state_at(target, active, [START_THETA] * len(active), target.prior.log_scale[0], target.prior.log_noise[0])


def run_chain(target: Target, first: State, schedule: Schedule, rng: np.random.Generator) -> Draws:
    """Walk from a first state. Cost of an iteration n^3 / 3, and 3 n d at about half of them."""
    state, steps, record = first, moves.Steps(np.full(target.d, -0.5)), _Record(target.d)
    for iteration in range(schedule.iterations):
        if iteration % FRESH == 0:
            state = state_at(target, state.active, state.theta, state.log_scale, state.log_noise)
        log_bar = math.log(rng.random() or 1e-300)
        before = state.active
        kind, j, proposal = _propose(state, steps, target, rng, log_bar)
        accepted = proposal.state is not None and log_bar < proposal.log_ratio
        if accepted:
            state = proposal.state  # type: ignore[assignment]
        if iteration == schedule.burn_in:
            record.change((), before, iteration)
        if iteration < schedule.burn_in:
            if kind in ("theta", *steps.others):
                steps.tune(kind, j, accepted)
            continue
        record.tried[kind] += 1
        record.accepted[kind] += accepted
        if accepted and state.active is not before:
            record.change(before, state.active, iteration)
        if (iteration - schedule.burn_in + 1) % schedule.thin == 0:
            record.keep(state, target)
    record.change(state.active, (), schedule.iterations)
    return record.finish(schedule.iterations - schedule.burn_in)


def _propose(
    state: State, steps: moves.Steps, target: Target, rng: np.random.Generator, log_bar: float
) -> tuple[str, int, moves.Proposal]:
    """Choose a kind of move, always with the same chances, and try it."""
    if rng.random() >= BETWEEN:
        return moves.draw_within(state, steps, target, rng)
    choice = rng.random()
    if choice < ADD:
        return "add", -1, moves.add(state, target, rng)
    if choice < DELETE:
        return "delete", -1, moves.delete(state, target, rng, log_bar)
    return "swap", -1, moves.swap(state, target, rng)
