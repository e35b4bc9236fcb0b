"""The results page comes from the stored lines alone, is the same each time, and says what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import figures, layout, results, store
from experiments.league import REAL
from experiments.methods import METHODS
from experiments.own_tables import target_markdown
from experiments.summaries import Stored, load
from experiments.tables import SPREAD
from experiments.verdicts import MissingRemark, printed_rows

Make = Callable[..., dict[str, Any]]
REMARKS = {
    "intersection": "swapped",
    "table4/SSVGP+BMA": "why",
    "not run/real_ct_slices": "The set could not be had.",
}


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
    page = results.page(stored_of(lines), REMARKS)
    assert page == results.page(stored_of(lines), REMARKS) == results.page(stored_of(lines[::-1]), REMARKS)
    assert page.endswith("\n") and "\n\n\n" not in page


def test_the_page_begins_with_the_verdict_on_every_printed_row(lines: list[dict[str, Any]]) -> None:
    page = results.page(stored_of(lines), REMARKS)
    summary = page[page.index("## Summary") : page.index("## The toy")]
    assert page.index("## Summary") < 600 and summary.count("\n| ") == 2 + 63
    assert f"| Table 4 | SSVGP+BMA | MSE 0.210{SPREAD}0.010<br>MCC 0.51{SPREAD}0.01 |" in summary
    assert "**not**, because why." in summary
    assert "| B.4, CTSLICE | SGP(512) |" in summary and "not run: the set could not be had" in summary
    assert "not explained" not in page.lower()


def test_the_page_says_how_it_was_measured(lines: list[dict[str, Any]]) -> None:
    page = results.page(stored_of(lines), REMARKS)
    assert "slide rule, 1 cores" in page and "numpy 2.0" in page and "took 1.00 ms" in page
    assert "| toy | 3 | 0 | 1000 to 1002 |" in page
    assert "| league | toy | LASSO | folds 3 | penalty 0.25 |" in page


def test_every_fold_of_the_page_is_closed_and_stands_alone(lines: list[dict[str, Any]]) -> None:
    page = results.page(stored_of(lines), REMARKS)
    folds = re.findall(r"<details>\n<summary>[^<\n]+</summary>\n\n((?:(?!</?details>).)+?)\n\n</details>\n", page, re.S)
    assert len(folds) == page.count("<details>") == page.count("</details>") > 5
    assert not any(re.search(r"^#", fold, re.M) for fold in folds)  # a heading inside would end the fold in the site


def test_a_real_set_on_which_the_default_is_behind_needs_a_remark(stored_line: Make) -> None:
    lines = [stored_line("league", REAL[0], "ssvgp", 0, nmse=0.2), stored_line("league", REAL[0], "lasso", 0, nmse=0.1)]
    with pytest.raises(MissingRemark, match=f"league/{REAL[0]}"):
        results.page(stored_of(lines), REMARKS)
    page = results.page(stored_of(lines), REMARKS | {f"league/{REAL[0]}": "Bad luck."})
    assert "in 1 common trials. Bad luck." in page


def test_what_is_done_to_y_has_a_table_of_its_own(stored_line: Make) -> None:
    lines = [stored_line("experiment1", "experiment1", "paper_n2", i, mcc=0.9, nmse=0.02) for i in range(2)]
    lines += [stored_line("experiment1", "experiment1", "paper_n2_standardised", 0, mcc=0.4, nmse=0.1)]
    lines += [stored_line("experiment1", "reflected", "paper_n2", 0, mcc=0.7, nmse=0.2)]
    row = next(text for text in target_markdown(stored_of(lines)).splitlines() if "m=n/2" in text)
    assert row == (
        "| SSVGP(m=n/2) | 0.94; 0.0187 | 0.90; 0.0200 (2 trials) | 0.40; 0.1000 (1 trials) | 0.70; 0.2000 (1 trials) |"
    )


def test_a_smoke_run_is_never_compared_with_print(
    stored_line: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", {"training": figures.FIGURES["training"]})
    monkeypatch.setattr(results, "_pictures", lambda *names: list(names))
    store.append(tmp_path / "toy-smoke.jsonl", stored_line("toy", "toy", "mlii", 0, nmse=9.0))
    results.main(["--smoke", "--results", str(tmp_path), "--docs", str(tmp_path / "docs")])
    assert "**not**, because a smoke run is too small" in (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")


def test_an_empty_folder_gives_a_page_that_says_so(tmp_path: Path) -> None:
    page = results.page(load(tmp_path))
    assert "Nothing is stored yet." in page and "not run" in page


def test_every_table_and_figure_of_the_paper_has_its_place() -> None:
    page = results.page(Stored({}))
    assert {f"figure{k}" for k in range(1, 7)} | {f"figure_a{k}" for k in range(4)} <= set(figures.FIGURES)
    assert all(f"(images/results/{name}.png)" in page for name in figures.FIGURES)
    tables = [one.name for one in results.all_tables(Stored({}))]
    assert sorted(tables) == sorted(place.table for section in layout.SECTIONS for place in section.places)
    assert all(place.says.endswith(".") for section in layout.SECTIONS for place in section.places)


def test_every_remark_is_about_a_row_that_exists() -> None:
    tables = {table.name: printed_rows(table) for table in results.all_tables(Stored({}))}
    for key in results.REMARKS:
        table, _, row = key.partition("/")
        known = {"league": REAL, "not run": tables}.get(table) or tables[table]
        assert not row or row in known, key


def test_figures_are_the_same_each_time_and_drawn_where_nothing_was_run(
    lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines[0]["notes"] = {"curve": [[1.0, 2.0, 0.5], [2.0, 4.0, 0.4]]}
    lines[0] |= {"experiment": "experiment2", "design": "wide", "method": "svgp"}
    some = {name: figures.FIGURES[name] for name in ("figure2", "figure3", "figure6", "league", "accuracy", "training")}
    monkeypatch.setattr(figures, "FIGURES", some)
    first = [path.read_bytes() for path in figures.save_all(stored_of(lines), tmp_path / "first")]
    again = [path.read_bytes() for path in figures.save_all(stored_of(lines), tmp_path / "again")]
    empty = [path.read_bytes() for path in figures.save_all(Stored({}), tmp_path / "empty")]
    assert first == again and len(empty) == 6 and first[0] != empty[0] and first[5] != empty[5]


def test_every_stored_row_that_differs_from_print_has_its_reason() -> None:
    assert "## Summary" in results.page(load())


def test_the_stored_results_can_be_read_and_name_methods_that_exist() -> None:
    for path in sorted(store.RESULTS.glob("*.jsonl")):
        assert {line["method"] for line in store.read(path)} <= set(METHODS)
