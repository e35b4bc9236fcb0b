"""Standardising a table and its target, and undoing it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid
from sklearn.preprocessing import PowerTransformer

from ssvgp.data.curves import BoxCox, YeoJohnson
from ssvgp.data.inputs import DataWarning, inputs_of, scale_of, text_columns, warn_of_columns
from ssvgp.data.target import target_of
from ssvgp.gp import mixture
from ssvgp.records import Member, Parameters, Prediction

TRANSFORMS = (None, "box-cox", "log", "yeo-johnson")


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def one_component(means: np.ndarray, sd: float, noise: float = 0.0) -> Prediction:
    return Prediction(means[None], np.full((1, means.size), sd**2), np.array([noise]), np.ones(1))


# --- inputs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e12, -1e6])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_standardised_columns_have_mean_zero_and_deviation_one(offset: float, size: float) -> None:
    X = size * (normal(0, 50, 3) + (offset if size == 1.0 else 0.0))
    z = inputs_of(X).standardise(X)
    assert np.allclose(z.mean(axis=0), 0.0, atol=1e-3)
    assert np.allclose(z.std(axis=0), 1.0, atol=1e-3)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_scales_at_the_edge_of_doubles_neither_overflow_nor_vanish(size: float) -> None:
    x = size * normal(1, 40)
    scale = scale_of(x)
    assert not scale.constant
    assert np.isclose(scale.spread / size, normal(1, 40).std())


@pytest.mark.parametrize("value", [0.0, 0.1, 1e12, -1e-12, 1e300])
def test_constant_columns_are_found_at_any_size_up_to_rounding(value: float) -> None:
    X = normal(2, 20, 3)
    X[:, 1] = value
    X[::2, 1] *= 1.0 + np.finfo(float).eps
    found = inputs_of(X)
    assert found.constant.tolist() == [1]
    assert found.kept.tolist() == [0, 2]
    assert found.standardise(X).shape == (20, 2)


def test_the_first_of_identical_columns_stands_for_its_copies() -> None:
    X = normal(3, 100, 6)
    X[:, 4] = X[:, 1]
    X[:, 5] = X[:, 1]
    X[:, 2] = X[:, 0]
    X[-1, 2] += 1.0  # alike in the rows compared first, and yet no copy
    found = inputs_of(X)
    assert found.duplicate_of == {4: 1, 5: 1}
    assert found.kept.tolist() == [0, 1, 2, 3]


def test_signed_zeros_do_not_hide_a_copy() -> None:
    X = np.round(normal(4, 30, 1))
    assert inputs_of(np.hstack([X, -(-X + 0.0)])).duplicate_of == {1: 0}


def test_warnings_name_the_columns_left_out() -> None:
    X = normal(5, 10, 3)
    X[:, 0], X[:, 2] = 1.0, X[:, 1]
    found = inputs_of(X)
    with pytest.warns(DataWarning, match="constant columns.*: a$"), pytest.warns(match=r"c \(copy of b\)"):
        warn_of_columns(found, ["a", "b", "c"])


def test_warnings_count_where_there_are_many() -> None:
    with pytest.warns(DataWarning, match="0, 1, 2, 3, 4 and 7 more"):
        warn_of_columns(inputs_of(np.ones((3, 12))), range(12))


def test_text_columns_are_listed() -> None:
    X = np.array([[1, "a", 2.5], [2, "b", "3"]], dtype=object)
    assert text_columns(X) == "1"


def test_what_is_known_of_kept_columns_finds_its_place_in_the_table() -> None:
    X = normal(6, 12, 5)
    X[:, 1], X[:, 3] = 7.0, X[:, 0]
    inputs = inputs_of(X)
    member = Member(np.array([1, 2]), Parameters(np.ones(2), 1.0, 0.1), None, np.ones(2))
    assert inputs.in_table(member).active.tolist() == [2, 4]
    assert inputs.widen(np.array([0.1, 0.2, 0.3])).tolist() == [0.1, 0.0, 0.2, 0.0, 0.3]


# --- target ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_target_survives_the_round_trip(transform: str | None, size: float) -> None:
    y = size * np.exp(normal(7, 60))
    target = target_of(y, transform)
    z = target.standardise(y)
    assert np.isclose(z.mean(), 0.0, atol=1e-9) and np.isclose(z.std(), 1.0)
    assert np.allclose(target.restore(z), y, rtol=1e-9)


def test_yeo_johnson_takes_negative_targets() -> None:
    y = normal(8, 60) ** 3
    target = target_of(y, "yeo-johnson")
    assert np.allclose(target.restore(target.standardise(y)), y)


def test_the_box_cox_power_is_the_likeliest() -> None:
    y = (3.0 + normal(9, 200)) ** 2 + 0.1
    curve = target_of(y, "box-cox").curve
    assert isinstance(curve, BoxCox)
    assert np.isclose(curve.power, stats.boxcox_normmax(y, method="mle"), atol=1e-4)


def test_the_yeo_johnson_power_agrees_with_scikit_learn() -> None:
    y = np.exp(0.5 * normal(10, 200)) - 1.0
    y /= y.std()
    curve = target_of(y, "yeo-johnson").curve
    assert isinstance(curve, YeoJohnson)
    theirs = PowerTransformer("yeo-johnson").fit(y[:, None])
    assert np.isclose(curve.power, theirs.lambdas_[0], atol=1e-4)
    ours = target_of(y, "yeo-johnson").standardise(y)
    assert np.allclose(ours, theirs.transform(y[:, None])[:, 0], atol=1e-3)


@pytest.mark.parametrize("transform", ["box-cox", "log"])
def test_a_target_that_is_not_positive_gets_advice(transform: str) -> None:
    with pytest.raises(ValueError, match="above 2 to y, or use target_transform='yeo-johnson'"):
        target_of(np.array([1.0, -2.0, 3.0]), transform)


def test_an_unknown_transform_is_named() -> None:
    with pytest.raises(ValueError, match="'sqrt'"):
        target_of(normal(0, 5), "sqrt")


def test_a_steep_curve_is_not_followed_beyond_one_range_of_the_target() -> None:
    y = np.random.default_rng(0).beta(0.5, 6.0, size=300)
    target = target_of(y, "yeo-johnson")
    far = target.restore(np.array([-50.0, 50.0]))
    assert far[0] >= y.min() - np.ptp(y) and far[1] <= y.max() + np.ptp(y) * (1.0 + 1e-12)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e12, 1e-12])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_constant_target_is_restored_exactly(value: float, transform: str | None) -> None:
    target = target_of(np.full(5, value), transform)
    assert target.constant
    assert (target.restore(np.zeros(3)) == value).all()


@pytest.mark.parametrize("transform", ["box-cox", "log", "yeo-johnson"])
def test_restored_moments_are_those_of_draws(transform: str) -> None:
    rng = np.random.default_rng(11)
    target = target_of(np.exp(0.6 * rng.normal(size=100) + 1.0), transform)
    means, sds, weights = np.array([[-0.5], [0.8]]), np.array([0.4, 0.7]), np.array([0.3, 0.7])
    prediction = Prediction(means, (sds**2)[:, None] / 2, sds**2 / 2, weights)
    pick = rng.choice(2, size=400_000, p=weights)
    draws = target.restore(means[pick, 0] + sds[pick] * rng.normal(size=pick.size))
    restored = target.moments(prediction)
    assert np.isclose(restored.mean[0], draws.mean(), rtol=0.01)
    assert np.isclose(restored.sd[0], draws.std(), rtol=0.02)


def test_the_mean_of_a_log_normal_is_exact() -> None:
    y = np.exp(normal(12, 50))
    target = target_of(y, "log")
    restored = target.moments(one_component(np.array([0.3]), 0.5))
    mu, s = target.centre + target.spread * 0.3, target.spread * 0.5
    scale = target.curve.inverse(np.zeros(1))[0]
    assert np.isclose(restored.mean[0], scale * np.exp(mu + s * s / 2))
    assert np.isclose(restored.sd[0], restored.mean[0] * np.sqrt(np.expm1(s * s)))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_density_of_y_integrates_to_one(transform: str | None) -> None:
    target = target_of(np.exp(0.4 * normal(13, 80)) + 1.0, transform)
    at = np.linspace(1e-3, 40.0, 40_001)
    prediction = one_component(np.full(at.size, 0.4), 0.5)
    density = np.exp(mixture.log_density(prediction, target.standardise(at)) + target.log_slope(at))
    assert np.isclose(trapezoid(density, at), 1.0, atol=1e-3)


def test_a_curve_that_reaches_infinity_gives_finite_moments() -> None:
    y = 1.0 / (2.0 + 0.5 * normal(14, 100))
    target = target_of(y, "box-cox")
    assert isinstance(target.curve, BoxCox) and target.curve.power < 0
    restored = target.moments(one_component(np.array([4.0]), 3.0))
    assert np.isfinite(restored.mean).all() and np.isfinite(restored.sd).all()
