"""The posterior over weak terms, against all of its sets and strengths one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import betaln

from ssvgp.evidence.unvisited.factors import THETAS
from ssvgp.large.posterior import draw
from ssvgp.large.rows import Sums
from ssvgp.large.terms import Beliefs, Terms, log_cells, log_factors, shape_variances
from ssvgp.model.priors import log_set_prior
from ssvgp.settings import Prior

PRIOR = Prior(slab_scales=(0.2, 0.8)).for_data(10_000, 12)
N = 10_000


def beliefs(taus: tuple[float, ...] = (1.0,)) -> Beliefs:
    return Beliefs(PRIOR, np.array([0.6, 0.4]), np.array(taus))


def sums_of(z: np.ndarray, correlation: float = 0.0) -> Sums:
    """Sums of standardised features with these ratios of estimate and standard error, two of them correlated."""
    C = np.eye(z.size)
    if correlation:
        C[0, 1] = C[1, 0] = correlation
    C *= N
    g = np.sqrt(N) * (C / N) @ z
    return Sums(g, C, float(N + g @ np.linalg.solve(C, g)), N)


def single_terms(count: int, d: int = 12, strong: frozenset[int] = frozenset({11})) -> Terms:
    features = np.column_stack([np.arange(count), np.full((count, 1), -1)])
    variances = np.ones((count, THETAS.size, 2))
    variances[:, :, 0] = shape_variances(1)[:, 0]
    return Terms(features, np.repeat(np.arange(count)[:, None], 2, axis=1), variances, strong, d)


def enumerated(sums: Sums, terms: Terms, given: Beliefs, pairs: tuple[int, ...] = ()) -> np.ndarray:
    """P(term) by adding up all sets, strengths and slab scales, the scale of the sums held at one."""
    cells, total, there = log_cells(PRIOR.slabs), -np.inf, np.full(len(terms), -np.inf)
    for nodes in product(range(-1, THETAS.size), repeat=len(terms)):
        on = [t for t, node in enumerate(nodes) if node >= 0]
        rows = [int(terms.features[t, 0]) for t in on]
        rho = np.array([terms.variances[t, nodes[t], 0] for t in on]) * given.taus[0]
        M = sums.C[np.ix_(rows, rows)] + np.diag(1.0 / rho)
        worth = 0.5 * (sums.g[rows] @ np.linalg.solve(M, sums.g[rows]) - np.linalg.slogdet(M)[1] - np.log(rho).sum())
        inputs = {int(j) for t in on for j in terms.inputs[t]} - terms.strong
        size, strong = len(inputs) + len(terms.strong), len(terms.strong)
        worth += log_set_prior(size, terms.d, PRIOR)
        q = sum(t in pairs for t in on)
        if q:
            possible = (size * (size - 1) - strong * (strong - 1)) // 2
            worth += betaln(possible - q + 1, q + 1) + np.log(possible + 1.0) - q * np.log(2.0)
            worth -= len({int(j) for t in on if t in pairs for j in terms.inputs[t]} - terms.strong) * np.log(2.0)
        worth += np.log(np.exp(cells[:, [nodes[t] for t in on]].sum(axis=1)) @ given.scale_shares)
        total = np.logaddexp(total, worth)
        there[on] = np.logaddexp(there[on], worth)
    return np.exp(there - total)


@pytest.mark.parametrize(("correlation", "error"), [(0.0, 0.04), (0.9, 0.1)])
def test_draws_agree_with_all_sets(correlation: float, error: float) -> None:
    """Two hundred draws err by a few hundredths, by more where two inputs change places."""
    sums, terms = sums_of(np.array([3.4, 1.0, 4.2]), correlation), single_terms(3)
    found = draw(sums, terms, beliefs(), np.random.default_rng(0))
    expected = enumerated(sums, terms, beliefs())
    assert found.terms == pytest.approx(expected, abs=error)
    assert [found.inputs[j] for j in range(3)] == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_term_is_there_in_as_many_draws_as_its_probability_says(seed: int) -> None:
    """Coefficients come from what is there, probabilities from odds: once a third more often than these said."""
    sums, terms, given = sums_of(np.array([3.0])), single_terms(1), beliefs()
    found = draw(sums, terms, given, np.random.default_rng(seed))
    rho = terms.variances[0, :, 0]
    worth = 0.5 * rho * sums.g[0] ** 2 / (1.0 + rho * N) - 0.5 * np.log1p(rho * N)
    weights = np.exp(worth) * (given.scale_shares @ np.exp(log_cells(PRIOR.slabs)))
    each = sums.g[0] * rho / (1.0 + rho * N)  # the coefficient at every strength
    expected = enumerated(sums, terms, given)[0] * float(weights @ each / weights.sum())
    assert found.mean[0] == pytest.approx(expected, rel=0.3)


def with_product() -> Terms:
    """Two single inputs, and the product of the first and a third."""
    terms = single_terms(2)
    both = Terms(
        np.array([[0, -1], [1, -1], [2, -1]]),
        np.array([[0, 0], [1, 1], [0, 2]]),
        np.concatenate([terms.variances, terms.variances[:1]]),
        terms.strong,
        terms.d,
    )
    both.variances[2, :, 0] = shape_variances(1)[:, 0] ** 2
    return both


def test_products_bring_their_inputs() -> None:
    both, sums = with_product(), sums_of(np.array([2.0, 3.0, 5.5]))
    found, expected = draw(sums, both, beliefs(), np.random.default_rng(0)), enumerated(sums, both, beliefs(), (2,))
    assert found.terms == pytest.approx(expected, abs=0.05)
    assert found.inputs[2] == pytest.approx(expected[2], abs=0.05) and found.inputs[0] >= found.inputs[2] - 0.05


def test_an_input_that_a_doubtful_product_has_too_keeps_the_probability_of_its_own_term() -> None:
    """The product is next to impossible: the input is there by itself, with its odds, not as often as draws had it."""
    both, sums = with_product(), sums_of(np.array([3.4, 1.0, 0.0]))
    expected = enumerated(sums, both, beliefs(), (2,))
    found = [draw(sums, both, beliefs(), np.random.default_rng(seed)).inputs[0] for seed in range(4)]
    assert found == pytest.approx(np.full(4, expected[0]), abs=0.03)


def test_coefficients_are_those_of_ridge_regression_where_terms_are_certain() -> None:
    sums, terms = sums_of(np.array([40.0, 60.0])), single_terms(2)
    found = draw(sums, terms, beliefs(), np.random.default_rng(0))
    assert (found.terms > 0.999).all()
    assert found.mean == pytest.approx(np.linalg.solve(sums.C, sums.g), rel=0.02)
    assert np.sqrt(np.diagonal(found.covariance)) == pytest.approx(np.full(2, 0.01), rel=0.3)
    assert found.explained == pytest.approx(1.0 - N / sums.q, rel=0.02)


def test_noise_has_no_terms_and_prior_odds_are_left_for_others() -> None:
    z = np.random.default_rng(4).standard_normal(8)
    found = draw(sums_of(z), single_terms(8, d=300), beliefs(), np.random.default_rng(0))
    assert found.terms.max() < 0.1 and found.explained < 0.01
    step = np.exp(log_set_prior(2, 300, PRIOR) - log_set_prior(1, 300, PRIOR))
    assert found.odds.sum() == pytest.approx(step, rel=0.2)


def test_a_scale_that_nobody_has_fixed_is_drawn_too() -> None:
    sums, terms = sums_of(np.array([30.0])), single_terms(1, strong=frozenset())
    found = draw(sums, terms, beliefs((0.2, 1.6, 12.0)), np.random.default_rng(0))
    assert found.terms[0] > 0.999 and found.mean[0] == pytest.approx(0.3, rel=0.03)


def test_variances_of_shapes_are_those_of_the_kernel() -> None:
    """For small theta the k-th power of theta^2; all shapes together never more than the kernel has."""
    found = shape_variances(3)
    assert found[0] == pytest.approx(THETAS[0] ** np.array([2.0, 4.0, 6.0]), rel=0.01)
    assert (found.sum(axis=1) < 1.0).all() and (np.diff(found[:, 0])[:5] > 0).all()


def test_factors_of_single_terms_are_closed_form() -> None:
    gain, cost, rho = np.array([[30.0], [5.0]]), np.array([[90.0], [80.0]]), shape_variances(2)
    found = log_factors(gain, cost, rho, np.array([2.0]))[:, 0]
    for node, expected in enumerate(found):
        D = np.diag(2.0 * rho[node])
        M = np.diag(cost[:, 0]) + np.linalg.inv(D)
        worth = gain[:, 0] @ np.linalg.solve(M, gain[:, 0]) - np.linalg.slogdet(M)[1] - np.linalg.slogdet(D)[1]
        assert expected == pytest.approx(0.5 * worth)
