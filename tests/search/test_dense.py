"""The dense start sees an effect of three inputs that has no lower-order part."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.evidence.laplace import Block, Problem
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.method.paper.ranking import dense_ranking
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.search.book import Book
from ssvgp.search.dense import dense_starts
from ssvgp.search.moves import empty_fit
from ssvgp.search.view import excluded_nats, scene_of, strongest
from ssvgp.settings import PaperSettings, Prior

TRUE = (0, 1, 2)


@pytest.fixture(scope="module")
def train() -> Train:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(200)
    return Train((X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std())


@pytest.fixture(scope="module")
def ranking(train: Train) -> tuple[np.ndarray, np.ndarray]:
    return dense_ranking(train, kernel_named("se"), PaperSettings(), np.random.default_rng(0))


def a_book(train: Train) -> Book:
    prior = Prior().for_data(train.n, train.d)
    return Book(Problem((Block(train.X, train.y),), kernel_named("se"), prior))


def test_the_dense_round_ranks_a_three_way_product_first(ranking: tuple[np.ndarray, np.ndarray]) -> None:
    order, theta = ranking
    assert set(order[:3]) == set(TRUE)
    assert sorted(order) == list(range(12))
    assert np.all(np.diff(theta[order]) <= 0)
    assert theta[list(TRUE)].min() > 2.0 * np.delete(theta, TRUE).max()


def test_no_input_shows_it_alone(train: Train) -> None:
    book = a_book(train)
    empty = empty_fit(book)
    assert set(strongest(excluded_nats(scene_of(book, empty), empty.candidate), 3)) != set(TRUE)


def test_the_same_generator_gives_the_same_ranking(train: Train, ranking: tuple[np.ndarray, np.ndarray]) -> None:
    again = dense_ranking(train, kernel_named("se"), PaperSettings(), np.random.default_rng(0))
    assert np.array_equal(again[1], ranking[1])


def test_the_best_cuts_become_starts(train: Train, ranking: tuple[np.ndarray, np.ndarray]) -> None:
    book = a_book(train)
    empty = empty_fit(book)
    order, theta = ranking
    starts = dense_starts(book, order, theta, (2, 3, 6, 50), rows=100, keep=2)
    assert 1 <= len(starts) <= 2
    assert starts[0].candidate == Candidate(TRUE)
    assert starts[0].log_evidence > empty.log_evidence + 30.0
    assert all(book.fits[s.candidate] is s for s in starts)


def test_cuts_far_below_the_best_set_are_not_pursued(train: Train, ranking: tuple[np.ndarray, np.ndarray]) -> None:
    book = a_book(train)
    order, theta = ranking
    empty_fit(book)
    good = dense_starts(book, order, theta, (3,), rows=200, keep=1)[0]
    backwards = order[::-1].copy()
    assert dense_starts(book, backwards, theta, (2, 4), rows=200, keep=2) == []
    assert book.best() is good


def test_a_cut_that_only_adds_idle_inputs_to_the_best_set_is_seen_through_on_a_part(
    train: Train, ranking: tuple[np.ndarray, np.ndarray]
) -> None:
    order, theta = ranking
    book = a_book(train)
    empty_fit(book)
    dense_starts(book, order, theta, (3,), rows=200, keep=1)
    known = set(book.fits)
    assert dense_starts(book, order, theta, (5,), rows=100, keep=2) == []
    assert set(book.fits) == known  # not one fit on all rows
    # without a true input in the best set the same cut is worth a start
    poor = a_book(train)
    poor.visit(empty_fit(poor), Candidate(TRUE[:2]))
    assert [s.candidate.size for s in dense_starts(poor, order, theta, (5,), rows=100, keep=2)] == [5]
