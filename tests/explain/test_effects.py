"""Effects, interactions and shares of variance as a user asks for them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from ssvgp import AutoSettings, DataWarning, PaperSettings, SSVGPRegressor
from ssvgp.explain import sobol as shares_module
from ssvgp.explain.effects import without_faint_background
from ssvgp.gp.functional import latent_means
from ssvgp.records import Ensemble
from ssvgp.settings.regime import SLIGHT

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
NAMES = ["wave", "line", "noise", "switch", "left", "right"]


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def signal(X: np.ndarray) -> np.ndarray:
    return 3.0 * np.sin(0.3 * X[:, 0]) + X[:, 1] / 50.0 + 2.0 * (X[:, 3] == 4.0) + 1.5 * X[:, 4] * X[:, 5]


def table(seed: int = 0, n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns in units of their own, one of them with three values; the last two act only as a product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [5.0, 100.0, 1.0, 1.0, 1.0, 1.0] + [0.0, 1000.0, 0.0, 0.0, 0.0, 0.0]
    X[:, 3] = rng.choice([1.0, 2.0, 4.0], n)
    return pd.DataFrame(X, columns=NAMES), 100.0 + signal(X) + 0.2 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted() -> SSVGPRegressor:
    return light().fit(*table())


def true_effect(column: int, grid: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The same average of the true function, one grid point at a time."""
    X = table()[0].to_numpy()[rows]
    out = []
    for value in grid:
        changed = X.copy()
        changed[:, column] = value
        out.append(signal(changed).mean() - signal(X).mean())
    return np.array(out)


@pytest.mark.parametrize("name", ["wave", "line", "switch"])
def test_an_effect_is_the_average_change_of_the_true_function(fitted: SSVGPRegressor, name: str) -> None:
    found = fitted.effect(name)
    true = true_effect(NAMES.index(name), found.grid, found.rows)
    assert found.name == name and found.index == NAMES.index(name) and found.level == 0.9
    assert np.mean((found.mean - true) ** 2) < 0.03 * np.var(true)
    assert (found.lower <= found.mean).all() and (found.mean <= found.upper).all()


def test_an_effect_is_counted_from_the_average(fitted: SSVGPRegressor) -> None:
    found = fitted.effect("wave")
    X = table()[0].iloc[found.rows]
    assert np.isclose(found.average, fitted.predict_latent(X).mean(), rtol=1e-10)
    assert found.average_lower < found.average < found.average_upper
    changed = X.assign(wave=3.0)
    assert np.isclose(fitted.effect(0, [3.0]).mean[0], fitted.predict_latent(changed).mean() - found.average, rtol=1e-8)


def test_names_and_numbers_mean_the_same(fitted: SSVGPRegressor) -> None:
    by_name, by_number = fitted.effect("line"), fitted.effect(np.int64(1))
    assert np.array_equal(by_name.upper, by_number.upper) and by_number.name == "line"


def test_an_input_of_few_values_is_shown_at_each(fitted: SSVGPRegressor) -> None:
    assert fitted.effect("switch").grid.tolist() == [1.0, 2.0, 4.0]


def test_a_wider_level_gives_a_wider_band(fitted: SSVGPRegressor) -> None:
    narrow, wide = fitted.effect("wave", level=0.5), fitted.effect("wave", level=0.99)
    assert (narrow.upper - narrow.lower < wide.upper - wide.lower).all()


def test_an_interaction_is_found_where_it_is(fitted: SSVGPRegressor) -> None:
    product = fitted.interaction("left", "right", ([-1.0, 0.0, 1.0], [-1.0, 1.0]))
    assert product.mean.shape == product.lower.shape == (3, 2)
    X = table()[0].to_numpy()[product.rows]
    a, b = X[:, 4], X[:, 5]
    true = [[1.5 * np.mean(g * h - g * b - a * h + a * b) for h in (-1.0, 1.0)] for g in (-1.0, 0.0, 1.0)]
    assert np.allclose(product.mean, true, atol=0.3)
    none = fitted.interaction("wave", "line")
    assert np.mean((none.lower <= 0.0) & (none.upper >= 0.0)) > 0.8
    assert np.abs(none.mean).max() < 0.15 * np.abs(fitted.effect("wave").mean).max()


def test_shares_tell_main_effects_from_pairs(fitted: SSVGPRegressor) -> None:
    shares = fitted.effect_shares()
    assert shares.names == ("wave", "line", "switch", "left", "right")
    first = dict(zip(shares.names, shares.first, strict=True))
    pair = shares.pairs[3, 4]
    X = table()[0].to_numpy()
    variance = signal(X).var()
    assert np.isclose(first["wave"], (3.0 * np.sin(0.3 * X[:, 0])).var() / variance, atol=0.06)
    assert np.isclose(first["line"], (X[:, 1] / 50.0).var() / variance, atol=0.06)
    assert np.isclose(pair, (1.5 * X[:, 4] * X[:, 5]).var() / variance, atol=0.08)
    assert first["left"] < 0.05 and first["right"] < 0.05
    assert (shares.total >= shares.first).all() and (shares.total[3:] > 0.7 * pair).all()
    parts = [3.0 * np.sin(0.3 * X[:, 0]), X[:, 1] / 50.0, 2.0 * (X[:, 3] == 4.0), 1.5 * X[:, 4] * X[:, 5]]
    total = sum(part.var() for part in parts) / variance  # near one: parts of a sample are not quite independent
    assert np.isclose(shares.first.sum() + np.triu(shares.pairs).sum(), total, atol=0.1)


def test_shares_follow_the_threshold(fitted: SSVGPRegressor) -> None:
    fitted.effect_shares()
    try:
        fitted.set_params(threshold=1.0)
        assert fitted.effect_shares().names == () and fitted.effect_shares().pairs.shape == (0, 0)
    finally:
        fitted.set_params(threshold=0.5)


def test_an_input_that_no_member_has_does_nothing(fitted: SSVGPRegressor) -> None:
    found = fitted.effect("noise")
    if not any(2 in member.active for member in fitted.members_):
        assert np.abs(found.lower).max() < 1e-100 and np.abs(found.upper).max() < 1e-100
    assert np.abs(found.mean).max() < 0.1


def test_a_transform_is_undone_around_the_average() -> None:
    X, y = table()
    plain = light().fit(X, y)
    bent = light(target_transform="log").fit(X, np.exp(0.1 * y))
    effect, other = bent.effect("wave"), plain.effect("wave")
    # log undoes exp: the same curve, then mapped back from the level
    level = np.log(effect.average) / 0.1
    assert np.allclose(np.log(effect.average + effect.mean) / 0.1 - level, other.mean, atol=1e-6)
    assert (effect.lower <= effect.mean).all() and (effect.mean <= effect.upper).all()


def test_many_rows_go_by_neighbours() -> None:
    X, y = table(n=500)
    model = light(exact_limit=400, predict_neighbours=100).fit(X, y)
    near, shares = model.effect("wave"), model.effect_shares()
    model = pickle.loads(pickle.dumps(model.set_params(exact_limit=500)))  # the same members, nothing kept
    exact = model.effect("wave")
    size = np.ptp(exact.mean)
    gap = near.mean - exact.mean
    assert np.abs(gap - gap.mean()).max() < 0.05 * size
    assert near.rows.size < exact.rows.size  # another way was taken, and fewer rows have another level
    assert abs(gap.mean()) < 3.0 * exact.mean.std() / np.sqrt(near.rows.size)
    wide = (near.upper - near.lower) / (exact.upper - exact.lower)
    assert 0.7 < np.median(wide) < 3.0
    assert np.isclose(shares.pairs[3, 4], model.effect_shares().pairs[3, 4], atol=0.05)


def test_a_background_is_part_of_every_effect() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    y = X @ rng.normal(size=60) / 8.0 + np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=40)
    model = light().fit(X, y)
    assert any(member.parameters.background for member in model.members_)
    found = model.effect(7, [-1.0, 1.0])
    rows = [X[found.rows].copy() for _ in found.grid]
    for table_, value in zip(rows, found.grid, strict=True):
        table_[:, 7] = value
    expected = [model.predict_latent(one).mean() - found.average for one in rows]
    assert np.allclose(found.mean, expected, rtol=1e-8) and (found.upper > found.lower).all()


def test_copies_have_the_effect_of_the_column_that_stands_for_them() -> None:
    X, y = table()
    with pytest.warns(DataWarning):
        model = light().fit(X.assign(copy=X["wave"], still=1.0), y)
    assert np.array_equal(model.effect("copy").mean, model.effect("wave").mean)
    with pytest.raises(ValueError, match="constant in the training table"):
        model.effect("still")
    with pytest.raises(ValueError, match="two different inputs"):
        model.interaction("copy", "wave")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.effect("wav"), ValueError, "no input named 'wav'"),
        (lambda m: m.effect(6), ValueError, "no input number 6"),
        (lambda m: m.effect(-1), ValueError, "counted from 0"),
        (lambda m: m.effect(1.0), TypeError, "name or number"),
        (lambda m: m.effect(0, [np.nan]), ValueError, "finite numbers"),
        (lambda m: m.effect(0, level=90), ValueError, "between 0 and 1"),
    ],
)
def test_wrong_questions_are_answered_clearly(
    fitted: SSVGPRegressor, call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(fitted)


def test_an_unfitted_model_has_no_effects() -> None:
    for ask in (lambda m: m.effect(0), lambda m: m.interaction(0, 1), lambda m: m.effect_shares()):
        with pytest.raises(NotFittedError):
            ask(light())


def test_a_constant_target_has_flat_effects() -> None:
    X, _ = table()
    found = light().fit(X, np.full(len(X), 7.0)).effect("wave")
    assert np.allclose(found.mean, 0.0) and np.isclose(found.average, 7.0)


# --- bounded time -----------------------------------------------------------------------------------------------


def test_a_faint_background_counts_as_noise_where_rows_are_many() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    model = light().fit(X, X @ rng.normal(size=60) / 8.0 + np.sin(2.0 * X[:, 0]))
    first = next(member for member in model.ensemble_.members if member.parameters.background)
    faint = replace(first, parameters=replace(first.parameters, background=0.5 * SLIGHT))
    clear = replace(first, parameters=replace(first.parameters, background=2.0 * SLIGHT))
    kept = without_faint_background(Ensemble((faint, clear), np.array([0.4, 0.6]), model.ensemble_.pip)).members
    assert kept[1] is clear and kept[0].parameters.background == 0.0
    assert kept[0].parameters.noise == first.parameters.noise + 0.5 * SLIGHT


def test_shares_keep_to_a_budget(fitted: SSVGPRegressor, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fitted.effect_shares()
    asked: list[int] = []

    def counted(posterior: Any, blocks: Any) -> np.ndarray:
        asked.append(blocks.count * blocks.r)
        return latent_means(posterior, blocks)

    monkeypatch.setattr(shares_module, "latent_means", counted)
    monkeypatch.setattr(shares_module, "BUDGET", 1e6)
    fewer = shares_module.shares(fitted.fitted_, whole.indices)
    assert 0 < fitted.train_.n * sum(asked) < 10.0 * 1e6
    assert np.count_nonzero(np.triu(fewer.pairs)) <= whole.indices.size
    assert fewer.pairs.argmax() == whole.pairs.argmax()  # the pair that may explain most is among them
    assert fewer.total == pytest.approx(whole.total, abs=0.1)


def test_a_column_that_is_nearly_always_the_same_is_shown_over_its_range() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    X[:, 0] = np.where(np.arange(2500) < 12, np.arange(2500) + 1.0, 0.0)
    model = light(predict_neighbours=20).fit(X, X[:, 1] + X[:, 0] + 0.1 * rng.normal(size=2500))
    grid = model.effect(0).grid
    assert (grid[0], grid[-1]) == (0.0, 12.0) and grid.size > 10


def test_values_of_a_table_in_single_precision_are_those_of_the_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    X[:, 0] = rng.integers(0, 5, 40)
    X[:, 1] = 1e6 + rng.integers(0, 30, 40)
    model = light().fit(X, X[:, 2:] @ rng.normal(size=58) / 8.0 + X[:, 0])
    assert any(member.parameters.background for member in model.members_)
    assert model.effect(0).grid.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.allclose(model.effect(1).grid[[0, -1]], np.quantile(X[:, 1], [0.01, 0.99]), rtol=0, atol=1e-4)
