"""SSVGPRegressor as scikit-learn, its users and their odd tables see it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ssvgp import AutoSettings, DataWarning, PaperSettings, Prior, SSVGPRegressor, squared_exponential
from ssvgp.evidence import loo
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.records import Member, Parameters, Train

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
TRUE = [0, 3]


def table(seed: int = 0, n: int = 50, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Two inputs of d matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 3.0 + 2.0 * (np.sin(1.5 * X[:, 0]) + X[:, 3]) + 0.3 * rng.normal(size=n)


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


@pytest.fixture(scope="module")
def fitted() -> SSVGPRegressor:
    return light().fit(*table())


@pytest.fixture(scope="module")
def positive() -> SSVGPRegressor:
    X, y = table()
    return light(target_transform="box-cox").fit(X, np.exp(0.3 * y))


@parametrize_with_checks([light(), light(method="paper", settings=SHORT)])
@pytest.mark.filterwarnings("ignore::ssvgp.DataWarning", "ignore:No features were selected")
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


# --- selection ------------------------------------------------------------------------------------------


def test_the_inputs_that_matter_are_selected(fitted: SSVGPRegressor) -> None:
    assert fitted.get_support(indices=True).tolist() == TRUE
    assert fitted.pip_.shape == (6,) and (fitted.pip_ >= 0).all() and (fitted.pip_ <= 1).all()
    assert np.isclose(fitted.weights_.sum(), 1.0) and len(fitted.members_) == fitted.weights_.size
    assert (fitted.inverse_lengthscales_[TRUE] > 0.1).all()
    assert np.isclose(sum(fitted.variance_shares_.values()), 1.0)
    assert np.isclose(fitted.noise_variance_, 0.09, rtol=0.6)


def test_the_threshold_decides_without_a_new_fit(fitted: SSVGPRegressor) -> None:
    strict = pickle.loads(pickle.dumps(fitted)).set_params(threshold=1.0)
    assert not strict.get_support().any()


def test_transform_keeps_selected_columns_and_inverse_puts_them_back(fitted: SSVGPRegressor) -> None:
    X, _ = table()
    assert np.array_equal(fitted.transform(X), X[:, TRUE])
    assert np.array_equal(fitted.inverse_transform(X[:, TRUE])[:, TRUE], X[:, TRUE])
    assert fitted.get_feature_names_out().tolist() == ["x0", "x3"]


def test_permuting_columns_permutes_inclusion_probabilities() -> None:
    X, y = table()
    order = np.array([4, 3, 0, 5, 1, 2])
    model = light(settings=replace(LIGHT, draws=256))  # draws within a set differ with its order
    first = model.fit(X, y).pip_
    assert np.allclose(model.fit(X[:, order], y).pip_, first[order], atol=0.03)


def test_shift_and_scale_of_inputs_and_target_change_nothing(fitted: SSVGPRegressor) -> None:
    X, y = table()
    sizes = np.array([1e12, 1e-12, 1.0, 1e3, 1.0, 7.0])
    other = light().fit(X * sizes + sizes, 1e9 * y - 1e9)
    assert np.allclose(other.pip_, fitted.pip_, atol=1e-4)
    mean, sd = fitted.predict(X, return_std=True)
    other_mean, other_sd = other.predict(X * sizes + sizes, return_std=True)
    assert np.allclose(other_mean / 1e9 + 1.0, mean, atol=1e-3)
    assert np.allclose(other_sd / 1e9, sd, rtol=1e-3)


# --- prediction -----------------------------------------------------------------------------------------


def test_standard_deviations_include_noise_and_latent_ones_do_not(fitted: SSVGPRegressor) -> None:
    X, y = table(1)
    mean, sd = fitted.predict(X, return_std=True)
    latent, latent_sd = fitted.predict_latent(X, return_std=True)
    assert np.allclose(mean, latent) and np.array_equal(mean, fitted.predict(X))
    assert np.allclose(sd**2 - latent_sd**2, fitted.noise_variance_)
    assert fitted.score(X, y) > 0.9


def test_covariance_has_the_variances_on_its_diagonal(fitted: SSVGPRegressor) -> None:
    X, _ = table(1)
    mean, covariance = fitted.predict(X, return_cov=True)
    plain, sd = fitted.predict(X, return_std=True)
    assert np.allclose(mean, plain) and np.allclose(np.sqrt(np.diag(covariance)), sd)
    with pytest.raises(ValueError, match="not both"):
        fitted.predict(X, return_std=True, return_cov=True)


@pytest.mark.parametrize("name", ["fitted", "positive"])
def test_quantiles_rise_with_their_level(name: str, request: pytest.FixtureRequest) -> None:
    model, (X, _) = request.getfixturevalue(name), table(1)
    quantiles = model.predict_quantiles(X, [0.025, 0.25, 0.5, 0.75, 0.975])
    assert quantiles.shape == (50, 5) and (np.diff(quantiles, axis=1) > 0).all()


@pytest.mark.parametrize("name", ["fitted", "positive"])
def test_draws_agree_with_moments_and_quantiles(name: str, request: pytest.FixtureRequest) -> None:
    model, X = request.getfixturevalue(name), table(1)[0][:4]
    draws = model.sample_y(X, n_samples=20_000, random_state=1)
    mean, sd = model.predict(X, return_std=True)
    assert draws.shape == (4, 20_000)
    assert np.allclose(draws.mean(axis=1), mean, atol=0.1 * sd.max())
    assert np.allclose(draws.std(axis=1), sd, rtol=0.1)
    below = draws <= model.predict_quantiles(X, 0.9)
    assert np.allclose(below.mean(axis=1), 0.9, atol=0.02)


@pytest.mark.parametrize("name", ["fitted", "positive"])
def test_log_density_is_the_slope_of_the_quantiles(name: str, request: pytest.FixtureRequest) -> None:
    model, X = request.getfixturevalue(name), table(1)[0][:3]
    low, middle, high = model.predict_quantiles(X, [0.49999, 0.5, 0.50001]).T
    density = model.log_predictive_density(X, middle)
    assert np.allclose(density, np.log(2e-5 / (high - low)), atol=1e-3)


def test_a_target_outside_the_reach_of_box_cox_has_no_density(positive: SSVGPRegressor) -> None:
    X, _ = table(1)
    assert np.isneginf(positive.log_predictive_density(X[:1], [-1.0]))
    assert (positive.predict_quantiles(X, [0.001]) >= 0).all()
    with pytest.raises(ValueError, match="sample_y"):
        positive.predict(X, return_cov=True)


def test_leave_one_out_is_that_of_the_members_mixed(fitted: SSVGPRegressor) -> None:
    y = table()[1]
    each = [loo.exact(fitted.train_, member) for member in fitted.members_]
    mean = fitted.weights_ @ np.stack([one.mean for one in each])
    assert np.allclose(fitted.loo_.mean, y.mean() + y.std() * mean)
    density = fitted.weights_ @ np.exp(np.stack([one.log_density for one in each]))
    assert np.allclose(fitted.loo_.log_density, np.log(density) - np.log(y.std()))
    assert (fitted.loo_.variance > 0).all() and fitted.loo_ is fitted.loo_


def test_leave_one_out_of_a_transformed_target_is_in_its_own_units(positive: SSVGPRegressor) -> None:
    y = np.exp(0.3 * table()[1])
    assert 1.0 - np.mean((positive.loo_.mean - y) ** 2) / y.var() > 0.8


def test_beyond_the_exact_limit_predictions_use_neighbours(fitted: SSVGPRegressor) -> None:
    X, _ = table(1)
    near = pickle.loads(pickle.dumps(fitted)).set_params(exact_limit=10, predict_neighbours=49)
    few = pickle.loads(pickle.dumps(fitted)).set_params(exact_limit=10, predict_neighbours=5)
    exact = fitted.predict(X)
    assert np.allclose(near.predict(X), exact, atol=0.2) and not np.allclose(few.predict(X), exact, atol=1e-6)
    assert near.loo_.mean.shape == (50,)


def test_neighbours_may_change_between_predictions_without_a_new_fit(fitted: SSVGPRegressor) -> None:
    X_new = table(seed=1)[0]
    changing = pickle.loads(pickle.dumps(fitted))
    for changes in ({"exact_limit": 10, "predict_neighbours": 30}, {"predict_neighbours": 5}, {"exact_limit": 2000}):
        changing.set_params(**changes)
        fresh = pickle.loads(pickle.dumps(changing))  # without anything that was kept
        np.testing.assert_array_equal(changing.predict(X_new), fresh.predict(X_new))
        np.testing.assert_array_equal(changing.loo_.mean, fresh.loo_.mean)
        np.testing.assert_array_equal(changing.check().mean, fresh.check().mean)
    assert sum(kind == "prepared" for kind, *_ in changing.fitted_.cache) == 1


@pytest.mark.parametrize(("limit", "on_blocks"), [(220, True), (260, False)])
def test_fits_are_exact_up_to_half_the_limit_of_predictions(limit: int, on_blocks: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    phases: list[str] = []
    model = SSVGPRegressor(exact_limit=limit, random_state=0, callback=lambda event: phases.append(event.phase))
    model.fit(X, X[:, 0] + 0.3 * rng.standard_normal(120))
    assert ("neighbour blocks" in phases) == on_blocks


def test_fits_beyond_the_exact_limit_work_on_blocks() -> None:
    X, y = table(n=160)
    settings = replace(LIGHT, exact_rows=100, blocks=2, block_rows=60)
    model = light(settings=settings, exact_limit=100, predict_neighbours=40).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(*table(1)) > 0.9


def test_repeated_predictions_do_not_grow_the_pickle(fitted: SSVGPRegressor) -> None:
    size = len(pickle.dumps(light().fit(*table())))
    fitted.predict(table()[0])
    assert len(pickle.dumps(fitted)) < 1.5 * size


# --- tables with names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_go_in_and_come_out(frame: Any) -> None:
    X, y = table()
    names = [f"sensor {j}" for j in range(6)]
    data = frame(dict(zip(names, X.T, strict=True)))
    kind = "pandas" if frame is pd.DataFrame else "polars"
    model = light().set_output(transform=kind).fit(data, y)
    assert model.feature_names_in_.tolist() == names
    assert model.get_feature_names_out().tolist() == ["sensor 0", "sensor 3"]
    chosen = model.transform(data)
    assert isinstance(chosen, frame) and list(chosen.columns) == ["sensor 0", "sensor 3"]
    assert np.array_equal(model.predict(data), light().fit(X, y).predict(X))


def test_text_columns_are_named_in_the_error() -> None:
    X, y = table()
    data = pd.DataFrame(X, columns=list("abcdef")).assign(b="red")
    with pytest.raises(ValueError, match=r"columns with text: b$"):
        light().fit(data, y)


# --- odd tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused(bad: float, fitted: SSVGPRegressor) -> None:
    X, y = table()
    hurt, hurt_y = X.copy(), y.copy()
    hurt[3, 2] = hurt_y[1] = bad
    for rows, targets in ((hurt, y), (X, hurt_y)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            light().fit(rows, targets)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(hurt)


def test_tables_of_the_wrong_shape_are_refused(fitted: SSVGPRegressor) -> None:
    X, y = table()
    with pytest.raises(ValueError, match="1 sample"):
        light().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        light().fit(X, y[:-1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        light().fit(y, y)
    with pytest.raises(ValueError, match="expecting 6 features"):
        fitted.predict(X[:, :5])
    with pytest.raises(ValueError, match="50 rows but y has 3"):
        fitted.log_predictive_density(X, y[:3])


def test_a_target_column_is_flattened_with_a_warning(fitted: SSVGPRegressor) -> None:
    X, y = table()
    with pytest.warns(DataConversionWarning):
        model = light().fit(X, y[:, None])
    assert np.array_equal(model.pip_, fitted.pip_)


def test_constant_columns_have_no_part_in_the_fit(fitted: SSVGPRegressor) -> None:
    X, y = table()
    wide = np.insert(X, 1, 1e6 + 0.1, axis=1)
    with pytest.warns(DataWarning, match="constant columns, their PIP is 0: 1$"):
        model = light().fit(wide, y)
    assert model.pip_[1] == 0.0 and model.inverse_lengthscales_[1] == 0.0
    assert np.array_equal(np.delete(model.pip_, 1), fitted.pip_)
    wide[:, 1] = 5.0  # what a constant column says later is not listened to
    assert np.allclose(model.predict(wide), fitted.predict(X))


def test_copies_of_a_column_are_left_to_the_first(fitted: SSVGPRegressor) -> None:
    X, y = table()
    with pytest.warns(DataWarning, match=r"6 \(copy of 3\)"):
        model = light().fit(np.column_stack([X, X[:, 3]]), y)
    assert model.duplicate_of_ == {6: 3}
    assert model.pip_[6] == 0.0 and np.array_equal(model.pip_[:6], fitted.pip_)


def test_a_table_without_a_varying_column_predicts_the_mean() -> None:
    y = table()[1]
    with pytest.warns(DataWarning):
        model = light().fit(np.ones((50, 2)), y)
    mean, sd = model.predict(np.zeros((3, 2)), return_std=True)
    assert np.allclose(mean, y.mean()) and np.allclose(sd, y.std())
    assert (model.pip_ == 0.0).all()


@pytest.mark.parametrize("value", [0.0, 2.5, -1e12])
@pytest.mark.parametrize("method", ["auto", "paper"])
def test_a_constant_target_is_predicted_as_it_is(value: float, method: str) -> None:
    model = SSVGPRegressor(method=method).fit(table()[0], np.full(50, value))
    mean, sd = model.predict(table(1)[0], return_std=True)
    assert (mean == value).all() and (sd <= 1e-5 * max(abs(value), 1.0)).all()
    assert (model.pip_ == 0.0).all()
    assert np.isfinite(model.loo_.mean).all()


@pytest.mark.parametrize("rows", [2, 3])
def test_very_few_rows_are_enough(rows: int) -> None:
    X, y = table()
    model = light().fit(X[:rows], y[:rows])
    assert np.isfinite(model.predict(X, return_std=True)).all()


def test_predictions_far_outside_stay_finite(fitted: SSVGPRegressor) -> None:
    mean, sd = fitted.predict(np.full((2, 6), 1e200), return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(sd).all()


# --- parameters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"method": "mcmc"}, ValueError, "'auto' or 'paper'"),
        ({"kernel": "cubic"}, ValueError, "unknown kernel 'cubic'"),
        ({"kernel": []}, ValueError, "needs a kernel"),
        ({"kernel": 3}, TypeError, "int"),
        ({"method": "paper", "settings": None, "kernel": ["se", "rq"]}, ValueError, "one kernel"),
        ({"settings": SHORT}, TypeError, "AutoSettings"),
        ({"method": "paper"}, TypeError, "PaperSettings"),
        ({"prior": 0.5}, TypeError, "Prior"),
        ({"threshold": 2.0}, ValueError, "threshold"),
        ({"predict_neighbours": 0}, ValueError, "predict_neighbours"),
        ({"target_transform": "sqrt"}, ValueError, "target_transform"),
    ],
)
def test_wrong_parameters_are_named(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        light(**changes).fit(*table())


def test_kernels_may_be_objects_or_lists() -> None:
    X, y = table()
    model = light(kernel=[squared_exponential(), "matern32"], prior=Prior(a=1.0, b=2.0)).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert {member.kernel.name for member in model.members_} <= {"se", "matern32"}


def test_the_method_of_the_paper_is_there() -> None:
    X, y = table()
    model = light(method="paper", settings=replace(SHORT, rounds=3, steps=50, first_steps=100)).fit(X, y)
    assert set(TRUE) <= set(model.get_support(indices=True))
    assert model.score(*table(1)) > 0.8
    assert set(model.variance_shares_) == {"sparse", "background", "noise"}


def test_progress_is_told_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[Any] = []
    light(verbose=1, callback=heard.append).fit(*table(n=20))
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("ssvgp: 20 rows, ") and heard and len(lines) == len(heard)


def test_a_fit_that_is_stopped_leaves_the_last_one_whole() -> None:
    def stop(_: Any) -> None:
        raise RuntimeError("stopped from outside")

    X, y = table()
    model = light().fit(X, y)
    before = model.predict(X)
    with pytest.raises(RuntimeError, match="stopped"):
        model.set_params(callback=stop).fit(X, -y)
    assert np.array_equal(model.predict(X), before)


def test_before_a_fit_there_is_nothing() -> None:
    model = light()
    for ask in (lambda: model.loo_, model.get_support, lambda: model.sample_y(table()[0])):
        with pytest.raises(NotFittedError):
            ask()


# --- company --------------------------------------------------------------------------------------------


def test_pickles_and_joblib_files_predict_the_same(fitted: SSVGPRegressor, tmp_path: Any) -> None:
    X, _ = table(1)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(copy.predict(X), fitted.predict(X))
        assert np.array_equal(copy.loo_.mean, fitted.loo_.mean)


def test_clones_are_unfitted_and_alike(fitted: SSVGPRegressor) -> None:
    copy = clone(fitted)
    assert not hasattr(copy, "pip_") and copy.get_params() == fitted.get_params()


def test_it_selects_for_the_next_step_of_a_pipeline() -> None:
    X, y = table()
    line = make_pipeline(StandardScaler(), light(), LinearRegression()).fit(X, y)
    assert line[-1].coef_.shape == (2,) and line.score(X, y) > 0.6


def test_grids_are_searched_over_its_parameters() -> None:
    X, y = table()
    search = GridSearchCV(light(), {"kernel": ["se", "linear"]}, cv=2).fit(X, y)
    assert search.best_params_ == {"kernel": "se"}
    assert cross_val_score(light(), X, y, cv=2, n_jobs=1).shape == (2,)


def test_a_large_table_of_which_every_input_matters_can_be_fitted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 2))
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=2100))
    assert np.allclose(model.pip_, 1.0)


# --- covariances that had to be repaired -----------------------------------------------------------------


def test_a_covariance_that_had_to_be_repaired_is_reported_once() -> None:
    X, _ = table()
    prior = Prior(mean=1e10, log_noise=(-18.0, 0.01), with_background=0.0)  # more digits than doubles have
    with pytest.warns(RuntimeWarning, match="not positive definite") as told:
        model = light(kernel="linear", prior=prior).fit(X, X[:, 0] + 2.0 * X[:, 3])
    assert len([one for one in told if one.category is RuntimeWarning]) == 1
    assert model.ensemble_.notes["jitter"] > 0.0


def test_what_leave_one_out_had_to_repair_is_told() -> None:
    X, y = table()
    train = Train(X, y)
    member = Member(np.array([0]), Parameters(np.ones(1), 1e8, 1e-12), kernel_named("linear"), np.ones(1))
    assert loo.exact(train, member).jitter > 0.0
    assert loo.exact(train, replace(member, parameters=Parameters(np.ones(1), 1.0, 0.1))).jitter == 0.0


def test_a_sound_covariance_needs_no_repair(fitted: SSVGPRegressor) -> None:
    assert fitted.ensemble_.notes["jitter"] == 0.0
