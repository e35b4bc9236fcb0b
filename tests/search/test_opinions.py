"""Second opinions are asked as long as they are expected to matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest
from searches import additive, book_of

from ssvgp.evidence.laplace import Fit, mode
from ssvgp.model.priors import Candidate
from ssvgp.search import opinions as module
from ssvgp.search.book import Book
from ssvgp.search.growth import BEHIND
from ssvgp.search.moves import empty_fit
from ssvgp.search.opinions import ask, left_behind, narrow, runners_up
from ssvgp.settings import SearchSettings

SETTINGS = SearchSettings()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Fit]]:
    """Starts that were grown from, where growth finds nothing."""
    seen: list[Fit] = []

    def grow(book: Book, start: Fit, settings: SearchSettings) -> Fit:
        seen.append(start)
        return start

    monkeypatch.setattr(module, "grow_on", grow)
    yield seen


def noisy() -> Book:
    """One set, with half of the variance unexplained."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    book = book_of(X, X[:, 1] + rng.standard_normal(80))
    book.visit(empty_fit(book), Candidate((1,)))
    return book


@pytest.mark.parametrize("unchanged", [0, 1, 5])
def test_what_is_left_behind_is_the_noise_times_the_rule_of_succession(unchanged: int) -> None:
    book = noisy()
    noise = mode(book.problem, book.best()).noise
    assert 0.2 < noise < 1.0
    assert left_behind(book, unchanged) == pytest.approx(noise / (unchanged + 2))


@pytest.mark.parametrize("allowed", [0.3, 0.1, 0.05])
def test_opinions_end_where_little_is_expected_to_be_left_behind(allowed: float, asked: list[Fit]) -> None:
    book = noisy()
    ask(book, repeat(book.best()), replace(SETTINGS, left_behind=allowed))
    assert left_behind(book, book.unchanged) <= allowed
    assert len(asked) == book.unchanged == book.asked
    assert not asked or left_behind(book, book.unchanged - 1) > allowed


def test_an_opinion_that_changes_the_answer_starts_the_count_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    book = noisy()
    top, count = book.best(), []

    def grow(book: Book, start: Fit, settings: SearchSettings) -> Fit:
        count.append(start)
        if len(count) == 2:
            better = replace(top, candidate=Candidate((1, 2)), log_evidence=top.log_evidence + 5.0)
            book.fits[Candidate((1, 2))] = replace(better, summit=book.visit(top, Candidate((1, 4))).summit)
        return start

    monkeypatch.setattr(module, "grow_on", grow)
    noise = mode(book.problem, top).noise
    ask(book, repeat(top), replace(SETTINGS, left_behind=0.99 * noise / 4.0))  # three in a row
    assert book.unchanged == 3 and len(count) == book.asked == 2 + 3


def test_where_starts_run_out_the_asking_ends(asked: list[Fit]) -> None:
    book = noisy()
    ask(book, iter([book.best()]), replace(SETTINGS, left_behind=1e-6))
    assert len(asked) == 1 and book.unchanged == 1


def test_where_next_to_nothing_is_unexplained_nobody_is_asked(asked: list[Fit]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    book = book_of(X, X[:, 1] + 0.05 * rng.standard_normal(60))
    book.visit(empty_fit(book), Candidate((1,)))
    ask(book, repeat(book.best()), SETTINGS)
    assert asked == []


def test_runners_up_are_near_sets_that_nothing_has_grown_from_best_first() -> None:
    book = book_of(*additive())
    start = empty_fit(book)
    best = book.visit(start, Candidate((2, 7, 11)))
    for active in ((2, 7, 11, 15), (0, 2, 7, 11), (0,)):
        book.visit(start, Candidate(active))
    book.grown.add(best.candidate)
    assert book.fits[Candidate((0,))].log_evidence < best.log_evidence - BEHIND
    given = []
    for found in runners_up(book):
        given.append(found)
        book.grown.add(found.candidate)
    assert {found.candidate.active for found in given} == {(2, 7, 11, 15), (0, 2, 7, 11)}
    assert given[0].log_evidence >= given[1].log_evidence


def test_runners_up_look_at_no_groups() -> None:
    assert narrow(SETTINGS).groups == 0
    assert replace(narrow(SETTINGS), groups=SETTINGS.groups) == SETTINGS
