"""SSVGPClassifier as scikit-learn, its users and their labels see it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, ndtr
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score, roc_curve
from sklearn.utils.estimator_checks import parametrize_with_checks

from ssvgp import AutoSettings, PaperSettings, SSVGPClassifier, SSVGPRegressor, StoreError, load, plots
from ssvgp.explain.classes import ClassCheck, together
from ssvgp.report.html import class_html
from ssvgp.report.report import report

SHORT = PaperSettings(rounds=1, first_steps=20, steps=20, v=(1e3, 1e4))
LIGHT = AutoSettings(dense=SHORT, dense_sizes=(4,), dense_starts=1, draws=8, components=8)
TRUE = [0, 3]


def light(**changes: Any) -> SSVGPClassifier:
    return SSVGPClassifier(**({"settings": LIGHT, "kernel": "se", "random_state": 0} | changes))


def table(n: int = 150, d: int = 5, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Two inputs decide the log odds, one of them not in a straight line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 1.0 + 3.0 * np.sin(1.8 * X[:, 0]) + 2.5 * X[:, 3]


def labels(f: np.ndarray, seed: int = 2) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(f.size) < expit(f), "yes", "no")


@pytest.fixture(scope="module")
def two() -> SSVGPClassifier:
    X, f = table()
    return light().fit(X, labels(f))


@pytest.fixture(scope="module")
def three() -> SSVGPClassifier:
    X, f = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    return light().fit(frame, np.array([30, 10, 20])[np.digitize(f, [-1.0, 2.5])])


@pytest.mark.slow
@parametrize_with_checks([light()])
@pytest.mark.filterwarnings("ignore::ssvgp.DataWarning", "ignore:No features were selected")
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


# --- two classes ---------------------------------------------------------------------------------------------


def test_the_inputs_that_matter_are_selected_and_probabilities_are_near_the_truth(two: SSVGPClassifier) -> None:
    assert two.get_support(indices=True).tolist() == TRUE and two.classes_.tolist() == ["no", "yes"]
    X, f = table(400, seed=9)
    found = two.predict_proba(X)
    assert np.allclose(found.sum(axis=1), 1.0) and np.mean(np.abs(found[:, 1] - expit(f))) < 0.1
    assert two.transform(X).shape == (400, 2)


def test_predictions_in_all_forms_agree(two: SSVGPClassifier) -> None:
    X, f = table(60, seed=9)
    found = two.predict_proba(X)
    assert np.array_equal(two.predict(X), two.classes_[found.argmax(axis=1)])
    assert np.allclose(two.predict_log_proba(X), np.log(found))
    assert np.allclose(two.decision_function(X), logit(found[:, 1]))
    assert two.score(X, labels(f)) == np.mean(two.predict(X) == labels(f))


def test_it_is_the_regressor_of_zeros_and_ones(two: SSVGPClassifier) -> None:
    X, f = table()
    model = SSVGPRegressor(likelihood="bernoulli", kernel="se", settings=LIGHT, random_state=0, target_transform=None)
    model.fit(X, (labels(f) == "yes").astype(float))
    assert np.array_equal(model.pip_, two.pip_)
    own, inner = model.predict_mixture(X), two.fitted_.first.predict(two.fitted_.inputs.rows(X))
    assert np.allclose(inner.means, own.means) and np.allclose(inner.variances, own.variances)


@pytest.mark.slow
def test_reversed_labels_turn_everything_round(two: SSVGPClassifier) -> None:
    X, f = table()
    turned = light().fit(X, np.where(labels(f) == "yes", "a", "b"))
    assert np.allclose(turned.pip_, two.pip_, atol=1e-3)
    assert np.allclose(turned.predict_proba(X)[:, 0], two.predict_proba(X)[:, 1], atol=1e-3)


def test_an_effect_is_a_probability_or_log_odds_and_of_either_class(two: SSVGPClassifier) -> None:
    odds, found = two.effect(3, scale="logit"), two.effect(3)
    assert np.allclose(found.average + found.mean, expit(odds.average + odds.mean))
    assert np.allclose(found.average + found.lower, expit(odds.average + odds.lower))
    assert 0.0 < (found.average + found.lower).min() and (found.average + found.upper).max() < 1.0
    assert abs(odds.average - table(2000, seed=5)[1].mean()) < 0.8  # the level is in it
    other = two.effect(3, of="no")
    assert np.allclose(other.average + other.mean, 1.0 - found.average - found.mean)
    assert np.allclose(other.lower, -found.upper) and np.isclose(other.average, 1.0 - found.average)
    assert np.allclose(two.interaction(0, 3, of="no").mean, -two.interaction(0, 3).mean)
    with pytest.raises(ValueError, match="no class 'maybe': the classes are no, yes"):
        two.effect(3, of="maybe")
    with pytest.raises(ValueError, match="scale is 'probability' or 'logit'"):
        two.effect(3, scale="odds")


@pytest.mark.slow
def test_a_probit_is_fitted_by_name() -> None:
    X, f = table()
    model = light(likelihood="bernoulli-probit").fit(X, labels(f))
    assert model.get_support(indices=True).tolist() == TRUE
    found = model.effect(3)
    odds = model.effect(3, scale="logit")  # of a probit, the scale of f
    assert np.allclose(found.average + found.mean, ndtr(odds.average + odds.mean))
    with pytest.raises(ValueError, match="likelihood is one of 'bernoulli'"):
        light(likelihood="poisson").fit(X, labels(f))


# --- more classes ----------------------------------------------------------------------------------------------


def test_more_classes_have_pips_each_and_together(three: SSVGPClassifier) -> None:
    assert three.classes_.tolist() == [10, 20, 30] and three.pip_by_class_.shape == (3, 5)
    assert np.allclose(three.pip_, 1.0 - np.prod(1.0 - three.pip_by_class_, axis=0))
    assert three.get_feature_names_out().tolist() == ["a", "d"]
    X, f = table(300, seed=9)
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = three.predict_proba(frame)
    assert found.shape == (300, 3) and np.allclose(found.sum(axis=1), 1.0)
    truth = np.array([30, 10, 20])[np.digitize(f, [-1.0, 2.5])]
    assert np.mean(three.predict(frame) == truth) > 0.8
    assert three.decision_function(frame).shape == (300, 3)
    assert np.array_equal(three.decision_function(frame).argmax(axis=1), found.argmax(axis=1))
    with pytest.raises(ValueError, match=r"say of which class: of=\.\.\., one of 10, 20, 30"):
        three.effect("a")
    assert three.effect("a", of=20).name == "a"


def test_of_the_models_of_classes_exactly_one_is_right() -> None:
    one = np.array([0.2, 0.9])
    assert np.allclose(together([one]), [[0.8, 0.2], [0.1, 0.9]])
    each = [np.array([0.2]), np.array([0.5]), np.array([0.6])]
    exactly_one = np.array([0.2 * 0.5 * 0.4, 0.8 * 0.5 * 0.4, 0.8 * 0.5 * 0.6])
    assert np.allclose(together(each), exactly_one / exactly_one.sum())
    assert np.isfinite(np.log(together([np.zeros(2), np.ones(2), np.ones(2)]))).all()


# --- rows that are left out -------------------------------------------------------------------------------------


def test_leave_one_out_tells_classes_apart_about_as_well_as_new_rows_are(two: SSVGPClassifier) -> None:
    check = two.check()
    assert np.allclose(check.probabilities, two.loo_proba_)
    X, f = table(2000, seed=9)
    fresh = log_loss(labels(f, 8), two.predict_proba(X))
    assert abs(check.log_loss - fresh) < 0.1 and check.log_loss < check.base_log_loss
    assert check.confusion.sum() == 150 and np.isclose(np.trace(check.confusion) / 150, check.accuracy)


def test_scores_of_a_check_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    raw = np.round(rng.random((200, 3)), 1) + 0.05  # with ties
    found, truth = raw / raw.sum(axis=1, keepdims=True), rng.integers(3, size=200)
    check = ClassCheck(np.arange(3), np.arange(200), truth, found, 200)
    assert np.isclose(check.log_loss, log_loss(truth, found))
    for place in range(3):
        assert np.isclose(check.auc_of(place), roc_auc_score(truth == place, found[:, place]))
        alarms, hits, _ = roc_curve(truth == place, found[:, place], drop_intermediate=False)
        assert np.allclose(check.roc(place), (alarms, hits))
    assert np.isclose(check.auc, roc_auc_score(truth, found, multi_class="ovr"))
    stated, seen, count = check.calibration(1, 5)
    assert count.sum() == 200 and np.isclose(count @ stated / 200, found[:, 1].mean())
    assert np.isclose(count @ seen / 200, np.mean(truth == 1))


# --- labels and weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bool, int, float, str, object])
def test_labels_of_any_kind_come_back_as_they_were(kind: type, tmp_path: Path) -> None:
    X, f = table(40, 4)
    y = (f > 0).astype(int).astype(kind)
    model = light().fit(X, y)
    assert model.classes_.dtype == (int if kind is object else y.dtype) and set(model.predict(X)) <= set(y)
    model.save(tmp_path / "model.ssvgp")
    again = load(tmp_path / "model.ssvgp")
    assert again.classes_.dtype == model.classes_.dtype and np.array_equal(again.predict(X), model.predict(X))


def test_one_class_alone_is_an_error_that_says_so() -> None:
    X, _ = table(20)
    with pytest.raises(ValueError, match="one class alone, 'yes': two classes are the least"):
        light().fit(X, ["yes"] * 20)
    with pytest.raises(ValueError, match="one class alone"):
        light().fit(X, ["yes"] * 10 + ["no"] * 10, sample_weight=[1.0] * 10 + [0.0] * 10)
    with pytest.raises(ValueError, match="Unknown label type"):
        light().fit(X, X[:, 0])


@pytest.mark.slow
def test_weights_of_classes_and_rows_are_rows_repeated() -> None:
    X, f = table(50, 4)
    y = labels(f)
    twice = np.concatenate([np.arange(50), np.flatnonzero(y == "no")])
    weighed = light(class_weight={"no": 2.0, "yes": 1.0}).fit(X, y)
    repeated = light().fit(X[twice], y[twice])
    by_row = light().fit(X, y, sample_weight=np.where(y == "no", 2.0, 1.0))
    for other in (repeated, by_row):
        assert np.allclose(weighed.predict_proba(X), other.predict_proba(X), atol=1e-6)
    balanced = light(class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 0].mean() > light().fit(X, y).predict_proba(X)[:, 0].mean()


# --- files, tables, notebooks, reports -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two", "three"])
def test_a_file_gives_the_same_model_back(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model = request.getfixturevalue(kind)
    model.save(tmp_path / "model.ssvgp")
    again = load(tmp_path / "model.ssvgp")
    X = table(30, seed=9)[0]
    X = X if kind == "two" else pd.DataFrame(X, columns=list("abcde"))
    assert isinstance(again, SSVGPClassifier) and again.get_params() == {**model.get_params(), "callback": None}
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.pip_by_class_, model.pip_by_class_)
    assert np.array_equal(again.loo_proba_, model.loo_proba_)
    content = bytearray((tmp_path / "model.ssvgp").read_bytes())
    content[-5] ^= 1
    (tmp_path / "model.ssvgp").write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        load(tmp_path / "model.ssvgp")


def test_pickles_clones_summaries_and_notebooks(two: SSVGPClassifier, three: SSVGPClassifier) -> None:
    X = table(10, seed=9)[0]
    assert np.array_equal(pickle.loads(pickle.dumps(two)).predict_proba(X), two.predict_proba(X))
    assert not hasattr(clone(two), "classes_")
    assert two.summary()["selected"].sum() == 2
    summary = three.summary()
    assert {"pip 10", "pip 20", "pip 30"} <= set(summary.columns) and summary.index[0] in ("a", "d")
    assert "2 of 5 inputs selected from 150 rows; classes: 10, 20, 30" in class_html(three)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_the_report_speaks_of_classes(kind: str, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("matplotlib")
    page = report(request.getfixturevalue(kind), "<b>verdict</b>", ["read & treated"])
    assert "<b>verdict</b>" not in page and "&lt;b&gt;verdict" in page and "Read &amp; treated" in page
    for text in ("ROC curve", "Calibration of probabilities", "Confusion", "How well classes are told apart"):
        assert text in page
    assert "are put into the right class" in page and "R²" not in page
    assert ("For which class each of them matters" in page) == (kind == "three")


@pytest.mark.parametrize("kind", ["two", "three"])
def test_pictures_of_classes_are_drawn(kind: str, request: pytest.FixtureRequest) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model = request.getfixturevalue(kind)
    drawn = ((plots.roc, ()), (plots.class_calibration, ()), (plots.confusion, ()), (plots.probability, (3,)))
    for picture, given in drawn:
        figure = pyplot.figure()
        ax = figure.subplots()
        assert picture(model, *given, ax=ax) is ax
        figure.canvas.draw()
        pyplot.close(figure)
    lines = 1 if kind == "two" else 3
    figure = pyplot.figure()
    assert len(plots.roc(model, ax=figure.subplots()).get_legend().get_texts()) == lines
    pyplot.close(figure)


def test_well_separated_classes_have_probabilities_near_zero_and_one() -> None:
    """Laplace's approximation at the mode of f would keep them near one half."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(240, 12))
    y = X.sum(axis=1) > 0
    model = light().fit(X[:120], y[:120])
    assert log_loss(y[120:], model.predict_proba(X[120:])) < 0.25


@pytest.mark.parametrize(("odd", "says"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("kind", [float, object])
def test_a_label_that_is_no_number_is_refused_without_a_warning(odd: float, says: str, kind: type) -> None:
    """scikit-learn would compare it with whole numbers first, which warns."""
    y = np.array([0.0, 1.0, 1.0, odd, 0.0, 1.0], dtype=kind)
    with pytest.raises(ValueError, match=f"y contains {says}"):
        light().fit(np.arange(12.0).reshape(6, 2), y)


@pytest.mark.slow
def test_classes_of_many_rows_are_fitted_on_blocks() -> None:
    X, f = table(1400, 6)
    y = labels(f)
    model = light(exact_limit=1000, predict_neighbours=100).fit(X[:1200], y[:1200])
    assert not model.fitted_.first.ensemble.notes.get("interrupted")
    assert model.get_support(indices=True).tolist() == TRUE
    found = model.predict_proba(X[1200:])
    true = np.column_stack([1.0 - expit(f[1200:]), expit(f[1200:])])
    assert log_loss(y[1200:], found) < 1.1 * log_loss(y[1200:], true)
