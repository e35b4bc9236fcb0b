"""The results page comes from the stored lines alone, is the same each time, and says what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import figures, results, store
from experiments.methods import METHODS
from experiments.summaries import Stored, load

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def lines(stored_line: Make) -> list[dict[str, Any]]:
    """Something of the toy and of the league."""
    out = [stored_line("toy", "toy", "paper_n4", i, nmse=0.2 + 0.01 * i, mcc=0.5 + 0.01 * i) for i in range(3)]
    for line in out:
        part = {"relevant": [0.9] * 5, "others": [0.2, 0.1]}
        line["profiles"] = {"pip": part, "inverse_lengthscale": part}
    league = [stored_line("league", "toy", method, 0, nmse=0.2) for method in ("ssvgp", "lasso")]
    league[1] |= {"settings": {"folds": 3}, "notes": {"penalty": 0.25}}
    return [*out, *league]


def stored_of(lines: list[dict[str, Any]]) -> Stored:
    names = {line["experiment"] for line in lines}
    return Stored({name: [line for line in lines if line["experiment"] == name] for name in names})


def test_the_page_is_the_same_in_whatever_order_trials_came_in(lines: list[dict[str, Any]]) -> None:
    page = results.page(stored_of(lines))
    assert page == results.page(stored_of(lines)) == results.page(stored_of(lines[::-1]))
    assert page.endswith("\n") and "\n\n\n" not in page


def test_the_page_tells_machine_versions_trials_and_what_is_not_reproduced(lines: list[dict[str, Any]]) -> None:
    page = results.page(stored_of(lines))
    assert "slide rule, 1 cores" in page and "numpy 2.0" in page and "took 1.00 ms" in page
    assert "| toy | 3 | 0 | 1000 to 1002 |" in page
    row = re.escape("| Table 4: toy, averaging | SSVGP+BMA | MSE | 0.210 ± 0.010 | 0.064 ± 0.010 | +")
    assert re.search(row + r"\d", page)
    assert "- Appendix B.4: CTSLICE: SSVGP(m=256), SGP(512), SVGP(1024)" in page
    assert "| league | toy | LASSO | folds 3 | penalty 0.25 |" in page


def test_an_empty_folder_gives_a_page_that_says_so(tmp_path: Path) -> None:
    page = results.page(load(tmp_path))
    assert "Nothing is stored yet." in page and "not run" in page


def test_every_table_and_figure_of_the_paper_has_its_place() -> None:
    page = results.page(Stored({}))
    assert {f"figure{k}" for k in range(1, 7)} | {f"figure_a{k}" for k in range(4)} <= set(figures.FIGURES)
    assert all(f"(images/results/{name}.png)" in page for name in figures.FIGURES)
    tables = {one.name for one in results.all_tables(Stored({}))}
    assert tables == {name for group in results.TABLES_OF.values() for name in group}
    assert {key.partition("/")[0] for key in results.REMARKS} <= tables | {"league"}


def test_figures_are_the_same_each_time_and_drawn_where_nothing_was_run(
    lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = {name: figures.FIGURES[name] for name in ("figure2", "figure3", "figure6", "league")}
    monkeypatch.setattr(figures, "FIGURES", some)
    first = [path.read_bytes() for path in figures.save_all(stored_of(lines), tmp_path / "first")]
    again = [path.read_bytes() for path in figures.save_all(stored_of(lines), tmp_path / "again")]
    empty = [path.read_bytes() for path in figures.save_all(Stored({}), tmp_path / "empty")]
    assert first == again and len(empty) == 4 and first[0] != empty[0]


def test_the_stored_results_can_be_read_and_name_methods_that_exist() -> None:
    for path in sorted(store.RESULTS.glob("*.jsonl")):
        assert {line["method"] for line in store.read(path)} <= set(METHODS)
