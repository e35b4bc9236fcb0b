"""Weights and known noise of rows as a user gives them: through whole fits, files, effects and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssvgp import AutoSettings, PaperSettings, Prior, SSVGPRegressor, load
from ssvgp.data.rows import sample_of

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
RNG = np.random.default_rng(5)
X = RNG.standard_normal((45, 6))
KNOWN = RNG.uniform(0.0, 1.0, 45)
Y = 3.0 + 2.0 * (np.sin(1.5 * X[:, 0]) + X[:, 3]) + np.sqrt(0.1 + KNOWN) * RNG.standard_normal(45)
WEIGHTS = RNG.integers(0, 4, 45).astype(float)
NEW = RNG.standard_normal((9, 6))


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def evidences(model: SSVGPRegressor) -> np.ndarray:
    notes = model.ensemble_.notes
    return np.array([one[2] for one in notes["sets"]]) if "sets" in notes else np.asarray(notes["loo"])


def alike(one: SSVGPRegressor, other: SSVGPRegressor, close: float = 1e-8) -> None:
    np.testing.assert_allclose(evidences(one), evidences(other), atol=close)
    np.testing.assert_allclose(one.pip_, other.pip_, atol=close)
    for found, expected in zip(one.predict(NEW, return_std=True), other.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(found, expected, atol=close)
    assert one.noise_variance_ == pytest.approx(other.noise_variance_, abs=close)


METHODS = {
    "auto": light(),
    "kernels": light(kernel="auto"),
    "paper": light(method="paper", settings=SHORT),
    "box-cox": light(target_transform="yeo-johnson"),
}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_whole_weights_are_repeated_rows_in_any_order(name: str, known: bool) -> None:
    if known and name == "box-cox":
        pytest.skip("known noise has no place under a curve")
    noise = KNOWN if known else None
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(45), WEIGHTS.astype(int)))
    one = METHODS[name].fit(X, Y, sample_weight=WEIGHTS, noise_variance=noise)
    kept = {"mean": one.loo_.mean, "rows": one.loo_.rows, "r2": one.check().r2}
    pip, evidence, predicted = one.pip_, evidences(one), one.predict(NEW, return_std=True)
    own = None if noise is None else noise[rows]
    other = light(**METHODS[name].get_params()).fit(X[rows], Y[rows], noise_variance=own)
    np.testing.assert_allclose(evidences(other), evidence, atol=1e-8)
    np.testing.assert_allclose(other.pip_, pip, atol=1e-8)
    np.testing.assert_allclose(other.predict(NEW, return_std=True), predicted, atol=1e-8)
    assert kept["rows"].tolist() == np.flatnonzero(WEIGHTS > 0).tolist()
    assert other.loo_.mean.size == rows.size and np.isfinite(kept["r2"])
    by_row = dict(zip(kept["rows"], kept["mean"], strict=True))
    np.testing.assert_allclose(other.loo_.mean, [by_row[row] for row in rows], atol=1e-8)


def test_a_weight_of_zero_is_a_row_left_out() -> None:
    weights = np.ones(45)
    weights[[3, 17, 44]] = 0.0
    rows = sample_of(X, Y, weights, None, 100)  # the others, in the order that rows with weights are put in
    assert sorted(rows.y) == sorted(Y[weights > 0])
    alike(light().fit(X, Y, sample_weight=weights), light().fit(rows.X, rows.y))


def test_weights_of_one_and_known_noise_of_zero_change_nothing() -> None:
    plain = light().fit(X, Y)
    alike(light().fit(X, Y, sample_weight=np.ones(45), noise_variance=np.zeros(45)), plain, 0.0)


def test_a_row_of_huge_known_noise_is_as_good_as_left_out() -> None:
    known = np.zeros(45)
    known[:4] = 1e10 * Y.var()
    one = light().fit(X, Y, noise_variance=known)
    other = light().fit(X[4:], Y[4:])
    np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=0.15 * Y.std())
    # columns and target are standardised with those rows: the same effects meet slightly other priors
    np.testing.assert_allclose(one.pip_, other.pip_, atol=0.15)


def test_known_noise_is_not_learned_again_and_predictions_leave_it_out() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((150, 3))
    known = rng.uniform(0.0, 2.0, 150)
    y = 2.0 * table[:, 1] + np.sqrt(0.04 + known) * rng.standard_normal(150)
    model, ignorant = light().fit(table, y, noise_variance=known), light().fit(table, y)
    assert model.noise_variance_ < 0.3 < ignorant.noise_variance_
    _, sd = model.predict(table, return_std=True)
    _, latent = model.predict_latent(table, return_std=True)
    assert sd**2 - latent**2 == pytest.approx(model.noise_variance_)
    plain, informed = (model.log_predictive_density(table, y, noise_variance=noise) for noise in (None, known))
    assert informed.mean() > plain.mean() + 0.3
    loud, quiet = known > 1.5, known < 0.2
    assert model.loo_.variance[loud].mean() > 1.0 + model.loo_.variance[quiet].mean()


@pytest.mark.parametrize("known", [None, KNOWN])
def test_weights_go_through_files_effects_and_reports(tmp_path: Path, known: np.ndarray | None) -> None:
    model = light().fit(X, Y, sample_weight=WEIGHTS, noise_variance=known)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    assert np.array_equal(again.loo_.mean, model.loo_.mean) and np.array_equal(again.loo_.rows, model.loo_.rows)
    assert np.array_equal(again.train_.noise.weights, model.train_.noise.weights)
    assert np.array_equal(again.effect(0).mean, model.effect(0).mean)
    check, share = again.check(), model.effect_shares()
    assert check.rows.size == (WEIGHTS > 0).sum() and check.observed == pytest.approx(Y[WEIGHTS > 0])
    assert (share.total >= 0.0).all() and model.loo_by_member().shape == (model.weights_.size, check.rows.size)
    assert "selected" in model._repr_html_()


@pytest.mark.parametrize("known", [False, True])
def test_many_rows_with_weights_are_fitted_on_blocks(known: bool) -> None:
    rng = np.random.default_rng(2)
    table = rng.standard_normal((700, 5))
    noise = rng.uniform(0.0, 0.5, 700) if known else None
    spread = np.sqrt(0.1 + (0.0 if noise is None else noise))
    y = np.sin(2.0 * table[:, 1]) + table[:, 4] + spread * rng.standard_normal(700)
    weights = rng.integers(0, 3, 700)
    blocks = light(exact_limit=300, predict_neighbours=60).fit(table, y, sample_weight=weights, noise_variance=noise)
    exact = light().fit(table, y, sample_weight=weights, noise_variance=noise)
    assert np.flatnonzero(blocks.pip_ > 0.5).tolist() == np.flatnonzero(exact.pip_ > 0.5).tolist() == [1, 4]
    new = rng.standard_normal((50, 5))
    assert np.sqrt(np.mean((blocks.predict(new) - exact.predict(new)) ** 2)) < 0.15
    assert blocks.loo_.rows.tolist() == np.flatnonzero(weights > 0).tolist()


def test_what_is_no_weight_or_noise_is_an_error() -> None:
    for name in ("sample_weight", "noise_variance"):
        with pytest.raises(ValueError, match=f"{name} holds a negative"):
            light().fit(X, Y, **{name: np.full(45, -1.0)})
        with pytest.raises(ValueError, match=f"{name} has shape"):
            light().fit(X, Y, **{name: np.ones(7)})
        with pytest.raises(ValueError, match="NaN"):
            light().fit(X, Y, **{name: np.full(45, np.nan)})
    with pytest.raises(ValueError, match="every sample_weight is zero"):
        light().fit(X, Y, sample_weight=np.zeros(45))
    with pytest.raises(ValueError, match="passed a curve"):
        light(target_transform="yeo-johnson").fit(X, Y, noise_variance=KNOWN)
    with pytest.raises(ValueError, match="one of gaussian"):
        light(likelihood="cauchy").fit(X, Y)


def test_a_table_without_weights_or_equal_rows_stays_as_it_is() -> None:
    found = sample_of(X, Y, None, None, 100)
    assert found.X is X and found.y is Y and found.weights is None and found.places is None


def test_copies_count_for_more_than_other_rows_and_all_for_no_more_than_there_are() -> None:
    model = light(prior=Prior()).fit(X, Y, sample_weight=WEIGHTS)
    some = WEIGHTS[WEIGHTS > 0]
    assert model.train_.n == some.size and model.train_.count == pytest.approx(some.size)
    assert sorted(model.train_.noise.weights) == pytest.approx(sorted(some / some.mean()))


def test_a_weight_for_all_rows_is_no_weight() -> None:
    rows = sample_of(X, Y, np.full(45, 2.0), None, 100)  # in the order that rows with weights are put in
    alike(light().fit(X, Y, sample_weight=np.full(45, 2.0)), light().fit(rows.X, rows.y))


def test_rounded_measurements_of_the_same_x_are_no_copies() -> None:
    rng = np.random.default_rng(3)
    levels = rng.integers(0, 4, (300, 2)).astype(float)
    y = np.round(levels[:, 0] + 0.6 * rng.standard_normal(300))
    rows = sample_of(levels, y, None, None, 1000)
    assert rows.y.size < 120 and rows.measured and rows.counted().weights.sum() == 300.0
    model = light().fit(levels, y)
    assert model.get_support(indices=True).tolist() == [0] and 0.3 < model.noise_variance_ < 0.55


@pytest.mark.parametrize("limit", [100, 2000])  # on blocks; all rows at once
def test_weights_drive_no_noise_to_zero_and_no_idle_input_in(limit: int) -> None:
    rng = np.random.default_rng(1)
    table = rng.standard_normal((400, 6))
    y = np.sin(1.2 * table[:, 0]) + 0.5 * table[:, 1] + 0.5 * rng.standard_normal(400)
    weights = rng.integers(1, 4, 400)
    rows = rng.permutation(np.repeat(np.arange(400), weights))
    one = light(exact_limit=limit).fit(table, y, sample_weight=weights)
    assert one.get_support(indices=True).tolist() == [0, 1] and 0.19 < one.noise_variance_ < 0.32
    if limit == 2000:
        other = light(exact_limit=limit).fit(table[rows], y[rows])
        np.testing.assert_allclose(other.pip_, one.pip_, atol=1e-8)


def test_equal_rows_of_a_table_of_any_size_are_one() -> None:
    rows = np.concatenate([np.arange(45), [3, 3, 17]])
    found = sample_of(X[rows], Y[rows], None, None, 10)  # too many rows to be put in order
    assert found.y.tolist() == Y.tolist() and not found.measured
    assert found.weights is not None and found.weights[[3, 17]].tolist() == [3.0, 2.0] and found.weights.sum() == 48.0
    assert np.array_equal(found.X[found.places], X[rows])
