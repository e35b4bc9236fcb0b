"""Sums of exponentials against scipy, and where nothing is left of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from ssvgp.evidence.logs import log_mean, log_sum


@pytest.mark.parametrize("values", [[0.0], [1.0, -2.0, 700.0], [-1e4, -1e4 - 3.0], [-np.inf, 2.0]])
def test_a_sum_is_that_of_scipy(values: list[float]) -> None:
    assert log_sum(values) == pytest.approx(float(logsumexp(values)), rel=1e-14)


def test_a_mean_over_rows_is_that_of_scipy_column_by_column() -> None:
    table = 300.0 * np.random.default_rng(0).standard_normal((3, 5))
    table[:, 2] = -np.inf
    table[0, 3] = -np.inf
    assert log_mean(table) == pytest.approx(logsumexp(table, axis=0) - np.log(3.0), rel=1e-14)


def test_nothing_stays_nothing() -> None:
    assert log_sum([-np.inf, -np.inf]) == -np.inf
    assert log_mean(np.full((2, 1), -np.inf))[0] == -np.inf
