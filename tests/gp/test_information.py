"""Average information: against explicit matrices, in the mean over draws, and where noise is wrong by a factor."""

from __future__ import annotations

import numpy as np
import pytest
from reference import squared_exponential

from ssvgp.evidence.laplace import Block, Problem, fit
from ssvgp.gp.information import curvature, informed
from ssvgp.gp.kernels.autodiff import AutodiffKernel
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.marginal import gradient_at, state
from ssvgp.model.likelihoods.counts import Poisson
from ssvgp.model.priors import Candidate
from ssvgp.records import Likelihood, Parameters, Settling
from ssvgp.settings import Prior

AT = Parameters(np.array([0.7, 0.3]), 1.4, 0.2, 0.6, 0.5)


def case(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, background matrix and covariance of y."""
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    gram = np.exp(-np.abs(rows[:, :1] - rows[:, 0]))
    return rows, gram, covariance(rows, gram, np.log([*AT.theta, AT.scale, AT.noise, AT.background]))


def covariance(rows: np.ndarray, gram: np.ndarray, logs: np.ndarray) -> np.ndarray:
    *theta, scale, noise, background = np.exp(logs)
    sparse = squared_exponential(rows, rows, np.array(theta))
    return scale * sparse + background * gram + AT.mean + noise * np.eye(len(rows))


def slow_slopes(rows: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """d Kt / d z (5, n, n) by differences, for theta itself and the logs of all else."""
    logs, step = np.log([*AT.theta, AT.scale, AT.noise, AT.background]), 1e-5
    each = [(covariance(rows, gram, logs + step * e) - covariance(rows, gram, logs - step * e)) for e in np.eye(5)]
    return np.stack(each) / (2.0 * step) / np.array([*AT.theta, 1.0, 1.0, 1.0])[:, None, None]


def test_it_is_half_of_the_products_of_moved_alpha_in_the_metric_of_the_precision() -> None:
    rows, gram, kt = case(0)
    y = np.random.default_rng(1).normal(size=30)
    found = informed(kernel_named("se"), rows, y, AT, gram)
    moved = slow_slopes(rows, gram) @ np.linalg.solve(kt, y)
    expected = 0.5 * moved @ np.linalg.solve(kt, moved.T)
    assert found.information is not None
    assert found.information.forms == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert found.information.square == pytest.approx(float(y @ np.linalg.solve(kt, y)))


@pytest.mark.parametrize(
    "likelihood", [None, Poisson(np.ones(30), np.full(30, 0.5), np.zeros(30))], ids=["gaussian", "counts"]
)
def test_slopes_from_moved_alpha_are_those_of_the_whole_pull(likelihood: Likelihood | None) -> None:
    """<A, M> = (alpha + 2 b)' M alpha - <Kt^-1, M>, where sites move with the parameters too."""
    rows, gram, _ = case(0)
    y = np.random.default_rng(1).poisson(2.0, size=30).astype(float)
    task = (kernel_named("se"), rows, y, AT, gram, 0.0, likelihood)
    found = informed(*task)
    plain = gradient_at(state(*task[:6], rows_noise=likelihood, to=Settling.STEP), AT, gram, rows_noise=likelihood)
    assert found.information is not None and found.value == plain.value
    for name in ("theta", "log_scale", "log_noise", "log_background"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-10)


def test_in_the_mean_over_targets_it_is_the_expected_information() -> None:
    """1/2 tr(Kt^-1 dK_i Kt^-1 dK_j), where y is drawn from the process itself."""
    rows, gram, kt = case(2)
    pushed = np.linalg.solve(kt, slow_slopes(rows, gram))
    expected = 0.5 * np.einsum("iab,jba->ij", pushed, pushed)
    draws = np.random.default_rng(3).multivariate_normal(np.zeros(30), kt, size=3000)
    each = [informed(kernel_named("se"), rows, y, AT, gram).information for y in draws[:600]]
    mean = np.mean([one.forms for one in each if one is not None], axis=0)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(mean - expected).max() < 0.12 * size.max()
    assert np.abs((mean - expected) / size).max() < 0.15


@pytest.mark.parametrize("factor", [0.1, 0.5, 3.0, 10.0])
def test_noise_that_is_wrong_by_a_factor_is_right_after_one_step_or_nearly(factor: float) -> None:
    """The step wanted is log(factor); average information alone would make 1 - 1 / factor, expected factor - 1."""
    rng = np.random.default_rng(4)
    y = np.sqrt(factor) * rng.normal(size=400)
    y *= np.sqrt(factor / np.mean(y**2))
    at = Parameters(np.array([1.0]), 1e-9, 1.0, 0.0, 0.0)
    found = informed(kernel_named("se"), rng.normal(size=(400, 1)), y, at)
    assert found.information is not None
    step = found.log_noise / curvature([found.information])[2, 2]
    assert step == pytest.approx(2.0 * np.sinh(0.5 * np.log(factor)), rel=1e-3)
    assert abs(step - np.log(factor)) < 0.25 * abs(np.log(factor))


def test_a_kernel_that_cannot_tell_has_no_information_and_is_fitted_all_the_same() -> None:
    class Mute:
        """The squared exponential as a stranger would write it."""

        name, local = "mute", True

        def __init__(self) -> None:
            self.inner = kernel_named("se")

        def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
            return self.inner.matrix(left, right, theta)

        def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
            return self.inner.diagonal(rows, theta)

        def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0):
            known = self.inner.evaluate(rows, theta, floor)

            class Evaluation:
                matrix = known.matrix
                pullback = staticmethod(known.pullback)
                slopes = staticmethod(known.slopes)

            return Evaluation()

    assert not hasattr(AutodiffKernel, "along")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=60)
    y = (y - y.mean()) / y.std()
    prior, candidate = Prior().for_data(60, 2), Candidate((0,))
    start = candidate.coordinates.vector(np.array([-1.0]), scale=0.0, noise=-0.5)
    told, mute = (fit(Problem((Block(X, y),), k, prior), candidate, start) for k in (kernel_named("se"), Mute()))
    assert informed(Mute(), X[:, :1], y, AT).information is None
    assert told.summit.value == pytest.approx(mute.summit.value, abs=0.1)


def test_far_starts_of_many_inputs_take_about_half_the_evaluations() -> None:
    """Against the same ascent with the inherited curvature alone, over sets and starts drawn at random."""
    spent = {"informed": 0, "not": 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 6))
        y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=120)
        problem = Problem((Block(X, (y - y.mean()) / y.std()),), kernel_named("se"), Prior().for_data(120, 6))
        candidate = Candidate((0, 1, 2, 3, 4, 5))
        start = candidate.coordinates.vector(rng.normal(size=6), scale=0.0, noise=-2.5)
        ways = {"informed": problem, "not": Problem(problem.blocks, _without_information(), problem.prior)}
        for name, way in ways.items():
            spent[name] += fit(way, candidate, start).evaluations
    assert spent["informed"] < 0.7 * spent["not"]


def _without_information():
    known = kernel_named("se")

    class Without(type(known)):  # type: ignore[misc]
        def evaluate(self, rows, theta, floor=0.0):
            found = super().evaluate(rows, theta, floor)
            return type("Plain", (), {"matrix": found.matrix, "pullback": found.pullback, "slopes": found.slopes})()

    return Without(known.name, known.profile)
