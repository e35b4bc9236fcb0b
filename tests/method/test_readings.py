"""Evidence reads y: Gaussian noise stays what it was, outliers and heavy tails are seen, and the fit says which."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp import SSVGPRegressor, load

N, D = 90, 9


def table(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([7, seed])
    X = rng.standard_normal((N, D))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1], rng


def test_gaussian_noise_is_left_as_it_is() -> None:
    X, f, rng = table(0)
    y = f + 0.3 * rng.standard_normal(N)
    auto, named = (
        SSVGPRegressor(kernel="se", likelihood=one, random_state=0).fit(X, y) for one in ("auto", "gaussian")
    )
    assert auto.fitted_.reading == "gaussian noise" and auto.fitted_.likelihood == "gaussian"
    np.testing.assert_array_equal(auto.pip_, named.pip_)
    np.testing.assert_array_equal(auto.predict(X), named.predict(X))


def test_outliers_do_not_hide_the_inputs(tmp_path: Path) -> None:
    X, f, rng = table(1)
    y = f + 0.3 * rng.standard_normal(N)
    y[[3, 40, 77]] += np.array([12.0, -10.0, 11.0])
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert model.fitted_.reading == "outliers"
    assert model.get_support(indices=True).tolist() == [0, 1]
    ends = model.predict_quantiles(X, (0.025, 0.975))
    clean = np.setdiff1d(np.arange(N), [3, 40, 77])
    assert np.mean((y[clean] >= ends[clean, 0]) & (y[clean] <= ends[clean, 1])) > 0.85
    assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.25
    model.save(tmp_path / "model.ssvgp")
    again = load(tmp_path / "model.ssvgp")
    assert again.fitted_.reading == "outliers"
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_skewed_target_passes_a_curve_on_few_rows_too() -> None:
    X, f, rng = table(2)
    y = np.exp(1.5 * (f + 0.3 * rng.standard_normal(N)))
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert "log" in model.fitted_.reading and model.target_curve_ == model.fitted_.reading


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("poisson", "negative-binomial", "student-t")]


@pytest.mark.parametrize("likelihood", ["bernoulli", *SLOW])
def test_a_weight_of_two_is_the_row_twice(likelihood: str) -> None:
    X, f, rng = table(3)
    y = {
        "bernoulli": (rng.uniform(size=N) < 1.0 / (1.0 + np.exp(-3.0 * f))).astype(float),
        "student-t": f + 0.3 * rng.standard_t(3, N),
    }.get(likelihood, rng.poisson(2.0 * np.exp(f)).astype(float))
    weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(N), weights.astype(int))
    one = SSVGPRegressor(kernel="se", likelihood=likelihood, random_state=0).fit(X, y, sample_weight=weights)
    two = SSVGPRegressor(kernel="se", likelihood=likelihood, random_state=0).fit(X[copies], y[copies])
    np.testing.assert_allclose(one.pip_, two.pip_, atol=1e-6)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-6)


def test_exposure_multiplies_the_rate() -> None:
    X, f, rng = table(4)
    exposure = rng.uniform(0.2, 5.0, N)
    y = rng.poisson(4.0 * exposure * np.exp(0.7 * f)).astype(float)
    model = SSVGPRegressor(kernel="se", likelihood="poisson", random_state=0).fit(X, y, exposure=exposure)
    assert model.get_support(indices=True).tolist() == [0, 1]
    np.testing.assert_allclose(model.predict(X, exposure=np.full(N, 3.0)), 3.0 * model.predict(X), rtol=1e-9)
    assert np.corrcoef(np.log(model.predict(X)), f)[0, 1] > 0.9
    ends = model.predict_quantiles(X, (0.1, 0.9), exposure=exposure)
    assert (ends == np.round(ends)).all() and (ends[:, 1] >= ends[:, 0]).all()
    with pytest.raises(ValueError, match="exposure belongs to counts"):
        SSVGPRegressor(likelihood="gaussian").fit(X, f, exposure=exposure)
    with pytest.raises(ValueError, match="counts are whole numbers"):
        SSVGPRegressor(likelihood="poisson").fit(X, f)
