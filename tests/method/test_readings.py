"""Evidence reads y: Gaussian noise stays what it was, outliers and heavy tails are seen, and the fit says which."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from experiments.random_functions import pure_product
from ssvgp import AutoSettings, SSVGPRegressor, load
from ssvgp.data.target import robust_target, target_of
from ssvgp.evidence.laplace import Block, Fit, Problem, fit
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.method import readings
from ssvgp.method.readings import Reading, Worth, better_reading, gain_of_tails
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import Train, has_sites
from ssvgp.run.randomness import spread_rows
from ssvgp.search.book import Book
from ssvgp.settings import Prior
from ssvgp.settings.regime import regime_for

N, D = 90, 9


def table(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([7, seed])
    X = rng.standard_normal((N, D))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1], rng


def test_gaussian_noise_is_left_as_it_is() -> None:
    X, f, rng = table(0)
    y = f + 0.3 * rng.standard_normal(N)
    auto, named = (
        SSVGPRegressor(kernel="se", likelihood=one, random_state=0).fit(X, y) for one in ("auto", "gaussian")
    )
    assert auto.fitted_.reading == "gaussian noise" and auto.fitted_.likelihood == "gaussian"
    np.testing.assert_array_equal(auto.pip_, named.pip_)
    np.testing.assert_array_equal(auto.predict(X), named.predict(X))


def test_outliers_do_not_hide_the_inputs(tmp_path: Path) -> None:
    X, f, rng = table(1)
    y = f + 0.3 * rng.standard_normal(N)
    y[[3, 40, 77]] += np.array([12.0, -10.0, 11.0])
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert model.fitted_.reading == "outliers"
    assert model.get_support(indices=True).tolist() == [0, 1]
    ends = model.predict_quantiles(X, (0.025, 0.975))
    clean = np.setdiff1d(np.arange(N), [3, 40, 77])
    assert np.mean((y[clean] >= ends[clean, 0]) & (y[clean] <= ends[clean, 1])) > 0.85
    assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.25
    model.save(tmp_path / "model.ssvgp")
    again = load(tmp_path / "model.ssvgp")
    assert again.fitted_.reading == "outliers"
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def readings_of(X: np.ndarray, y: np.ndarray) -> list[Reading]:
    """Gaussian noise, heavy tails and outliers, as a fit has them."""
    out, (n, d) = [], X.shape
    for name, target in (("gaussian", target_of(y)), ("student-t", robust_target(y)), ("outliers", robust_target(y))):
        noise = likelihood_named(name).build(Rows(target.standardise(y), np.ones(n), np.zeros(n)))
        prior = noise.adapted(Prior()) if has_sites(noise) else Prior()
        filled = prior.for_data(n, d)
        out.append(Reading(name, target, Train(X, target.standardise(y), noise), filled, target.log_slope(y)))
    return out


def chosen(X: np.ndarray, y: np.ndarray, active: tuple[int, ...], first: int, theta: float, noise: float) -> str | None:
    """The reading that a set would rather have than that of its number, where its fit starts at theta and noise."""
    readings = readings_of(X, y)
    own = readings[first]
    block = Block(own.train.X, own.train.y, noise=own.train.noise)
    problem = Problem((block,), squared_exponential(), own.prior)
    candidate = problem.candidate(active)
    where = candidate.coordinates
    start = np.full(len(where), np.log(theta))
    for name in where.slots:
        start[where.slot(name)] = np.log(noise) if name == "noise" else own.prior.of_slot(name)[0]
    found = fit(problem, candidate, start)
    book = Book(problem, fits={candidate: found})
    other = better_reading(readings, first, {first}, book, regime_for(*X.shape))
    return None if other is None else readings[other.number].words


@pytest.mark.parametrize("seed", range(4))
def test_a_set_that_took_errors_for_effects_is_judged_without_them(seed: int) -> None:
    """Fitted with idle inputs, the Gaussian follows the errors; its mode is no place to judge other readings from."""
    X, f, rng = table(10 + seed)
    y = f + 0.3 * rng.standard_normal(N)
    y[rng.choice(N, 4, replace=False)] += rng.choice([-1.0, 1.0], 4) * 12.0
    assert chosen(X, y, (0, 1, 4, 6, 7), 0, 1.5, 0.02) == "outliers"


@pytest.mark.parametrize("seed", range(4))
def test_heavy_tails_are_told_from_a_few_errors(seed: int) -> None:
    """The bound of heavy tails gives away more than that of errors: by bounds alone none of these would be told."""
    rng = np.random.default_rng([70, seed])
    X = rng.standard_normal((200, 4))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + X[:, 2] * X[:, 3]
    heavy = f + 0.5 * rng.standard_t(3, 200)
    assert chosen(X, heavy, (0, 1, 2, 3), 2, 0.4, 0.2) == "student-t"
    few = f + 0.4 * rng.standard_normal(200)
    few[:8] += 8.0
    assert chosen(X, few, (0, 1, 2, 3), 1, 0.4, 0.2) == "outliers"
    assert chosen(X, few, (0, 1, 2, 3), 0, 0.4, 0.2) == "outliers"


@pytest.mark.parametrize("seed", range(4))
def test_gaussian_noise_is_kept_by_any_set(seed: int) -> None:
    X, f, rng = table(20 + seed)
    y = f + 0.3 * rng.standard_normal(N)
    for active in ((0, 1), (0, 1, 5), (0, 1, 2, 3, 4)):
        assert chosen(X, y, active, 0, 0.5, 0.2) is None


def test_a_skewed_target_passes_a_curve_on_few_rows_too() -> None:
    X, f, rng = table(2)
    y = np.exp(1.5 * (f + 0.3 * rng.standard_normal(N)))
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert "log" in model.fitted_.reading and model.target_curve_ == model.fitted_.reading


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("poisson", "negative-binomial", "student-t")]


@pytest.mark.parametrize("likelihood", ["bernoulli", *SLOW])
def test_a_weight_of_two_is_the_row_twice(likelihood: str) -> None:
    X, f, rng = table(3)
    y = {
        "bernoulli": (rng.uniform(size=N) < 1.0 / (1.0 + np.exp(-3.0 * f))).astype(float),
        "student-t": f + 0.3 * rng.standard_t(3, N),
    }.get(likelihood, rng.poisson(2.0 * np.exp(f)).astype(float))
    weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(N), weights.astype(int))
    one = SSVGPRegressor(kernel="se", likelihood=likelihood, random_state=0).fit(X, y, sample_weight=weights)
    two = SSVGPRegressor(kernel="se", likelihood=likelihood, random_state=0).fit(X[copies], y[copies])
    np.testing.assert_allclose(one.pip_, two.pip_, atol=1e-6)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-6)


def test_exposure_multiplies_the_rate() -> None:
    X, f, rng = table(4)
    exposure = rng.uniform(0.2, 5.0, N)
    y = rng.poisson(4.0 * exposure * np.exp(0.7 * f)).astype(float)
    model = SSVGPRegressor(kernel="se", likelihood="poisson", random_state=0).fit(X, y, exposure=exposure)
    assert model.get_support(indices=True).tolist() == [0, 1]
    np.testing.assert_allclose(model.predict(X, exposure=np.full(N, 3.0)), 3.0 * model.predict(X), rtol=1e-9)
    assert np.corrcoef(np.log(model.predict(X)), f)[0, 1] > 0.9
    ends = model.predict_quantiles(X, (0.1, 0.9), exposure=exposure)
    assert (ends == np.round(ends)).all() and (ends[:, 1] >= ends[:, 0]).all()
    with pytest.raises(ValueError, match="exposure belongs to counts"):
        SSVGPRegressor(likelihood="gaussian").fit(X, f, exposure=exposure)
    with pytest.raises(ValueError, match="counts are whole numbers"):
        SSVGPRegressor(likelihood="poisson").fit(X, f)


def test_a_coarsely_rounded_target_is_not_read_as_heavy_tailed() -> None:
    """Most of its residuals are zero, which a density with a peak there would be paid for."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        levels = rng.integers(0, 4, (200, 2)).astype(float)
        y = np.round(levels[:, 0] + 0.6 * rng.standard_normal(200))
        model = SSVGPRegressor(random_state=0).fit(levels, y)
        assert model.fitted_.reading == "gaussian noise"
        assert 0.3 < model.noise_variance_ < 0.6


@pytest.mark.parametrize("nu", [1.5, 3.0, 6.0, None])
def test_the_gain_of_tails_is_that_of_the_best_student_t(nu: float | None) -> None:
    """Against scipy's own maximum over degrees of freedom and scale; Gaussian residuals gain next to nothing."""
    rng = np.random.default_rng(7)
    residuals = rng.normal(size=250) if nu is None else rng.standard_t(nu, size=250)
    freedom, _, scale = student.fit(residuals, floc=0.0)
    best = student.logpdf(residuals, freedom, 0.0, scale).sum()
    exact = best - norm.logpdf(residuals, 0.0, np.sqrt(np.mean(residuals**2))).sum()
    found = gain_of_tails(residuals)
    assert exact - 2.0 < found < exact + 0.01  # a grid has less than the maximum
    assert found < 0.5 if nu is None else found > 0.5
    assert found == pytest.approx(gain_of_tails(17.0 * residuals))


def test_rows_that_show_no_tails_spare_the_fits_of_other_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    worth = readings._on_rows

    def record(problem, best, first, reading, rows) -> tuple[Worth, Fit]:
        asked.append(reading.words)
        return worth(problem, best, first, reading, rows)

    monkeypatch.setattr(readings, "_on_rows", record)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    SSVGPRegressor(random_state=0).fit(X, f + 0.3 * rng.normal(size=200))
    assert "heavy tails" not in asked
    SSVGPRegressor(random_state=0).fit(X, f + 0.3 * rng.standard_t(2, size=200))
    assert {"heavy tails", "outliers"} <= set(asked)


def worth(evidence: float | None, rows: list[float], n: int = 4) -> Worth:
    return Worth(evidence, np.array(rows), n)


def test_a_reading_must_be_better_by_evidence_and_on_left_out_rows() -> None:
    first = worth(-50.0, [-3.0, -1.0, -2.0, -2.0])
    assert worth(-40.0, [-2.0, -1.0, -2.0, -1.0]).beyond(first) == pytest.approx(2.0)
    assert worth(-40.0, [-4.0, -2.0, -2.0, -2.0]).beyond(first) == pytest.approx(-2.0)
    assert worth(-60.0, [0.0, 0.0, 0.0, 0.0]).beyond(first) == pytest.approx(-10.0)
    assert worth(None, [-2.0, -1.0, -2.0, -1.0], 8).beyond(worth(None, [-3.0, -1.0, -2.0, -2.0], 8)) == pytest.approx(
        4.0
    )


def test_another_set_may_bring_what_this_one_does_not_but_not_where_left_out_rows_refuse_beyond_chance() -> None:
    first = worth(-50.0, [-3.0, -1.0, -2.0, -2.0])
    assert worth(-40.0, [-9.0, -1.0, 0.0, 0.0]).promised(first, 3.0) == pytest.approx(8.0)
    assert worth(-40.0, [-9.0, -7.0, -8.0, -8.0]).promised(first, 3.0) == -np.inf


def test_four_inputs_that_act_together_are_not_taken_for_heavy_tails() -> None:
    """Heavy tails with no input have 75 nats more evidence than the four, and predict left-out rows worse by 17."""
    draw = pure_product(24016, 4, 100)
    model = SSVGPRegressor(kernel="se", random_state=0).fit(draw.X, draw.y)
    assert model.fitted_.reading == "gaussian noise"
    assert model.get_support(indices=True).tolist() == np.flatnonzero(draw.relevant).tolist()


def test_a_set_that_follows_odd_rows_does_not_keep_other_readings_from_a_search() -> None:
    """Left out in turn, the moved targets are predicted better by the idle inputs that were taken for them."""
    rng = np.random.default_rng([80, 4007])
    X, _ = rng.normal(size=(80, 30)), rng.normal(size=(500, 30))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=80)
    some = rng.choice(80, 3, replace=False)
    y[some] += rng.choice([-1.0, 1.0], 3) * 10.0 * y.std()
    model = SSVGPRegressor(random_state=0).fit(X, y)
    assert model.fitted_.reading == "outliers" and model.get_support(indices=True).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("blocks", [False, True])
def test_a_few_gross_errors_of_many_rows_are_among_the_rows_that_are_asked(blocks: bool) -> None:
    """Two of 400: a part of 90 rows taken anyhow has neither with a chance of a half."""
    rng = np.random.default_rng(400)
    X = rng.standard_normal((400, 8))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(400)
    wild = np.setdiff1d(np.arange(400), spread_rows(400, 90))[[50, 250]]
    y[wild] += np.array([20.0, -25.0])
    settings = AutoSettings(exact_rows=90, block_rows=90) if blocks else AutoSettings(block_rows=90)
    model = SSVGPRegressor(kernel="se", random_state=0, settings=settings).fit(X, y)
    assert model.fitted_.reading == "outliers" and model.get_support(indices=True).tolist() == [0, 1]


@pytest.mark.parametrize("likelihood", ["student-t", "outliers"])
def test_wild_rows_do_not_set_the_units_of_y_where_they_are_named(likelihood: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    y[7] = 1e3
    model = SSVGPRegressor(likelihood=likelihood, kernel="linear", random_state=0).fit(X, y)
    assert model.fitted_.target == robust_target(y)
