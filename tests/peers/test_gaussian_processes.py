"""The Gaussian process rivals agree with each other, and with our own likelihood, wherever theory says they must."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef

from ssvgp import peers
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.marginal import gradient
from ssvgp.peers.budget import Clock, some_rows
from ssvgp.peers.thresholds import THRESHOLDS, threshold_sweep
from ssvgp.records import Parameters

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def table():
    """A smooth surface in two of three inputs, with noise."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 3))
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=90)
    return X[:60], y[:60], X[60:], y[60:]


def matthews(selected, truth):
    """Matthews correlation from the four counts, 0 where it is not defined."""
    pairs = list(zip(selected, truth, strict=True))
    tp, tn = pairs.count((True, True)), pairs.count((False, False))
    fp, fn = pairs.count((True, False)), pairs.count((False, True))
    below = ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    return (tp * tn - fp * fn) / below if below else 0.0


def test_the_threshold_sweep_is_five_selections_and_the_best_of_them():
    rng = np.random.default_rng(2)
    for _ in range(20):
        scores, truth = 10.0 ** rng.uniform(-2.5, 0.5, size=12), rng.random(12) < 0.4
        sweep = threshold_sweep(scores, truth)
        expected = [matthews((scores > 0.1**power).tolist(), truth.tolist()) for power in (0, 0.5, 1, 1.5, 2)]
        np.testing.assert_allclose(sweep.mcc, expected, atol=1e-12)
        assert sweep.best_mcc == pytest.approx(max(expected))
        assert matthews_corrcoef(truth, scores > sweep.best_threshold) == pytest.approx(max(expected))


def test_the_threshold_sweep_refuses_vectors_of_different_lengths():
    with pytest.raises(ValueError, match="one length"):
        threshold_sweep(np.ones(3), np.ones(4, dtype=bool))


def test_the_fixed_threshold_is_one_of_the_grid():
    from ssvgp.peers.thresholds import THRESHOLD

    assert np.isclose(THRESHOLDS, THRESHOLD).sum() == 1


def test_a_subset_of_rows_keeps_pairs_together_and_depends_on_the_seed_alone():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    few_X, few_y = some_rows(X, y, 7, seed=3)
    assert few_X.shape == (7, 2) and np.unique(few_y).size == 7
    np.testing.assert_array_equal(few_X[:, 0], 2 * few_y)
    np.testing.assert_array_equal(some_rows(X, y, 7, seed=3)[1], few_y)
    assert not np.array_equal(some_rows(X, y, 7, seed=4)[1], few_y)
    assert some_rows(X, y, 20, seed=3)[0] is X
    with pytest.raises(ValueError, match="at least 2"):
        some_rows(X, y, 1, seed=0)
    with pytest.raises(ValueError, match="max_seconds"):
        Clock(0.0)


def test_gpytorch_and_our_likelihood_have_one_value_and_one_gradient(table):
    gpytorch, torch = pytest.importorskip("gpytorch"), pytest.importorskip("torch")
    from ssvgp.peers.gpytorch_parts import Process, paper_kernel, paper_likelihood, tensor

    X, y = table[:2]
    theta, scale, noise = np.array([1.3, 0.7, 0.05]), 1.7, 0.09
    likelihood = paper_likelihood()
    model = Process(tensor(X, "float64"), tensor(y, "float64"), likelihood, paper_kernel(X.shape[1]))
    model.covariance.base_kernel.lengthscale = tensor(1.0 / theta, "float64")
    model.covariance.outputscale, likelihood.noise = scale, noise
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    value = len(y) * evidence(model(tensor(X, "float64")), tensor(y, "float64"))
    lengthscale = model.covariance.base_kernel.raw_lengthscale
    (raw,) = torch.autograd.grad(value, lengthscale)
    # d l / d raw of a softplus is 1 - exp(-l), and d l / d theta is -1 / theta^2.
    theirs = raw.numpy().ravel() / (1.0 - np.exp(-1.0 / theta)) * -(theta**-2.0)
    ours = gradient(squared_exponential(), X, y, Parameters(theta, scale, noise))
    assert float(value) == pytest.approx(ours.value, rel=1e-7)
    np.testing.assert_allclose(theirs, ours.theta, rtol=1e-6)


def test_both_ways_of_maximum_likelihood_reach_one_optimum():
    pytest.importorskip("gpytorch")
    # Both inputs matter: GPyTorch reaches theta = 0 only in the limit of an infinite lengthscale.
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60, 2))
    y = np.sin(3.0 * X[:, 0]) + np.cos(2.0 * X[:, 1]) + 0.2 * rng.normal(size=60)
    adam, lbfgs = peers.make("mlii", iterations=400).fit(X, y), peers.make("mlii_lbfgs").fit(X, y)
    scale = lbfgs._posterior.member.parameters.scale
    np.testing.assert_allclose(lbfgs.relevance().scores / scale**0.5, adam.relevance().scores, rtol=0.01)
    first, second = adam.predict(X + 0.3), lbfgs.predict(X + 0.3)
    np.testing.assert_allclose(first.mean, second.mean, atol=0.01 * y.std())
    np.testing.assert_allclose(first.variance, second.variance, rtol=0.02)


# In training the inducing points leave the rows a little, although they have nothing to gain by it.
@pytest.mark.parametrize(("steps", "close"), [(0, 1e-4), (3, 1e-2)])
def test_a_sparse_process_with_all_rows_inducing_is_the_exact_one(table, steps, close):
    pytest.importorskip("gpytorch")
    X, y, X_test, _ = table
    exact = peers.make("mlii", iterations=steps).fit(X, y).predict(X_test)
    sparse = peers.make("sgp", iterations=steps, inducing=60).fit(X, y)
    assert sparse.notes == {"iterations": steps, "rows": 60, "inducing": 60}
    np.testing.assert_allclose(sparse.predict(X_test).mean, exact.mean, atol=close * y.std())
    np.testing.assert_allclose(sparse.predict(X_test).variance, exact.variance, rtol=close)


def test_a_variational_process_comes_close_to_the_exact_one_in_minibatches(table):
    pytest.importorskip("gpytorch")
    X, y, X_test, y_test = table
    exact = peers.make("mlii").fit(X, y).predict(X_test)
    near = peers.make("svgp", epochs=250, batch=30).fit(X, y).predict(X_test)
    assert np.corrcoef(near.mean, exact.mean)[0, 1] > 0.97
    assert np.mean((near.mean - y_test) ** 2) < 1.5 * np.mean((exact.mean - y_test) ** 2)


@pytest.mark.parametrize("name", ["sgp", "svgp"])
def test_single_precision_gives_nearly_the_same_answer(table, name):
    pytest.importorskip("gpytorch")
    X, y, X_test, _ = table
    settings = {"epochs": 20} if name == "svgp" else {"iterations": 20}
    double = peers.make(name, **settings).fit(X, y).predict(X_test)
    single = peers.make(name, dtype="float32", **settings).fit(X, y).predict(X_test)
    np.testing.assert_allclose(single.mean, double.mean, atol=0.05 * y.std())
    with pytest.raises(ValueError, match="float32"):
        peers.make(name, dtype="float16").fit(X, y)


@pytest.mark.parametrize(
    ("name", "endless", "counted"),
    [
        ("mlii", {"iterations": 10**7}, "iterations"),
        ("sgp", {"iterations": 10**7}, "iterations"),
        ("svgp", {"epochs": 10**7, "batch": 20}, "epochs"),
    ],
)
def test_training_stops_when_its_seconds_are_spent_and_says_how_far_it_came(table, name, endless, counted):
    pytest.importorskip("gpytorch")
    X, y, X_test, _ = table
    peer = peers.make(name, max_seconds=0.5, **endless).fit(X, y)
    assert 0 < peer.notes[counted] < 10**6
    assert 0.4 < peer.seconds < 5.0
    assert np.isfinite(peer.predict(X_test).mean).all()


def test_a_climb_by_lbfgs_stops_in_time_too(table):
    X, y = table[:2]
    whole = peers.make("mlii_lbfgs").fit(X, y)
    short = peers.make("mlii_lbfgs", max_seconds=1e-6).fit(X, y)
    assert short.notes["iterations"] == 1 < whole.notes["iterations"]
    assert short.notes["log_likelihood"] < whole.notes["log_likelihood"]


@pytest.mark.parametrize(("name", "settings"), [("mlii", {"iterations": 5}), ("mlii_lbfgs", {}), ("gpboost", {})])
def test_a_table_with_too_many_rows_is_thinned_and_the_notes_say_so(table, name, settings):
    X, y, X_test, _ = table
    try:
        peer = peers.make(name, rows=25, **settings).fit(X, y)
    except peers.MissingPeer as missing:
        pytest.skip(str(missing))
    assert peer.notes["rows"] == 25
    assert peer.predict(X_test).mean.shape == (30,)


def test_gpboost_and_our_likelihood_reach_one_optimum():
    pytest.importorskip("gpboost")
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60, 2))
    y = np.sin(3.0 * X[:, 0]) + np.cos(2.0 * X[:, 1]) + 0.2 * rng.normal(size=60)
    theirs, ours = peers.make("gpboost", iterations=100).fit(X, y), peers.make("mlii_lbfgs").fit(X, y)
    np.testing.assert_allclose(theirs.relevance().scores, ours.relevance().scores, rtol=0.02)
    first, second = theirs.predict(X + 0.3), ours.predict(X + 0.3)
    np.testing.assert_allclose(first.mean, second.mean, atol=0.02 * y.std())
    np.testing.assert_allclose(first.variance, second.variance, rtol=0.05)
    in_pieces = peers.make("gpboost", iterations=100, max_seconds=1e-6).fit(X, y)
    assert 0 < in_pieces.notes["iterations"] <= 2


def test_an_ensemble_of_saas_maxima_stops_in_time(table):
    pytest.importorskip("botorch")
    X, y, X_test, _ = table
    peer = peers.make("saas_map", members=2, max_seconds=1e-6).fit(X, y)
    assert peer.notes["steps"] == 1
    assert np.isfinite(peer.predict(X_test).mean).all()


def test_a_raw_target_is_the_standardised_one_where_the_target_is_standardised_already(table):
    pytest.importorskip("gpytorch")
    X, y, X_test, _ = table
    y = (y - y.mean()) / y.std()
    plain = peers.make("mlii", iterations=20).fit(X, y).predict(X_test)
    raw = peers.make("mlii", iterations=20, target="raw").fit(X, y).predict(X_test)
    np.testing.assert_allclose(raw.mean, plain.mean, rtol=1e-6)
    np.testing.assert_allclose(raw.variance, plain.variance, rtol=1e-6)


def test_a_learned_mean_takes_the_level_of_a_raw_target_that_a_zero_mean_must_explain(table):
    pytest.importorskip("gpytorch")
    X, y = table[:2]
    far = np.full((1, 3), 50.0)  # where no training row reaches, a process returns to its mean
    zero = peers.make("mlii", iterations=200, target="raw").fit(X, y + 3.0)
    learned = peers.make("mlii", iterations=200, target="raw", mean="learned").fit(X, y + 3.0)
    assert abs(zero.predict(far).mean[0]) < 1e-6
    assert abs(learned.predict(far).mean[0] - np.mean(y + 3.0)) < 1.0


@pytest.mark.parametrize("settings", [{"mean": "linear"}, {"target": "centred"}])
def test_a_mean_or_a_target_that_there_is_not_is_refused(settings):
    pytest.importorskip("gpytorch")
    with pytest.raises(ValueError, match="give a mean of"):
        peers.make("mlii", **settings)
