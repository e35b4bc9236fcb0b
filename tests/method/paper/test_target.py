"""The target of the paper's method: standardised for a user, as it is in experiment 1, and what hangs on its sign."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import designs
from experiments.experiment1 import reflected
from ssvgp import PaperSettings, SSVGPRegressor

SHORT = {"rounds": 2, "first_steps": 60, "steps": 30, "v": (1e3, 1e5)}


def table(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, 5))
    return X, 2.0 + X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.05 * rng.standard_normal(n)


def fitted(y: np.ndarray, X: np.ndarray, **constants: object) -> SSVGPRegressor:
    return SSVGPRegressor("paper", settings=PaperSettings(**SHORT, **constants), random_state=0).fit(X, y)


def test_a_raw_target_is_neither_centred_nor_scaled() -> None:
    X, y = table()
    model = fitted(y, X, target="raw")
    np.testing.assert_array_equal(model.train_.y, y)
    assert np.mean((model.predict(X) - y) ** 2) < 0.1 * np.var(y)
    _, sd = model.predict(X, return_std=True)
    density = model.log_predictive_density(X, y)
    assert np.isfinite(density).all() and np.all(sd > 0)
    assert model.noise_variance_ == pytest.approx(model.weights_ @ [m.parameters.noise for m in model.members_])
    assert 0.0 <= model.variance_shares_["noise"] < 0.5
    assert sum(model.variance_shares_.values()) == pytest.approx(1.0)


def test_the_default_does_not_mind_shift_and_scale_and_a_raw_target_does() -> None:
    X, y = table()
    other = 40.0 - 3.0 * y
    plain, moved = fitted(y, X), fitted(other, X)
    assert moved.pip_ == pytest.approx(plain.pip_, abs=1e-6)
    assert moved.predict(X) == pytest.approx(40.0 - 3.0 * plain.predict(X), rel=1e-6)
    raw, raw_moved = fitted(y, X, target="raw"), fitted(other, X, target="raw")
    assert not np.allclose(raw_moved.predict(X), 40.0 - 3.0 * raw.predict(X), rtol=1e-3)


def test_another_word_for_the_target_is_refused() -> None:
    with pytest.raises(ValueError, match="'standardised' or 'raw', not 'centred'"):
        fitted(*table()[::-1], target="centred")


def test_a_reflected_draw_is_the_same_draw_upside_down() -> None:
    draw, turned = designs.experiment1(7, n=50, d=30), reflected(7, smoke=True)
    np.testing.assert_array_equal(turned.X, draw.X)
    assert turned.y.mean() == pytest.approx(draw.y.mean())
    np.testing.assert_allclose(turned.y - turned.y.mean(), -(draw.y - draw.y.mean()))
    np.testing.assert_allclose(turned.y_test - turned.f_test, -(draw.y_test - draw.f_test))


@pytest.mark.slow
def test_the_papers_method_falls_where_y_is_reflected_and_the_default_does_not() -> None:
    """Experiment 1, eight draws: sin(3 x5) is a hump, which a positive level of y pays for, a negative one not."""
    found: dict[str, list[float]] = {"paper": [], "paper reflected": [], "auto reflected": []}
    settings = PaperSettings(target="raw", minibatch=0.5)
    for seed in range(2000, 2008):
        draw, turned = designs.experiment1(seed), reflected(seed, smoke=False)
        paper = SSVGPRegressor("paper", settings=settings, random_state=seed, n_jobs=2)
        auto = SSVGPRegressor(random_state=seed, n_jobs=2)
        # x5 is the fifth input
        found["paper"].append(paper.fit(draw.X, draw.y).pip_[4])
        found["paper reflected"].append(paper.fit(turned.X, turned.y).pip_[4])
        found["auto reflected"].append(auto.fit(turned.X, turned.y).pip_[4])
    assert np.mean(found["paper"]) > 0.8
    assert np.mean(found["paper reflected"]) < np.mean(found["paper"]) - 0.2
    assert np.min(found["auto reflected"]) > 0.9
