"""Ranks with ties and with methods that are missing, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from experiments.league_tables import (
    _near_the_best,
    _usually_near_the_best,
    behind,
    ranks,
    scores_markdown,
    standings,
    standings_markdown,
    thinned_rows,
)
from experiments.summaries import Stored

Make = Callable[..., dict[str, Any]]


def test_ties_share_their_mean_failures_are_last_together_and_who_was_not_run_takes_no_part() -> None:
    nan, inf = np.nan, np.inf
    table = np.array([[1.0, 5.0, inf, nan], [2.0, 5.0, 3.0, nan], [2.0, nan, inf, nan], [4.0, 1.0, 2.0, nan]])
    expected = [[1.0, 2.5, 3.5, nan], [2.5, 2.5, 2.0, nan], [2.5, nan, 3.5, nan], [4.0, 1.0, 1.0, nan]]
    np.testing.assert_array_equal(ranks([table[:, [column]] for column in range(4)]), expected)


def test_methods_are_compared_in_the_trials_they_have_in_common() -> None:
    nan = np.nan
    # the third method was run on the hard split alone: it beats the second there, and not the first
    easy_and_hard = np.array([[0.1, 0.8], [0.2, 1.0], [nan, 0.9]])
    np.testing.assert_array_equal(ranks([easy_and_hard])[:, 0], [1.0, 3.0, 2.0])
    np.testing.assert_array_equal(_near_the_best(easy_and_hard), [True, False, False])
    one_failed = np.array([[0.1, 0.8], [nan, 0.77], [np.inf, 0.9]])
    np.testing.assert_array_equal(_near_the_best(one_failed), [True, True, False])
    one_unlucky = np.array([[0.1, 0.2, 0.9], [0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(_near_the_best(one_unlucky), [False, True])
    np.testing.assert_array_equal(_usually_near_the_best(one_unlucky), [True, True])
    np.testing.assert_array_equal(_usually_near_the_best(one_failed), [True, True, False])


@pytest.fixture
def stored(stored_line: Make) -> Stored:
    """Two designs; LASSO ties with ours on one of them, has one trial more there, and fails on the other."""
    lines = [
        stored_line("league", "toy", "ssvgp", 0, nmse=0.2, nlpd=0.5, seconds=1.0),
        stored_line("league", "prostate", "ssvgp", 0, nmse=0.4, nlpd=0.6, seconds=100.0, selected=1.0),
        stored_line("league", "toy", "lasso", 0, nmse=0.2, nlpd=0.1, seconds=0.1),
        stored_line("league", "toy", "lasso", 1, nmse=0.2, nlpd=0.3, seconds=0.1),
        stored_line("league", "prostate", "lasso", 0),
        stored_line("league", "prostate", "mlii", 0, nmse=0.3, nlpd=0.7, seconds=1.0) | {"rows": 5},
    ]
    failed = lines[4]
    del failed["scores"], failed["d"]
    failed["error"] = "lost"
    return Stored({"league": lines})


def test_standings_by_hand(stored: Stored) -> None:
    found = {one.method: one for one in standings(stored)}
    # toy: ours and LASSO tie at 1.5, ML-II was not run; prostate: ML-II 1, ours 2, LASSO failed and is third
    assert {name: one.rank_nmse for name, one in found.items()} == {"ssvgp": 1.75, "lasso": 2.25, "mlii": 1.0}
    assert {name: one.rank_nlpd for name, one in found.items()} == {"ssvgp": 1.5, "lasso": 2.0, "mlii": 2.0}
    assert {name: one.near for name, one in found.items()} == {"ssvgp": 0, "lasso": 0, "mlii": 1}
    assert found["ssvgp"].seconds == pytest.approx(10.0) and found["lasso"].seconds == pytest.approx(0.1)
    assert found["ssvgp"].share == pytest.approx((2.0 / 4.0 + 1.0 / 4.0) / 2.0)
    assert (found["lasso"].designs, found["lasso"].failed) == (1, 1)
    assert [one.method for one in standings(stored)] == ["ssvgp", "mlii", "lasso"]
    assert found["ssvgp"].mean_rank == 1.75
    assert standings(Stored({})) == []


def test_the_sets_on_which_the_default_is_behind_are_told(stored: Stored) -> None:
    (one,) = behind(stored)
    assert (one.design, one.rival, one.ours, one.theirs, one.count) == ("prostate", "mlii", 0.4, 0.3, 1)
    assert behind(Stored({})) == []


def test_tables_show_what_is_missing_and_what_is_best(stored: Stored) -> None:
    rows = scores_markdown(stored, ("toy", "prostate", "ar1"), "nmse").splitlines()[2:]
    assert rows == [
        "| ours, default | **0.200** | 0.400 | – |",
        "| ML-II GP | – | **0.300** | – |",
        "| LASSO | **0.200** | – | – |",
    ]
    assert "| LASSO | 2.0 | 2.2 |" in standings_markdown(stored)
    assert thinned_rows(stored) == ["ML-II GP on prostate: 5 of 20 rows"]
