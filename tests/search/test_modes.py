"""Modes: the leading sets are weighed at the best that several starts lead to."""

from __future__ import annotations

import numpy as np
import pytest
from searches import additive, book_of

from experiments.random_functions import random_function
from ssvgp.evidence.laplace import Fit, fit
from ssvgp.model.priors import Candidate
from ssvgp.search.book import Book, add
from ssvgp.search.modes import joined, settle
from ssvgp.search.moves import empty_fit

FAST = Candidate((3,))


def fast(n: int = 120, ladder: float | None = None) -> Book:
    """sin(4 x) of one input among six."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    return book_of(X, np.sin(4.0 * X[:, 3]) + 0.2 * rng.standard_normal(n), ladder=ladder)


def from_theta(book: Book, candidate: Candidate, theta: float) -> Fit:
    """The fit of a set from a start at which all inputs have this strength, and much noise if it is small."""
    noise = -0.5 if theta < 0.5 else -2.5
    return fit(
        book.problem,
        candidate,
        candidate.coordinates.vector(np.full(candidate.size, np.log(theta)), scale=0.5, noise=noise),
    )


@pytest.mark.parametrize("ladder", [None, 0.5])
def test_a_set_at_a_lesser_mode_is_brought_to_the_better_one(ladder: float | None) -> None:
    book = fast(ladder=ladder)
    smooth, rough = (from_theta(book, FAST, theta) for theta in (0.15, 2.0))
    assert smooth.log_evidence < rough.log_evidence - 20.0
    empty_fit(book)
    book.fits[FAST] = smooth
    settle(book, 1000.0)
    assert book.fits[FAST].log_evidence == pytest.approx(rough.log_evidence, abs=0.5)
    assert FAST in book.settled


def test_a_set_at_its_best_mode_stays_there() -> None:
    book = fast()
    empty_fit(book)
    book.fits[FAST] = from_theta(book, FAST, 2.0)
    before = book.fits[FAST].log_evidence
    settle(book, 1000.0)
    assert before <= book.fits[FAST].log_evidence < before + 0.5


def test_only_leading_sets_are_settled_and_each_once() -> None:
    book = book_of(*additive())
    start = empty_fit(book)
    for active in ((2, 7, 11), (2, 11), (7,), (0,)):
        book.visit(start, Candidate(active))
    settle(book, 5.0)
    assert book.settled == {Candidate((2, 7, 11))}
    found = book.fits[Candidate((2, 7, 11))]
    settle(book, 5.0)
    assert book.fits[Candidate((2, 7, 11))] is found


def test_the_empty_set_has_one_mode() -> None:
    book = book_of(*additive())
    found = empty_fit(book)
    settle(book, 5.0)
    assert book.fits == {Candidate(()): found} and not book.settled


# --- a set in the book that looks better beside another parent -----------------------------------------------


def test_a_set_at_a_lesser_mode_is_fitted_again_beside_a_parent_that_shows_a_better_one() -> None:
    book = fast()
    empty_fit(book)
    smooth = book.fits[FAST] = from_theta(book, FAST, 0.15)
    larger = add(FAST, [1])
    z = larger.coordinates.vector(np.log([0.1, 2.0]), scale=0.5, noise=-2.5)
    parent = book.fits[larger] = fit(book.problem, larger, z)
    assert parent.log_evidence > smooth.log_evidence + 10.0
    book.revisit(parent, [FAST])
    assert book.fits[FAST].log_evidence > smooth.log_evidence + 20.0


def test_a_set_that_looks_no_better_beside_another_parent_is_left_alone() -> None:
    book = fast()
    empty_fit(book)
    rough = book.fits[FAST] = from_theta(book, FAST, 2.0)
    parent = book.visit(rough, add(FAST, [1]))
    book.revisit(parent, [FAST, Candidate((5,))])
    assert book.fits[FAST] is rough
    assert Candidate((5,)) not in book.fits  # what is not in the book is not visited by this


def test_sets_that_are_nearly_equal_are_joined_and_found_at_the_mode_of_what_acts_together() -> None:
    draw = random_function(11084)  # a ridge of three and a maximum of four, of ten inputs: 2, 3, 5, 6, 7, 8 and 9
    book = book_of(draw.X, draw.y)
    parts = [(2, 3, 5, 7, 8), (2, 3, 5, 6, 7, 8), (2, 3, 5, 7, 8, 9)]
    start = book.visit(empty_fit(book), Candidate(parts[0]))
    for part in parts[1:]:
        book.visit(start, Candidate(part))
    before = book.best().log_evidence
    assert book.visit(start, Candidate((2, 3, 5, 6, 7, 8, 9))).log_evidence < before  # at the mode of its parts
    found = joined(book, 5.0)
    assert found is not None
    assert found.candidate.active == (2, 3, 5, 6, 7, 8, 9)
    assert found.log_evidence > before + 40.0
    assert joined(book, 5.0) is None
