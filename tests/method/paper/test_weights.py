"""Weights lie on the simplex, and thinning is unbiased."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.method.paper import weights
from ssvgp.records import Member, Parameters


def member(active: list[int], inclusion: list[float]) -> Member:
    parameters = Parameters(np.ones(len(active)), 1.0, 1.0)
    return Member(np.array(active, dtype=int), parameters, kernel_named("se"), np.array(inclusion))


def test_weights_of_scores_survive_any_offset() -> None:
    scores = np.array([-1e6, -1e6 + np.log(3.0), -2e6])
    assert weights.score_weights(scores) == pytest.approx([0.25, 0.75, 0.0])


def test_the_best_member_takes_all() -> None:
    assert np.array_equal(weights.best_only(np.array([-3.0, 2.0, 2.0])), [0.0, 1.0, 0.0])


def test_thinning_is_unbiased_and_sums_to_one() -> None:
    w, rng = np.array([0.5, 0.3, 0.19, 0.01]), np.random.default_rng(0)
    draws = np.array([weights.thin(w, 100, rng) for _ in range(4000)])
    assert draws.sum(1) == pytest.approx(1.0)
    assert draws.mean(0) == pytest.approx(w, abs=4 * 0.05 / np.sqrt(4000))
    # a weight of 1/S goes with probability (1 - 1/S)^S
    assert np.mean(draws[:, 3] == 0) == pytest.approx(0.99**100, abs=0.04)
    with pytest.raises(ValueError, match="at least one trial"):
        weights.thin(w, 0, rng)


def test_marginal_pips_mix_the_inclusion_of_members() -> None:
    members = [member([0, 2], [1.0, 0.6]), member([2], [1.0]), member([], [])]
    pip = weights.marginal_pip(members, np.array([0.5, 0.3, 0.2]), 4)
    assert pip == pytest.approx([0.5, 0.0, 0.6, 0.0])


def test_collapsing_keeps_the_best_of_each_set() -> None:
    members = [member(active, [1.0] * len(active)) for active in ([0, 2], [1], [2, 0], [], [])]
    kept = weights.collapse(members, np.array([1.0, 5.0, 2.0, -1.0, -2.0]))
    assert np.array_equal(kept, [1, 2, 3])
