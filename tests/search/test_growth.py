"""Growth finds what was put into the data, by inputs alone and together, and nothing where there is nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from searches import additive, book_of

from experiments import designs
from experiments.random_functions import pure_product, random_function
from ssvgp.evidence.laplace import Block, unexplained
from ssvgp.gp.terms import Linear
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.dictionary import Group
from ssvgp.search.growth import HALF, add_many, grow, grow_by_groups, grow_on, united
from ssvgp.search.moves import empty_fit
from ssvgp.search.probe import ROUGH, STRONG
from ssvgp.search.together import beyond_chance, loudness
from ssvgp.search.view import scene_of
from ssvgp.settings import SearchSettings

SETTINGS = SearchSettings()
LINEAR = (Linear("linear"),)


@pytest.mark.parametrize(("kernel", "blocks"), [("se", 1), ("matern52", 1), ("se", 2)])
def test_growth_finds_a_small_additive_truth(kernel: str, blocks: int) -> None:
    book = book_of(*additive(), kernel, blocks)
    start = empty_fit(book)
    found = grow(book, start, SETTINGS)
    assert found.candidate.active == (2, 7, 11)
    assert found.log_evidence > start.log_evidence + 30.0
    assert book.best() is found


def test_growth_on_noise_stays_empty() -> None:
    for seed in range(3):
        draw = designs.noise(seed, n=80, d=30)
        book = book_of(draw.X, draw.y)
        assert grow(book, empty_fit(book), SETTINGS).candidate.size == 0


def test_growth_stops_at_the_largest_size() -> None:
    book = book_of(*additive())
    found = grow(book, empty_fit(book), replace(SETTINGS, largest=1))
    assert 1 <= found.candidate.size <= 4  # one step, which may add several
    assert grow(book, found, replace(SETTINGS, largest=1)) is found


def test_growth_beside_a_background_has_a_limit_of_its_own() -> None:
    book = book_of(*additive())
    first = book.problem.blocks[0]
    dense = Block.of(first.X, first.y, LINEAR)
    book = Book(replace(book.problem, blocks=(dense,), backgrounds=LINEAR))
    few = replace(SETTINGS, largest_beside=1)
    found = grow(book, empty_fit(book, "linear"), few)
    assert found.candidate.background == "linear"
    assert 1 <= found.candidate.size <= 4  # one step, which may add several
    assert grow(book, found, few) is found
    assert grow(book, empty_fit(book, "linear"), SETTINGS).candidate.size >= 3


def test_of_many_at_once_all_rows_meet_only_what_a_part_leaves() -> None:
    book = book_of(*additive(n=200), ladder=0.5)
    shown = np.zeros(book.problem.d)
    shown[[2, 7, 11, 0, 1]] = [50.0, 45.0, 40.0, 35.0, 30.0]  # a look that takes two idle inputs for more
    found = add_many(book, empty_fit(book), shown)
    assert found is not None and found.candidate.active == (2, 7, 11)
    assert not any({0, 1} & set(candidate.active) for candidate in book.fits)


def test_growth_never_lowers_the_evidence() -> None:
    book = book_of(*additive(seed=1))
    start = book.visit(empty_fit(book), Candidate((0, 2)))
    assert grow(book, start, SETTINGS).log_evidence >= start.log_evidence


def test_interactions_without_main_effects_are_found_thanks_to_groups_only() -> None:
    draw = designs.interactions(0, n=150, d=30)
    book = book_of(draw.X, draw.y)
    assert set(grow(book, empty_fit(book), SETTINGS).candidate.active) == {0, 1, 2, 3}
    without = book_of(draw.X, draw.y)
    blind = grow(without, empty_fit(without), replace(SETTINGS, groups=0))
    assert not {0, 1, 2, 3} <= set(blind.candidate.active)
    assert blind.log_evidence < book.best().log_evidence - 30.0


def test_groups_are_looked_for_once_at_each_set() -> None:
    draw = designs.noise(0, n=60, d=15)
    book = book_of(draw.X, draw.y)
    grow(book, empty_fit(book), SETTINGS)
    assert Candidate(()) in book.paired
    visited = set(book.fits)
    grow(book, empty_fit(book), SETTINGS)
    assert set(book.fits) == visited


# --- what only groups or rough shapes show -----------------------------------------------------------------


def product_of(*inputs: int, n: int = 150, d: int = 15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A pure product, the first input squared."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = (X[:, inputs[0]] ** 2 - 1.0) * np.prod(X[:, inputs[1:]], axis=1)
    return X, f + 0.2 * f.std() * rng.standard_normal(n)


@pytest.mark.parametrize("true", [(2, 9), (2, 9, 12), (2, 6, 9, 12)])
def test_growth_finds_products_of_two_three_and_four_inputs_thanks_to_groups_only(true: tuple[int, ...]) -> None:
    n = 250 if len(true) == 4 else 150
    book, without = book_of(*product_of(*true, n=n)), book_of(*product_of(*true, n=n))
    assert grow(book, empty_fit(book), SETTINGS).candidate.active == true
    blind = grow(without, empty_fit(without), replace(SETTINGS, groups=0))
    assert blind.log_evidence < book.best().log_evidence - 20.0


def test_growth_finds_a_fast_wave_of_one_input() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 30))
    y = np.sin(6.0 * X[:, 13]) + X[:, 4] + 0.3 * rng.standard_normal(150)
    book = book_of(X, y)
    assert grow(book, empty_fit(book), SETTINGS).candidate.active == (4, 13)


def test_growth_finds_inputs_that_act_only_through_active_ones() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 30))
    y = X[:, 0] * (1.0 + X[:, 5] * X[:, 21]) + 0.2 * rng.standard_normal(200)
    book = book_of(X, y)
    assert grow(book, empty_fit(book), SETTINGS).candidate.active == (0, 5, 21)


def test_growth_on_a_ladder_ends_where_growth_on_all_rows_does() -> None:
    X, y = additive(n=160)
    book, whole = book_of(X, y, ladder=0.5), book_of(X, y)
    assert grow(book, empty_fit(book), SETTINGS).candidate == grow(whole, empty_fit(whole), SETTINGS).candidate
    assert len(book.part(80).fits) > len(book.fits)  # most were met on half of the rows alone


def test_the_book_knows_how_wide_each_order_was_looked_at() -> None:
    draw = designs.noise(0, n=60, d=15)
    book = book_of(draw.X, draw.y)
    grow(book, empty_fit(book), SETTINGS)
    assert {size: (look.size, look.inputs) for size, look in book.orders.items()} == {k: (k, 15) for k in (2, 3, 4)}
    poor = book_of(draw.X, draw.y)
    grow(poor, empty_fit(poor), replace(SETTINGS, operations=1e5))
    assert [poor.orders[size].inputs < 15 for size in (3, 4)] == [True, True]


def test_growth_that_ends_is_not_begun_again_from_there() -> None:
    book = book_of(*additive())
    found = grow(book, empty_fit(book), SETTINGS)
    assert found.candidate in book.grown


def test_groups_that_do_not_pay_alone_are_tried_together_and_idle_ones_let_go() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 12))
    book = book_of(X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.2 * rng.normal(size=150))
    empty = empty_fit(book)
    above = [Group((8, 9), 1.0), Group((0, 1), 0.5), Group((2, 3), 0.2)]
    found = united(book, above, empty)
    assert found is not None
    assert found.candidate.active == (0, 1, 2, 3)
    assert united(book, above[:1], empty) is None
    assert united(book, [Group((8, 9), 1.0), Group((10, 11), 0.5)], empty) is None


def test_growth_takes_a_step_that_costs_next_to_nothing_where_another_pays_after_it() -> None:
    draw = random_function(10527)  # a rough field of 16, 64, 80 and 88 beside a maximum of the others
    ended = Candidate((16, 36, 70, 88, 93))
    book = book_of(draw.X, draw.y, ladder=0.5)
    start = book.visit(empty_fit(book), ended)
    narrow = replace(SETTINGS, groups=0)
    assert grow(book, start, narrow).candidate == ended
    found = grow_on(book, start, narrow)
    assert found.candidate.active == tuple(np.flatnonzero(draw.relevant))
    assert found.log_evidence > start.log_evidence + 30.0


def test_groups_have_bold_starts_on_all_rows_where_a_part_leaves_them_idle() -> None:
    draw = random_function(10524)  # a product of 0, 5 and 14 beside what 4 does
    book = book_of(draw.X, draw.y, ladder=0.5)
    start = book.visit(empty_fit(book), Candidate((4, 5, 9)))
    found = grow(book, start, SETTINGS)
    assert set(np.flatnonzero(draw.relevant)) <= set(found.candidate.active)
    assert found.log_evidence > start.log_evidence + 20.0


def test_a_group_that_shows_clearly_is_tried_from_a_rough_start_too() -> None:
    draw = random_function(10781)  # a fast product of 40 and 58, idle at the mode that other starts lead to
    book = book_of(draw.X, draw.y)
    start = book.visit(empty_fit(book), Candidate((50, 53)))
    assert grow(book, start, SETTINGS).candidate.active == (40, 50, 53, 58)


def test_loud_inputs_outside_a_rough_set_are_looked_at_from_nothing_though_it_explains_most() -> None:
    draw = pure_product(24018, 4, 100)
    true = tuple(np.flatnonzero(draw.relevant).tolist())
    book = book_of(draw.X, draw.y)
    empty = empty_fit(book)
    (wild,) = book.visit_all(book.probe_all(empty, [Candidate((15, 69, 81, 88, 95))], ROUGH))
    assert book.best() is wild
    assert unexplained(book.problem, wild) < HALF
    found = grow_by_groups(book, empty, SETTINGS)
    assert found is not None
    assert found.candidate.active == true
    assert found.log_evidence > wild.log_evidence + 30.0


def test_a_set_that_has_every_loud_input_and_explains_most_is_not_doubted_and_stays_in_view() -> None:
    X, y = product_of(2, 6, 9, n=250)
    book = book_of(X, y)
    empty = empty_fit(book)
    (found,) = book.visit_all(book.probe_all(empty, [Candidate((2, 6, 9))], ROUGH))
    assert unexplained(book.problem, found) < HALF
    view, visited = scene_of(book, found), set(book.fits)
    assert grow_by_groups(book, empty, SETTINGS) is None
    assert set(book.fits) == visited
    assert scene_of(book, found) is view


def test_a_loud_input_that_shows_alone_is_no_reason_to_look_from_nothing() -> None:
    """What acts by itself makes y large too: a proxy of it, left out of the set, hides no group."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((250, 12))
    X[:, 5] = X[:, 2] + 0.3 * rng.standard_normal(250)
    y = np.exp(1.2 * X[:, 2]) + 0.2 * rng.standard_normal(250)
    book = book_of(X, (y - y.mean()) / y.std())
    empty = empty_fit(book)
    (found,) = book.visit_all(book.probe_all(empty, [Candidate((2,))], ROUGH))
    loud = beyond_chance(loudness(scene_of(book, empty), empty.candidate))
    assert unexplained(book.problem, found) < HALF and min(loud[2], loud[5]) > STRONG
    assert grow_by_groups(book, empty, SETTINGS) is None
    assert set(book.fits) == {empty.candidate, found.candidate}
