"""Where blocks come first and all rows have the last word: the same answer as where all rows are searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp import AutoSettings, SSVGPRegressor
from ssvgp.evidence.laplace import Problem, log_joint_value
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.large.blocks import block_of
from ssvgp.method.all_rows import kernel_to_begin, on_all_rows
from ssvgp.method.auto import auto_ensemble
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.run.progress import Event
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.settings import Prior, regime_for

N = 360
BLOCKS_FIRST = AutoSettings(exact_rows=N - 1, block_rows=90)


def table(seed: int, product: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """One strong effect and one of five standard errors among eight inputs, and a product if asked for."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 8))
    y = np.sin(1.4 * X[:, 0]) + 0.26 * X[:, 3] + product * X[:, 5] * X[:, 6] + rng.standard_normal(N)
    return X, y


@pytest.mark.parametrize("seed", [0, 1])
def test_only_the_search_differs_where_blocks_come_first(seed: int) -> None:
    """The same rows, with and without blocks before them: PIPs agree as those of two seeds do."""
    X, y = table(seed)
    whole = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    first = SSVGPRegressor(kernel="se", random_state=0, settings=BLOCKS_FIRST, prior=Prior(slab_scales=Prior().slabs))
    first.fit(X, y)
    assert np.abs(first.pip_ - whole.pip_).max() < 0.15 and np.abs(first.pip_ - whole.pip_).mean() < 0.03
    assert first.ensemble_.weak is None and first.search_.rested is None
    new = np.random.default_rng(9).standard_normal((50, 8))
    assert np.abs(first.predict(new) - whole.predict(new)).max() < 0.1


def book_on_blocks(X: np.ndarray, y: np.ndarray) -> Book:
    """A book of two blocks that was shown nothing but the first input."""
    train = Train(X, (y - y.mean()) / y.std())
    blocks = tuple(block_of(train, rows) for rows in np.split(np.arange(N), 4)[:2])
    prior, kernels = Prior().for_data(N, 8), (kernel_named("se"), kernel_named("linear"))
    book = Book(Problem(blocks, kernels[0], prior), train=train, kernels=kernels)
    book.visit(empty_fit(book), book.problem.candidate([0]))
    return book


def test_all_rows_add_what_blocks_have_missed_single_inputs_and_pairs() -> None:
    book, regime = book_on_blocks(*table(2, product=0.4)), regime_for(N, 8, BLOCKS_FIRST)
    on_all_rows(book, regime, None)
    assert book.best().candidate.active == (0, 3, 5, 6)
    assert len(book.problem.blocks) == 1 and book.problem.n == N
    assert book.ladder == regime.ladder and book.screened_blocks is None and not book.others


def test_evidence_is_that_of_the_whole_table() -> None:
    X, y = table(3)
    book, regime = book_on_blocks(X, y), regime_for(N, 8, BLOCKS_FIRST)
    on_all_rows(book, regime, np.random.default_rng(0))
    best, train = book.best(), book.table
    alone = Problem((block_of(train, np.arange(N)),), book.problem.kernel, book.problem.prior)
    assert best.summit.value == pytest.approx(log_joint_value(alone, best.candidate, best.summit.z), abs=1e-8)


def test_kernels_that_blocks_would_not_weigh_are_asked_no_more() -> None:
    book, regime = book_on_blocks(*table(4)), regime_for(N, 8, BLOCKS_FIRST)
    beaten = book.under(kernel_named("linear"))
    found = beaten.carry(book.best())
    beaten.fits[found.candidate] = replace(found, log_evidence=book.best().log_evidence - 11.0)
    book.others = [beaten]
    on_all_rows(book, regime, np.random.default_rng(0))
    assert [kernel.name for kernel in book.kernels] == ["se"] and not book.others


def test_a_search_that_is_interrupted_on_blocks_is_weighed_on_them() -> None:
    X, y = table(5)

    def interrupt(event: Event) -> None:
        if event.phase == "neighbour blocks":
            raise KeyboardInterrupt

    train, regime = Train(X, (y - y.mean()) / y.std()), regime_for(N, 8, BLOCKS_FIRST)
    kernels = (kernel_named("se"),)
    found = auto_ensemble(train, kernels, Prior(), regime, np.random.default_rng(0), 1, interrupt)
    assert found.notes["interrupted"] and found.pip[0] > 0.9


def test_threads_do_not_change_the_answer() -> None:
    X, y = table(6)
    both = [SSVGPRegressor(random_state=0, n_jobs=jobs, settings=BLOCKS_FIRST).fit(X, y) for jobs in (1, 2)]
    assert (both[0].pip_ == both[1].pip_).all() and (both[0].predict(X[:9]) == both[1].predict(X[:9])).all()


@pytest.mark.parametrize(("likelihood", "asked"), [("student-t", True), ("poisson", False)])
def test_blocks_decide_where_sites_take_many_sweeps_of_all_rows(likelihood: str, asked: bool) -> None:
    X, y = table(7)
    phases: list[str] = []
    model = SSVGPRegressor(kernel="se", likelihood=likelihood, random_state=0, settings=BLOCKS_FIRST)
    model.set_params(callback=lambda event: phases.append(event.phase))
    model.fit(X, y if asked else np.random.default_rng(7).poisson(np.exp(0.7 * X[:, 0])).astype(float))
    assert "neighbour blocks" in phases and ("all rows" in phases) == asked and model.pip_[0] > 0.9


def test_another_reading_goes_on_from_what_all_rows_have_found() -> None:
    """Heavy tails hide a weak input from the Gaussian; blocks are not searched again."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((N, 8))
    y = np.sin(1.4 * X[:, 0]) + 0.3 * X[:, 3] + 0.3 * rng.standard_t(1.5, N)
    phases: list[str] = []
    model = SSVGPRegressor(kernel="se", random_state=0, settings=BLOCKS_FIRST)
    model.set_params(callback=lambda event: phases.append(event.phase)).fit(X, y)
    assert model.fitted_.reading == "heavy tails" and model.get_support(indices=True).tolist() == [0, 3]
    assert sum(one != "growth" and other == "growth" for one, other in zip(["", *phases], phases, strict=False)) == 1


def test_another_reading_asks_for_its_kernel_anew() -> None:
    """Under Gaussian noise, wild rows leave a line at most; a linear kernel would see no product under heavy tails."""
    rng = np.random.default_rng(81)
    X = rng.standard_normal((N, 6))
    y = X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.standard_cauchy(N)
    model = SSVGPRegressor(random_state=0, settings=BLOCKS_FIRST).fit(X, y)
    assert model.fitted_.reading == "heavy tails" and model.pip_[[1, 2, 3]].min() > 0.99


def book_of_all(y: np.ndarray, X: np.ndarray) -> Book:
    train = Train(X, y)
    prior = Prior().for_data(*X.shape)
    return Book(Problem((block_of(train, np.arange(y.size)),), kernel_named("se"), prior), train=train)


def test_another_reading_begins_under_the_kernel_that_led_only_where_it_clearly_beats_the_usual_one() -> None:
    rng = np.random.default_rng(5)
    X, regime, rough = rng.standard_normal((400, 3)), regime_for(400, 3), kernel_named("matern12")
    smooth = np.sin(2.0 * X[:, 0]) + 0.05 * rng.standard_normal(400)
    corners = np.abs(np.sin(5.0 * X[:, 0])) + 0.001 * rng.standard_normal(400)
    begun = []
    for y in (smooth, corners):
        book = book_of_all((y - y.mean()) / y.std(), X)
        best = book.visit(empty_fit(book), Candidate((0,)))
        begun.append(kernel_to_begin(book, best, rough, regime).name)
        assert kernel_to_begin(book, best, book.problem.kernel, regime).name == "se"
    assert begun == ["se", "matern12"]
