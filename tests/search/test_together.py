"""Groups of inputs that act together and show in no smaller group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from searches import book_of

from experiments.random_functions import pure_product
from ssvgp.evidence.laplace import Block, Problem
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.priors import Candidate
from ssvgp.search import together
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.search.together import loudness, seen_together
from ssvgp.search.view import excluded_nats, scene_of
from ssvgp.settings import Prior

Shape = Callable[[np.ndarray], np.ndarray]


def seen(X: np.ndarray, y: np.ndarray, size: int, operations: float = 1e11) -> list[together.Group]:
    """The groups that show beside nothing."""
    book = Book(Problem((Block(X, (y - y.mean()) / y.std()),), kernel_named("se"), Prior().for_data(*X.shape)))
    found = empty_fit(book)
    view = scene_of(book, found)
    nats = excluded_nats(view, found.candidate)
    return seen_together(book, view, nats, loudness(view, found.candidate), size, operations)


def product_of(shapes: dict[int, Shape], d: int, seed: int, n: int = 350) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = np.prod([shape(X[:, j]) for j, shape in shapes.items()], axis=0)
    return X, f + 0.3 * f.std() * rng.standard_normal(n)


WAVY: dict[int, Shape] = {j: lambda x: np.sin(2.0 * x) for j in (4, 9, 30, 51)}


def test_four_fast_waves_among_sixty_rank_first_by_their_loudness() -> None:
    X, y = product_of(WAVY, 60, 0)
    assert seen(X, y, 4)[0].inputs == (4, 9, 30, 51)


def test_without_loudness_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "loud_nats", lambda view: np.zeros(view.shapes.d))
    X, y = product_of(WAVY, 60, 0)
    assert seen(X, y, 4)[0].inputs != (4, 9, 30, 51)


def test_two_that_turn_the_sign_are_found_beside_two_that_are_loud() -> None:
    X, y = product_of({7: lambda x: x, 80: lambda x: x**2 - 1.0, 120: np.sign, 199: np.sign}, 200, 1)
    assert seen(X, y, 4)[0].inputs == (7, 80, 120, 199)


def test_every_group_is_there_once_and_best_first() -> None:
    X, y = product_of({2: lambda x: x, 5: lambda x: x, 7: lambda x: x}, 12, 2)
    found = seen(X, y, 3)
    assert found[0].inputs == (2, 5, 7)
    assert len({one.inputs for one in found}) == len(found)
    assert [one.nats for one in found] == sorted((one.nats for one in found), reverse=True)


def test_noise_has_no_group_beyond_chance() -> None:
    rng = np.random.default_rng(3)
    above = [
        one.nats
        for _ in range(6)
        for size in (2, 3)
        for one in seen(rng.standard_normal((120, 40)), rng.standard_normal(120), size)
    ]
    assert max(above) < together.STRONG


def test_inputs_that_look_strong_one_by_one_are_a_group_too() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 30))
    y = 0.5 * X[:, 3] + 0.5 * X[:, 11] + 0.5 * X[:, 20] + rng.standard_normal(150)
    assert (3, 11, 20) in [one.inputs for one in seen(X, y, 3) if one.nats > together.STRONG]


def test_what_an_active_pair_multiplies_shows_though_the_pair_follows_wild_rows() -> None:
    draw = pure_product(88008, 4, 100)  # of 47, 73, 78 and 80: the pair alone explains a few large rows
    book = book_of(draw.X, draw.y)
    found = book.visit(empty_fit(book), Candidate((73, 80)))
    view = scene_of(book, found)
    nats, loud = excluded_nats(view, found.candidate), loudness(view, found.candidate)
    first, second, *_ = seen_together(book, view, nats, loud, 4, 1e9)
    assert first.inputs == (47, 73, 78, 80)
    assert first.nats > second.nats + 10.0
