"""The check of a fit: leave-one-out beside the target, with honest places, bounded where rows are many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ssvgp import SSVGPRegressor
from ssvgp.explain import calibration as checks
from ssvgp.explain.effects import heaviest


@pytest.fixture(scope="module")
def fitted() -> SSVGPRegressor:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4))
    return SSVGPRegressor(kernel="se", random_state=0).fit(X, 5.0 + 3.0 * np.sin(X[:, 0]) + rng.normal(size=70))


def test_it_is_leave_one_out_in_units_of_the_target(fitted: SSVGPRegressor) -> None:
    found = fitted.check()
    assert np.allclose(found.mean, fitted.loo_.mean) and found.rows.size == found.n == 70
    assert (found.lower < found.mean).all() and (found.mean < found.upper).all()
    assert found.rmse == pytest.approx(np.sqrt(np.mean((found.mean - found.observed) ** 2)))
    assert found.r2 == pytest.approx(1.0 - found.rmse**2 / found.observed.var())


def test_coverage_is_the_share_of_targets_between_the_ends(fitted: SSVGPRegressor) -> None:
    found = fitted.check()
    inside = (found.observed >= found.lower) & (found.observed <= found.upper)
    assert float(found.coverage(0.9)) == pytest.approx(inside.mean())
    assert np.array_equal(found.coverage(np.array([0.0, 1.0])), [0.0, 1.0])


def test_places_of_one_member_are_those_of_a_normal(fitted: SSVGPRegressor) -> None:
    each = checks.leave_each_out(fitted.fitted_)[:1]
    alone = checks._mixed(each, np.ones(1), fitted.fitted_)
    found = checks.check_of(np.arange(70), alone, fitted.fitted_)
    expected = norm.cdf(fitted.train_.y, each[0].mean, np.sqrt(each[0].variance))
    assert np.allclose(found.place, expected)


def test_a_curved_target_keeps_its_places(fitted: SSVGPRegressor) -> None:
    X = fitted.train_.X[:]
    y = np.exp(0.2 * fitted.fitted_.target.restore(fitted.train_.y))
    curved = SSVGPRegressor(kernel="se", random_state=0, target_transform="log").fit(X, y).check()
    assert np.allclose(curved.observed, y) and ((curved.place > 0) & (curved.place < 1)).all()
    assert float(curved.coverage(0.9)) == pytest.approx(((y >= curved.lower) & (y <= curved.upper)).mean())


def test_a_large_table_is_sampled(fitted: SSVGPRegressor, monkeypatch: pytest.MonkeyPatch) -> None:
    every = fitted.fitted_
    monkeypatch.setattr(checks, "MEMBERS", 10**6)
    # all other rows: what is exact for the heaviest members
    found = checks.check_of(*checks.sampled(every, neighbours=69, most=20), every)
    chosen, weights = heaviest(fitted.weights_, 10**6)
    each = checks._mixed([checks.leave_each_out(every)[k] for k in chosen], weights, every)
    exact = checks.check_of(np.arange(70), each, every)
    assert found.rows.size == 20 and found.n == 70
    assert np.allclose(found.mean, exact.mean[found.rows]) and np.allclose(found.place, exact.place[found.rows])


def test_the_heaviest_members_carry_nearly_all() -> None:
    weights = np.array([0.004, 0.6, 0.3, 0.002, 0.094])
    chosen, share = heaviest(weights, 10)
    assert chosen.tolist() == [1, 2, 4] and share == pytest.approx(weights[[1, 2, 4]] / 0.994)
    assert heaviest(weights, 1)[0].tolist() == [1] and heaviest(np.ones(1), 5)[1].tolist() == [1.0]


def test_a_constant_target_is_checked_too() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    found = SSVGPRegressor(kernel="se", random_state=0).fit(X, np.full(20, 7.0)).check()
    assert found.r2 == 0.0 and np.allclose(found.mean, 7.0)
