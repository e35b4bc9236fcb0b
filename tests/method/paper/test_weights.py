"""Weights lie on the simplex, stacking is optimal, thinning is unbiased."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.method.paper import weights
from ssvgp.records import Member, Parameters


def member(active: list[int], inclusion: list[float]) -> Member:
    parameters = Parameters(np.ones(len(active)), 1.0, 1.0)
    return Member(np.array(active, dtype=int), parameters, kernel_named("se"), np.array(inclusion))


def densities(k: int, n: int = 200, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, -1.5, 1.5) + rng.standard_normal(n)
    centres = np.linspace(-1.5, 1.5, k)[:, None]
    return -0.5 * (y - centres) ** 2 - 0.5 * np.log(2 * np.pi)


def mixed(w: np.ndarray, log_density: np.ndarray) -> float:
    return float(np.log(w @ np.exp(log_density)).mean())


def test_weights_of_scores_survive_any_offset() -> None:
    scores = np.array([-1e6, -1e6 + np.log(3.0), -2e6])
    assert weights.score_weights(scores) == pytest.approx([0.25, 0.75, 0.0])


def test_pseudo_bma_weighs_by_the_product_over_rows() -> None:
    log_density = densities(3)
    product = np.exp(log_density.sum(1) - log_density.sum(1).max())
    assert weights.pseudo_bma(log_density) == pytest.approx(product / product.sum())


def test_stacking_of_two_is_the_best_on_a_fine_grid() -> None:
    log_density = densities(2)
    found = weights.stacking(log_density)
    shares = np.linspace(0.0, 1.0, 10_001)
    best = shares[np.argmax([mixed(np.array([s, 1 - s]), log_density) for s in shares])]
    assert found[0] == pytest.approx(best, abs=2e-4)
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_stacking_lies_on_the_simplex_and_no_direction_improves_it(k: int) -> None:
    log_density = densities(k)
    found = weights.stacking(log_density)
    assert found.sum() == pytest.approx(1.0)
    assert np.all(found >= 0)
    gain = (np.exp(log_density) / (found @ np.exp(log_density))).mean(axis=1)
    assert gain.max() <= 1.0 + 1e-4


def test_stacking_survives_densities_that_underflow() -> None:
    found = weights.stacking(densities(3) - 5000.0)
    assert found == pytest.approx(weights.stacking(densities(3)))


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
