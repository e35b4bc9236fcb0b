"""What is particular to the linear and additive rivals: paths, orthonormal groups, the spike-and-slab group LASSO."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from ssvgp import peers
from ssvgp.peers import group_ssl
from ssvgp.peers.folds import choose, falling
from ssvgp.peers.group_ssl import Mixture, Problem
from ssvgp.peers.splines import Groups, SplineBasis

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def problem(rng):
    """Forty inputs, two of which matter, on sixty rows."""
    X = rng.normal(size=(60, 40))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=60)
    groups = Groups.fit(SplineBasis(4).fit(X).transform(X))
    design = groups.transform(SplineBasis(4).fit(X).transform(X))
    return Problem(design, (y - y.mean()) / y.std(), groups.ranks, slab=1.0, a=1.0, b=40.0)


def test_groups_are_centred_and_orthonormal_whatever_an_input_looks_like(rng):
    skewed = np.exp(rng.normal(size=50))
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 2, 50), rng.integers(0, 3, 50), skewed])
    columns = SplineBasis(6).fit(X).transform(X)
    groups = Groups.fit(columns)
    design = groups.transform(columns).reshape(50, 4, 6)
    np.testing.assert_array_equal(groups.ranks, [6, 1, 2, 6])
    for g in range(4):
        block = design[:, g]
        gram = block.T @ block / 50
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8)
        np.testing.assert_allclose(np.sort(np.diag(gram))[::-1], np.arange(6) < groups.ranks[g], atol=1e-8)
        np.testing.assert_allclose(block.mean(axis=0), 0.0, atol=1e-8)


def test_groups_span_a_cubic_inside_and_go_on_as_a_line_outside(rng):
    X = np.sort(rng.uniform(-1, 1, size=(80, 1)), axis=0)
    basis = SplineBasis(6).fit(X)
    groups = Groups.fit(basis.transform(X))
    design = groups.transform(basis.transform(X))
    cubic = X[:, 0] ** 3 - X[:, 0] ** 2
    centred = cubic - cubic.mean()
    np.testing.assert_allclose(design @ (design.T @ centred) / 80, centred, atol=1e-8)
    outside = groups.transform(basis.transform(np.array([[2.0], [3.0], [4.0]])))
    np.testing.assert_allclose(outside[0] + outside[2], 2 * outside[1], rtol=1e-8, atol=1e-8)


def test_the_chosen_penalty_is_that_of_the_smallest_error_and_unreached_ones_are_passed_over():
    y = np.arange(12.0)

    def path(X, y, new, penalties):
        # Off by the penalty: the smallest wins, but one fold never reached it.
        guesses = new[:, 0] + penalties[:, None]
        guesses[-1, 0 if 0.0 in new else slice(0, 0)] = np.nan
        return guesses

    choice = choose(path, y[:, None], y, np.array([3.0, 2.0, 1.0]), 4, 0)
    assert (choice.place, choice.penalty) == (1, 2.0) and choice.error == pytest.approx(4.0)
    assert falling(2.0, 10, 5, 3) == pytest.approx([2.0, 2.0 * np.sqrt(1e-3), 2e-3])


def test_the_penalty_is_minus_the_logarithm_of_the_mixture_and_its_slope_the_derivative():
    mixture = Mixture(spike=12.0, slab=1.0, theta=0.2, rank=3)

    def plain(t):
        return -np.log(0.2 * 1.0**3 * np.exp(-t) + 0.8 * 12.0**3 * np.exp(-12.0 * t))

    for t in (0.0, 0.1, 0.7, 3.0):
        assert mixture.value(t) == pytest.approx(plain(t) - plain(0.0), abs=1e-10)
        if t > 0:
            assert mixture.slope(t) == pytest.approx((plain(t + 1e-6) - plain(t - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("spike", [1.0, 5.0, 40.0, 400.0])
def test_the_coordinate_step_is_the_minimum_over_the_whole_group(spike, rng):
    n, sigma2 = 50, 0.3
    block = np.linalg.qr(rng.normal(size=(n, 3)))[0] * np.sqrt(n)
    mixture = Mixture(spike, 1.0, 0.1, 3)
    for scale in (0.02, 0.1, 0.3, 0.6, 1.5):
        y = scale * block @ np.array([0.6, -0.5, 0.3]) + 0.1 * rng.normal(size=n)
        direction = block.T @ y
        pull = np.sqrt(direction @ direction)
        length = group_ssl.best_length(pull, n, sigma2, mixture)

        def cost(b, y=y, block=block):
            return np.sum((y - block @ b) ** 2) / (2 * sigma2) + mixture.value(float(np.sqrt(b @ b)))

        starts = [np.zeros(3), direction / n, 0.3 * direction / n, rng.normal(size=3)]
        fine = {"xatol": 1e-9, "fatol": 1e-11}
        brute = min(minimize(cost, start, method="Nelder-Mead", options=fine).fun for start in starts)
        assert cost(direction / pull * length) <= brute + 1e-7
        # A group leaves zero exactly where the threshold says.
        assert (length > 0) == (pull > group_ssl.threshold(n, sigma2, mixture))


def test_every_sweep_lowers_the_objective_at_fixed_theta_and_sigma2(problem):
    state = problem.start()
    values = [group_ssl.objective(problem, state, 30.0)]
    for _ in range(6):
        state = group_ssl.sweep(problem, state, 30.0, np.arange(40))
        values.append(group_ssl.objective(problem, state, 30.0))
    assert np.all(np.diff(values) <= 1e-10) and values[-1] < values[0] - 1.0
    design, fitted = problem.design, state.coefficients.ravel()
    np.testing.assert_allclose(state.residual, problem.y - design @ fitted, atol=1e-10)


def test_active_groups_alone_reach_a_state_that_full_sweeps_leave_where_it_is(problem):
    settled = group_ssl.settle(problem, problem.start(), 30.0, tol=1e-9)
    again = group_ssl.sweep(problem, settled, 30.0, np.arange(40))
    assert 0 < np.any(settled.coefficients, axis=1).sum() < 40
    np.testing.assert_allclose(again.coefficients, settled.coefficients, atol=1e-6)


def test_a_spike_as_wide_as_the_slab_is_the_group_lasso(problem):
    pytest.importorskip("skglm")
    from ssvgp.peers.additive import group_lasso_path

    # ||y - Zb||^2 / 2 sigma2 + slab sum ||b_g|| is skglm's problem with sigma2 slab / n = penalty sqrt(rank).
    penalty, n = 0.08, len(problem.y)
    start = problem.start()
    slab = penalty * 2.0 * n / start.sigma2
    ours = group_ssl.settle(Problem(problem.design, problem.y, problem.ranks, slab), start, slab, tol=1e-10)
    theirs = group_lasso_path(problem.design, problem.y, problem.ranks, np.array([0.2, penalty]))[-1]
    assert 1 < np.any(theirs, axis=1).sum() < 40
    np.testing.assert_allclose(ours.coefficients, theirs, atol=1e-4)


def test_a_group_without_columns_stays_out_and_does_not_stop_the_others(problem):
    pytest.importorskip("skglm")
    from ssvgp.peers.additive import group_lasso_path

    # an input that is constant in a fold
    width = problem.design.shape[1] // len(problem.ranks)
    design, ranks = problem.design.copy(order="F"), problem.ranks.copy()
    design[:, -width:], ranks[-1] = 0.0, 0
    found = group_lasso_path(design, problem.y, ranks, np.array([0.2, 0.01]))[-1]
    assert np.all(found[-1] == 0.0) and np.any(found[0] != 0.0) and np.all(np.isfinite(found))


def test_the_path_of_rising_spikes_ends_at_the_truth_where_the_signal_is_strong(problem):
    path = group_ssl.climb(problem, np.geomspace(20.0, 2000.0, 12))
    np.testing.assert_array_equal(np.flatnonzero(np.any(path[-1].coefficients, axis=1)), [0, 1])


def test_mcp_does_not_shrink_a_strong_effect_as_the_lasso_does(rng):
    pytest.importorskip("skglm")
    from ssvgp.peers.linear import mcp_path

    X = rng.normal(size=(40, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(40)
    y = 2.0 * X[:, 0] + 0.05 * X[:, 1]
    weights = mcp_path(X, y, np.array([0.5, 0.2]), 3.0)[-1]
    # Beyond gamma times the penalty MCP is flat; below the penalty it is zero.
    assert weights[0] == pytest.approx(2.0, abs=1e-4)
    assert weights[1] == weights[2] == 0.0


def test_the_weighted_group_lasso_balances_every_group_against_its_weight(problem):
    """At the minimum Z_g'r / n = weight_g b_g / ||b_g|| for a group that is in, and is no longer than it otherwise."""
    pytest.importorskip("skglm")
    from ssvgp.peers.additive import weighted_group_lasso

    weights = np.linspace(0.05, 0.4, 40)
    found = weighted_group_lasso(problem.design, problem.y, weights, np.zeros((40, 4)), tol=1e-10)
    residual = problem.y - problem.design @ found.ravel()
    pulls = (problem.design.T @ residual).reshape(40, 4) / len(problem.y)
    lengths = np.sqrt(np.sum(found**2, axis=1))
    inside = lengths > 0
    assert 1 < inside.sum() < 40
    directions = found[inside] / lengths[inside, None]
    np.testing.assert_allclose(pulls[inside], weights[inside, None] * directions, atol=1e-6)
    assert np.all(np.sqrt(np.sum(pulls[~inside] ** 2, axis=1)) <= weights[~inside] + 1e-8)


def test_raw_lengths_are_those_of_the_shortest_coefficients_of_all_standardised_b_splines(rng):
    """As grpreg has them: least squares on all six standardised B-splines by the singular values, then unscaled."""
    from ssvgp.peers.additive_ssl_fixed import Splines

    X = rng.uniform(size=(80, 3))
    columns = SplineBasis(5).fit(X).transform(X)
    splines, coefficients = Splines.of(columns), rng.normal(size=(3, 5))
    for j in range(3):
        whole = np.column_stack([columns[:, j], 1.0 - columns[:, j].sum(axis=1)])
        effect = splines.groups.transform(columns).reshape(80, 3, 5)[:, j] @ coefficients[j]
        standardised = (whole - whole.mean(axis=0)) / whole.std(axis=0)
        shortest = np.linalg.lstsq(standardised, effect, rcond=1e-10)[0] / whole.std(axis=0)
        assert splines.raw_lengths(coefficients)[j] == pytest.approx(np.linalg.norm(shortest), rel=1e-6)


def test_a_spike_that_lets_nothing_in_ends_the_inclusion_rate_for_good(problem):
    """After it the path is a plain group LASSO, which a path that starts at the second spike is not."""
    pytest.importorskip("skglm")
    from ssvgp.peers.additive import weighted_group_lasso
    from ssvgp.peers.additive_ssl_fixed import Splines, alternate

    X = np.random.default_rng(3).normal(size=(60, 40))
    splines, y = Splines.of(SplineBasis(4).fit(X).transform(X)), 3.0 * problem.y
    nothing = alternate(splines, y, 600.0, 1.0, splines.empty())
    assert nothing.rate == 0.0 and not nothing.coefficients.any()
    after, alone = (alternate(splines, y, 20.0, 1.0, start) for start in (nothing, splines.empty()))
    plain = weighted_group_lasso(splines.design, y, np.full(40, 20.0 / 60), np.zeros((40, 4)), tol=1e-8)
    np.testing.assert_allclose(after.coefficients, plain, atol=1e-4)
    assert after.rate == 0.0 and alone.rate > 0.0
    assert np.linalg.norm(alone.coefficients) > 1.05 * np.linalg.norm(plain)  # the slab shrinks less


def test_a_fixed_noise_variance_makes_the_selection_depend_on_the_units_of_y(rng):
    pytest.importorskip("skglm")
    X = rng.normal(size=(60, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=60)
    small, large = (peers.make("gam_ssl_fixed", spikes=5).fit(X, unit * y).relevance() for unit in (0.05, 1.0))
    assert not small.selected.any() and large.selected[:2].all()


def test_knots_of_new_rows_stretch_an_effect_to_their_range(rng):
    pytest.importorskip("skglm")
    X = rng.uniform(size=(80, 2))
    y = X[:, 0] + 0.01 * rng.normal(size=80)
    half = np.column_stack([np.linspace(0.25, 0.75, 30), rng.uniform(size=30)])
    own, stretched = (
        peers.make("gam_lasso", folds=4, penalties=20, knots=knots).fit(X, y).predict(half).mean
        for knots in ("training", "new")
    )
    assert np.ptp(own) == pytest.approx(0.5, abs=0.05) and np.ptp(stretched) == pytest.approx(1.0, abs=0.1)
    with pytest.raises(ValueError, match="more rows"):
        peers.make("gam_lasso", folds=4, penalties=20, knots="new").fit(X, y).predict(half[:1])
    with pytest.raises(ValueError, match="knots"):
        peers.make("gam_lasso", knots="old")
