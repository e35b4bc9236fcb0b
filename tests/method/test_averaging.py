"""Averages over sets: weights and PIPs are probabilities, and those of exact enumeration where that can be done."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from ssvgp import SSVGPRegressor
from ssvgp.evidence.importance import all_modes, refine
from ssvgp.evidence.laplace import Block, Problem, fit, with_curvature
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.large.every_row import judge
from ssvgp.method import averaging as averaging
from ssvgp.method.averaging import average
from ssvgp.model.priors import Candidate
from ssvgp.model.terms import Columns, backgrounds_for
from ssvgp.records import Ensemble, Train
from ssvgp.search.book import Book
from ssvgp.search.growth import grow
from ssvgp.search.moves import empty_fit, explore
from ssvgp.settings import AutoSettings, Prior, regime, regime_for

SETTINGS = AutoSettings()


def data(n: int, d: int, slopes: dict[int, float], noise: float, seed: int = 0) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = sum((slope * X[:, j] for j, slope in slopes.items()), np.zeros(n)) + noise * rng.standard_normal(n)
    return Train((X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std())


def a_book(train: Train, kernel: str = "se", kinds: tuple[str, ...] = ()) -> Book:
    terms = backgrounds_for(kinds, Columns(train.d))
    prior = Prior().for_data(train.n, train.d)
    book = Book(Problem((Block.of(train.X, train.y, terms),), kernel_named(kernel), prior, terms))
    grow(book, empty_fit(book), SETTINGS.search)
    explore(book, regime_for(train.n, train.d))
    return book


def averaged(train: Train, *books: Book, settings: AutoSettings = SETTINGS) -> Ensemble:
    return average(list(books), train, regime_for(train.n, train.d, settings), np.random.default_rng(0))


@pytest.fixture(scope="module")
def weak() -> tuple[Train, Book, Ensemble]:
    """Seven inputs, a fairly clear one, a doubtful one: many sets share the weight."""
    train = data(40, 7, {2: 1.0, 6: 0.3}, 1.0)
    book = a_book(train)
    return train, book, averaged(train, book)


def test_weights_are_positive_and_sum_to_one(weak: tuple[Train, Book, Ensemble]) -> None:
    _, _, found = weak
    assert found.weights.sum() == pytest.approx(1.0)
    assert np.all(found.weights > 0)
    assert len(found.members) == found.weights.size
    assert sum(w for *_, w in found.notes["sets"]) == pytest.approx(1.0)


def test_inclusion_probabilities_are_probabilities_and_none_is_nothing(weak: tuple[Train, Book, Ensemble]) -> None:
    _, _, found = weak
    assert found.pip.shape == (7,)
    assert np.all((found.pip > 0.0) & (found.pip <= 1.0))
    assert np.argmax(found.pip) == 2


def test_members_are_draws_of_weighed_sets_in_proportion_to_their_weight(weak: tuple[Train, Book, Ensemble]) -> None:
    _, _, found = weak
    by_set = {candidate.active: w for candidate, _, _, w in found.notes["sets"] if w > 0.002}
    kept = sum(by_set.values())
    for active, weight in by_set.items():
        mine = [w for m, w in zip(found.members, found.weights, strict=True) if tuple(m.active) == active]
        assert sum(mine) == pytest.approx(weight / kept)
    assert all(np.all(m.inclusion == 1.0) and m.inclusion.size == m.active.size for m in found.members)
    heaviest = max(by_set, key=lambda s: by_set[s])
    noises = {m.parameters.noise for m in found.members if tuple(m.active) == heaviest}
    assert len(noises) > 2  # the parameters of a set that carries weight are averaged over too


def test_the_members_of_a_set_have_the_spread_of_its_posterior() -> None:
    """With one set in the book, the noise among members spreads as the Laplace approximation says."""
    train = data(40, 1, {0: 1.0}, 0.5)
    problem = Problem((Block(train.X, train.y),), kernel_named("se"), Prior().for_data(40, 1))
    only = fit(problem, Candidate((0,)), np.array([-1.0, 0.5, -1.0]))
    book = Book(problem, fits={only.candidate: only})
    found = averaged(train, book, settings=replace(SETTINGS, draws=256, components=200))
    log_noise = np.log([m.parameters.noise for m in found.members])
    mean = found.weights @ log_noise
    spread = np.sqrt(found.weights @ (log_noise - mean) ** 2)
    exact = with_curvature(problem, only)
    assert spread == pytest.approx(np.sqrt((exact.root @ exact.root.T)[2, 2]), rel=0.25)


def test_notes_count_what_was_visited(weak: tuple[Train, Book, Ensemble]) -> None:
    _, book, found = weak
    assert found.notes["visited"] == len(book.fits)
    assert found.notes["evaluations"] == sum(f.evaluations for f in book.fits.values())
    assert found.notes["background"] == 0.0
    weights = [w for *_, w in found.notes["sets"]]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize("seed", [0, 1])
def test_inclusion_probabilities_are_those_of_all_sets_enumerated(seed: int) -> None:
    """Each of the 2^4 sets weighed on its own, with hundreds of draws around all its modes."""
    train = data(30, 4, {1: 0.6, 2: 0.3}, 1.0, seed)
    book = a_book(train)
    problem, log_weights, sets = book.problem, [], []
    for bits in product([False, True], repeat=4):
        active = tuple(np.flatnonzero(bits).tolist())
        start = np.array([-1.0] * len(active) + ([0.5] if active else []) + [-0.5])
        found = with_curvature(problem, fit(problem, Candidate(active), start))
        modes = all_modes(problem, found) if active else [found]
        log_weights.append(refine(problem, modes, 512, seed=5, weak=True).log_evidence)
        sets.append(bits)
    exact = np.exp(np.array(log_weights) - logsumexp(log_weights)) @ np.array(sets)
    gap = np.abs(averaged(train, book).pip - exact)
    assert gap.mean() < 0.04
    assert gap.max() < 0.1


def test_kernels_share_the_weight_by_their_evidence() -> None:
    """A line: the linear kernel explains it as well as the squared exponential with fewer ways to be wrong."""
    train = data(80, 14, {3: 1.0}, 0.5)
    first, second = a_book(train), a_book(train, "linear")
    found = averaged(train, first, second)
    by_kernel = {"se": 0.0, "linear": 0.0}
    for _, kernel, _, weight in found.notes["sets"]:
        by_kernel[kernel] += weight
    gap = second.best().log_evidence - first.best().log_evidence
    assert np.log(by_kernel["linear"] / by_kernel["se"]) == pytest.approx(gap, abs=2.0)
    assert {m.kernel.name for m in found.members} <= {"se", "linear"}
    assert np.all(found.pip <= 1.0)
    assert found.pip[3] > 0.99


def test_shares_of_variance_sum_to_one_and_recover_what_was_simulated() -> None:
    train = data(250, 5, {0: np.sqrt(0.4), 3: np.sqrt(0.3)}, np.sqrt(0.3))
    shares = averaged(train, a_book(train)).notes["shares"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["background"] == 0.0
    explained = 1.0 - np.var(train.y - train.X @ np.linalg.lstsq(train.X, train.y, rcond=None)[0])
    assert shares["sparse"] == pytest.approx(explained, abs=0.05)
    assert shares["noise"] == pytest.approx(0.3, abs=0.08)


def test_many_tiny_effects_are_the_share_of_the_background() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((120, 150))
    tiny = X @ rng.standard_normal(150) / np.sqrt(150)
    y = 1.5 * np.sin(2.0 * X[:, 5]) + tiny + 0.3 * rng.standard_normal(120)
    train = Train((X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std())
    book = a_book(train, kinds=("linear",))
    book.visit(book.best(), Candidate((5,), "linear"))
    explore(book, regime_for(train.n, train.d))
    found = averaged(train, book)
    assert found.notes["background"] > 0.9
    assert found.pip[5] > 0.99
    shares = found.notes["shares"]
    assert shares["sparse"] == pytest.approx(1.1 / 2.2, abs=0.2)
    assert shares["background"] > 0.2
    assert any(m.parameters.background > 0 for m in found.members)


def test_the_number_of_components_is_bounded_where_few_sets_carry_weight() -> None:
    train = data(60, 3, {0: 1.0}, 0.5)
    few = averaged(train, a_book(train), settings=replace(SETTINGS, components=8))
    assert len(few.members) <= 12
    assert len(averaged(train, a_book(train)).members) > 12


def test_few_rows_do_not_make_every_set_worth_a_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows leave all 64 sets open; importance draws for each of them would take most of a minute."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 6)), rng.standard_normal(5)
    looked: list[int] = []
    before = averaging.refine

    def counted(*args: object, **more: object) -> object:
        looked.append(1)
        return before(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(averaging, "refine", counted)
    monkeypatch.setattr(regime, "FAINT", 0.02)
    model = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert model.ensemble_.notes["visited"] >= 64 and 1 <= len(looked) <= 50
    looked.clear()
    monkeypatch.setattr(regime, "FAINT", 0.0)
    SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert len(looked) >= 60


def test_beside_a_background_all_rows_judge_no_weak_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries the small effects of all inputs as one function: they would be counted twice."""
    asked: list[object] = []
    monkeypatch.setattr(averaging, "judge", lambda *args: asked.append(args) or judge(*args))
    rng = np.random.default_rng(3)
    X = rng.standard_normal((700, 120))
    y = X @ rng.standard_normal(120) / np.sqrt(120) + 0.3 * rng.standard_normal(700)
    few = AutoSettings(blocks=4, polish_rows=300)
    found = SSVGPRegressor(kernel="se", exact_limit=300, likelihood="gaussian", settings=few, random_state=0).fit(X, y)
    assert not found.regime_.exact and found.ensemble_.notes["background"] > 0.5
    assert not asked and found.ensemble_.weak is None
