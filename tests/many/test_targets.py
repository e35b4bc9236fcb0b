"""Many targets on one table: the same answers as one by one, and no target loses another."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from deaths import kill_a_worker
from joblib._parallel_backends import ThreadingBackend
from lightweight import light

import ssvgp
from ssvgp import DataWarning, SSVGPRegressor, StoreError
from ssvgp.many import fitting
from ssvgp.many.table import SharedTable, no_two_alike
from ssvgp.method.request import checked_request
from ssvgp.run.memo import Memo

N, D = 40, 6


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (40, 6), and four targets: a line, a wave, noise, a product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    signal = np.column_stack([X[:, 0], np.sin(2.0 * X[:, 1]), np.zeros(N), X[:, 2] * X[:, 3]])
    return X, signal + 0.3 * rng.normal(size=(N, 4))


@pytest.fixture(scope="module")
def model() -> SSVGPRegressor:
    return light().fit(*table())


def test_each_target_is_answered_as_if_it_were_alone(model: SSVGPRegressor) -> None:
    X, Y = table()
    new = np.random.default_rng(5).normal(size=(7, D))
    mean, sd = model.predict(new, return_std=True)
    quantiles = model.predict_quantiles(new)
    assert model.pip_.shape == (4, D) and mean.shape == sd.shape == (7, 4) and quantiles.shape == (7, 4, 3)
    for k in range(4):
        alone = light().fit(X, Y[:, k])
        np.testing.assert_array_equal(model.pip_[k], alone.pip_)
        np.testing.assert_array_equal(mean[:, k], alone.predict(new))
        np.testing.assert_array_equal(sd[:, k], alone.predict(new, return_std=True)[1])
        np.testing.assert_array_equal(quantiles[:, k], alone.predict_quantiles(new))
        assert model.noise_variance_[k] == alone.noise_variance_
        one = model.target(k)
        np.testing.assert_array_equal(one.loo_.mean, alone.loo_.mean)
        np.testing.assert_array_equal(one.effect(0).mean, alone.effect(0).mean)


def test_wide_tables_share_matrices_of_their_backgrounds() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 40)) @ np.diag(rng.uniform(0.1, 3.0, 40))
    Y = X @ rng.normal(size=(40, 3)) + rng.normal(size=(30, 3))  # dense: a background carries it
    model = light().fit(X, Y)
    tables = set()
    for k in range(3):
        alone = light().fit(X, Y[:, k])
        np.testing.assert_array_equal(model.pip_[k], alone.pip_)
        np.testing.assert_array_equal(model.predict(X)[:, k], alone.predict(X))
        if any(member.background is not None for member in alone.members_):
            tables.add(id(model.several_.fits[k].train.X))  # type: ignore[union-attr]
    assert len(tables) == 1  # one copy in memory, whatever the number of targets


def test_what_depends_on_the_table_alone_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from ssvgp.search import shapes

    ranked = []
    original = shapes.rankdata
    monkeypatch.setattr(shapes, "rankdata", lambda X, axis: ranked.append(X.shape) or original(X, axis=axis))
    X, Y = table(8)
    light().fit(X, Y)
    assert len(ranked) == len(set(ranked)) > 0  # once for each part of the rows that is looked at


def test_names_of_a_data_frame_lead_to_the_targets() -> None:
    X, Y = table()
    frame = pd.DataFrame(Y[:, :2], columns=["yield", "purity"])
    model = light().fit(pd.DataFrame(X, columns=list("abcdef")), frame)
    assert list(model.targets_) == ["yield", "purity"]
    summary = model.summary()
    assert summary.index.names == ["target", "name"] and len(summary) == 2 * D
    assert summary.loc[("yield", "a"), "pip"] == model.pip_[0, 0]
    assert summary.loc["purity"]["pip"].is_monotonic_decreasing
    assert model.target("purity").summary().loc["b", "pip"] == model.pip_[1, 1]
    with pytest.raises(ValueError, match="no target 'color': there are yield, purity"):
        model.target("color")
    with pytest.raises(ValueError, match="two targets are called 'a'"):
        light().fit(X, pd.DataFrame(Y[:, :2], columns=["a", "a"]))


def test_a_target_that_fails_gives_its_error_in_its_place() -> None:
    X, Y = table()
    Y[3, 1] = np.inf
    Y[1:, 2] = np.nan
    with pytest.warns(DataWarning, match="2 of 4 targets failed"):
        model = light().fit(X, Y)
    assert set(model.errors_) == {"y1", "y2"} and "infinite" in model.errors_["y1"]
    assert np.isnan(model.pip_[1:3]).all() and np.isnan(model.predict(X)[:, 1:3]).all()
    np.testing.assert_array_equal(model.pip_[3], light().fit(X, Y[:, 3]).pip_)
    with pytest.raises(ValueError, match="'y1' was not fitted: ValueError: the target holds an infinite value"):
        model.target("y1")
    with pytest.raises(ValueError, match="no target could be fitted"):
        light().fit(X, np.full((N, 2), np.inf))


def test_rows_without_a_value_are_left_out_of_that_target_alone() -> None:
    X, Y = table()
    Y[:5, 1] = np.nan
    with pytest.warns(DataWarning, match="left out of their target's fit: y1"):
        model = light().fit(X, Y)
    np.testing.assert_array_equal(model.pip_[0], light().fit(X, Y[:, 0]).pip_)
    alone = light().fit(X[5:], Y[5:, 1])
    np.testing.assert_array_equal(model.pip_[1], alone.pip_)
    np.testing.assert_array_equal(model.predict(X)[:, 1], alone.predict(X))


def test_weights_known_noise_and_repeated_rows_count_for_every_target() -> None:
    X, Y = table()
    X, Y = np.vstack([X, X[:3]]), np.vstack([Y, Y[:3]])
    weights, noise = np.linspace(0.0, 2.0, len(X)), np.linspace(0.0, 0.5, len(X))
    for given in ({"sample_weight": weights}, {"noise_variance": noise}, {}):
        model = light().fit(X, Y[:, :2], **given)
        for k in range(2):
            np.testing.assert_array_equal(model.pip_[k], light().fit(X, Y[:, k], **given).pip_)
    assert not no_two_alike(X) and no_two_alike(X[:N])


def test_a_single_column_is_one_target_as_before() -> None:
    X, Y = table()
    with pytest.warns(UserWarning, match="column-vector"):
        model = light().fit(X, Y[:, :1])
    assert model.pip_.shape == (D,) and model.predict(X).shape == (N,)


def test_what_needs_one_target_says_so_and_a_new_fit_forgets(model: SSVGPRegressor) -> None:
    X, Y = table()
    for ask in (lambda m: m.effect(0), lambda m: m.loo_, lambda m: m.sample_y(X), lambda m: m.fitted_):
        with pytest.raises(ValueError, match="there are 4 targets"):
            ask(model)
    again = light().fit(X, Y[:, :2]).fit(X, Y[:, 0])
    assert again.pip_.shape == (D,) and not hasattr(again, "targets_")
    again.fit(X, Y[:, :2])
    assert again.pip_.shape == (2, D) and not hasattr(again, "members_")


def test_selection_is_of_inputs_that_some_target_needs(model: SSVGPRegressor) -> None:
    np.testing.assert_array_equal(model.get_support(), (model.pip_ > 0.5).any(axis=0))
    X, Y = table()
    density = model.log_predictive_density(X, Y)
    np.testing.assert_array_equal(density[:, 1], light().fit(X, Y[:, 1]).log_predictive_density(X, Y[:, 1]))
    assert model.score(X, Y) > 0.3


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_backends_of_joblib_agree_bit_by_bit(model: SSVGPRegressor, backend: str) -> None:
    X, Y = table()
    with joblib.parallel_config(backend=backend, n_jobs=2), warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of fork, in Python 3.12
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)  # of fork, by JAX where another test has loaded it
        other = light().fit(X, Y)
    np.testing.assert_array_equal(other.pip_, model.pip_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


class Late(ThreadingBackend):
    """A backend that gives its results at the end, as Ray's does."""

    supports_return_generator = False


def test_a_backend_that_answers_at_the_end_is_asked_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = table()
    Y = np.column_stack([Y + k for k in range(5)])
    fitted, seen, original = [], [], fitting.fit_rows
    monkeypatch.setattr(fitting, "fit_rows", lambda *a, **k: fitted.append(1) or original(*a, **k))
    joblib.register_parallel_backend("late", Late)
    with joblib.parallel_config(backend="late", n_jobs=2):
        late = light(callback=lambda done: seen.append(len(fitted))).fit(X, Y)
    assert seen[0] == 2 * fitting.PORTION and seen[-1] == len(seen) == 20  # what is done so far can be kept
    np.testing.assert_array_equal(late.pip_, light().fit(X, Y).pip_)


def test_a_worker_process_that_is_killed_loses_no_target_and_doubles_none(tmp_path: Path) -> None:
    X, Y = table()
    Y = np.column_stack([Y + k for k in range(4)])
    came: list[str] = []

    def report(done: Any) -> None:
        came.append(done.target)
        if len(came) == 2:
            kill_a_worker()

    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.warns(RuntimeWarning, match="a worker process died"):
        found = light(callback=report, checkpoint=tmp_path).fit(X, Y)
    assert sorted(came) == sorted(f"y{k}" for k in range(16)) and len(list(tmp_path.glob("*.ssvgp"))) == 16
    np.testing.assert_array_equal(found.pip_, light().fit(X, Y).pip_)


def test_a_file_holds_all_targets_and_their_common_arrays_once(model: SSVGPRegressor, tmp_path: Path) -> None:
    X, _ = table()
    model.save(tmp_path / "all.ssvgp")
    again = ssvgp.load(tmp_path / "all.ssvgp")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.pip_, model.pip_)
    assert list(again.targets_) == list(model.targets_) and again.errors_ == {}
    assert again.target(1).check().r2 == model.target(1).check().r2
    with pytest.raises(StoreError, match="of several targets"):
        ssvgp.store.load(tmp_path / "all.ssvgp")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_a_backend_sees_how_large_the_table_is() -> None:
    X, Y = table()
    asked = fitting.Asked(checked_request(light()), light()._regime_of(), 2000)
    shared = fitting.shared_table(X, Y, None, None, asked)
    assert isinstance(shared, SharedTable) and shared.X is None  # every target has all rows: one copy travels
    assert shared.__sizeof__() > X.nbytes


def test_a_memo_knows_results_by_content() -> None:
    memo, made = Memo(), []
    X = np.arange(6.0).reshape(3, 2)
    for asked in (X, X.copy(), X + 1.0, X[:2]):
        memo.once("sum", asked, lambda asked=asked: made.append(asked) or float(asked.sum()))
    assert len(made) == len(memo) == 3
    assert len(pickle.loads(pickle.dumps(memo))) == 0
