"""Leave-one-out: the closed form is what refitting without each row gives, and truncation ends there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from ssvgp.evidence import loo
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.terms import Linear
from ssvgp.records import Member, Parameters, Train

rng = np.random.default_rng(0)
TRAIN = Train(rng.standard_normal((25, 6)), rng.standard_normal(25))
ACTIVE = np.array([0, 3, 4])
PLAIN = Parameters(np.array([0.5, 1.0, -0.3]), 1.3, 0.2)
RICH = replace(PLAIN, background=0.7, mean=0.4)


def member(parameters: Parameters, kernel: str = "se") -> Member:
    background = Linear("linear") if parameters.background else None
    return Member(ACTIVE, parameters, kernel_named(kernel), np.ones(3), background)


def refit(row: int, of: Member) -> tuple[float, float]:
    """Mean and variance of y at one row from the process conditioned on all other rows."""
    at, X = of.parameters, TRAIN.X
    sparse = of.kernel.matrix(X[:, ACTIVE], X[:, ACTIVE], at.theta)
    whole = at.scale * sparse + at.background * X @ X.T / 6 + at.mean + at.noise * np.eye(25)
    others = np.delete(np.arange(25), row)
    solved = np.linalg.solve(whole[np.ix_(others, others)], whole[others, row])
    return float(solved @ TRAIN.y[others]), float(whole[row, row] - solved @ whole[others, row])


@pytest.mark.parametrize("parameters", [PLAIN, RICH], ids=["plain", "rich"])
@pytest.mark.parametrize("kernel", ["se", "linear", "matern12"])
def test_exact_leave_one_out_is_refitting_without_each_row(parameters: Parameters, kernel: str) -> None:
    of = member(parameters, kernel)
    found = loo.exact(TRAIN, of, kappa=0.1)
    expected = np.array([refit(row, of) for row in range(25)])
    assert found.mean == pytest.approx(expected[:, 0])
    assert found.variance == pytest.approx(expected[:, 1] + 0.1)
    density = norm(expected[:, 0], np.sqrt(expected[:, 1] + 0.1)).logpdf(TRAIN.y)
    assert found.log_density == pytest.approx(density)
    assert found.total == pytest.approx(density.sum())
    assert found.standard_error == 0.0


@pytest.mark.parametrize("parameters", [PLAIN, RICH], ids=["plain", "rich"])
@pytest.mark.parametrize("neighbours", [24, 100])
def test_truncation_to_all_other_rows_is_exact(parameters: Parameters, neighbours: int) -> None:
    of = member(parameters)
    whole, part = loo.exact(TRAIN, of, 0.1), loo.truncated(TRAIN, of, neighbours, 0.1)
    assert part.mean == pytest.approx(whole.mean)
    assert part.variance == pytest.approx(whole.variance)
    assert part.log_density == pytest.approx(whole.log_density)


def test_truncation_uses_the_nearest_rows_and_never_the_row_itself() -> None:
    of = member(PLAIN)
    found = loo.truncated(TRAIN, of, 4, rows=np.array([7]))
    scaled = TRAIN.X[:, ACTIVE] * PLAIN.theta
    near = np.argsort(((scaled - scaled[7]) ** 2).sum(1))[1:5]
    small = Train(TRAIN.X[[*near, 7]], TRAIN.y[[*near, 7]])
    assert found.mean[0] == pytest.approx(loo.exact(small, of).mean[-1])


def test_rows_that_coincide_do_not_confuse_the_neighbours() -> None:
    twins = Train(np.repeat(TRAIN.X[:5], 4, axis=0), np.arange(20.0))
    found = loo.truncated(twins, member(PLAIN), 3)
    assert np.isfinite(found.log_density).all()
    whole = loo.exact(twins, member(PLAIN))
    assert loo.truncated(twins, member(PLAIN), 19).mean == pytest.approx(whole.mean)


def test_a_member_without_inputs_is_scored() -> None:
    none = np.array([], dtype=int)
    empty = Member(none, replace(PLAIN, theta=np.zeros(0)), kernel_named("se"), np.zeros(0))
    whole, part = loo.exact(TRAIN, empty), loo.truncated(TRAIN, empty, 24)
    assert part.mean == pytest.approx(whole.mean)


def test_a_sample_of_rows_estimates_the_total_with_its_standard_error() -> None:
    of = member(PLAIN)
    whole = loo.exact(TRAIN, of)
    samples = [
        loo.truncated(TRAIN, of, 24, rows=loo.sample_rows(25, 10, np.random.default_rng(seed))) for seed in range(300)
    ]
    totals = np.array([sample.total for sample in samples])
    spread = np.mean([sample.standard_error for sample in samples])
    assert totals.mean() == pytest.approx(whole.total, abs=4 * totals.std() / np.sqrt(300))
    assert spread == pytest.approx(totals.std(), rel=0.25)
    assert loo.truncated(TRAIN, of, 24, rows=np.array([3])).standard_error == np.inf


def test_more_noise_smooths_the_means_where_kappa_in_the_variances_does_not() -> None:
    of = member(PLAIN)
    plain, noisy = loo.exact(TRAIN, of, 1.0), loo.exact(TRAIN, loo.with_more_noise(of, 1.0))
    assert plain.mean == pytest.approx(loo.exact(TRAIN, of).mean)
    assert np.abs(noisy.mean).mean() < np.abs(plain.mean).mean()
