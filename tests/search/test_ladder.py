"""The ladder: what a part of the rows promises, and who may climb."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from searches import additive, book_of

from ssvgp.evidence.laplace import Fit, log_joint_value, mode
from ssvgp.evidence.loo import exact
from ssvgp.model.priors import Candidate
from ssvgp.records import Member, Train
from ssvgp.search.book import Book, add, drop
from ssvgp.search.ladder import Projection, climbing, project, row_terms
from ssvgp.search.moves import empty_fit

TRUE = Candidate((2, 7, 11))


def fitted(book: Book, candidate: Candidate) -> Fit:
    return book.visit(empty_fit(book), candidate)


@pytest.mark.parametrize("blocks", [1, 2])
def test_row_terms_are_the_exact_leave_one_out_densities(blocks: int) -> None:
    book = book_of(*additive(n=60), blocks=blocks)
    found = fitted(book, TRUE)
    at, active = mode(book.problem, found), np.array(TRUE.active)
    member = Member(active, at, book.problem.kernel, np.ones(3))
    slow = [exact(Train(block.X, block.y), member).log_density for block in book.problem.blocks]
    assert row_terms(book, found) == pytest.approx(np.concatenate(slow), abs=1e-8)


@pytest.mark.parametrize("candidate", [Candidate((2, 7)), Candidate((2, 7, 11, 15)), Candidate((0, 2, 11))])
def test_where_the_part_is_all_rows_its_promise_is_the_fit(candidate: Candidate) -> None:
    book = book_of(*additive())
    parent, part = fitted(book, TRUE), book_of(*additive())
    there = part.visit(part.carry(parent), candidate)
    (seen,) = project(book, part, parent, [there])
    gain = there.log_evidence - part.fits[TRUE].log_evidence
    assert seen.error == 0.0
    assert seen.estimate == pytest.approx(parent.log_evidence + gain, abs=1e-9)
    assert seen.estimate == pytest.approx(book.visit(parent, candidate).log_evidence, abs=0.3)


def test_half_of_the_rows_promise_what_all_say_within_their_error() -> None:
    X, y = additive(n=200)
    book = book_of(X, y, ladder=0.5)
    parent, part = fitted(book, TRUE), book.first_rung()
    assert part is not None and part.problem.n == 100
    below = part.carry(parent)
    options = [drop(TRUE, [j]) for j in TRUE.active] + [add(TRUE, [j]) for j in (0, 5, 15)]
    for seen in project(book, part, parent, [part.visit(below, c) for c in options]):
        all_rows = book.visit(parent, seen.fit.candidate).log_evidence
        far = parent.log_evidence - 100.0  # both say so of a true input less: how far does not matter there
        assert abs(seen.estimate - all_rows) < 3.0 * seen.error + 1.0 or max(seen.estimate, all_rows) < far
        assert seen.hope > seen.estimate


def test_a_candidate_that_is_clearly_behind_does_not_climb_and_one_ahead_does() -> None:
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, Candidate((2, 11)))
    options = [Candidate((2,)), Candidate((2, 7, 11)), Candidate((11,)), Candidate((2, 5, 11))]
    seen = climbing(book, parent, options, parent.log_evidence)
    assert seen[0].candidate == TRUE
    assert not {Candidate((2,)), Candidate((11,))} & {one.candidate for one in seen}
    assert set(book.fits) == {Candidate(()), parent.candidate}  # nothing was fitted on all rows
    found = book.visit_all(seen[:1])[0]
    assert found.log_evidence > parent.log_evidence + 10.0


def test_those_who_climb_start_at_what_the_part_has_found() -> None:
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, Candidate((2, 11)))
    (seen,) = climbing(book, parent, [TRUE], parent.log_evidence)
    part = book.first_rung()
    assert part is not None
    assert np.array_equal(seen.starts[0], part.fits[TRUE].summit.z)


def test_what_a_part_leaves_open_within_chance_is_settled_by_a_look_at_all_rows(monkeypatch: Any) -> None:
    """Both are promised a little less than the bar, by a part that may err by ten nats."""
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, TRUE)
    less, more = drop(TRUE, [7]), add(TRUE, [0])
    bar = parent.log_evidence - 8.0

    def promised(book: Book, part: Book, parent: Fit, fits: list[Fit]) -> list[Projection]:
        return [Projection(one, bar - 20.0, 10.0) for one in fits]

    monkeypatch.setattr("ssvgp.search.ladder.project", promised)
    (seen,) = climbing(book, parent, [less, more], bar)
    assert seen.candidate == more
    found = book.visit(parent, more).log_evidence
    assert found - 4.0 < seen.estimate < found + 0.1


def test_looks_at_all_rows_know_how_far_from_its_mode_the_part_has_the_parent() -> None:
    """Where the part is at another mode, all its candidates are off alike, by more than decides between them."""
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, TRUE)
    part, more = book.first_rung(), add(TRUE, [0])
    assert part is not None
    part.visit(part.carry(parent), more)
    for one in (TRUE, more):
        there = part.fits[one]
        elsewhere = there.summit.z + np.append(np.zeros(one.size), [0.0, 1.0])  # more noise
        part.fits[one] = replace(there, summit=replace(there.summit, z=elsewhere))
    (seen,) = climbing(book, parent, [more], -np.inf)
    assert log_joint_value(book.problem, more, seen.starts[0]) < book.visit(parent, more).summit.value - 10.0
    assert seen.estimate == pytest.approx(book.fits[more].log_evidence, abs=4.0)


def test_candidates_are_seen_where_the_parent_cannot_be_from_the_part(monkeypatch: Any) -> None:
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, Candidate((2, 11)))

    def height(problem: Any, candidate: Candidate, *more: Any, **others: Any) -> float:
        return -np.inf if candidate == parent.candidate else log_joint_value(problem, candidate, *more, **others)

    monkeypatch.setattr("ssvgp.search.ladder.log_joint_value", height)
    (seen,) = climbing(book, parent, [TRUE], parent.log_evidence)
    assert np.isfinite(seen.estimate) and seen.candidate == TRUE


def test_what_the_part_has_fitted_before_climbs_as_what_it_fits_now() -> None:
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, Candidate((2, 11)))
    part = book.first_rung()
    assert part is not None
    met = part.visit(part.carry(parent), TRUE)
    (seen,) = climbing(book, parent, [TRUE], parent.log_evidence)
    assert part.fits[TRUE] is met and seen.candidate == TRUE


@pytest.mark.parametrize("ladder", [None, 0.5])
def test_known_sets_do_not_climb_again_and_others_climb_once_best_first(ladder: float | None) -> None:
    book = book_of(*additive(n=160), ladder=ladder)
    parent, known = fitted(book, Candidate((2, 11))), fitted(book, Candidate((2, 7)))
    seen = climbing(book, parent, [known.candidate, TRUE, Candidate((2, 5, 11)), TRUE], -np.inf)
    assert sorted(one.candidate.active for one in seen) == [(2, 5, 11), (2, 7, 11)]
    assert [one.estimate for one in seen] == sorted((one.estimate for one in seen), reverse=True)


def test_at_most_so_many_candidates_are_fitted_on_the_part() -> None:
    book = book_of(*additive(n=160), ladder=0.5)
    parent = fitted(book, Candidate((2, 11)))
    assert len(climbing(book, parent, [add(parent.candidate, [j]) for j in range(12)], -np.inf, most=2)) <= 4
    part = book.first_rung()
    assert part is not None and len(part.fits) <= 5  # the parent, the first two, and two by their estimates
