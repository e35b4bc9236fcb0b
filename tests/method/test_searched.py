"""A fit says how sure it is of its search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ssvgp import AutoSettings, Searched, SSVGPRegressor, load
from ssvgp.records import Rested
from ssvgp.report import write_report
from ssvgp.settings import SearchSettings

LIGHT = AutoSettings(draws=4, components=4, dense_sizes=(2, 4), dense_starts=1)


def table(n: int = 70, d: int = 9, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] + noise * rng.standard_normal(n)


def light(settings: AutoSettings = LIGHT) -> SSVGPRegressor:
    return SSVGPRegressor(kernel="se", settings=settings, random_state=0)


@pytest.fixture(scope="module")
def model() -> SSVGPRegressor:
    return light().fit(*table())


def test_the_sets_are_those_that_were_visited_and_every_order_was_looked_at(model: SSVGPRegressor) -> None:
    seen = model.search_
    assert seen.visited == model.ensemble_.notes["visited"]
    assert seen.inputs == 9 and seen.orders == {2: 9, 3: 9, 4: 9}
    assert 0.0 < seen.left_behind <= LIGHT.search.left_behind
    assert seen.agreed is True and seen.rested is None


def test_what_operations_did_not_allow_is_told() -> None:
    poor = replace(LIGHT, search=SearchSettings(operations=1e5))
    seen = light(poor).fit(*table()).search_
    assert seen.orders[2] == 9 and seen.orders[4] < 9
    assert "4 inputs" in str(seen) and "could be missed" in str(seen)


def test_where_little_is_unexplained_nobody_was_asked() -> None:
    seen = light().fit(*table(noise=0.05)).search_
    assert seen.agreed is None and seen.left_behind < 0.05


def test_it_is_one_line_of_sentences_and_says_what_it_holds() -> None:
    seen = Searched(visited=57, inputs=300, orders={2: 300, 3: 300, 4: 0}, left_behind=0.08, agreed=True)
    said = str(seen)
    assert "\n" not in said and said.endswith(".")
    assert "57 sets" in said and "8%" in said and "starts agreed" in said
    assert "of 4 inputs" in said and "of 4 of the 0" not in said
    assert "did not agree" in str(replace(seen, agreed=False))
    assert "starts" not in str(replace(seen, agreed=None))
    assert "could be missed" not in str(replace(seen, orders={2: 300, 3: 300, 4: 300}))


def test_evidence_of_part_of_the_rows_says_so(tmp_path: Path) -> None:
    few = replace(LIGHT, block_rows=60, polish_rows=60, search_blocks=2, blocks=4)
    model = SSVGPRegressor(kernel="se", settings=few, exact_limit=200, random_state=0).fit(*table(900))
    rested = model.search_.rested
    assert 120 <= rested.rows < 900 and f"on {rested.rows} rows" in str(model.search_)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").search_ == model.search_
    assert "by 12 nats, give or take 3" in str(Rested(5000, 12.1, 3.2)) and "nats" not in str(Rested(5000))


def test_it_goes_through_a_file(model: SSVGPRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").search_ == model.search_
    assert Searched.from_plain(model.search_.to_plain()) == model.search_


def test_the_report_has_its_sentence(model: SSVGPRegressor, tmp_path: Path) -> None:
    write_report(model, tmp_path / "report.html")
    assert str(model.search_) in (tmp_path / "report.html").read_text(encoding="utf-8")
