"""The diagnostics of the chains on traces whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.peers.mcmc_diagnostics import autocovariance, effective_size, largest_disagreement, split_rhat

pytestmark = pytest.mark.peers


def autoregressive(rho: float, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out, noise = np.empty(n), rng.standard_normal(n)
    out[0] = noise[0] / np.sqrt(1.0 - rho**2)
    for t in range(1, n):
        out[t] = rho * out[t - 1] + noise[t]
    return out


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression_is_known(rho):
    """Its correlations are rho^t, and n / (1 + 2 sum rho^t) = n (1 - rho) / (1 + rho)."""
    n = 40_000
    found = np.mean([effective_size(autoregressive(rho, n, seed)) for seed in range(3)])
    assert found == pytest.approx(n * (1.0 - rho) / (1.0 + rho), rel=0.12)


def test_autocovariance_is_the_sum_of_products():
    trace = np.random.default_rng(0).normal(size=30)
    centred = trace - trace.mean()
    slow = [sum(centred[t] * centred[t + lag] for t in range(30 - lag)) / 30 for lag in range(30)]
    np.testing.assert_allclose(autocovariance(trace), slow, atol=1e-12)


def test_a_trace_that_never_moves_is_worth_one_draw():
    assert effective_size(np.full(100, 3.0)) == 1.0
    assert effective_size(np.full(100, 0.1)) == 1.0


def test_split_rhat_tells_chains_that_agree_from_chains_that_do_not():
    first, second = (autoregressive(0.5, 4000, seed) for seed in (1, 2))
    assert split_rhat([first, second]) < 1.02
    assert split_rhat([first, second + 3.0]) > 1.5
    # a drift within one chain shows too: its halves differ
    assert split_rhat([first + np.linspace(0.0, 6.0, 4000)]) > 1.5
    assert split_rhat([np.ones(10), np.ones(10)]) == 1.0
    assert split_rhat([np.ones(10), np.zeros(10)]) == np.inf


def test_disagreement_is_the_largest_difference_of_any_input():
    assert largest_disagreement([np.array([0.1, 0.9]), np.array([0.2, 0.4])]) == pytest.approx(0.5)
