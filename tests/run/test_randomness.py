"""Rows that stand for all need no seed: they are spread over the whole table, and every count has its own."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.run.randomness import evenly, spread_rows


@pytest.mark.parametrize(("n", "count"), [(10, 3), (300, 150), (1000, 250), (7, 9)])
def test_rows_are_distinct_in_order_and_from_all_over_the_table(n: int, count: int) -> None:
    rows = spread_rows(n, count)
    assert len(rows) == min(n, count) and np.array_equal(rows, np.unique(rows))
    gaps = np.diff([-1, *rows, n])
    assert gaps.max() <= 3.0 * n / min(n, count) + 1.0  # no stretch of the table is left out
    assert np.array_equal(rows, spread_rows(n, count))


def test_numbers_are_as_even_as_their_first_part() -> None:
    for n in (50, 1000):
        assert np.abs(np.sort(evenly(n)) - (np.arange(n) + 0.5) / n).max() < 3.0 * np.log(n) / n
