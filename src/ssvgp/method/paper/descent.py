"""Adam (Kingma and Ba) as a pure function of a state record, for maximisation (eq. 10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AdamRates:
    """Learning rate and the two smoothing constants."""

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    floor: float = 1e-8


@dataclass(frozen=True)
class AdamState:
    """Number of steps taken, and running means of the gradient and of its square (q,)."""

    step: int
    mean: np.ndarray
    square: np.ndarray


def adam_start(q: int) -> AdamState:
    """The state before the first step, for q unknowns."""
    return AdamState(0, np.zeros(q), np.zeros(q))


def adam_step(
    state: AdamState, unknowns: np.ndarray, gradient: np.ndarray, rates: AdamRates
) -> tuple[AdamState, np.ndarray]:
    """The next state and unknowns (q,), one step up the gradient (q,)."""
    step = state.step + 1
    mean = rates.beta1 * state.mean + (1.0 - rates.beta1) * gradient
    square = rates.beta2 * state.square + (1.0 - rates.beta2) * (gradient * gradient)
    # both bias corrections act as one scalar on the step and one on the floor: no further vectors are formed
    correction = float(np.sqrt(1.0 - rates.beta2**step))
    size = rates.learning_rate * correction / (1.0 - rates.beta1**step)
    moved = unknowns + size * mean / (np.sqrt(square) + rates.floor * correction)
    return AdamState(step, mean, square), moved


def adam_restrict(state: AdamState, keep: np.ndarray) -> AdamState:
    """The state of the unknowns that survive pruning; keep is a mask (q,). The step count goes on."""
    return AdamState(state.step, state.mean[keep], state.square[keep])
