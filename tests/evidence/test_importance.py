"""Importance sampling: known integrals, two modes, curved targets, and one answer per seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import log_evidence_by_quadrature
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from ssvgp.evidence import importance as module
from ssvgp.evidence.ascent import SAME_MODE, Summit
from ssvgp.evidence.importance import LARGEST, all_modes, refine
from ssvgp.evidence.laplace import Block, Fit, Problem, fit, log_model_prior, with_curvature
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.priors import Candidate, log_set_prior
from ssvgp.run.workers import Executor
from ssvgp.settings import Prior

COVARIANCE = np.array([[0.5, 0.2, 0.0], [0.2, 0.3, -0.1], [0.0, -0.1, 0.4]])


def problem() -> Problem:
    X = np.random.default_rng(0).standard_normal((10, 3))
    return Problem((Block(X, X[:, 0]),), kernel_named("se"), Prior().for_data(10, 3))


def at_mode(centre: np.ndarray, covariance: np.ndarray, value: float = 0.0, active: tuple[int, ...] = (0,)) -> Fit:
    """A fit that claims a mode with a Laplace covariance, as the ascent would report it."""
    root = np.linalg.cholesky(covariance)
    volume = float(np.log(np.diagonal(root)).sum())
    summit = Summit(centre, value, np.zeros(centre.size), covariance, 1)
    evidence = value + 0.5 * centre.size * np.log(2 * np.pi) + volume
    return Fit(Candidate(active), summit, root, evidence, volume, True, 1)


def target(monkeypatch: pytest.MonkeyPatch, masses: list[float], centres: list[np.ndarray]) -> None:
    """Let the joint density of z be a sum of Gaussians with given masses."""
    parts = [multivariate_normal(c, COVARIANCE) for c in centres]

    def values(problem: Problem, candidate: Candidate, z: np.ndarray, workers: Executor, *rest: Any) -> np.ndarray:
        return np.array([logsumexp([p.logpdf(row) for p in parts], b=masses) for row in z])

    monkeypatch.setattr(module, "log_joint_values", values)


def test_the_mass_of_a_gaussian_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    centre = np.array([0.3, -1.0, 0.5])
    target(monkeypatch, [7.0], [centre])
    case = problem()
    drawn = refine(case, [at_mode(centre, COVARIANCE)], 256, seed=0)
    assert drawn.log_evidence == pytest.approx(np.log(7.0) + log_model_prior(Candidate((0,)), case), abs=0.02)
    assert drawn.effective > 0.7 * 256


def test_importance_weights_normalise_and_carry_the_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    centre = np.array([0.3, -1.0, 0.5])
    target(monkeypatch, [1.0], [centre])
    drawn = refine(problem(), [at_mode(centre + 0.2, 1.3 * COVARIANCE)], 512, seed=0)
    weights = np.exp(drawn.log_weights)
    assert weights.sum() == pytest.approx(1.0)
    assert drawn.effective == pytest.approx(1.0 / (weights**2).sum())
    mean = weights @ drawn.z
    assert mean == pytest.approx(centre, abs=0.05)
    gap = drawn.z - mean
    assert (gap.T * weights) @ gap == pytest.approx(COVARIANCE, abs=0.06)


def test_two_modes_that_are_both_given_count_with_their_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = np.array([0.0, 0.0, 0.0]), np.array([6.0, -6.0, 3.0])
    target(monkeypatch, [2.0, 3.0], [near, far])
    case, modes = problem(), [at_mode(near, COVARIANCE), at_mode(far, COVARIANCE)]
    prior = log_model_prior(Candidate((0,)), case)
    both = refine(case, modes, 512, seed=0)
    assert both.log_evidence == pytest.approx(np.log(5.0) + prior, abs=0.03)
    share = np.exp(both.log_weights)[both.z[:, 0] > 3.0].sum()
    assert share == pytest.approx(0.6, abs=0.02)
    alone = refine(case, modes[:1], 512, seed=0)
    assert alone.log_evidence == pytest.approx(np.log(2.0) + prior, abs=0.05)


def test_a_poor_proposal_is_adapted(monkeypatch: pytest.MonkeyPatch) -> None:
    target(monkeypatch, [4.0], [np.array([1.0, -0.6, 0.5])])
    case = problem()
    first = at_mode(np.zeros(3), COVARIANCE)
    with monkeypatch.context() as patch:
        patch.setattr(module, "ENOUGH", 0.0)  # as if one round were always enough
        once = refine(case, [first], 256, seed=0)
    adapted = refine(case, [first], 256, seed=0)
    assert adapted.effective > 2.0 * once.effective
    assert adapted.log_evidence == pytest.approx(np.log(4.0) + log_model_prior(Candidate((0,)), case), abs=0.1)


def test_where_one_draw_takes_all_the_weight_the_evidence_of_laplace_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "log_joint_values", lambda problem, candidate, z, *rest: -1e5 * z[:, 0])
    first = at_mode(np.zeros(3), COVARIANCE, value=-3.0)
    drawn = refine(problem(), [first], 16, seed=0)
    assert drawn.effective < module.FEWEST_EFFECTIVE
    assert drawn.log_evidence == first.log_evidence


def test_where_no_draw_can_be_factored_the_evidence_of_laplace_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "log_joint_values", lambda problem, candidate, z, *rest: np.full(len(z), -np.inf))
    with np.errstate(invalid="ignore"):
        drawn = refine(problem(), [at_mode(np.zeros(3), COVARIANCE, value=-3.0)], 16, seed=0)
    assert drawn.log_evidence == at_mode(np.zeros(3), COVARIANCE, value=-3.0).log_evidence
    assert drawn.effective == 0.0


def test_a_long_z_is_left_to_laplace() -> None:
    q = LARGEST + 1
    first = at_mode(np.zeros(q), np.eye(q), active=tuple(range(q - 2)))
    drawn = refine(problem(), [first], 64, seed=0)
    assert drawn.z.shape == (1, q)
    assert (drawn.log_evidence, drawn.log_weights[0]) == (first.log_evidence, 0.0)


def weak_problem(seed: int, n: int = 25) -> Problem:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    y = 0.3 * x + rng.standard_normal(n)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    return Problem((Block(x[:, None], y),), kernel_named("se"), Prior().for_data(n, 1))


def test_the_same_seed_gives_the_same_draws_and_another_seed_others() -> None:
    case = weak_problem(0)
    found = with_curvature(case, fit(case, Candidate((0,)), np.array([-1.0, 0.5, -0.5])))
    first, again, other = (refine(case, [found], 24, seed, weak=True) for seed in (3, 3, 4))
    assert np.array_equal(first.z, again.z)
    assert first.log_evidence == again.log_evidence
    assert not np.array_equal(first.z, other.z)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_weak_input_with_its_long_tail_agrees_with_quadrature(seed: int) -> None:
    """As few draws as the default method takes on so few rows."""
    case = weak_problem(seed)
    found = with_curvature(case, fit(case, Candidate((0,)), np.array([-1.0, 0.5, -0.5])))
    exact = log_evidence_by_quadrature(case.blocks[0].X[:, 0], case.blocks[0].y, case.prior)
    exact += log_set_prior(1, 1, case.prior)
    assert refine(case, all_modes(case, found), 96, seed=0, weak=True).log_evidence == pytest.approx(exact, abs=0.2)


def test_a_rough_and_a_smooth_mode_are_both_found() -> None:
    """A short wave on a few rows: interpolated with little noise, or taken for noise altogether."""
    x = np.linspace(-1.6, 1.6, 14)
    y = np.sqrt(2.0) * np.sin(5.0 * x) + 0.4 * np.random.default_rng(2).standard_normal(14)
    y = (y - y.mean()) / y.std()
    case = Problem((Block(x[:, None], y),), kernel_named("se"), Prior().for_data(14, 1))
    found = with_curvature(case, fit(case, Candidate((0,)), np.array([0.5, 0.0, -2.0])))
    modes = all_modes(case, found)
    gaps = [np.abs(a.summit.z - b.summit.z).max() for i, a in enumerate(modes) for b in modes[:i]]
    assert len(modes) == 2
    assert min(gaps) > SAME_MODE
    exact = log_evidence_by_quadrature(x, y, case.prior) + log_set_prior(1, 1, case.prior)
    assert refine(case, modes, 512, seed=0, weak=True).log_evidence == pytest.approx(exact, abs=0.1)


def test_mass_far_to_the_left_of_the_mode_is_seen_only_if_inputs_may_be_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, idle = np.array([1.0, 0.0, -1.0]), np.array([-3.0, 0.0, -1.0])
    target(monkeypatch, [1.0, 9.0], [at_work, idle])
    case, narrow = problem(), at_mode(at_work, 0.3 * COVARIANCE)
    blind, seeing = (refine(case, [narrow], 256, seed=0, weak=weak) for weak in (False, True))
    whole = np.log(10.0) + log_model_prior(Candidate((0,)), case)
    assert blind.log_evidence < whole - 1.0
    assert seeing.log_evidence == pytest.approx(whole, abs=0.2)
