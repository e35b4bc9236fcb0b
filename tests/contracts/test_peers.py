"""Every rival keeps the one contract: fit, predict mean and variance, rank and select, time, same seed same answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp import peers

ROWS, COLUMNS, TESTS = 60, 6, 15
# Settings that make a rival quick enough for a test; everything else is as in the comparisons.
QUICK: dict[str, dict[str, object]] = {
    "mlii": {"iterations": 100},
    "saas_nuts": {"warmup": 24, "samples": 8, "thinning": 2, "tree_depth": 4},
    "mcmc": {"iterations": 3000, "thin": 10, "predictive": 50},
    "pmf_bbvi_10": {"steps": 150},
    "pmf_bbvi_100": {"steps": 60},
    "lasso": {"folds": 4, "penalties": 20},
    "mcp": {"folds": 4, "penalties": 20},
    "gam_lasso": {"folds": 4, "penalties": 20},
    "gam_ssl": {"spikes": 6},
    "gam_ssl_fixed": {"spikes": 6},
    "gam_ssl_gic": {"spikes": 6},
    "lightgbm": {"trees": 100, "folds": 3},
    "sparse_bart": {"trees": 20, "burn_in": 200, "draws": 200},
    "logistic_l1": {"folds": 3, "penalties": 8},
    "forest_classes": {"trees": 50},
    "lightgbm_classes": {"trees": 60, "folds": 3},
    "ebm_classes": {"bags": 1, "pairs": 0, "rounds": 200},
    "gpboost_classes": {"iterations": 6},
    "bart_classes": {"trees": 10, "burn_in": 100, "draws": 100},
    "poisson_l1": {"folds": 3, "penalties": 8},
    "forest_counts": {"trees": 50},
    "lightgbm_counts": {"trees": 60, "folds": 3},
    "ebm_counts": {"bags": 1, "pairs": 0, "rounds": 200},
    "gpboost_counts": {"iterations": 6},
}

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


def of_kind(kind):
    return sorted(name for name, entry in peers.PEERS.items() if entry.predicts == kind)


def quick(name):
    try:
        return peers.make(name, random_state=0, **QUICK.get(name, {}))
    except peers.MissingPeer as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=of_kind("numbers"))
def peer(request):
    return quick(request.param)


@pytest.fixture(scope="module")
def table():
    """The first input matters most, the last column is constant, the units are nobody's favourite."""
    rng = np.random.default_rng(5)
    X = 40.0 + 7.0 * rng.normal(size=(ROWS + TESTS, COLUMNS))
    y = 1000.0 + 30.0 * (X[:, 0] - 40.0) / 7.0 + 3.0 * rng.normal(size=ROWS + TESTS)
    X[:, -1] = 2.0
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def test_a_rival_learns_a_strong_linear_effect_and_says_how_sure_it_is(peer, table):
    X, y, X_test, y_test = table
    forecast = peer.fit(X, y).predict(X_test)
    assert forecast.mean.shape == forecast.variance.shape == (TESTS,)
    assert np.all(np.isfinite(forecast.mean)) and np.all(forecast.variance > 0)
    assert np.mean((forecast.mean - y_test) ** 2) < 0.5 * np.var(y_test)
    # In the units of y: neither the standardised 0.1 nor the raw 30, and in the reach of the truth, 3.
    assert 1.0 < np.sqrt(np.median(forecast.variance)) < 30.0
    assert peer.seconds > 0


def test_a_rival_ranks_the_input_that_matters_first_and_never_the_constant_one(peer, table):
    relevance = peer.fit(*table[:2]).relevance()
    assert relevance.scores.shape == relevance.selected.shape == (COLUMNS,)
    assert relevance.selected.dtype == bool
    assert np.argmax(relevance.scores) == 0 and relevance.selected[0]
    assert relevance.scores[-1] == 0 and not relevance.selected[-1]


def test_the_same_seed_gives_the_same_answer(peer, table):
    X, y, X_test, _ = table
    first = peer.fit(X, y).predict(X_test)
    second = peer.fit(X, y).predict(X_test)
    np.testing.assert_allclose(first.mean, second.mean, rtol=1e-6)
    np.testing.assert_allclose(first.variance, second.variance, rtol=1e-6)


def test_bad_input_is_refused_at_the_door(peer, table):
    X, y, X_test, _ = table
    with pytest.raises(RuntimeError, match="not fitted"):
        peer.predict(X_test)
    with pytest.raises(ValueError, match="NaN"):
        peer.fit(np.where(X == X[0, 0], np.nan, X), y)
    with pytest.raises(ValueError, match="constant"):
        peer.fit(np.ones_like(X), y)
    peer.fit(X, y)
    with pytest.raises(ValueError, match="columns"):
        peer.predict(X_test[:, :2])


@pytest.fixture(scope="module")
def outcomes(table):
    """The same rows with labels and counts that the first input decides."""
    X, _, X_test, _ = table
    rng = np.random.default_rng(6)
    signal, signal_test = ((rows[:, 0] - 40.0) / 7.0 for rows in (X, X_test))
    three = np.array(["low", "middle", "high"])[np.digitize(signal, [-0.6, 0.6])]
    two = np.where(signal + 0.3 * rng.normal(size=ROWS) > 0.2, "yes", "no")
    return {
        "two": (two, np.where(signal_test > 0.2, "yes", "no")),
        "three": (three, np.array(["low", "middle", "high"])[np.digitize(signal_test, [-0.6, 0.6])]),
        "counts": (rng.poisson(np.exp(1.0 + signal)), np.exp(1.0 + signal_test)),
    }


@pytest.mark.parametrize("name", of_kind("classes"))
@pytest.mark.parametrize("kind", ["two", "three"])
def test_a_rival_of_classes_gives_probabilities_that_tell_them_apart_and_ranks_the_input(name, kind, table, outcomes):
    peer, (X, _, X_test, _), (labels, truth) = quick(name), table, outcomes[kind]
    found = peer.fit(X, labels).predict(X_test)
    assert found.classes.tolist() == sorted(set(labels))
    assert found.values.shape == (TESTS, len(found.classes)) and (found.values > 0).all()
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0)
    assert np.mean(found.classes[found.values.argmax(axis=1)] == truth) >= 0.6
    relevance = peer.relevance()
    assert np.argmax(relevance.scores) == 0 and relevance.selected[0]
    assert relevance.scores[-1] == 0 and not relevance.selected[-1]
    np.testing.assert_allclose(peer.fit(X, labels).predict(X_test).values, found.values, rtol=1e-6)


@pytest.mark.parametrize("name", of_kind("counts"))
def test_a_rival_of_counts_predicts_their_mean_and_ranks_the_input(name, table, outcomes):
    peer, (X, _, X_test, _), (counts, rate) = quick(name), table, outcomes["counts"]
    forecast = peer.fit(X, counts).predict(X_test)
    assert (forecast.mean > 0).all() and (forecast.variance >= forecast.mean).all()
    # closer to the true rates than the overall mean is
    assert np.mean(np.abs(forecast.mean - rate)) < 0.7 * np.mean(np.abs(counts.mean() - rate))
    relevance = peer.relevance()
    assert np.argmax(relevance.scores) == 0 and relevance.selected[0] and relevance.scores[-1] == 0
    np.testing.assert_allclose(peer.fit(X, counts).predict(X_test).mean, forecast.mean, rtol=1e-6)


def test_one_class_alone_and_what_is_no_count_are_refused(table):
    X = table[0]
    with pytest.raises(ValueError, match="two classes are the least"):
        quick("logistic_l1").fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="whole numbers"):
        quick("poisson_l1").fit(X, X[:, 0])


def test_the_penalised_poisson_satisfies_the_conditions_of_its_optimum():
    from ssvgp.peers.poisson import poisson_path

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = rng.poisson(np.exp(0.5 * X[:, 0] - 0.4 * X[:, 3])).astype(float)
    penalties = np.array([0.2, 0.05])
    for penalty, row in zip(penalties, poisson_path(X, y, penalties), strict=True):
        slope = X.T @ (y - np.exp(X @ row[:-1] + row[-1])) / len(y)
        active = row[:-1] != 0
        np.testing.assert_allclose(slope[active], penalty * np.sign(row[:-1][active]), atol=1e-4)
        assert (np.abs(slope[~active]) <= penalty + 1e-4).all()
        assert abs(np.mean(y - np.exp(X @ row[:-1] + row[-1]))) < 1e-4


def test_an_unknown_name_lists_the_rivals():
    with pytest.raises(ValueError, match="there are"):
        peers.make("nobody")


def test_the_page_on_comparisons_names_every_rival():
    page = (Path(__file__).parents[2] / "docs" / "peers.md").read_text()
    assert [name for name in peers.PEERS if f"`{name}`" not in page] == []
