"""Algorithm 1: gradients, limits between its two forms, pruning, and the shrinkage that A.8 proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit

from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import Gradient, gradient, log_likelihood
from ssvgp.method.paper import acavi, minibatch, spike_slab
from ssvgp.method.paper.acavi import Fit, Progress
from ssvgp.method.paper.grid import family_of, grid, prior_at
from ssvgp.method.paper.meanfield import MeanField, draw_members
from ssvgp.method.paper.pointmass import Batch, Family, PointMass
from ssvgp.method.paper.scale_noise import Logs, Roots, ScaleNoise
from ssvgp.method.paper.spike_slab import SpikeSlab
from ssvgp.records import Parameters, Train
from ssvgp.settings import PaperSettings

SE = kernel_named("se")
QUICK = PaperSettings(v=(1e3, 1e5), first_steps=40, steps=20, rounds=3, minibatch=1.0)


def two_of_six(n: int = 50, d: int = 6, seed: int = 0) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(1.5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    return Train((X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std())


def fit(train: Train, settings: PaperSettings, v: float = 1e4, seed: int = 0, kernel: str = "se") -> Fit:
    prior, rng = prior_at(settings, v), np.random.default_rng(seed)
    return acavi.run(train, kernel_named(kernel), family_of(settings), prior, settings, rng)


# --- gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [Roots(), Logs()])
@pytest.mark.parametrize("make", [PointMass, MeanField, partial(MeanField, samples=3, initial_sd=0.2)])
def test_the_slope_is_that_of_the_elbo_at_fixed_noise(make: Callable[[ScaleNoise], Family], form: ScaleNoise) -> None:
    family = make(form)
    train, rng = two_of_six(n=20), np.random.default_rng(3)
    batch = Batch(train.X, train.y, 2.5)
    start = family.start(6)
    unknowns = start + 0.1 * rng.standard_normal(start.size)
    precision = rng.uniform(0.0, 3.0, 6)

    def elbo(z: np.ndarray) -> float:
        value = family.likelihood(SE, batch, z, 1e-3, np.random.default_rng(7))
        return value - 0.5 * float(precision @ (family.centre(z) ** 2 + family.spread(z) ** 2))

    slope = family.slope(SE, batch, unknowns, precision, 1e-3, np.random.default_rng(7))
    steps = 1e-5 * np.eye(unknowns.size)
    numerical = [(elbo(unknowns + step) - elbo(unknowns - step)) / 2e-5 for step in steps]
    assert slope == pytest.approx(numerical, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("form", [Roots(), Logs()])
def test_scale_and_noise_come_back_from_their_unknowns(form: ScaleNoise) -> None:
    start = form.parameters(np.ones(2), form.start())
    assert (start.scale, start.noise) == (1.0, 1.0)
    again = form.parameters(np.ones(2), form.unknowns(2.5, 0.3))
    assert (again.scale, again.noise) == pytest.approx((2.5, 0.3))


def test_roots_may_pass_through_zero() -> None:
    at, through = Roots().parameters(np.ones(2), np.array([-0.5, 0.0])), gradient_of_a_pair()
    assert (at.scale, at.noise) == (0.25, 0.0)
    assert np.array_equal(Roots().slope(np.array([-0.5, 0.0]), through), [-4.0, 0.0])
    with pytest.raises(ValueError, match="'root' or 'log'"):
        family_of(replace(QUICK, parametrisation="square"))


def gradient_of_a_pair() -> Gradient:
    """One in the log of the scale, nothing in that of a noise of zero."""
    return Gradient(0.0, np.zeros(2), 1.0, 0.0, 0.0, 0.0)


# --- limits between the forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("minibatch", [1.0, 0.5])
def test_mean_field_without_variance_is_zero_temperature(minibatch: float) -> None:
    train = two_of_six()
    point = replace(QUICK, learning_rate=0.05, minibatch=minibatch)
    field = replace(point, posterior="mean-field", initial_sd=1e-30)
    a, b = fit(train, point), fit(train, field)
    assert np.array_equal(a.active, b.active)
    assert b.theta == pytest.approx(a.theta, abs=1e-10)
    assert b.parameters.scale == pytest.approx(a.parameters.scale)
    assert b.parameters.noise == pytest.approx(a.parameters.noise)


def test_mean_field_learns_a_spread_and_finds_the_inputs() -> None:
    settings = PaperSettings(posterior="mean-field", prune=0.0, first_steps=150, steps=50, learning_rate=0.03)
    found = fit(two_of_six(), settings, v=4000.0)
    assert np.array_equal(found.active, np.arange(6))
    assert np.array_equal(found.inclusion > 0.5, [True, True, False, False, False, False])
    assert np.all(found.sd > 0)
    assert not np.allclose(found.sd, settings.initial_sd)


def test_members_of_a_mean_field_fit_are_draws_of_theta() -> None:
    found = fit(two_of_six(), replace(QUICK, posterior="mean-field", prune=0.0))
    members = draw_members(found, SE, 4000, np.random.default_rng(0))
    thetas = np.array([member.parameters.theta for member in members])
    assert thetas.mean(0) == pytest.approx(found.theta, abs=5 * found.sd.max() / np.sqrt(4000))
    assert thetas.std(0) == pytest.approx(found.sd, rel=0.1)
    assert members[0].parameters.noise == found.parameters.noise


# --- the walk -----------------------------------------------------------------------------------------------


def test_the_relevant_inputs_are_found_and_the_rest_pruned() -> None:
    found = fit(two_of_six(), PaperSettings(first_steps=100, steps=50))
    assert np.array_equal(found.active, [0, 1])
    assert found.inclusion[:2] == pytest.approx(1.0)
    assert not found.inclusion[2:].any()
    assert found.xi == pytest.approx((2.0 + 1e-3, 4.0 + 1e-3))


def test_pruned_inputs_stay_out() -> None:
    train = two_of_six(d=20)
    sets: list[int] = []
    prior = prior_at(QUICK, 1e5)
    rng = np.random.default_rng(0)
    found = acavi.run(train, SE, PointMass(Roots()), prior, QUICK, rng, lambda at: sets.append(len(at.active)))
    assert sets == sorted(sets, reverse=True)
    assert list(found.sizes) == sets
    assert not found.inclusion[np.setdiff1d(np.arange(20), found.active)].any()


def test_the_trace_is_the_elbo_at_the_end_of_the_round() -> None:
    train, settings = two_of_six(), replace(QUICK, rounds=1, prune=0.0)
    found = fit(train, settings)
    beliefs = spike_slab.Beliefs(found.inclusion, found.xi)
    prior = spike_slab.elbo_terms(prior_at(settings, 1e4), found.theta**2, beliefs).total
    # the noise of the fit contains the jitter already
    assert found.trace[-1] == pytest.approx(log_likelihood(SE, train.X, train.y, found.parameters) + prior)


def test_without_any_input_left_a_constant_process_is_fitted() -> None:
    settings = PaperSettings(first_steps=60, steps=60)
    found = fit(two_of_six(), settings, v=1.0)
    assert found.active.size == 0
    assert np.isfinite(found.trace).all()
    assert found.parameters.noise == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize("kernel", ["se", "matern32", "cauchy", "linear", "poly", "periodic", "se+linear"])
@pytest.mark.parametrize("kind", ["nearest", "uniform"])
def test_every_kernel_and_minibatch_walks(kernel: str, kind: str) -> None:
    walk = PaperSettings(first_steps=15, steps=10, rounds=2)
    settings = replace(walk, minibatch=12, minibatch_kind=kind, candidates=30)
    found = fit(two_of_six(), settings, v=1e5, kernel=kernel)
    assert np.isfinite(found.trace).all()
    assert np.isfinite(found.theta).all()


def test_a_callback_hears_every_round() -> None:
    heard: list[Progress] = []
    grid(two_of_six(), SE, QUICK, np.random.default_rng(0), callback=heard.append)
    assert [(at.v, at.round) for at in heard] == [(v, k) for v in QUICK.v for k in (1, 2, 3)]


# --- the grid -----------------------------------------------------------------------------------------------


def test_the_grid_does_not_depend_on_the_number_of_jobs() -> None:
    settings = replace(QUICK, minibatch=0.5)
    one = grid(two_of_six(), SE, settings, np.random.default_rng(5), n_jobs=1)
    two = grid(two_of_six(), SE, settings, np.random.default_rng(5), n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.theta, b.theta)
        assert np.array_equal(a.trace, b.trace)


def test_a_shared_first_round_changes_little_on_full_batches() -> None:
    own = grid(two_of_six(), SE, QUICK, np.random.default_rng(0))
    shared = grid(two_of_six(), SE, replace(QUICK, shared_first_round=True), np.random.default_rng(0))
    for a, b in zip(own, shared, strict=True):
        assert np.array_equal(a.active, b.active)
        assert b.theta == pytest.approx(a.theta, abs=1e-3)


@pytest.mark.parametrize("kernel", ["se", "matern32", "linear"])
def test_single_precision_of_a_wide_pool_does_not_change_the_answer(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = two_of_six(n=120, d=300)
    # by logs: a root of the noise passes zero, after which two walks that differ by one rounding go apart
    settings = PaperSettings(
        first_steps=150, steps=40, rounds=3, minibatch=60, learning_rate=0.01, parametrisation="log"
    )
    double = [fit(train, settings, v, kernel=kernel) for v in (1e3, 1e5)]
    monkeypatch.setattr(minibatch, "HELD", 2000)  # all rows with more than 16 inputs
    single = [fit(train, settings, v, kernel=kernel) for v in (1e3, 1e5)]
    for a, b in zip(double, single, strict=True):
        assert np.array_equal(a.sizes, b.sizes)
        assert np.array_equal(a.active, b.active)
        assert b.inclusion == pytest.approx(a.inclusion, abs=1e-4)
        assert b.theta == pytest.approx(a.theta, abs=1e-3)
        assert b.trace == pytest.approx(a.trace, rel=1e-3)
        assert not np.array_equal(a.theta, b.theta)  # else the pool was in double precision


def test_settings_resolve_to_the_numbers_of_the_appendix() -> None:
    plain, field = PaperSettings(), PaperSettings(posterior="mean-field")
    assert [plain.learning_rate_for(n) for n in (300, 10**6)] == [0.05, 0.01]
    assert [field.learning_rate_for(n) for n in (300, 10**6)] == [0.01, 0.01]
    assert [s.minibatch_for(300) for s in (plain, field)] == [75, 300]
    assert [plain.minibatch_for(n) for n in (10**4, 10**6)] == [256, 256]
    assert plain.learning_rate_for(10**4) == 0.01
    assert [field.rounds_for(n) for n in (300, 10**6)] == [5, 5]
    assert [plain.rounds_for(n) for n in (2000, 2001)] == [10, 5]  # the text has 5, print needs the authors' 10
    assert replace(plain, minibatch=1.0).rounds_for(300) == 5
    assert replace(plain, rounds=3).rounds_for(300) == 3
    assert replace(plain, minibatch=64).minibatch_for(300) == 64
    assert replace(plain, minibatch=64).minibatch_for(50) == 50
    with pytest.raises(ValueError, match="above zero"):
        replace(plain, minibatch=0).minibatch_for(300)
    with pytest.raises(ValueError, match="'zero-temperature' or 'mean-field'"):
        family_of(replace(plain, posterior="full"))


# --- A.8: shrinkage -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One input, and bounds B on the gradient of log p and C on its slope, from a fine grid over theta."""

    X: np.ndarray
    y: np.ndarray

    def slope(self, theta: float) -> float:
        at = Parameters(np.array([theta]), 1.0, 0.3)
        return float(gradient(SE, self.X, self.y, at).theta[0])

    def bounds(self) -> tuple[float, float]:
        thetas = np.linspace(0.0, 30.0, 3001)
        slopes = np.array([self.slope(theta) for theta in thetas])
        # a tenth more than the grid shows, for what lies between its points
        return 1.1 * float(np.abs(slopes).max()), 1.1 * float(np.abs(np.diff(slopes)).max() / thetas[1])


def inclusion(prior: SpikeSlab, pi: float, mu: float) -> float:
    """lambda of eq. 6 for a fixed pi."""
    log_odds = float(np.log1p(-pi) - np.log(pi))
    return float(expit(spike_slab.inclusion_logits(prior, np.array([mu**2]), log_odds))[0])


def ascend(line: Line, prior: SpikeSlab, pi: float, rate: float, mu: float, rounds: int) -> float:
    """The simplified a-CAVI of A.8: constant rate, fixed pi and phi, twenty steps a round."""
    for _ in range(rounds):
        precision = float(spike_slab.penalty(prior, np.array([inclusion(prior, pi, mu)]))[0])
        for _ in range(20):
            mu += rate * (line.slope(mu) - precision * mu)
    return mu


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_small_inclusion_shrinks_theta_to_the_neighbourhood_of_zero(sign: float) -> None:
    x = np.random.default_rng(0).standard_normal(15)
    line = Line(x[:, None], np.sin(2.0 * x))
    bound, smoothness = line.bounds()
    kappa, epsilon, pi, c = bound, 0.5, 0.5, 1e-8
    log_ratio = float(np.log(epsilon * (1 - pi) / (np.sqrt(c) * (1 - epsilon) * pi)))
    # half of the largest delta at which the two sides of the condition on v meet
    delta = 0.5 * 2.0 * log_ratio * (1 - epsilon) / ((1 - c) * (bound + kappa))
    low, high = (bound + kappa) / (delta * (1 - epsilon)), 2.0 * log_ratio / (delta**2 * (1 - c))
    assert low < high
    prior = SpikeSlab(float(np.sqrt(low * high)), c)
    alpha = min(delta, kappa / (smoothness + prior.v))
    rate = alpha / (bound + prior.v * (delta + alpha))
    # outside the neighbourhood, yet with an inclusion just below epsilon
    start = sign * 0.999 * spike_slab.intersection_at(prior, pi)
    assert abs(start) > delta
    assert 0.4 < inclusion(prior, pi, start) <= epsilon
    assert abs(ascend(line, prior, pi, rate, start, rounds=60)) <= delta
    # the data want the input: without the pull of the spike the same ascent goes away from zero
    free = start
    for _ in range(600):
        free += rate * line.slope(free)
    assert abs(free) > abs(start)
