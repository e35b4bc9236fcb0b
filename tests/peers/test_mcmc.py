"""The chains walk on the posterior that they say: ratios, prior, exact enumeration."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from reference import log_evidence_by_quadrature
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import halfnorm, norm

from benchmarks.pip_exact import exact_pips, weak_data
from ssvgp import peers
from ssvgp.evidence import laplace as evidence
from ssvgp.evidence.laplace import Block, Problem
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model import priors
from ssvgp.model.priors import Candidate
from ssvgp.peers import mcmc_moves as moves
from ssvgp.peers.mcmc_chain import Schedule, run_chain, start
from ssvgp.peers.mcmc_diagnostics import effective_size
from ssvgp.peers.mcmc_target import (
    Target,
    draw_excluded,
    draw_theta,
    log_chance_of,
    log_posterior,
    log_slab,
    powers,
    state_at,
)
from ssvgp.settings import Prior

pytestmark = pytest.mark.peers


def standardised(X, y):
    return (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()


def target_of(seed: int, n: int, d: int, informed: float = 0.5, power: float = 1.0, b: float | None = None) -> Target:
    X, y = standardised(*weak_data(seed, n, max(d, 3)))
    return Target(X[:, :d], y, Prior(b=b).for_data(n, d), informed, power)


def problem_of(target: Target) -> Problem:
    return Problem((Block(target.X, target.y),), kernel_named("se"), target.prior)


# --- the target -------------------------------------------------------------------------------------------


def test_the_posterior_is_the_one_that_our_evidence_integrates():
    target = target_of(0, 20, 5)
    for active, theta in (((3, 1), (0.4, 0.05)), ((2,), (1.3,))):
        candidate, z = Candidate(active), np.log([*theta, 1.7, 0.3])
        ours = evidence.log_joint_value(problem_of(target), candidate, z) + priors.log_set_prior(
            len(active), 5, target.prior
        )
        assert log_posterior(state_at(target, active, theta, z[-2], z[-1]), target) == pytest.approx(ours, rel=1e-10)


def test_the_empty_set_has_a_constant_and_noise_and_an_idle_scale():
    target = target_of(0, 20, 5)
    ours = evidence.log_joint_value(problem_of(target), Candidate(()), np.array([-0.7]))
    ours += priors.log_set_prior(0, 5, target.prior) + norm.logpdf(1.1, *target.prior.log_scale)
    assert log_posterior(state_at(target, (), (), 1.1, -0.7), target) == pytest.approx(ours, rel=1e-10)


def test_the_slab_in_plain_floats_is_that_of_the_evidence():
    theta = np.array([0.3, 0.02, 1.1])
    for size in range(4):
        ours = priors.log_slab(theta[:size], Prior())[0]
        assert log_slab(size, float(theta[:size] @ theta[:size]), Prior()) == pytest.approx(ours, abs=1e-12)


def test_a_new_theta_follows_the_slab_given_the_others():
    """Its density is slab(theta, others) / slab(others): the mean of min(theta, 1) under both."""
    prior, rng, others = Prior(), np.random.default_rng(0), (0.5, 0.6)
    draws = np.array([draw_theta(others, prior, rng) for _ in range(20_000)])
    grid = np.linspace(1e-4, 6.0, 20_001)
    joint = np.array([log_slab(3, 0.61 + t * t, prior) for t in grid])
    density = np.exp(joint - log_slab(2, 0.61, prior))
    assert trapezoid(density, grid) == pytest.approx(1.0, abs=1e-3)
    for statistic in (lambda t: np.minimum(t, 1.0), lambda t: t < 0.2):
        expected = trapezoid(statistic(grid) * density, grid)
        found = statistic(draws)
        assert abs(found.mean() - expected) < 4.0 * found.std() / math.sqrt(draws.size) + 1e-4


# --- the moves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("informed", [0.0, 0.5])
def test_inputs_are_proposed_with_the_chances_that_enter_the_ratio(informed):
    target, rng, draws = target_of(1, 30, 7, informed), np.random.default_rng(0), 20_000
    state = state_at(target, (4, 0), (0.3, 0.5), 0.2, -1.0)
    found = np.bincount([draw_excluded(state, target, rng) for _ in range(draws)], minlength=7) / draws
    chances = np.array([0.0 if j in (4, 0) else math.exp(log_chance_of(j, state, target)) for j in range(7)])
    assert chances.sum() == pytest.approx(1.0)
    assert np.all(np.abs(found - chances) <= 4.5 * np.sqrt(chances * (1.0 - chances) / draws))
    assert (np.ptp(chances[[1, 2, 3, 5, 6]]) > 0.05) == (informed > 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_ratio_of_an_addition_balances_addition_and_deletion(seed):
    """pi(x) q(x -> x') r = pi(x') q(x' -> x), all densities written out anew in theta itself."""
    target, rng = target_of(seed, 25, 6), np.random.default_rng(seed)
    state = state_at(target, (5, 2), (0.3, 0.6), 0.4, -0.8)
    proposal = moves.add(state, target, rng)
    large, j = proposal.state, proposal.state.active[-1]

    def log_pi(at):  # densities of theta, not of log theta, for theta is what is drawn
        return log_posterior(at, target) - np.log(at.theta).sum()

    scales = np.array(target.prior.slabs)
    posterior_of_scales = np.prod([halfnorm.pdf(t, scale=scales) for t in state.theta], axis=0)
    density = posterior_of_scales @ halfnorm.pdf(large.theta[-1], scale=scales) / posterior_of_scales.sum()
    alpha = np.linalg.solve(math.exp(0.4) * np.exp(-0.5 * state.distance) + 1.0 + math.exp(-0.8) * np.eye(25), target.y)
    scores = np.array([((target.forms.reshape(3, 6, 25)[:, i] @ alpha) ** 2).sum() ** 2 for i in range(6)])
    scores[[5, 2]] = 0.0
    log_there = math.log(0.5 / 4 + 0.5 * scores[j] / scores.sum()) + math.log(density)
    log_back = -math.log(3)
    expected = log_pi(large) + log_back - log_pi(state) - log_there
    assert proposal.log_ratio == pytest.approx(expected, abs=1e-8)


def test_a_deletion_has_the_ratio_of_the_addition_that_undoes_it():
    target = target_of(2, 25, 6)
    state = state_at(target, (5, 2, 1), (0.3, 0.6, 0.2), 0.4, -0.8)
    proposal = moves.delete(state, target, np.random.default_rng(3))
    gone = (set(state.active) - set(proposal.state.active)).pop()
    place = state.active.index(gone)
    small = state_at(
        target, [j for j in state.active if j != gone], [t for i, t in enumerate(state.theta) if i != place], 0.4, -0.8
    )
    large = state_at(target, (*small.active, gone), (*small.theta, state.theta[place]), 0.4, -0.8)
    assert proposal.log_ratio == pytest.approx(-moves.log_ratio_of_addition(small, large, target), abs=1e-8)


def test_a_deletion_is_given_up_early_only_where_it_would_be_refused():
    weak = target_of(2, 25, 6)
    target = Target(weak.X, standardised(weak.X, weak.X[:, 5] + 0.2 * weak.y)[1], weak.prior)
    state = state_at(target, (5, 2, 1), (0.3, 0.6, 0.2), 0.4, -0.8)
    given_up = 0
    for seed in range(40):
        whole = moves.delete(state, target, np.random.default_rng(seed))
        log_bar = math.log(np.random.default_rng(100 + seed).random())
        cut = moves.delete(state, target, np.random.default_rng(seed), log_bar)
        if cut.state is None:
            given_up += 1
            assert whole.log_ratio <= log_bar
        else:
            assert cut.log_ratio == whole.log_ratio
    assert 0 < given_up < 40


def test_a_swap_balances_and_leaves_the_prior_alone():
    target, rng = target_of(4, 25, 6), np.random.default_rng(1)
    state = state_at(target, (5, 2), (0.3, 0.6), 0.4, -0.8)
    proposal = moves.swap(state, target, rng)
    (old,), (new,) = set(state.active) - set(proposal.state.active), set(proposal.state.active) - set(state.active)
    correlation = np.corrcoef(target.X.T) ** 4
    chance = {}
    for one, other, held in ((old, new, {5, 2}), (new, old, set(proposal.state.active))):
        outside = [j for j in range(6) if j not in held]
        chance[one] = 0.5 / 4 + 0.5 * correlation[one, other] / correlation[one, outside].sum()
    expected = log_posterior(proposal.state, target) - log_posterior(state, target)
    expected += math.log(chance[new]) - math.log(chance[old])
    assert proposal.log_ratio == pytest.approx(expected, abs=1e-8)


def test_steps_within_a_set_keep_every_part_of_the_state_up_to_date():
    target, rng = target_of(5, 25, 6), np.random.default_rng(0)
    state, steps = state_at(target, (3, 1), (0.3, 0.6), 0.4, -0.8), moves.Steps(np.zeros(6))
    seen = set()
    for _ in range(200):
        propose = (moves.add, moves.delete, moves.swap)[rng.integers(3)]
        kind, _, proposal = moves.draw_within(state, steps, target, rng)
        if rng.random() < 0.5:
            kind, proposal = propose.__name__, propose(state, target, rng)
        if proposal.state is None:
            continue
        before, state = state, proposal.state
        seen.add(kind)
        fresh = state_at(target, state.active, state.theta, state.log_scale, state.log_noise)
        np.testing.assert_allclose(state.distance, fresh.distance, atol=1e-9 * (1.0 + fresh.distance.max()))
        assert state.log_likelihood == pytest.approx(fresh.log_likelihood, rel=1e-6)
        if kind in ("theta", "scale", "noise", "ridge"):
            expected = log_posterior(state, target) - log_posterior(before, target)
            assert proposal.log_ratio == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if max(state.theta, default=0.0) > 5.0:
            state = state_at(target, (3, 1), (0.3, 0.6), 0.4, -0.8)
    assert seen == set(moves.KINDS)


# --- whole chains -----------------------------------------------------------------------------------------


def run(target: Target, iterations: int, seed: int, size: int = 0, thin: int = 5):
    rng = np.random.default_rng(seed)
    return run_chain(target, start(target, size, rng), Schedule(iterations, iterations // 10, thin), rng)


def close(trace, expected: float, errors: float = 4.0) -> bool:
    """Whether the mean of a trace is as expected within Monte Carlo error."""
    return abs(np.mean(trace) - expected) < errors * np.std(trace) / math.sqrt(effective_size(np.asarray(trace, float)))


def test_without_the_likelihood_the_chain_returns_the_prior():
    target = target_of(0, 4, 6, power=0.0, b=2.0)
    draws = run(target, 40_000, seed=0)
    sizes = np.exp([target.set_prior[k] + math.log(math.comb(6, k)) for k in range(7)])
    assert sizes.sum() == pytest.approx(1.0)
    for k in range(5):
        assert close(draws.sizes == k, sizes[k]), k
    for j in range(6):
        held = np.zeros(draws.ends.size)
        held[np.searchsorted(draws.ends, np.flatnonzero(draws.inputs == j), side="right")] = 1.0
        assert close(held, 1.0 / 3.0), j  # a / (a + b)
    assert np.max(np.abs(draws.inclusion - 1.0 / 3.0)) < 0.05
    assert close(np.log(draws.scale), 0.5) and close((np.log(draws.scale) - 0.5) ** 2, 4.0)
    assert close(np.log(draws.noise), -1.5) and close((np.log(draws.noise) + 1.5) ** 2, 2.25)
    alone = draws.theta[draws.ends[draws.sizes == 1] - 1]
    scales = np.array(target.prior.slabs)
    assert close(alone < 0.1, np.mean(2.0 * norm.cdf(0.1 / scales) - 1.0))
    squares = [halfnorm(scale=s).expect(lambda t: min(t, 1.0) ** 2) for s in scales]
    assert close(np.minimum(alone, 1.0) ** 2, np.mean(squares))


def log_evidence_of_nothing(target: Target) -> float:
    """log p(y | no inputs) by the rectangle rule over log noise."""
    grid = np.linspace(-10.0, 6.0, 2001)
    values = [evidence.log_joint_value(problem_of(target), Candidate(()), np.array([u])) for u in grid]
    return float(logsumexp(values) + math.log(grid[1] - grid[0]))


def test_the_inclusion_of_a_single_input_is_that_of_quadrature():
    """Data whose answer lies well between 0 and 1: one input, 12 rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 1))
    target = Target(*standardised(x, 0.5 * x[:, 0] + rng.normal(size=12)), Prior(b=1.0).for_data(12, 1))
    odds = log_evidence_by_quadrature(target.X[:, 0], target.y, target.prior) - log_evidence_of_nothing(target)
    exact = 1.0 / (1.0 + math.exp(-odds))
    assert 0.1 < exact < 0.9
    draws = run(target, 30_000, seed=1)
    assert close(draws.sizes == 1, exact)
    assert draws.inclusion[0] == pytest.approx(np.mean(draws.sizes), abs=0.02)


def enumeration_gap(seed: int, n: int, d: int, iterations: int, draws: int, informed: float):
    """Differences (d,) of PIPs between a chain and an enumeration, errors (d,) of the chain and of both, exact PIPs."""
    target = target_of(seed, n, d, informed)
    first, second = exact_pips(problem_of(target), d, draws, np.random.default_rng(seed))
    found = run(target, iterations, seed + 1, size=d)
    held = np.zeros((found.ends.size, d))
    held[np.searchsorted(found.ends, np.arange(found.inputs.size), side="right"), found.inputs] = 1.0
    errors = held.std(0) / np.sqrt([effective_size(trace) for trace in held.T])
    exact = 0.5 * (first + second)
    return found.inclusion - exact, errors, np.hypot(errors, np.abs(first - second)), exact


@pytest.mark.parametrize("informed", [0.0, 0.5])
def test_inclusions_are_those_of_an_enumeration_of_all_sets(informed):
    gap, of_chain, of_both, exact = enumeration_gap(3, n=25, d=3, iterations=20_000, draws=300, informed=informed)
    assert np.any((exact > 0.1) & (exact < 0.9))  # a chain that stays anywhere would be wrong
    assert of_chain.max() < 0.03 and of_both.max() < 0.06
    assert np.all(np.abs(gap) < 4.0 * of_both + 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_long_chains_match_the_enumeration_closely(seed):
    gap, of_chain, of_both, _ = enumeration_gap(seed, n=25, d=4, iterations=120_000, draws=2000, informed=0.5)
    assert of_chain.max() < 0.02
    assert np.all(np.abs(gap) < 4.0 * of_both + 0.002)
    assert np.abs(gap).max() < 0.05


# --- the rival --------------------------------------------------------------------------------------------


def test_the_rival_says_how_its_chains_went():
    X, y = weak_data(1, 30, 5)
    peer = peers.make("mcmc", iterations=4000, thin=10, predictive=20).fit(X, y)
    assert {f"accepted_{kind}" for kind in moves.KINDS} <= set(peer.notes)
    assert 0.2 < peer.notes["accepted_theta"] < 0.7  # tuned in the burn-in
    assert peer.notes["effective_size"] > 10 and peer.notes["rhat_log_posterior"] < 1.3
    assert sum(one.ends.size for one in peer.draws) == 200
    assert sum(sum(one.tried.values()) for one in peer.draws) == 2000


def test_predictions_are_the_moments_of_a_mixture_over_draws():
    X, y = standardised(*weak_data(1, 30, 4))
    peer = peers.make("mcmc", iterations=400, chains=1, thin=50, predictive=4).fit(X, y)
    forecast = peer.predict(X[:3])
    means, seconds = [], []
    for index in range(4):
        active, theta, scale, noise = peer.draws[0].draw(index)
        r2 = ((theta * (X[:, None, active] - X[None, :, active])) ** 2).sum(2)
        k = (scale if active.size else 0.0) * np.exp(-0.5 * r2) + 1.0
        inverse = np.linalg.inv(k + noise * np.eye(30))
        means.append(k[:3] @ inverse @ y)
        seconds.append(np.diag(k)[:3] - np.einsum("ij,jk,ik->i", k[:3], inverse, k[:3]) + noise + means[-1] ** 2)
    np.testing.assert_allclose(forecast.mean, np.mean(means, 0), rtol=1e-6)
    np.testing.assert_allclose(forecast.variance, np.mean(seconds, 0) - np.mean(means, 0) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"chains": 0}, {"informed": 1.0}, {"iterations": 10, "thin": 50}, {"burn_in": 1.0}, {"predictive": 0}]
)
def test_settings_that_make_no_chain_are_refused(settings):
    with pytest.raises(ValueError, match="needs"):
        peers.make("mcmc", **settings)


def test_all_pairs_of_sets_can_be_reached():
    """From any set to any other: with weak data and a flat prior a short chain has seen most sets of three inputs."""
    target = target_of(6, 8, 3, b=1.0)
    draws = run(target, 6000, seed=0, thin=1)
    seen = {tuple(sorted(draws.draw(i)[0].tolist())) for i in range(draws.ends.size)}
    assert seen == {s for k in range(4) for s in combinations(range(3), k)}


def test_powers_are_orthonormal_to_each_other_and_to_the_constant_and_span_the_powers() -> None:
    x = np.random.default_rng(0).standard_normal(40)
    found = powers(x[:, None])[:, :, 0]
    assert found @ found.T == pytest.approx(np.eye(3), abs=1e-10)
    assert found.sum(1) == pytest.approx(0.0, abs=1e-10)
    basis, _ = np.linalg.qr(np.stack([np.ones(40), x, x**2, x**3], axis=1))
    assert np.abs(found @ basis) == pytest.approx(np.eye(4)[1:], abs=1e-10)


def test_a_column_of_few_levels_has_as_few_powers() -> None:
    columns = np.column_stack([np.repeat([-1.0, 1.0], 20), np.zeros(40), np.tile([-1.0, 0.0, 1.0, 0.0], 10)])
    found = np.abs(powers(columns)).sum(1) > 0
    assert found.T.tolist() == [[True, False, False], [False, False, False], [True, True, False]]
