"""The curve of a target with many rows: which are looked at, which is chosen, and what it is good for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ssvgp import SSVGPRegressor
from ssvgp.data.curves import Curve, Straight, YeoJohnson
from ssvgp.data.inputs import inputs_of
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.method.target_curve import candidates, curve_by_evidence
from ssvgp.settings import AutoSettings, PaperSettings, Prior, regime_for

N = 700
MANY = AutoSettings(exact_rows=400, polish_rows=250)
RNG = np.random.default_rng(11)
X = RNG.standard_normal((N, 8))
F = np.sin(1.5 * X[:, 0]) + 0.6 * X[:, 3]
NOISE = RNG.standard_normal(N)
LOUD = np.exp(F + 0.4 * NOISE)  # noise in proportion to the level: what a logarithm is for
COUNTS = RNG.poisson(12.0 * np.exp(0.8 * F)).astype(float)  # noise as the root of the level
EVEN = np.exp(0.9 * F) + 0.3 * NOISE  # a long tail that is in the effects alone: the noise is the same everywhere
EVEN = EVEN - EVEN.min()


def chosen(y: np.ndarray, settings: AutoSettings = MANY) -> Curve:
    regime = regime_for(y.size, X.shape[1], settings)
    rows, rng = inputs_of(X[: y.size]).standardise(X[: y.size]), np.random.default_rng(0)
    return curve_by_evidence(rows, y, kernel_named("se"), Prior(), regime, rng)


HEAPED = np.where(NOISE < -0.8, 0.0, LOUD)  # a fifth of the rows have nothing


@pytest.mark.parametrize(
    "y", [LOUD - 1.0, NOISE - NOISE.min(), np.ones(N), HEAPED], ids=["negative", "even", "constant", "heaped"]
)
def test_no_curve_is_looked_at_for_negative_symmetric_constant_or_heaped_targets(y: np.ndarray) -> None:
    assert [type(curve) for curve in candidates(y)] == [Straight]


def test_a_skewed_target_without_negative_values_may_pass_a_root_or_a_logarithm() -> None:
    _, root, fourth, log = candidates(COUNTS)
    unit = 0.05 * np.quantile(COUNTS, 0.25)
    bent = np.sqrt(1.0 + COUNTS / unit)
    assert np.corrcoef(root.transform(COUNTS), bent)[0, 1] == pytest.approx(1.0)
    assert np.corrcoef(fourth.transform(COUNTS), np.sqrt(bent))[0, 1] == pytest.approx(1.0)
    assert log.transform(COUNTS) == pytest.approx(np.log1p(COUNTS / unit))
    assert np.isfinite(root.log_slope(COUNTS)).all() and np.isfinite(log.log_slope(COUNTS)).all()


def test_one_huge_target_does_not_bend_the_curve_of_all_others() -> None:
    wild = np.where(np.arange(N) == np.argmax(LOUD), 1e4 * LOUD, LOUD)
    assert candidates(wild)[-1] == candidates(LOUD)[-1]
    tripled = np.exp(3.0 * np.log(LOUD))  # the curve is the logarithm of nearly all rows, however long the tail
    assert np.corrcoef(candidates(tripled)[-1].transform(tripled), np.log(LOUD))[0, 1] > 0.99


def test_a_quarter_of_the_weight_at_zero_leaves_a_unit() -> None:
    weights = np.where(LOUD < np.quantile(LOUD, 0.05), 20.0, 1.0)
    y = np.where(weights > 1.0, 0.0, LOUD)
    assert np.isfinite(candidates(y, weights)[-1].transform(y)).all()


def test_noise_that_grows_with_the_level_asks_for_a_curve() -> None:
    assert chosen(LOUD) == YeoJohnson(pytest.approx(0.05 * np.quantile(LOUD, 0.25), rel=0.01), 0.0)
    assert isinstance(chosen(COUNTS), YeoJohnson)


def test_a_tail_of_the_effects_alone_asks_for_none() -> None:
    assert len(candidates(EVEN)) == 4
    assert isinstance(chosen(EVEN), Straight)


def test_few_rows_are_asked_by_the_readings_of_y_alone() -> None:
    assert isinstance(chosen(LOUD[:400]), Straight)
    gaussian = SSVGPRegressor(kernel="se", likelihood="gaussian", random_state=0).fit(X[:80], LOUD[:80])
    assert gaussian.target_curve_ == "none"
    assert SSVGPRegressor(kernel="se", random_state=0).fit(X[:80], LOUD[:80]).target_curve_.startswith("log of y")


@pytest.fixture(scope="module")
def fits() -> dict[Any, SSVGPRegressor]:
    half = {"kernel": "se", "exact_limit": 800, "random_state": 0}
    return {
        transform: SSVGPRegressor(target_transform=transform, **half).fit(X[:500], LOUD[:500])
        for transform in ("auto", None)
    }


def test_the_curve_is_told_and_what_is_predicted_is_in_units_of_y(fits: dict[Any, SSVGPRegressor]) -> None:
    bent = fits["auto"]
    assert bent.target_curve_.startswith("log of y + ") and fits[None].target_curve_ == "none"
    assert list(bent.get_support(indices=True)) == [0, 3]
    low, high = bent.predict_quantiles(X[500:], [0.025, 0.975]).T
    assert 0.88 < np.mean((low < LOUD[500:]) & (LOUD[500:] < high)) <= 1.0
    with pytest.raises(ValueError, match="target_transform=None"):
        bent.predict(X[500:], return_cov=True)


def test_a_curve_makes_new_rows_likelier(fits: dict[Any, SSVGPRegressor]) -> None:
    density = {key: fit.log_predictive_density(X[500:], LOUD[500:]).mean() for key, fit in fits.items()}
    assert density["auto"] > density[None] + 0.2


def test_the_papers_method_leaves_the_target_alone() -> None:
    quick = PaperSettings(v=(1e4,), rounds=1, first_steps=5, steps=5)
    model = SSVGPRegressor(method="paper", settings=quick, exact_limit=800, random_state=0)
    assert model.fit(X[:500], LOUD[:500]).target_curve_ == "none"
