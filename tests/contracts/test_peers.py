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
}

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(params=sorted(peers.PEERS))
def peer(request):
    try:
        return peers.make(request.param, random_state=0, **QUICK.get(request.param, {}))
    except peers.MissingPeer as missing:
        pytest.skip(str(missing))


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


def test_an_unknown_name_lists_the_rivals():
    with pytest.raises(ValueError, match="there are"):
        peers.make("nobody")


def test_the_page_on_comparisons_names_every_rival():
    page = (Path(__file__).parents[2] / "docs" / "peers.md").read_text()
    assert [name for name in peers.PEERS if f"`{name}`" not in page] == []
