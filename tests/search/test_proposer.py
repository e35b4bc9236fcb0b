"""The method is a list of proposers, and one from outside joins it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ssvgp import AutoSettings, SSVGPRegressor
from ssvgp.model.priors import Candidate
from ssvgp.search import proposer as module
from ssvgp.search.book import Book
from ssvgp.search.moves import empty_fit
from ssvgp.search.proposer import Proposer, proposers_named, register
from ssvgp.settings import Regime

LIGHT = AutoSettings(draws=4, components=4, dense_sizes=(4,), dense_starts=1)


def table(n: int = 60, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(2.0 * X[:, 1]) + 0.2 * rng.standard_normal(n)


@pytest.fixture
def last_pair() -> Iterator[Proposer]:
    def propose(book: Book, regime: Regime, rng: np.random.Generator) -> None:
        book.visit(empty_fit(book), Candidate((regime.d - 2, regime.d - 1)))

    mine = Proposer("last pair", propose)
    register(mine)
    yield mine
    del module._PROPOSERS["last pair"]


def test_a_proposer_from_outside_is_asked_and_heard(last_pair: Proposer) -> None:
    settings = replace(LIGHT, proposers=(*LIGHT.proposers, last_pair.name))
    events = []
    with_it = SSVGPRegressor(kernel="se", settings=settings, random_state=0, callback=events.append).fit(*table())
    without = SSVGPRegressor(kernel="se", settings=LIGHT, random_state=0).fit(*table())
    assert with_it.ensemble_.notes["visited"] == without.ensemble_.notes["visited"] + 1
    assert "last pair" in [event.phase for event in events]
    assert all(0.0 <= event.fraction <= 1.0 for event in events)
    assert np.array_equal(with_it.pip_, without.pip_)  # the set is judged, and carries nothing


def test_a_list_of_one_proposer_is_a_method_too(last_pair: Proposer) -> None:
    alone = replace(LIGHT, proposers=(last_pair.name,))
    model = SSVGPRegressor(kernel="se", settings=alone, random_state=0).fit(*table())
    assert model.ensemble_.notes["visited"] == 2  # the empty set is there before anyone is asked


def test_a_proposer_that_is_not_wanted_is_passed_over(last_pair: Proposer) -> None:
    register(replace(last_pair, wanted=lambda book, regime: not regime.exact))
    settings = replace(LIGHT, proposers=("growth", last_pair.name))
    events = []
    SSVGPRegressor(kernel="se", settings=settings, random_state=0, callback=events.append).fit(*table())
    assert "last pair" not in [event.phase for event in events]


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no proposer is called 'nobody': register it, or name some of .*growth"):
        proposers_named(("growth", "nobody"))
