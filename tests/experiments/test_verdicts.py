"""Verdicts on printed rows by hand: reproduced, better, not and why; and no page where a reason is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from experiments import results
from experiments.paper_tables import all_tables
from experiments.summaries import Measured, Printed, Stored
from experiments.tables import Column, Pair, Row, Table
from experiments.verdicts import (
    BETTER,
    NOT,
    NOT_RUN,
    REPRODUCED,
    TIMES,
    MissingRemark,
    Verdict,
    counts_sentence,
    kind_of,
    summary_markdown,
    verdicts,
)

Make = Callable[..., dict[str, Any]]
MSE, MCC = Column("mse", "MSE", "nmse", 3), Column("mcc", "MCC", "mcc_best", 2)
SECONDS, INPUTS = Column("runtime_s", "seconds", "seconds", 1), Column("inputs", "inputs used", "inputs", 0)


def pair(ours: float | None, printed: float, sd: float = 0.1) -> Pair:
    """Ours over 25 trials with a standard error of a fifth of sd, and a printed number with that sd."""
    return Pair(None if ours is None else Measured(ours, sd, sd / 5.0, 25), Printed(printed, sd))


def judged(*pairs: Pair, columns: tuple[Column, ...] = (MSE, MCC), remarks: dict[str, str] | None = None) -> Verdict:
    table = Table("t", "Table 9", "Table 9: t", ("toy", "toy"), columns, (Row("LASSO", "lasso", pairs),), 25)
    return verdicts([table], remarks or {}, Stored({}))[0]


def test_within_two_standard_errors_of_both_spreads_is_reproduced() -> None:
    error = 0.1 * (2.0 / 25.0) ** 0.5
    assert kind_of(MSE, pair(0.5 + 1.9 * error, 0.5), 25) == REPRODUCED
    assert kind_of(MSE, pair(0.5 + 2.1 * error, 0.5), 25) == NOT
    assert judged(pair(0.5, 0.5), pair(0.9, 0.9)).text == "reproduced"


def test_the_good_side_depends_on_the_score_and_some_have_none() -> None:
    assert kind_of(MSE, pair(0.1, 0.5), 25) == BETTER == kind_of(MCC, pair(0.9, 0.5), 25)
    assert kind_of(MCC, pair(0.1, 0.5), 25) == NOT == kind_of(MSE, pair(0.9, 0.5), 25)
    assert kind_of(INPUTS, pair(1.0, 50.0), 25) == NOT == kind_of(INPUTS, pair(99.0, 50.0), 25)


def test_one_trial_is_judged_by_the_printed_spread_and_not_at_all_without() -> None:
    once = Measured(0.9, 0.0, 0.0, 1)
    assert kind_of(MSE, Pair(once, Printed(0.8, 0.1)), 9) == REPRODUCED
    assert kind_of(MSE, Pair(once, Printed(0.8)), 9) == NOT


def test_each_score_has_its_word_and_the_reason_comes_last() -> None:
    one = judged(pair(0.1, 0.5), pair(0.1, 0.5), remarks={"t/LASSO": "Its folds differ."})
    assert (one.kind, one.text) == (NOT, "MSE better, MCC **not**, because its folds differ.")
    both = judged(pair(0.9, 0.5), pair(0.1, 0.5), remarks={"t": "R's solver is another"})
    assert both.text == "**not**, because R's solver is another."
    assert judged(pair(0.1, 0.5), pair(0.5, 0.5)).text == "MCC reproduced, MSE better"
    told = judged(pair(0.1, 0.5), pair(0.5, 0.5), remarks={"t/LASSO": "A better solver."})
    assert told.text == "MCC reproduced, MSE better: a better solver."


def test_a_row_that_differs_and_has_no_remark_is_an_error_that_names_it() -> None:
    with pytest.raises(MissingRemark, match=r"remarks.json:\n  t/LASSO: MSE 0.900\s±\s0.100; MCC 0.50\s±\s0.10, pri"):
        judged(pair(0.9, 0.5), pair(0.5, 0.5))


def test_the_page_is_not_written_while_a_remark_is_missing(stored_line: Make) -> None:
    lines = [stored_line("toy", "toy", "mlii", i, nmse=0.5 + 0.001 * i, mcc=0.5) for i in range(3)]
    known = {key: text for key, text in results.REMARKS.items() if not key.startswith(("table1", "table4"))}
    with pytest.raises(MissingRemark, match=r"table1/ML-II GP: MSE 0\.501(.|\n)*table4/ML-II GP"):
        results.page(Stored({"toy": lines}), known)
    page = results.page(Stored({"toy": lines}), known | {"table1": "This is why.", "table4/ML-II GP": "That is why."})
    assert "| **not**, because this is why. |" in page and "| **not**, because that is why. |" in page


def test_what_was_not_run_says_so_with_the_reason_that_is_known() -> None:
    assert judged(pair(None, 0.5), pair(None, 0.5)).text == "not run: no trial is stored yet."
    one = judged(pair(None, 0.5), pair(None, 0.5), remarks={"not run/t": "The set is lost.", "t": "Wrong."})
    assert (one.kind, one.text) == (NOT_RUN, "not run: the set is lost.")


def test_times_alone_are_compared_and_never_judged() -> None:
    assert judged(pair(2.0, 30.0), columns=(SECONDS,)).text == "times only: ours is 15 times as fast"
    assert judged(pair(30.0, 3.0), columns=(SECONDS,)).kind == TIMES
    assert judged(pair(0.5, 0.5), pair(2.0, 30.0), columns=(MSE, SECONDS)).text == "reproduced"


def test_a_training_that_was_stopped_early_explains_itself(stored_line: Make) -> None:
    line = stored_line("experiment2", "tall", "svgp", 0, nmse=0.4)
    line |= {"settings": {"epochs": 25, "max_seconds": 9000.0}, "notes": {"epochs": 3.0}}
    stored = Stored({"experiment2": [line]})
    tables = [table for table in all_tables(stored) if table.name == "experiment2_tall"]
    found = {one.name: one.text for one in verdicts(tables, {}, stored)}
    assert found["SVGP(1024)"] == "**not**, because its training was stopped after 9000 s, 3 of 25 epochs done."
    known = {one.name: one.text for one in verdicts(tables, {"experiment2_tall/SVGP(1024)": "And more."}, stored)}
    assert known["SVGP(1024)"].endswith("3 of 25 epochs done. And more.")


def test_the_summary_has_one_line_for_each_printed_row_of_each_table() -> None:
    stored = Stored({})
    found = verdicts(all_tables(stored), results.REMARKS, stored)
    lines = summary_markdown(found).splitlines()
    assert len(lines) == 2 + len(found) == 2 + 63
    percentiles = [one for one in found if one.table.name == "percentiles"]
    assert len(percentiles) == 8 and all(len(one.rows) == 3 for one in percentiles)
    assert "MSE 0.0046 / 0.0082 / 0.0133<br>MCC 1.00 / 1.00 / 0.93 |" in summary_markdown(percentiles)


def test_rows_are_counted_by_kind_the_papers_own_method_first() -> None:
    rival = judged(pair(0.5, 0.5), pair(0.9, 0.9))
    own = Verdict(rival.table, "SSVGP", (Row("SSVGP", "paper_n", ()),), BETTER, BETTER)
    assert counts_sentence([rival, own, rival]) == (
        "The paper prints 3 rows in 1 tables. Of the 1 rows of its own method 1 is better. "
        "Of the 2 rows of other methods 2 are reproduced."
    )
