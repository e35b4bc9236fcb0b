"""What every proposer promises, whoever wrote it. A new one is one line in the table below."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experiments import designs
from ssvgp import AutoSettings, SSVGPRegressor
from ssvgp.search.book import Book
from ssvgp.search.proposer import Proposer, proposers_named, register
from ssvgp.settings import Regime

LIGHT = AutoSettings(draws=4, components=4, dense_sizes=(2, 4), dense_starts=1)
ON_BLOCKS = replace(LIGHT, exact_rows=100, block_rows=60, blocks=4, search_blocks=2)
# the settings under which a proposer has something to do, and its own random stream counts
PROPOSERS: dict[str, AutoSettings] = {
    "growth": LIGHT,
    "second opinions": LIGHT,
    "moves": LIGHT,
    "every set": LIGHT,
    "background": LIGHT,
    "products": LIGHT,
    "neighbour blocks": ON_BLOCKS,
    "kernels": LIGHT,
}
SIZES = {"background": {"n": 60, "d": 90}, "neighbour blocks": {"n": 240, "d": 6}, "every set": {"n": 60, "d": 4}}
EMPTY = 1  # the empty set is in the book before anybody is asked


@pytest.fixture(params=PROPOSERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def fitted(name: str, *others: str, **parameters: Any) -> SSVGPRegressor:
    """A fit to a table by these proposers alone."""
    settings = replace(PROPOSERS[name], proposers=(*others, name))
    draw = designs.toy(3, **SIZES.get(name, {"n": 60, "d": 6}), q=2, n_test=1)
    parameters = {"kernel": ["se", "linear"], "random_state": 0} | parameters
    return SSVGPRegressor(settings=settings, **parameters).fit(draw.X, draw.y)


def visited(model: SSVGPRegressor) -> int:
    return int(model.ensemble_.notes["visited"])


def test_the_table_has_every_proposer_of_the_default() -> None:
    assert set(PROPOSERS) == set(AutoSettings().proposers)


def test_it_is_asked_and_says_so(name: str) -> None:
    events: list[Any] = []
    fitted(name, callback=events.append)
    assert name in {event.phase for event in events}
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions) and 0.0 <= fractions[0] and fractions[-1] <= 1.0


def test_it_only_adds_to_the_book(name: str) -> None:
    before = [] if name == "growth" else ["growth"]
    if name == "neighbour blocks":  # judges on other blocks, in a book of their own
        assert visited(fitted(name, *before)) > EMPTY
        return
    model = fitted(name, *before)
    assert visited(model) >= (EMPTY if name == "growth" else EMPTY + 1)
    assert model.pip_[:2].min() > 0.9


def test_the_same_seed_gives_the_same_answer_whatever_the_number_of_threads(name: str) -> None:
    before = [] if name == "growth" else ["growth"]
    one, other = (fitted(name, *before, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.pip_, other.pip_)


def test_its_share_of_time_is_a_share(name: str) -> None:
    (proposer,) = proposers_named((name,))
    assert 0.0 <= proposer.share <= 1.0


def test_one_from_outside_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssvgp.search.proposer._PROPOSERS", {})
    asked = []

    def nothing(book: Book, regime: Regime, rng: np.random.Generator) -> None:
        asked.append((book.problem.d, regime.d, rng.random()))

    register(Proposer("nothing", nothing))
    draw = designs.toy(3, n=40, d=4, q=2, n_test=1)
    settings = replace(LIGHT, proposers=("nothing",))
    model = SSVGPRegressor(kernel="se", settings=settings, random_state=0).fit(draw.X, draw.y)
    assert len(asked) == 1 and asked[0][:2] == (4, 4) and model.pip_.shape == (4,)
