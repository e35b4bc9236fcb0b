"""What a fitted set shows: the scene of the dictionary at its mode, strengths of inputs, slopes through the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from reference import squared_exponential
from searches import additive, book_of

from ssvgp.evidence.laplace import mode
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.search.view import excluded_nats, look, scene_of, strongest

SET = Candidate((2, 11))


def slow_precision(book: Book) -> list[np.ndarray]:
    """Kt^-1 of every block at the mode of the set, by plain inversion."""
    at = mode(book.problem, book.fits[SET])
    rows = [block.X[:, list(SET.active)] for block in book.problem.blocks]
    return [
        np.linalg.inv(at.scale * squared_exponential(x, x, at.theta) + at.mean + at.noise * np.eye(len(x)))
        for x in rows
    ]


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_scene_has_alpha_and_the_diagonal_of_the_precision_of_all_its_blocks(blocks: int) -> None:
    book = book_of(*additive(n=60), blocks=blocks)
    found = book.visit(empty_fit(book), SET)
    seen, exact = scene_of(book, found), slow_precision(book)
    alpha = [P @ block.y for P, block in zip(exact, book.problem.blocks, strict=True)]
    assert seen.n == 60 and seen.shapes.d == 20
    assert seen.alpha == pytest.approx(np.concatenate(alpha), rel=1e-4, abs=1e-4)
    assert seen.weight == pytest.approx(np.concatenate([np.diagonal(P) for P in exact]), rel=1e-4)
    assert len(seen.directions) > 1 and np.all(seen.directions[0] == 1.0)


def test_the_scene_of_the_empty_set_has_no_direction_beside_the_constant() -> None:
    book = book_of(*additive())
    assert scene_of(book, empty_fit(book)).directions.shape == (1, 100)


def test_the_last_scene_is_kept() -> None:
    book = book_of(*additive())
    start = empty_fit(book)
    found = book.visit(start, SET)
    first = scene_of(book, found)
    assert scene_of(book, found) is first
    assert scene_of(book, start) is not first


def test_inputs_are_ranked_on_the_first_blocks_alone_where_these_are_enough() -> None:
    book = book_of(*additive(n=90), blocks=3)
    book.screened_blocks = 2
    assert scene_of(book, empty_fit(book)).n == 60


def test_what_matters_looks_strongest_and_what_is_in_the_set_is_left_out() -> None:
    book = book_of(*additive())
    start = empty_fit(book)
    nats = excluded_nats(scene_of(book, start), start.candidate)
    assert set(strongest(nats, 3)) == {2, 7, 11}
    found = book.visit(start, SET)
    nats = excluded_nats(scene_of(book, found), SET)
    assert np.isneginf(nats[[2, 11]]).all() and np.isfinite(np.delete(nats, [2, 11])).all()
    assert strongest(nats, 1) == [7]
    assert sorted(strongest(nats, 100)) == [j for j in range(20) if j not in SET.active]


def test_slopes_of_some_blocks_stand_for_all() -> None:
    X, y = additive(n=40)
    book = book_of(np.concatenate([X, X]), np.concatenate([y, y]))
    halves = [slice(0, 40), slice(40, 80)]
    block = book.problem.blocks[0]
    book.problem = type(book.problem)(
        tuple(type(block)(block.X[half], block.y[half]) for half in halves), book.problem.kernel, book.problem.prior
    )
    found = book.visit(empty_fit(book), SET)
    every = look(book, found)
    book.screened_blocks = 1
    half = look(book, found)
    assert half.gain == pytest.approx(every.gain) and half.cost == pytest.approx(every.cost)
