"""The answer as a table, in a notebook, and for ArviZ."""

from __future__ import annotations

import builtins
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import NotFittedError

from ssvgp import AutoSettings, DataWarning, PaperSettings, SSVGPRegressor
from ssvgp.report.arviz import DRAWS, _draws
from ssvgp.report.table import records

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
EVIL = "<script>alert('x')</script>"


def light(**changes: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def table(unit: float = 1.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = 3.0 + 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 3] + 0.3 * rng.normal(size=60)
    X[:, 0] *= unit
    return pd.DataFrame(X, columns=[EVIL, "b", "c", "d", "e"]).assign(twin=X[:, 3]), y


@pytest.fixture(scope="module")
def fitted() -> SSVGPRegressor:
    with pytest.warns(DataWarning):
        return light().fit(*table())


def without(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Make a library look as if it were not installed."""
    whole = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == library:
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("importlib.import_module", refuse)


# --- table ------------------------------------------------------------------------------------------------------


def test_the_summary_has_a_row_for_each_input(fitted: SSVGPRegressor) -> None:
    frame = fitted.summary()
    assert frame.shape[0] == 6 and frame.index.name == "name" and set(frame.index[:2]) == {EVIL, "d"}
    assert (frame["pip"].diff().dropna() <= 0).all()
    assert frame["selected"].tolist() == [True, True, False, False, False, False]
    assert np.allclose((frame["lengthscale"] * frame["inverse_lengthscale"])[:2], 1.0)
    assert np.isnan(frame.loc["twin", "lengthscale"]) and np.isnan(frame.loc["twin", "inverse_lengthscale"])
    assert frame["variance_share"].notna().tolist() == frame["selected"].tolist()
    assert frame.loc["twin", "stand_in"] == "see d" and frame.loc["d", "stand_in"] == "also for twin"
    assert frame.loc["twin", "pip"] == 0.0


def test_lengthscales_are_in_units_of_the_column() -> None:
    with pytest.warns(DataWarning):
        metres, millimetres = light().fit(*table()), light().fit(*table(unit=1000.0))
    ratio = millimetres.summary().loc[EVIL, "lengthscale"] / metres.summary().loc[EVIL, "lengthscale"]
    assert np.isclose(ratio, 1000.0, rtol=1e-4)


def test_records_are_plain_values_and_need_no_pandas(fitted: SSVGPRegressor, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas")
    found = records(fitted.fitted_)
    assert [type(value) for value in found[0].values()] == [str, int, float, bool, *[float] * 4, str]
    with pytest.raises(ImportError, match="pip install pandas"):
        fitted.summary()


def test_nothing_selected_is_a_summary_too() -> None:
    X, _ = table()
    model = light().fit(X.drop(columns="twin"), np.full(60, 2.0))
    assert not model.summary()["selected"].any() and model.summary()["lengthscale"].isna().all()
    assert "0 of 5 inputs" in model._repr_html_()


# --- notebook ---------------------------------------------------------------------------------------------------


def test_a_fitted_model_shows_its_selection(fitted: SSVGPRegressor) -> None:
    shown = fitted._repr_html_()
    assert "2 of 6 inputs selected from 60 rows" in shown and shown.count("<tr>") == 6
    assert fitted._repr_mimebundle_() == {"text/plain": repr(fitted), "text/html": shown}


def test_an_unfitted_model_shows_scikit_learns_diagram() -> None:
    model = light()
    assert "sk-" in model._repr_html_() and "inputs selected" not in model._repr_html_()
    assert "sk-" in model._repr_mimebundle_()["text/html"]


def test_text_of_the_table_is_escaped(fitted: SSVGPRegressor) -> None:
    shown = fitted._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown
    assert "<i>" not in light(random_state=None, kernel="<i>")._repr_html_().replace("&lt;i&gt;", "")


def test_the_users_choice_of_display_is_kept(fitted: SSVGPRegressor) -> None:
    with sklearn.config_context(display="text"):
        assert list(fitted._repr_mimebundle_()) == ["text/plain"] and not hasattr(fitted, "_repr_html_")


def test_a_long_selection_is_cut() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    model = light(threshold=0.0).fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    model.pip_ = np.maximum(model.pip_, 1e-6)
    assert model._repr_html_().count("<tr>") == 24 and "and 17 more" in model._repr_html_()


# --- ArviZ ------------------------------------------------------------------------------------------------------


def test_members_are_drawn_by_their_weights() -> None:
    weights = np.array([0.5, 0.0, 0.3, 0.2])
    assert np.allclose(
        np.bincount(_draws(weights, np.random.default_rng(0)), minlength=4) / DRAWS, weights, atol=1.5 / DRAWS
    )


def test_the_mixture_of_members_has_the_density_of_loo(fitted: SSVGPRegressor) -> None:
    each = fitted.loo_by_member()
    assert each.shape == (len(fitted.members_), 60)
    assert np.allclose(np.log(fitted.weights_ @ np.exp(each)), fitted.loo_.log_density, rtol=1e-10)


def test_arviz_scores_leave_one_out(fitted: SSVGPRegressor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what ArviZ and its libraries say of each other
        az = pytest.importorskip("arviz")
        found = fitted.to_arviz()
        score = az.loo(found)
        compared = az.compare({"one": found, "other": found})
    elpd = float(getattr(score, "elpd_loo", getattr(score, "elpd", np.nan)))
    # 1 / E[1 / p] lies below E[p]: it also leaves out what each target taught the weights
    assert elpd <= fitted.loo_.total + 1e-6 and abs(elpd - fitted.loo_.total) < 0.1 * 60
    assert len(compared) == 2
    assert np.allclose(np.ravel(found["observed_data"]["y"]), table()[1])


def test_without_arviz_the_error_says_what_to_do(fitted: SSVGPRegressor, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "arviz")
    with pytest.raises(ImportError, match="pip install arviz"):
        fitted.to_arviz()


@pytest.mark.parametrize("ask", ["summary", "to_arviz", "loo_by_member"])
def test_an_unfitted_model_has_nothing_to_show(ask: str) -> None:
    if ask == "to_arviz":
        pytest.importorskip("arviz")
    with pytest.raises(NotFittedError):
        getattr(light(), ask)()
