"""Adam climbs, its step count goes on through pruning, and survivors move as if nothing had been pruned."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.method.paper.descent import AdamRates, adam_restrict, adam_start, adam_step

RATES = AdamRates(0.05)


def test_adam_finds_the_top_of_a_hill() -> None:
    top, x, state = np.array([1.0, -2.0]), np.zeros(2), adam_start(2)
    for _ in range(2000):
        state, x = adam_step(state, x, -2.0 * (x - top), RATES)
    assert x == pytest.approx(top, abs=1e-3)


def test_the_first_step_has_the_size_of_the_learning_rate() -> None:
    _, x = adam_step(adam_start(3), np.zeros(3), np.array([1e-3, 5.0, -200.0]), RATES)
    assert x == pytest.approx([0.05, 0.05, -0.05], rel=1e-4)


def test_steps_follow_the_published_recursion() -> None:
    rng = np.random.default_rng(0)
    x, state = np.zeros(4), adam_start(4)
    mean, square, slow = np.zeros(4), np.zeros(4), np.zeros(4)
    for step in range(1, 20):
        g = rng.standard_normal(4)
        state, x = adam_step(state, x, g, RATES)
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
        slow = slow + 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    assert x == pytest.approx(slow, rel=1e-10)


def test_survivors_move_as_if_nothing_had_been_pruned() -> None:
    rng = np.random.default_rng(1)
    state, x = adam_start(3), np.zeros(3)
    for _ in range(5):
        state, x = adam_step(state, x, rng.standard_normal(3), RATES)
    keep = np.array([True, False, True])
    g = rng.standard_normal(3)
    _, whole = adam_step(state, x, g, RATES)
    restricted, part = adam_step(adam_restrict(state, keep), x[keep], g[keep], RATES)
    assert part == pytest.approx(whole[keep], rel=1e-14)
    assert restricted.step == 6
