"""What a fit is foreseen to take: by the rows of each phase, by the best set so far, and by how y may be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.data.target import target_of
from ssvgp.evidence.laplace import Block, Problem
from ssvgp.evidence.problem import operations
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.method import readings
from ssvgp.method.outlook import ALL_ROWS, outlook
from ssvgp.method.readings import Prospect, Reading
from ssvgp.model.likelihoods import Rows, likelihood_named
from ssvgp.records import Train
from ssvgp.run.progress import Work, all_of
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.settings import Prior
from ssvgp.settings.regime import Regime, regime_for

D = 6


def opened(n: int, sites: bool = False) -> tuple[Book, Regime, tuple[Reading, ...]]:
    """A book of a table with one strong input, its regime, and the readings of it, with heavy tails second."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, D))
    y = X[:, 0] + 0.5 * rng.standard_normal(n)
    y = (y - y.mean()) / y.std()
    noise = likelihood_named("student-t").build(Rows(y, np.ones(n), np.zeros(n)))
    plain, heavy = Train(X, y), Train(X, y, noise)
    prior, target = Prior().for_data(n, D), target_of(y)
    both = tuple(Reading("", target, one, prior, np.zeros(n)) for one in (plain, heavy))
    problem = Problem((Block.of(X, y),), squared_exponential(), prior)
    book = Book(problem, train=heavy if sites else plain, kernels=(squared_exponential(),) * 2)
    return book, regime_for(n, D), both


def test_all_rows_take_as_much_more_than_blocks_as_their_operations() -> None:
    for n in (1200, 2400):
        book, regime, _ = opened(n)
        work = outlook(book, regime, {})
        blocks = regime.settings.search_blocks * operations(regime.settings.block_rows)
        ratio = (work[ALL_ROWS].fits / operations(n)) / (work["growth"].fits / blocks)
        assert ratio == pytest.approx(65.0 / 28.0)
    assert work[ALL_ROWS].fits > 50.0 * work["growth"].fits


def test_all_rows_are_asked_under_heavy_tails_and_not_of_classes() -> None:
    book, regime, _ = opened(1200, sites=True)
    assert ALL_ROWS in outlook(book, regime, {})
    assert book.train is not None
    rows = Rows((book.train.y > 0).astype(float), np.ones(1200), np.zeros(1200), np.ones(1200))
    book.train = replace(book.train, noise=likelihood_named("bernoulli").build(rows))
    assert ALL_ROWS not in outlook(book, regime, {})


def test_a_larger_set_has_more_moves_ahead_and_so_has_one_that_another_reading_found() -> None:
    book, regime, _ = opened(300)
    empty = empty_fit(book)
    alone = outlook(book, regime, {})["moves"].fits
    assert outlook(book, regime, {}, known_size=4)["moves"].fits > 2.0 * alone
    assert outlook(book, regime, {"products": 1.0}, known_size=4)["moves"].fits == alone  # it has grown by now
    book.visit(empty, book.problem.candidate((0,)))
    assert outlook(book, regime, {})["moves"].fits > alone


def test_tails_are_looked_for_on_the_rows_that_will_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    book, regime, both = opened(400)
    book.visit(empty_fit(book), book.problem.candidate((0,)))
    asked: list[int] = []

    def shown(book: Book, rows: np.ndarray) -> float:
        asked.append(rows.size)
        return 100.0

    monkeypatch.setattr(readings, "_shown", shown)
    search = {"growth": Work(10.0, 1.0)}
    prospect = Prospect(both, {0})
    found = prospect.work(book, regime, search)
    assert asked == [regime.settings.block_rows]
    assert found.looks == 1.0
    rest = found.fits - prospect.work(book, regime, {}).fits
    assert rest > 10.0  # dearer than the search before
    prospect.work(book, regime, search)
    assert len(asked) == 1  # once for a set


def test_a_skewed_target_has_one_search_more_ahead_and_no_third() -> None:
    book, regime, both = opened(300)
    empty_fit(book)
    curved = (both[0], both[0], both[0])  # ways to read y without sites
    search = {"growth": Work(10.0, 1.0), "moves": Work(5.0, 1.0)}
    assert Prospect(curved, {0}).work(book, regime, search).looks == all_of(search.values()).looks
    assert Prospect(curved, {0, 1}).work(book, regime, search).looks == 0.0
    assert Prospect(curved, {0, 1, 2}).work(book, regime, search) == Work()
