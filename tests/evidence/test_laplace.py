"""The joint density has the right gradient, its priors are densities, and Laplace agrees with quadrature."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from reference import central_difference, log_evidence_by_quadrature
from scipy.stats import norm

from ssvgp.evidence.importance import all_modes, refine
from ssvgp.evidence.laplace import (
    Block,
    Problem,
    fit,
    log_joint,
    log_joint_value,
    log_joint_values,
    log_model_prior,
    with_curvature,
)
from ssvgp.gp.axes import evened_axes
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import log_likelihood
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.model.priors import Candidate, log_prior, log_priors, log_set_prior, log_slab, unpack
from ssvgp.model.terms import BACKGROUNDS, Columns, backgrounds_for
from ssvgp.records import has_sites
from ssvgp.run.workers import Workers
from ssvgp.settings import Prior

UNITS = np.array([1.0, 3.0, 0.2, 1.0, 2.0])


def block(seed: int, n: int = 14) -> Block:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    terms = backgrounds_for(BACKGROUNDS, Columns(5, UNITS, evened_axes(X)))
    return Block.of(X, np.sin(X[:, 1]) + 0.3 * rng.standard_normal(n), terms)


def problem(kernel: str = "se", blocks: int = 1, prior: Prior | None = None) -> Problem:
    parts = tuple(block(seed) for seed in range(blocks))
    terms = backgrounds_for(BACKGROUNDS, Columns(5, UNITS, np.eye(5)))
    return Problem(parts, kernel_named(kernel), (prior or Prior()).for_data(14 * blocks, 5), terms)


def one_input(seed: int, strength: float, n: int = 25) -> Problem:
    """y = strength sin(1.5 x) + noise on n rows, standardised, with x the only input."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    y = strength * np.sin(1.5 * x) + 0.5 * rng.standard_normal(n)
    y, x = (y - y.mean()) / y.std(), (x - x.mean()) / x.std()
    return Problem((Block(x[:, None], y),), kernel_named("se"), Prior().for_data(n, 1))


# --- gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("kind", ["", *BACKGROUNDS])
@pytest.mark.parametrize("kernel", ["se", "matern32", "matern52", "rq", "linear", "periodic"])
def test_the_gradient_of_the_joint_is_that_of_finite_differences(kernel: str, kind: str, blocks: int) -> None:
    case, candidate = problem(kernel, blocks), Candidate((1, 3), kind)
    z = np.array([-0.4, -1.1, 0.3, -1.2, -0.7])[: 5 if kind else 4]
    value, gradient = log_joint(case, candidate)(z)
    expected = central_difference(lambda at: log_joint_value(case, candidate, at), z)
    assert value == pytest.approx(log_joint_value(case, candidate, z), rel=1e-10)
    assert gradient == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", ["", "linear", "smooth"])
def test_the_gradient_without_inputs_is_that_of_finite_differences(kind: str) -> None:
    case, candidate = problem(blocks=2), Candidate((), kind)
    z = np.array([-0.6, -0.9])[: 2 if kind else 1]
    gradient = log_joint(case, candidate)(z)[1]
    assert gradient == pytest.approx(
        central_difference(lambda at: log_joint_value(case, candidate, at), z), rel=1e-6, abs=1e-7
    )


def test_the_gradient_of_the_slab_is_that_of_finite_differences() -> None:
    prior = Prior()
    for theta in (np.array([0.05]), np.array([0.3, 1.2]), np.array([0.01, 0.2, 2.0])):
        expected = central_difference(lambda at: log_slab(at, prior)[0], theta)
        assert log_slab(theta, prior)[1] == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_the_parameters_unpack_in_the_order_theta_scale_noise_background() -> None:
    at = unpack(np.log([0.1, 0.2, 3.0, 0.4, 0.5]), Candidate((0, 4), "smooth"), Prior(mean=0.7))
    assert at.theta == pytest.approx([0.1, 0.2])
    assert (at.scale, at.noise, at.background) == pytest.approx((3.0, 0.4, 0.5))
    assert at.mean == 0.7
    empty = unpack(np.log([0.4]), Candidate(()), Prior())
    assert (empty.theta.size, empty.scale, empty.background) == (0, 0.0, 0.0)
    assert empty.noise == pytest.approx(0.4)


# --- priors are densities -----------------------------------------------------------------------------------


def nodes(top: float, count: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on (0, top)."""
    x, w = np.polynomial.legendre.leggauss(count)
    return 0.5 * top * (x + 1.0), 0.5 * top * w


def test_the_slab_of_one_input_integrates_to_one() -> None:
    theta, w = nodes(7.0)
    total = sum(wi * np.exp(log_slab(np.array([t]), Prior())[0]) for t, wi in zip(theta, w, strict=True))
    assert total == pytest.approx(1.0, abs=1e-8)


def test_the_slab_of_two_inputs_integrates_to_one_and_has_the_scale_in_common() -> None:
    theta, w = nodes(6.0, 100)
    density = np.array([[np.exp(log_slab(np.array([a, b]), Prior())[0]) for a in theta] for b in theta])
    assert w @ density @ w == pytest.approx(1.0, abs=1e-6)
    # a common scale makes the squares positively correlated: E a^2 b^2 = mean of s^4
    squares = np.array(Prior().slabs) ** 2
    assert (w * theta**2) @ density @ (w * theta**2) == pytest.approx(np.mean(squares**2), rel=1e-4)


def test_the_posterior_of_the_slab_scale_follows_bayes() -> None:
    theta, prior = np.array([0.3, 0.5]), Prior()
    density = [np.prod(2.0 * norm.pdf(theta, scale=s)) for s in prior.slabs]
    assert log_slab(theta, prior)[2] == pytest.approx(np.array(density) / np.sum(density))
    assert log_slab(theta, prior)[0] == pytest.approx(np.log(np.mean(density)))


def test_the_prior_of_z_integrates_to_one_in_log_theta_scale_and_noise() -> None:
    prior, candidate = Prior().for_data(14, 5), Candidate((2,))
    u = np.linspace(-14.0, 2.5, 80)
    tail = [np.linspace(mean - 7 * sd, mean + 7 * sd, 15) for mean, sd in (prior.log_scale, prior.log_noise)]
    cell = np.prod([np.diff(axis)[0] for axis in (u, *tail)])
    total = sum(np.exp(log_prior(np.array(z), candidate, prior)[0]) for z in product(u, *tail))
    assert total * cell == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("kind", ["", "linear", "smooth"])
@pytest.mark.parametrize("active", [(), (1,), (0, 3, 4)])
def test_priors_of_many_parameters_are_those_of_each(active: tuple[int, ...], kind: str) -> None:
    candidate, prior = Candidate(active, kind), Prior().for_data(30, 5)
    q = len(active) + bool(active) + 1 + bool(kind)
    z = 3.0 * np.random.default_rng(0).standard_normal((7, q))
    z[0, 0] = 800.0  # beyond what exponentials can hold
    expected = [log_prior(row, candidate, prior)[0] for row in z]
    np.testing.assert_allclose(log_priors(z, candidate, prior), expected, rtol=1e-13)


@pytest.mark.parametrize("d", [1, 6, 200])
@pytest.mark.parametrize("sides", [(1.0, None), (0.5, 3.0)])
def test_the_prior_over_sets_sums_to_one(d: int, sides: tuple[float, float | None]) -> None:
    prior = Prior(a=sides[0], b=sides[1]).for_data(50, d)
    total = sum(comb(d, k) * np.exp(log_set_prior(k, d, prior)) for k in range(d + 1))
    assert total == pytest.approx(1.0, rel=1e-9)


def test_the_prior_over_sets_and_backgrounds_sums_to_one() -> None:
    case = problem(prior=Prior(with_background=0.3))
    sets = [tuple(np.flatnonzero(bits)) for bits in product([0, 1], repeat=5)]
    by_kind = {
        kind: sum(np.exp(log_model_prior(Candidate(s, kind), case)) for s in sets) for kind in ("", *BACKGROUNDS)
    }
    assert sum(by_kind.values()) == pytest.approx(1.0)
    assert by_kind[""] == pytest.approx(0.7)


# --- blocks -------------------------------------------------------------------------------------------------


def test_two_blocks_are_two_independent_data_sets() -> None:
    case, candidate, z = problem(blocks=2), Candidate((0, 1), "linear"), np.array([-0.4, -1.0, 0.2, -1.0, -1.3])
    at = unpack(z, candidate, case.prior)
    likelihoods = [log_likelihood(case.kernel, b.X[:, [0, 1]], b.y, at, b.grams["linear"]) for b in case.blocks]
    prior = log_prior(z, candidate, case.prior)[0]
    assert log_joint_value(case, candidate, z) == pytest.approx(prior + sum(likelihoods), rel=1e-12)


def test_two_blocks_are_one_data_set_whose_blocks_do_not_covary() -> None:
    case, candidate, z = problem(blocks=2), Candidate((1,)), np.array([-0.2, 0.3, -1.1])
    at = unpack(z, candidate, case.prior)
    whole = np.zeros((28, 28))
    for i, b in enumerate(case.blocks):
        place = slice(14 * i, 14 * (i + 1))
        sparse = case.kernel.matrix(b.X[:, [1]], b.X[:, [1]], at.theta)
        whole[place, place] = at.scale * sparse + at.mean + at.noise * np.eye(14)
    y = np.concatenate([b.y for b in case.blocks])
    expected = -0.5 * (y @ np.linalg.solve(whole, y) + np.linalg.slogdet(2.0 * np.pi * whole)[1])
    assert log_joint_value(case, candidate, z) - log_prior(z, candidate, case.prior)[0] == pytest.approx(expected)


def test_a_covariance_that_cannot_be_factored_counts_as_minus_infinity() -> None:
    case = problem()
    broken = replace(case, blocks=(replace(case.blocks[0], grams={"linear": np.full((14, 14), np.nan)}),))
    z = np.zeros(4)
    assert log_joint_value(broken, Candidate((1,), "linear"), z) == -np.inf
    assert log_joint(broken, Candidate((1,), "linear"))(z)[0] == -np.inf


# --- Laplace ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "strength"), [(0, 1.5), (1, 1.5), (2, 0.6)])
def test_the_evidence_of_one_input_agrees_with_quadrature(seed: int, strength: float) -> None:
    case, candidate = one_input(seed, strength), Candidate((0,))
    exact = log_evidence_by_quadrature(case.blocks[0].X[:, 0], case.blocks[0].y, case.prior)
    exact += log_set_prior(1, 1, case.prior)
    found = with_curvature(case, fit(case, candidate, np.array([-0.5, 0.5, -1.0])))
    assert found.log_evidence == pytest.approx(exact, abs=0.5)
    drawn = refine(case, all_modes(case, found), 1024, seed=0, weak=True)
    assert drawn.log_evidence == pytest.approx(exact, abs=0.1)


def test_the_mode_is_stationary_and_the_root_is_that_of_the_inverse_hessian() -> None:
    case, candidate = one_input(0, 1.5), Candidate((0,))
    found = with_curvature(case, fit(case, candidate, np.array([-0.5, 0.5, -1.0])), tolerance=1e-4)
    objective = log_joint(case, candidate)
    slopes = [central_difference(lambda z, i=i: objective(z)[1][i], found.summit.z, 1e-4) for i in range(3)]
    covariance = found.root @ found.root.T
    assert covariance == pytest.approx(np.linalg.inv(-np.array(slopes)), rel=0.05, abs=0.02)
    assert 0.5 * found.summit.gradient @ covariance @ found.summit.gradient < 0.01
    assert found.log_volume == pytest.approx(0.5 * np.linalg.slogdet(covariance)[1])
    top = found.summit.value + found.summit.promised
    expected = top + 1.5 * np.log(2 * np.pi) + found.log_volume + log_set_prior(1, 1, case.prior)
    assert found.log_evidence == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_to_climb_is_counted_as_the_hessian_promises(seed: int) -> None:
    case, candidate = one_input(seed, 1.5), Candidate((0,))
    rough = fit(case, candidate, np.array([-0.5, 0.5, -1.0]), tolerance=0.5)
    loose, tight = (with_curvature(case, rough, tolerance=nats) for nats in (0.5, 1e-6))
    assert loose.summit.value < tight.summit.value + 1e-9
    assert loose.evaluations < tight.evaluations
    assert loose.summit.value + loose.summit.promised == pytest.approx(tight.summit.value, abs=0.1)


def test_a_cold_fit_is_priced_with_the_curvature_the_ascent_picked_up() -> None:
    case = one_input(0, 1.5)
    found = fit(case, Candidate((0,)), np.array([-0.5, 0.5, -1.0]))
    assert not found.exact_curvature
    assert found.root @ found.root.T == pytest.approx(found.summit.inverse_hessian, rel=1e-6, abs=1e-9)
    assert found.log_evidence == pytest.approx(with_curvature(case, found).log_evidence, abs=1.0)


def test_laplace_of_an_idle_input_is_low_by_the_documented_constant() -> None:
    """An input of zeros in a linear kernel changes no likelihood: its evidence is that of the empty set."""
    n = 20
    y = np.random.default_rng(0).standard_normal(n)
    prior = Prior(slab_scales=(0.4,)).for_data(n, 1)
    case = Problem((Block(np.zeros((n, 1)), y),), kernel_named("linear"), prior)
    empty = with_curvature(case, fit(case, Candidate(()), np.array([-0.5])))
    idle = with_curvature(case, fit(case, Candidate((0,)), np.array([-1.0, 0.5, -0.5]), tolerance=1e-6))
    step = log_set_prior(1, 1, prior) - log_set_prior(0, 1, prior)
    assert idle.log_evidence - empty.log_evidence - step == pytest.approx(0.5 * np.log(2.0) - 0.5, abs=0.02)
    drawn = refine(case, [idle], 1024, seed=0)
    assert drawn.log_evidence - empty.log_evidence - step == pytest.approx(0.0, abs=0.05)


def test_many_rows_allow_rougher_functions() -> None:
    few, many = Prior().for_data(1000, 10), Prior().for_data(1001, 10)
    assert max(many.slabs) > max(few.slabs) == max(Prior().slabs)
    chosen = Prior(slab_scales=(0.3,))
    assert chosen.for_data(10**6, 10).slab_scales == (0.3,)
    usual = Prior().slabs  # what is passed is taken as it is, the usual scales too
    assert Prior(slab_scales=usual).for_data(10**6, 10).slab_scales == usual


# --- fast ways against slow ones ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rows", [14, 200])
@pytest.mark.parametrize("kind", ["", "smooth"])
@pytest.mark.parametrize("kernel", ["se", "matern52", "linear", "se+linear"])
def test_many_values_at_once_are_those_of_one_at_a_time(kernel: str, kind: str, rows: int, n_jobs: int) -> None:
    blocks = tuple(block(seed, rows) for seed in range(2))
    candidate = Candidate((1, 3), kind)
    rng = np.random.default_rng(0)
    z = rng.normal(-0.5, 0.7, size=(7, 5 if kind else 4))
    case = Problem(blocks, kernel_named(kernel), Prior().for_data(2 * rows, 5))
    with Workers(n_jobs) as workers:
        values = log_joint_values(case, candidate, z, workers)
    assert values == pytest.approx([log_joint_value(case, candidate, row) for row in z], rel=1e-10, abs=1e-8)


def test_a_value_that_needs_repair_is_repaired_in_a_stack_too() -> None:
    twice = np.repeat(block(0, 90).X, 2, axis=0)  # every row is there twice, and there is no noise
    case = Problem((Block(twice, twice[:, 0]),), kernel_named("se"), Prior().for_data(180, 5))
    z = np.array([[-1.0, 0.0, -1.0], [-1.0, 0.0, -40.0]])
    candidate = Candidate((0,))
    expected = [log_joint_value(case, candidate, row) for row in z]
    assert np.isfinite(expected).all()
    assert log_joint_values(case, candidate, z) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("log_noise", [-3.0, 0.2])
def test_the_empty_set_in_closed_form_is_a_constant_with_noise(blocks: int, log_noise: float) -> None:
    case, z = problem("se", blocks), np.array([log_noise])
    at = unpack(z, Candidate(()), case.prior)
    value, slope = log_joint(case, Candidate(()))(z)
    plain = sum(log_likelihood(case.kernel, b.X[:, []], b.y, at) for b in case.blocks)
    assert value == pytest.approx(plain + log_prior(z, Candidate(()), case.prior)[0], rel=1e-12)
    assert slope == pytest.approx(
        central_difference(lambda x: log_joint(case, Candidate(()))(x)[0], z), rel=1e-6, abs=1e-7
    )


def test_a_fit_that_is_clearly_beaten_stops_early_and_one_that_is_not_goes_on() -> None:
    case, candidate, start = problem(), Candidate((1, 3)), np.array([2.0, 2.0, 3.0, 2.0])
    whole = fit(case, candidate, start)
    assert fit(case, candidate, start, bar=whole.log_evidence).log_evidence == whole.log_evidence
    beaten = fit(case, candidate, start, bar=whole.log_evidence + 500.0)
    assert beaten.evaluations < whole.evaluations
    assert beaten.log_evidence < whole.log_evidence


def test_a_problem_can_be_sent_to_another_process() -> None:
    """No executor hides in it: what comes out of a pickle has the same evidence."""
    case = Problem((block(0, 30),), kernel_named("se+linear"), Prior().for_data(30, 5))
    sent = pickle.loads(pickle.dumps(case))
    candidate, z = Candidate((1, 3)), np.zeros(4)
    assert log_joint_value(sent, candidate, z) == log_joint_value(case, candidate, z)


@pytest.mark.parametrize("kind", ["bernoulli", "student-t"])
def test_the_curvature_of_sites_is_that_of_slopes_settled_alike(kind: str) -> None:
    """Beside slopes of an ascent's last step, which is settled less, differences of 1e-3 would be of that alone."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((120, 2))
    f = 2.0 * np.sin(X[:, 0]) + X[:, 1]
    y = (f + rng.logistic(size=120) > 0).astype(float) if kind == "bernoulli" else f + 0.3 * rng.standard_t(3, 120)
    sites = likelihood_named(kind).build(Rows(y, np.ones(120), np.zeros(120)))
    assert has_sites(sites)
    case = Problem((Block(X, y, {}, sites),), kernel_named("se"), sites.adapted(Prior()).for_data(120, 2))
    candidate = case.candidate((0, 1))
    start = np.full(len(candidate.coordinates), -0.3)
    found = with_curvature(case, fit(case, candidate, start))
    slopes = log_joint(case, candidate)
    z = found.summit.z
    hessian = np.array([slopes(z - axis)[1] - slopes(z + axis)[1] for axis in 1e-3 * np.eye(z.size)]) / 2e-3
    expected = np.linalg.inv(0.5 * (hessian + hessian.T))
    whole = np.linalg.eigvals(np.linalg.solve(expected, found.root @ found.root.T)).real
    assert whole == pytest.approx(np.ones(whole.size), abs=0.1)
