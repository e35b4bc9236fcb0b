"""Pruning, drops and swaps find what was put into the data."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from searches import additive, book_of

from experiments import designs
from ssvgp.evidence.laplace import Block, Problem, fit
from ssvgp.gp.axes import repetition
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.terms import Linear
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book, add
from ssvgp.search.growth import grow
from ssvgp.search.moves import drop_probes, empty_fit, expand, explore, prune, visit_every_set
from ssvgp.search.probe import OPEN_STRENGTH
from ssvgp.settings import AutoSettings, Prior, Regime, SearchSettings, regime_for

SETTINGS = SearchSettings()
LINEAR = (Linear("linear"),)


def regime_of(book: Book, **search: float) -> Regime:
    settings = AutoSettings(search=replace(SETTINGS, **search))  # type: ignore[arg-type]
    return regime_for(book.problem.n, book.problem.d, settings)


# --- pruning ------------------------------------------------------------------------------------------------


def test_pruning_drops_noise_and_keeps_the_truth() -> None:
    book = book_of(*additive())
    crowded = book.visit(empty_fit(book), Candidate((0, 1, 2, 5, 7, 11, 14, 19)))
    found = prune(book, crowded)
    assert found.candidate.active == (2, 7, 11)
    assert found.log_evidence > crowded.log_evidence + 5.0


def test_pruning_leaves_a_good_set_alone() -> None:
    book = book_of(*additive())
    good = book.visit(empty_fit(book), Candidate((2, 7, 11)))
    assert prune(book, good) is good


def test_pruning_noise_leads_to_nothing() -> None:
    draw = designs.noise(1, n=80, d=12)
    book = book_of(draw.X, draw.y)
    start = book.visit(empty_fit(book), Candidate((0, 3, 5)))
    smaller = prune(book, start)
    assert smaller.candidate.size < 2
    assert book.best().candidate.size == 0


def test_elimination_brings_a_known_set_to_a_better_mode() -> None:
    book = book_of(*additive())
    truth = Candidate((2, 7, 11))
    good = book.visit(empty_fit(book), truth)
    found = book.visit(good, add(truth, [5]))
    book.fits[truth] = replace(
        good, log_evidence=good.log_evidence - 30.0
    )  # as a fit to another mode would have left it
    assert prune(book, found).candidate == truth
    assert book.fits[truth].log_evidence > good.log_evidence - 0.5


def test_a_set_that_grew_beside_a_background_is_tried_without_it() -> None:
    book = book_of(*additive())
    first = book.problem.blocks[0]
    dense = Block.of(first.X, first.y, LINEAR)
    book = Book(replace(book.problem, blocks=(dense,), backgrounds=LINEAR))
    beside = book.visit(empty_fit(book, "linear"), Candidate((2, 7, 11), "linear"))
    expand(book, beside, regime_of(book))
    bare = book.fits[Candidate((2, 7, 11))]
    assert bare.log_evidence > beside.log_evidence
    always = Book(replace(book.problem, prior=replace(book.problem.prior, with_background=1.0)))
    expand(always, always.visit(empty_fit(always, "linear"), beside.candidate), regime_of(always))
    assert all(candidate.background for candidate in always.fits)


def test_drops_are_ranked_by_the_likelihood_they_cost_not_by_the_size_of_theta() -> None:
    book = book_of(*additive())
    found = book.visit(empty_fit(book), Candidate((0, 2, 7, 11)))
    first = drop_probes(book, found)[0]
    assert first.candidate.active == (2, 7, 11)


# --- moves --------------------------------------------------------------------------------------------------


def correlated(seed: int = 0, n: int = 120, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Input 4 matters; input 9 resembles it (correlation 0.9)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 9] = 0.9 * X[:, 4] + np.sqrt(1 - 0.81) * X[:, 9]
    return X, np.sin(1.5 * X[:, 4]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)


def test_swaps_repair_a_wrong_input_that_resembles_the_right_one() -> None:
    book = book_of(*correlated())
    wrong = book.visit(empty_fit(book), Candidate((1, 9)))
    expand(book, wrong, replace(regime_of(book), additions=0))  # no additions: drops and swaps alone
    assert Candidate((1, 4)) in book.fits
    assert book.best().candidate == Candidate((1, 4))


def test_no_swap_is_tried_for_inputs_that_resemble_nothing() -> None:
    book = book_of(*additive())
    found = book.visit(empty_fit(book), Candidate((2, 7, 11)))
    before = set(book.fits)
    expand(book, found, replace(regime_of(book), additions=0))
    assert all(set(c.active) < {2, 7, 11} for c in set(book.fits) - before)


def test_exploration_ends_at_the_truth_from_a_wrong_start() -> None:
    book = book_of(*correlated())
    book.visit(empty_fit(book), Candidate((1, 6, 9)))
    explore(book, regime_of(book))
    assert book.best().candidate == Candidate((1, 4))
    top = book.best()
    assert top.candidate in book.expanded


def test_exploration_with_few_inputs_and_rows_visits_all_neighbours_of_the_best() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    book = book_of(X, 0.5 * X[:, 1] + rng.standard_normal(50))
    empty_fit(book)
    explore(book, regime_of(book, reach=50.0))
    best = book.best().candidate
    assert {add(best, [j]) for j in range(5)} <= set(book.fits)


def test_exploration_ends_where_neighbours_add_next_to_nothing() -> None:
    book = book_of(*correlated())
    found = book.visit(empty_fit(book), Candidate((1, 4)))
    book.visit(found, Candidate((0, 1, 4)))
    explore(book, regime_of(book, reach=50.0))
    assert book.expanded == {Candidate((1, 4))}  # all its neighbours together have less weight than it has


def test_exploration_goes_on_while_what_is_left_has_as_much_weight_as_what_was_expanded() -> None:
    """Of six weak inputs many sets are nearly as good, and the best one with its neighbours is not all."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((160, 6))
    book = book_of(X, 0.15 * X.sum(1) + rng.standard_normal(160))
    found = grow(book, empty_fit(book), SearchSettings())
    explore(book, regime_of(book, reach=50.0))
    first = book_of(X, book.problem.blocks[0].y)
    expand(first, first.visit(empty_fit(first), found.candidate), regime_of(book, reach=50.0))
    assert len(book.expanded) > 2
    assert book.mass() > first.mass() + 0.3  # a third of all


def test_every_set_is_visited_once_and_fitted_as_well_as_from_a_start_of_its_own() -> None:
    X, y = additive(n=60)
    book = book_of(X[:, [2, 7, 11, 0]], y)
    book.visit(empty_fit(book), Candidate((1,)))
    before = dict(book.fits)
    visit_every_set(book)
    every = [Candidate(active) for size in range(5) for active in combinations(range(4), size)]
    assert sorted(c.active for c in book.fits) == sorted(c.active for c in every)
    assert all(book.fits[candidate] is found for candidate, found in before.items())
    for candidate in every[1:]:
        start = np.append(np.full(candidate.size, np.log(0.3)), [0.5, -1.5])
        assert book.fits[candidate].summit.value > fit(book.problem, candidate, start).summit.value - 0.3


def test_pruning_moves_to_a_better_set_that_was_visited_before() -> None:
    book = book_of(*additive())
    start = empty_fit(book)
    large, true = book.visit(start, Candidate((0, 2, 7, 11))), book.visit(start, Candidate((2, 7, 11)))
    assert true.log_evidence > large.log_evidence
    assert prune(book, large) is true


def test_a_background_of_columns_that_repeat_each_other_is_found_however_strong_it_must_be() -> None:
    rng = np.random.default_rng(0)
    shapes = np.cumsum(rng.standard_normal((4, 50)), axis=1)  # four smooth curves: the fourth matters, and is faint
    amounts = rng.standard_normal((80, 4)) * np.array([10.0, 3.0, 1.0, 0.05])
    X = amounts @ shapes
    X = (X - X.mean(0)) / X.std(0)
    y = amounts[:, 3] / 0.05 + 0.05 * rng.standard_normal(80)
    y = (y - y.mean()) / y.std()
    prior = Prior().for_data(80, 50, repetition(X))
    assert prior.log_background is not None and prior.log_background[1] > OPEN_STRENGTH
    found = empty_fit(Book(Problem((Block.of(X, y, LINEAR),), kernel_named("se"), prior, LINEAR)), "linear")
    assert found.summit.z[0] < -3.0  # little noise is left
    timid = Problem((Block.of(X, y, LINEAR),), kernel_named("se"), Prior().for_data(80, 50), LINEAR)
    assert found.log_evidence > empty_fit(Book(timid), "linear").log_evidence + 20.0
