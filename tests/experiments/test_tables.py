"""Tables against numbers worked out by hand, and every row of the paper against a method that produces it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import experiment1, experiment2, methods, own_tables, paper_tables, real, toy
from experiments.paper_tables import (
    PAPER,
    ROWS,
    all_tables,
    cut_short,
    experiment1_tables,
    intersection_table,
    toy_tables,
)
from experiments.summaries import Measured, Printed, Stored, apart, best_threshold, mean_of, percentile_of
from experiments.tables import SPREAD, Column, Pair, Row, Table, cells_of, folded, markdown

Make = Callable[..., dict[str, Any]]


def test_means_and_sds_by_hand(stored_line: Make) -> None:
    lines = [stored_line("toy", "toy", "mf", i, nmse=value, seconds=3.0) for i, value in enumerate((0.05, 0.07, 0.09))]
    table = toy_tables(Stored({"toy": lines}))[0]
    row = next(text for text in markdown(table).splitlines() if "SSVGP+MFG" in text)
    assert row.replace(SPREAD, "±") == "| SSVGP+MFG | 3 | 0.070±0.020 | 0.068±0.011 | 3.0† | 27.8±0.5 |"
    row = next(text for text in markdown(table).splitlines() if "ML-II" in text)
    assert row.replace(SPREAD, "±") == "| ML-II GP | 0 | not run | 0.096±0.014 | not run | 5.0±0.7 |"


def test_failed_trials_are_counted_and_not_averaged(stored_line: Make) -> None:
    good, bad = (stored_line("toy", "toy", "mf", i, nmse=0.1) for i in range(2))
    bad["error"] = "lost"
    del bad["scores"]
    row = toy_tables(Stored({"toy": [good, bad]}))[0].rows[-1]
    assert (row.failed, row.pairs[0].ours) == (1, Measured(0.1, 0.0, 0.0, 1))
    assert "| SSVGP+MFG | 1, 1 failed | 0.100 |" in markdown(toy_tables(Stored({"toy": [good, bad]}))[0])


def test_percentiles_count_from_the_good_end(stored_line: Make) -> None:
    lines = [
        stored_line("experiment1", "experiment1", "lasso", i, nmse=0.1 * i, mcc=0.1 * i, seconds=1.0) for i in range(5)
    ]
    table = next(one for one in experiment1_tables(Stored({"experiment1": lines})) if one.name == "percentiles")
    rows = {row.label: row for row in table.rows}
    worse = rows["LASSO, 75%"].pairs
    assert (worse[0].ours.value, worse[1].ours.value) == pytest.approx((0.3, 0.1))
    better = rows["LASSO, 25%"].pairs
    assert (better[0].ours.value, better[1].ours.value) == pytest.approx((0.1, 0.3))
    assert percentile_of(np.array([]), 50, False) is None and mean_of(np.array([np.nan])) is None


def test_the_times_of_mcmc_and_the_default_are_compared_as_measured_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed = tmp_path / "speed.jsonl"
    monkeypatch.setattr(paper_tables, "SPEED", speed)
    assert "times as long" not in experiment1_tables(Stored({}))[-1].note
    draws = [{"ratio": ratio, "one_short_chain": ratio / 4} for ratio in (900, 1200, 2000)]
    speed.write_text("\n".join(json.dumps(line) for line in ({"run": "mcmc_speed"}, *draws)))
    note = experiment1_tables(Stored({}))[-1].note
    assert "3 draws), MCMC took 1200 times as long as the default (median; 900 to 2000)" in note
    assert "would have taken 300 times as long" in note


def test_ml_ii_is_judged_at_the_one_threshold_that_is_best_on_average(stored_line: Make) -> None:
    swept = np.array([[0.9, 0.5, 0.1], [0.1, 0.6, 0.2]])
    np.testing.assert_array_equal(best_threshold(swept), [0.5, 0.6])
    lines = [stored_line("experiment1", "experiment1", "mlii", i, mcc=0.0) for i in range(2)]
    for line, row in zip(lines, swept.tolist(), strict=True):
        line["notes"] = {"mcc_by_threshold": row}
    stored = Stored({"experiment1": lines})
    assert stored.values("experiment1", "experiment1", "mlii", "mcc_best").tolist() == [0.5, 0.6]
    # its own selection, which the league is about, knows no truth
    assert stored.values("experiment1", "experiment1", "mlii", "mcc").tolist() == [0.0, 0.0]


def test_the_average_pip_at_each_v_counts_all_inputs(stored_line: Make) -> None:
    line = stored_line("toy", "toy", "mf_by_v", 0)
    line["profiles"] = {f"pip_v1e{k}": {"relevant": [1.0], "others": [0.1 * k, 0.0, 0.0]} for k in range(2, 7)}
    table = next(one for one in toy_tables(Stored({"toy": [line]})) if one.name == "table2")
    assert [row.pairs[0].ours.value for row in table.rows] == pytest.approx([(1 + 0.1 * k) / 4 for k in range(2, 7)])
    assert [row.pairs[0].printed.value for row in table.rows] == [0.0, 0.05, 0.07, 0.34, 1.0]


def test_distance_from_print_in_standard_errors_by_hand() -> None:
    ours = Measured(0.30, sd=0.04, error=0.02, count=4)
    assert apart(ours, Printed(0.20, 0.09), trials=9, rounding=0.0) == pytest.approx(0.1 / np.hypot(0.02, 0.03))
    assert apart(ours, Printed(0.20), trials=16, rounding=0.02) == pytest.approx(0.09 / np.hypot(0.02, 0.01))
    exact = Measured(1.0, 0.0, 0.0, 4)
    assert apart(exact, Printed(1.0), 4, 0.01) == 0.0 and apart(exact, Printed(0.9), 4, 0.01) == np.inf


def test_the_spread_of_one_trial_is_taken_to_be_the_printed_one() -> None:
    once = Measured(0.30, sd=0.0, error=0.0, count=1)
    assert apart(once, Printed(0.20, 0.06), trials=3, rounding=0.0) == pytest.approx(0.1 / (0.06 * np.sqrt(1 + 1 / 3)))
    assert np.isnan(apart(once, Printed(0.20), trials=3, rounding=0.0))
    assert apart(Measured(0.3, 0.0, 0.0, 1, exact=True), Printed(0.2), 1, 0.0) == np.inf


def test_seconds_are_cpu_time_where_it_is_stored_but_for_trainings_that_resume(stored_line: Make) -> None:
    lines = [stored_line("toy", "toy", "mf", 0, seconds=9.0, cpu_seconds=4.0)]
    lines += [stored_line("toy", "toy", "mf", 1, seconds=6.0), stored_line("toy", "toy", "svgp", 0, cpu_seconds=0.1)]
    stored = Stored({"toy": lines})
    # the other trial ran beside other work: where one has its CPU time, those alone are quoted
    assert stored.values("toy", "toy", "mf", "seconds").tolist() == pytest.approx([4.0, np.nan], nan_ok=True)
    assert stored.values("toy", "toy", "mf", "minutes").tolist() == pytest.approx([4.0 / 60.0, np.nan], nan_ok=True)
    assert Stored({"toy": lines[1:2]}).values("toy", "toy", "mf", "seconds").tolist() == [6.0]
    assert stored.values("toy", "toy", "svgp", "seconds").tolist() == [1.0]  # its last process alone took 0.1


@pytest.mark.parametrize(
    ("method", "scores", "beside"),
    [
        ("mf", {"seconds": 4.0, "cpu_seconds": 4.0}, False),
        ("mf", {"seconds": 0.3, "cpu_seconds": 0.22}, False),  # a tenth of a second is nothing
        ("mf", {"seconds": 6.0, "cpu_seconds": 4.0}, True),
        ("mf", {"seconds": 6.0}, True),
        ("svgp", {"seconds": 4.0, "cpu_seconds": 4.0}, False),
        ("svgp", {"seconds": 900.0, "cpu_seconds": 4.0}, True),  # it went through several processes
    ],
)
def test_a_time_of_trials_beside_other_work_is_marked(
    stored_line: Make, method: str, scores: dict[str, float], beside: bool
) -> None:
    stored = Stored({"toy": [stored_line("toy", "toy", method, i, **scores) for i in range(3)]})
    time, error = (stored.measured(("toy", "toy"), method, score, mean_of) for score in ("seconds", "nmse"))
    assert time is not None and error is not None
    assert (time.beside, error.beside) == (beside, False)
    assert cells_of(Pair(time, None), 1)[0].endswith("†") == beside


def test_only_long_tables_are_folded() -> None:
    row = Row("LASSO", "lasso", (Pair(None, Printed(0.5)),))
    column = Column("mse", "MSE", "nmse", 2)
    short, long = (Table("t", "T", "t", ("toy", "toy"), (column,), (row,) * count, 1) for count in (12, 13))
    assert "<details>" not in markdown(short)
    assert markdown(long).startswith("<details>\n<summary>Show all 13 rows</summary>\n\n|")
    # An empty line on both sides: what lies between is read as Markdown, in the repository as in the site.
    assert folded("a", "| b |") == "<details>\n<summary>a</summary>\n\n| b |\n\n</details>"


def test_a_table_that_the_paper_does_not_have_has_no_column_for_print(stored_line: Make) -> None:
    stored = Stored({"real": [stored_line("real", "blog_feedback", "sgp", 0)]})
    tables = {table.name: table for table in all_tables(stored)}
    assert "printed" not in markdown(tables["real_blog_feedback"])
    assert "| SGP(512) | 1 | 0.500 |" in markdown(tables["real_blog_feedback"])
    assert "MSE printed" in markdown(tables["real_ujiindoorloc"])


def test_readings_of_how_rivals_were_run_are_rows_where_they_were_run(stored_line: Make) -> None:
    name = next(iter(methods.READINGS))
    lines = [stored_line("experiment1", "experiment1", name, 0, mcc=0.5)]
    label = f"{methods.METHODS[name].label} (ours alone)"
    for stored, count in ((Stored({"experiment1": lines}), 1), (Stored({}), 0)):
        tables = {table.name: [row.label for row in table.rows] for table in experiment1_tables(stored)}
        assert tables["mean_sd"].count(label) == count and tables["percentiles"].count(f"{label}, 50%") == count


def test_a_training_that_its_budget_stopped_is_told_from_one_that_ended(stored_line: Make) -> None:
    line = stored_line("experiment2", "tall", "svgp", 0)
    line |= {"settings": {"epochs": 25, "max_seconds": 9000.0}, "notes": {"epochs": 25.0}}
    assert cut_short(line) == "" == cut_short(stored_line("toy", "toy", "mf", 0))
    line["notes"] = {"epochs": 3.5}
    assert cut_short(line) == "was stopped after 9000 s, 3.5 of 25 epochs done"
    note = next(t.note for t in all_tables(Stored({"experiment2": [line]})) if t.name == "experiment2_tall")
    assert note == "SVGP(1024) was stopped after 9000 s, 3.5 of 25 epochs done."


def test_the_points_of_intersection_are_those_of_equation_14() -> None:
    values = [row.pairs[0].ours.value for row in intersection_table().rows]
    by_hand = [np.sqrt((np.log(1e8) + 2 * np.log((1 - pi) / pi)) / (1e4 * (1 - 1e-8))) for pi in (0.001, 0.999)]
    assert values == pytest.approx(by_hand)


def printed_rows() -> list[tuple[str, str, str]]:
    """Every named row of paper.json with the experiment and the design that must produce it."""
    found = [("toy", "toy", name) for name in (*PAPER["toy"]["methods"], *PAPER["speed_up"]["columns"])]
    first = PAPER["experiment1"]
    names = {*first["mean_sd"]["methods"], *first["percentiles"]["methods"], *first["runtimes_s"]} - {"table"}
    found += [("experiment1", "experiment1", name) for name in sorted(names)]
    for design, key in (("wide", "n1e4_d1e4"), ("tall", "n1e6_d1e2")):
        second = PAPER["experiment2"][key]
        found += [("experiment2", design, name) for name in {**second["methods"], **second["runtime_min_by_part"]}]
    for design, key in (("ujiindoorloc", "UJINDOORLOC"), ("ct_slices", "CTSLICE")):
        found += [("real", design, name) for name in PAPER["real_data"][key]["methods"]]
    return found


@pytest.mark.parametrize(("experiment", "design", "name"), printed_rows())
def test_every_row_of_the_paper_has_a_method_and_a_place_in_a_table(experiment: str, design: str, name: str) -> None:
    known = {one.EXPERIMENT.name: one.EXPERIMENT for one in (toy, experiment1, experiment2, real)}
    assert ROWS[name] in methods.METHODS
    assert ROWS[name] in known[experiment].methods[design]
    labels = {row.label.partition(", ")[0] for table in all_tables(Stored({})) for row in table.rows}
    assert name in labels


def test_every_number_of_the_paper_is_in_a_table() -> None:
    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict):
            return [one for key, part in value.items() for one in numbers(part) if key not in ("sd", "v", "c")]
        return [float(value)] if isinstance(value, (int, float)) else []

    shown = {pair.printed.value for t in all_tables(Stored({})) for row in t.rows for pair in row.pairs if pair.printed}
    first, second, third = PAPER["experiment1"], PAPER["experiment2"], PAPER["real_data"]
    asked = [PAPER["toy"]["methods"], PAPER["speed_up"]["columns"], first["mean_sd"]["methods"]]
    asked += [first["percentiles"]["methods"], first["runtimes_s"]]
    for key in ("n1e4_d1e4", "n1e6_d1e2"):
        asked += [second[key]["methods"], second[key]["runtime_min_by_part"]]
    asked += [third[key]["methods"] for key in ("CTSLICE", "UJINDOORLOC")]
    assert set(numbers(dict(enumerate(asked)))) <= shown


def test_what_luck_does_comes_from_the_same_draws_by_other_random_states(
    stored_line: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tables, "BENCHMARKS", tmp_path)
    at = ("experiment1", "experiment1", "paper_n2")
    stored = Stored({"experiment1": [stored_line(*at, i, nmse=0.01, mcc=1.0) for i in range(2)]})
    assert own_tables.luck(stored) == ""
    lines = [
        {"run": "paper_luck_1"},
        {"seed": 1000, "nmse": 0.03, "mcc": 0.5},
        {"seed": 1001, "nmse": 0.01, "mcc": 1.0},
    ]
    (tmp_path / "paper_luck_1.jsonl").write_text("\n".join(map(json.dumps, lines)))
    # one draw of two has a variance of 0.0002 over states: so has the mean a quarter of it
    said = own_tables.luck(stored).replace(SPREAD, "±")
    assert "a mean MSE of 0.0100 and 0.0200" in said
    assert "0.0150±0.0050 is to be expected" in said
    assert "lies 0.0071 beside it" in said
