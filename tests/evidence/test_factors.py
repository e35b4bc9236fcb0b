"""Bayes factors of excluded inputs: the rank-one formula, the measured integral and the cells of the slab."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import halfnorm

from ssvgp.evidence.laplace import Block, Fit, Problem, fit, mode, states, with_curvature
from ssvgp.evidence.unvisited import factors as module
from ssvgp.evidence.unvisited.factors import (
    THETAS,
    bayes_factors,
    correction,
    log_bayes_factors,
    measured,
    slab_cells,
)
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import log_likelihood
from ssvgp.model.priors import Candidate, log_set_prior
from ssvgp.search.screen import Scores, screen
from ssvgp.settings import Prior
from ssvgp.settings.regime import MEASURED_INPUTS


def problem(kernel: str = "se", n: int = 40, d: int = 6, blocks: int = 1, first: int = 0) -> Problem:
    """Input 0 matters a lot, input 1 a little, the rest not at all."""
    parts = []
    for seed in range(first, first + blocks):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        parts.append(Block(X, np.sin(X[:, 0]) + 0.25 * X[:, 1] + 0.4 * rng.standard_normal(n)))
    return Problem(tuple(parts), kernel_named(kernel), Prior().for_data(n * blocks, d))


def fitted(case: Problem, active: tuple[int, ...]) -> Fit:
    start = np.array([-1.0] * len(active) + ([0.5] if active else []) + [-1.0])
    return with_curvature(case, fit(case, Candidate(active), start))


def scores(case: Problem, found: Fit) -> Scores:
    scale = mode(case, found).scale or 1.0
    return screen([b.X for b in case.blocks], states(case, found), scale)


def base(case: Problem, found: Fit) -> float:
    """log likelihood of a set at its mode."""
    at, active = mode(case, found), list(found.candidate.active)
    return sum(log_likelihood(case.kernel, b.X[:, active], b.y, at) for b in case.blocks)


def rise(case: Problem, found: Fit, j: int, theta: float) -> float:
    """log likelihood with input j added at theta, less that without it."""
    at, active = mode(case, found), list(found.candidate.active)
    more = replace(at, theta=np.append(at.theta, theta))
    return sum(
        log_likelihood(case.kernel, b.X[:, [*active, j]], b.y, more)
        - log_likelihood(case.kernel, b.X[:, active], b.y, at)
        for b in case.blocks
    )


def test_the_rank_one_formula_is_exact_for_a_linear_kernel() -> None:
    case = problem("linear")
    found = fitted(case, (0,))
    seen = scores(case, found)
    for j in range(1, 6):
        for theta in (0.05, 0.3, 1.5):
            grown = 1.0 + theta**2 * seen.cost[j]
            formula = -0.5 * np.log(grown) + 0.5 * theta**2 * seen.gain[j] / grown
            assert formula == pytest.approx(rise(case, found, j, theta), abs=1e-8)


def test_the_formula_and_the_measured_factor_agree_for_a_linear_kernel() -> None:
    case = problem("linear")
    found = fitted(case, (0,))
    seen = scores(case, found)
    table = log_bayes_factors(seen.gain, seen.cost, case.prior)
    for j in range(1, 6):
        assert table[:, j] == pytest.approx(measured(case, found, j, np.ones(1), base(case, found)), abs=1e-6)


@pytest.mark.parametrize("kernel", ["se", "rq", "linear"])
@pytest.mark.parametrize("blocks", [1, 2])
def test_the_slope_in_the_square_of_theta_is_exact(kernel: str, blocks: int) -> None:
    case = problem(kernel, blocks=blocks)
    found = fitted(case, (0,))
    seen = scores(case, found)
    for j in range(1, 6):
        rho = 1e-6
        slope = (4.0 * rise(case, found, j, np.sqrt(rho)) - rise(case, found, j, np.sqrt(2.0 * rho))) / (2.0 * rho)
        assert 0.5 * (seen.gain[j] - seen.cost[j]) == pytest.approx(slope, rel=1e-3, abs=1e-3)


def dense_factors(case: Problem, found: Fit, j: int) -> np.ndarray:
    """log Bayes factors (scales,) by Gauss-Legendre over theta in (0, 6 s), everything else at the mode."""
    x, w = np.polynomial.legendre.leggauss(60)
    out = []
    for s in case.prior.slabs:
        theta = 3.0 * s * (x + 1.0)
        values = [rise(case, found, j, t) for t in theta]
        out.append(logsumexp(values, b=3.0 * s * w * halfnorm.pdf(theta, scale=s)))
    return np.array(out)


@pytest.mark.parametrize("kernel", ["se", "linear"])
def test_the_measured_factor_is_that_of_dense_quadrature(kernel: str) -> None:
    case = problem(kernel)
    found = fitted(case, (0,))
    for j in (1, 2, 5):
        factor = measured(case, found, j, np.ones(1), base(case, found))
        assert factor == pytest.approx(dense_factors(case, found, j), abs=0.25)


def test_the_formula_before_any_correction_is_near_dense_quadrature_for_an_idle_input() -> None:
    case = problem(n=80)
    found = fitted(case, (0, 1))
    seen = scores(case, found)
    table = log_bayes_factors(seen.gain, seen.cost, case.prior)
    for j in (2, 3, 4, 5):
        assert table[:, j] == pytest.approx(dense_factors(case, found, j), abs=1.5)


def test_few_inputs_are_measured_and_those_inside_may_not_join() -> None:
    case = problem()
    found = fitted(case, (0,))
    seen = scores(case, found)
    table = bayes_factors(case, found, seen.gain, seen.cost, MEASURED_INPUTS)
    assert np.all(table[:, 0] == -np.inf)
    assert table[:, 3] == pytest.approx(measured(case, found, 3, np.ones(1), base(case, found)))
    assert np.all(correction(case, found, table, MEASURED_INPUTS) == 0.0)


def test_the_correction_carries_the_formula_to_what_is_measured() -> None:
    """In the mean over draws: it is a median over few inputs, which chance may turn the wrong way in one of them."""
    errors = []
    for first in range(6):
        case = problem(d=MEASURED_INPUTS + 12, n=60, first=first)
        found = fitted(case, (0, 1))
        seen = scores(case, found)
        table = bayes_factors(case, found, seen.gain, seen.cost, MEASURED_INPUTS)
        mended = table + correction(case, found, table, MEASURED_INPUTS)[:, None]
        outside = range(2, MEASURED_INPUTS + 12)
        exact = np.array([measured(case, found, j, np.ones(1), base(case, found)) for j in outside]).T
        errors.append([np.abs(t[:, 2:] - exact).mean() for t in (table, mended)])
    before, after = np.mean(errors, axis=0)
    assert after < 0.9 * before
    assert after < 0.3


def test_the_factor_of_an_input_that_joins_the_empty_set_is_averaged_over_the_kernel_scale() -> None:
    case = problem()
    empty = fitted(case, ())
    at, scales = mode(case, empty), np.array([0.5, 2.0])
    each = []
    for tau in scales:
        with_scale = replace(at, scale=float(tau))
        b = case.blocks[0]
        values = [
            log_likelihood(case.kernel, b.X[:, [1]], b.y, replace(with_scale, theta=np.array([t])))
            - log_likelihood(case.kernel, b.X[:, []], b.y, at)
            for t in THETAS
        ]
        each.append([logsumexp(values, b=cell) for cell in slab_cells(case.prior.slabs).T])
    assert measured(case, empty, 1, scales, base(case, empty)) == pytest.approx(logsumexp(each, axis=0) - np.log(2.0))


def test_the_factor_of_an_idle_input_is_what_its_own_fit_says() -> None:
    """The measured price of a noise input, averaged over the slab scales, against its Laplace evidence."""
    case = problem(n=60)
    found = fitted(case, (0, 1))
    price = logsumexp(measured(case, found, 4, np.ones(1), base(case, found))) - np.log(len(case.prior.slabs))
    joined = fitted(case, (0, 1, 4))
    step = log_set_prior(3, 6, case.prior) - log_set_prior(2, 6, case.prior)
    assert price == pytest.approx(joined.log_evidence - found.log_evidence - step, abs=1.5)


def test_the_cells_of_every_slab_sum_to_one_and_follow_it() -> None:
    prior = Prior()
    cells = slab_cells(prior.slabs)
    assert cells.shape == (THETAS.size, len(prior.slabs))
    assert cells.sum(0) == pytest.approx(1.0)
    assert np.all(cells >= 0)
    edge = np.sqrt(THETAS[2] * THETAS[3])
    for s, column in zip(prior.slabs, cells.T, strict=True):
        assert column[:3].sum() == pytest.approx(halfnorm.cdf(edge, scale=s))


def test_the_formula_survives_costs_that_are_negative_or_nothing() -> None:
    gain, cost = np.array([5.0, 0.0, 1e4, -3.0]), np.array([-1.0, 0.0, 1.0, -4.0])
    assert np.isfinite(log_bayes_factors(gain, cost, Prior())).all()
    assert log_bayes_factors(np.zeros(1), np.zeros(1), Prior()) == pytest.approx(0.0, abs=1e-5)


def test_strengths_beyond_the_hopeless_ones_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(200)  # with so little noise idle inputs soon hurt
    case = Problem((Block(X, y),), kernel_named("se"), Prior().for_data(200, 4))
    found = fitted(case, (0, 1))
    asked: list[int] = []
    plain = module.stack_values
    monkeypatch.setattr(module, "stack_values", lambda *a: asked.append(len(a[3])) or plain(*a))
    few = measured(case, found, 3, np.ones(1), base(case, found))
    assert sum(asked) == THETAS.size // 2
    monkeypatch.setattr(module, "NEGLIGIBLE", np.inf)
    every = measured(case, found, 3, np.ones(1), base(case, found))
    assert sum(asked) == THETAS.size // 2 + THETAS.size
    assert few == pytest.approx(every, abs=1e-6)
    # an input that matters is tried at every strength
    asked.clear()
    monkeypatch.setattr(module, "NEGLIGIBLE", 12.0)
    lone = fitted(case, (1,))
    measured(case, lone, 0, np.ones(1), base(case, lone))
    assert sum(asked) == THETAS.size
