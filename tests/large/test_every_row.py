"""Weak effects from a table to the answer: found by all rows, in predictions, effects, shares and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ssvgp
from ssvgp import AutoSettings, Prior, SSVGPRegressor
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.large.every_row import judge
from ssvgp.records import Member, Parameters, Train
from ssvgp.settings.regime import regime_for

SMALL = AutoSettings(exact_rows=300, blocks=4, block_rows=120, polish_rows=250, dense_starts=1)


def table(n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and f: one strong input, a weak line, a weak bow and a weak product; inputs 5 to 9 are idle."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    f = np.sin(1.2 * X[:, 0]) + 0.12 * X[:, 1] + 0.1 * (X[:, 2] ** 2 - 1.0) + 0.15 * X[:, 3] * X[:, 4]
    return X, f + rng.standard_normal(n), f


def estimator(**more: object) -> SSVGPRegressor:
    parameters = {"kernel": "se", "settings": SMALL, "exact_limit": 600, "predict_neighbours": 60, "random_state": 0}
    return SSVGPRegressor(**(parameters | more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def model() -> SSVGPRegressor:
    X, y, _ = table()
    return estimator().fit(X, y)


def test_what_no_block_can_see_is_found(model: SSVGPRegressor) -> None:
    assert (model.pip_[:5] > 0.95).all() and (model.pip_[5:] < 0.5).all()
    assert model.ensemble_.weak is not None and 0 not in model.ensemble_.weak.columns
    assert model.search_ is not None and model.search_.orders[2] == 10
    assert (model.inverse_lengthscales_[:5] > 0).all()
    assert sum(model.variance_shares_.values()) == pytest.approx(1.0)


def test_predictions_have_the_weak_part(model: SSVGPRegressor) -> None:
    X, _, f = table(500, seed=1)
    mean, sd = model.predict_latent(X, return_std=True)
    without = np.mean((f - np.sin(1.2 * X[:, 0])) ** 2)
    assert np.mean((mean - f) ** 2) < 0.3 * without
    assert np.mean(np.abs(mean - f) < 2.0 * sd) > 0.85
    joint, covariance = model.predict(X[:20], return_cov=True)
    assert joint == pytest.approx(model.predict(X[:20]), abs=0.05)
    draws = model.sample_y(X[:20], 4000)
    assert draws.mean(axis=1) == pytest.approx(joint, abs=0.1)
    assert draws.std(axis=1) == pytest.approx(np.sqrt(np.diagonal(covariance)), rel=0.1)


def test_effects_and_shares_have_it(model: SSVGPRegressor) -> None:
    line, bow = model.effect(1, grid=[-1.0, 1.0]), model.effect(2, grid=[0.0, 2.0])
    assert line.mean[1] - line.mean[0] == pytest.approx(0.24, abs=0.1)
    assert (line.lower < line.mean).all() and (line.mean < line.upper).all()
    assert bow.mean[1] - bow.mean[0] == pytest.approx(0.4, abs=0.2)
    both = model.interaction(3, 4, grids=([-1.0, 1.0], [-1.0, 1.0]))
    assert both.mean == pytest.approx(np.array([[0.15, -0.15], [-0.15, 0.15]]), abs=0.08)
    shares = model.effect_shares()
    assert shares.first[1] > 0.005 and shares.total[3] > shares.first[3] + 0.005


def test_rows_left_out_are_predicted_with_it(model: SSVGPRegressor) -> None:
    check = model.check()
    _, y, f = table()
    assert check.observed == pytest.approx(y[check.rows])
    assert check.r2 == pytest.approx(np.var(f) / np.var(y), abs=0.06)
    assert check.coverage(0.9) == pytest.approx(0.9, abs=0.04)
    assert model.fitted_.observed == pytest.approx(y)


def test_files_hold_it(model: SSVGPRegressor, tmp_path: Path) -> None:
    X, _, _ = table(50, seed=1)
    model.save(tmp_path / "model.ssvgp")
    again = ssvgp.load(tmp_path / "model.ssvgp")
    assert (again.predict(X) == model.predict(X)).all() and (again.pip_ == model.pip_).all()
    assert (again.effect(2).mean == model.effect(2).mean).all()


def test_weights_and_known_noise_go_through() -> None:
    """Rows that count half, and rows of large known noise, say less than others."""
    X, y, _ = table(1500)
    rng = np.random.default_rng(2)
    known = np.where(rng.random(1500) < 0.3, 100.0, 0.0)
    y = y + 0.15 * X[:, 1] + np.sqrt(known) * rng.standard_normal(1500)
    weights = rng.choice([0.5, 1.0], 1500)
    model = estimator(target_transform=None).fit(X, y, sample_weight=weights, noise_variance=known)
    plain = estimator(target_transform=None, likelihood="gaussian").fit(X, y)  # heavy tails would see through it
    assert (model.pip_[:5] > 0.9).all() and (model.pip_[5:] < 0.5).all()
    assert (plain.pip_[2:5] < 0.5).all()


def test_noise_selects_nothing() -> None:
    rng = np.random.default_rng(0)
    found = estimator().fit(rng.standard_normal((2000, 20)), rng.standard_normal(2000))
    assert found.pip_.max() < 0.5 and found.ensemble_.weak is None


def test_an_input_of_a_doubtful_product_keeps_what_it_may_do_by_itself() -> None:
    """Some products are always in question. Their inputs had the probability of these alone: a tenth of others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 30))
    train = Train(X, np.sin(0.8 * X[:, 1]) + 0.15 * X[:, 2] + 0.6 * rng.standard_normal(3000))
    member = Member(np.array([1]), Parameters(np.array([0.8]), 1.2, 0.3), squared_exponential(), np.ones(1))
    found = judge(train, member, Prior().for_data(3000, 30), regime_for(3000, 30), rng)
    idle = np.delete(found.pip, [1, 2])
    assert found.pip[2] > 0.99 and idle.min() > 0.3 * np.median(idle)


@pytest.fixture(scope="module")
def wild() -> SSVGPRegressor:
    """The table with noise of three degrees of freedom, of half the scale."""
    X, _, f = table()
    y = f + 0.5 * np.random.default_rng(6).standard_t(3.0, 4000)
    return estimator(likelihood="student-t").fit(X, y)


def test_heavy_tails_hide_no_weak_effects(wild: SSVGPRegressor) -> None:
    assert (wild.pip_[:5] > 0.95).all() and (wild.pip_[5:] < 0.5).all() and (wild.pip_[5:] > 1e-4).all()
    X, _, f = table(500, seed=1)
    mean, sd = wild.predict_latent(X, return_std=True)
    assert np.mean((mean - f) ** 2) < 0.2 * np.mean((f - np.sin(1.2 * X[:, 0])) ** 2)
    assert np.mean(np.abs(mean - f) < 2.0 * sd) > 0.85


def test_what_is_said_of_heavy_tails_has_their_weak_effects(wild: SSVGPRegressor, tmp_path: Path) -> None:
    check, (X, _, f) = wild.check(), table(50, seed=1)
    assert check.coverage(0.9) == pytest.approx(0.9, abs=0.05)
    line = wild.effect(1, grid=[-1.0, 1.0])
    assert line.mean[1] - line.mean[0] == pytest.approx(0.24, abs=0.1)
    assert np.mean((np.median(wild.sample_y(X, 4000), axis=1) - f) ** 2) < 0.02
    wild.save(tmp_path / "model.ssvgp")
    assert (ssvgp.load(tmp_path / "model.ssvgp").predict(X) == wild.predict(X)).all()
