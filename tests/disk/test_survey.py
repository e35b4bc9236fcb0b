"""One pass over parts: moments of all rows, and a uniform sample that depends on nothing but the seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import joblib
import numpy as np
import pytest

from ssvgp.data.inputs import scale_of
from ssvgp.disk.moments import Moments
from ssvgp.disk.survey import survey


@dataclass(frozen=True, eq=False)
class Slices:
    """An array in blocks of so many rows."""

    values: np.ndarray
    step: int
    name: str = "slices"

    def blocks(self) -> Iterator[np.ndarray]:
        for start in range(0, len(self.values), self.step):
            yield self.values[start : start + self.step]


def parts_of(values: np.ndarray, count: int, step: int) -> list[Slices]:
    return [Slices(part, step) for part in np.array_split(values, count)]


def test_moments_of_parts_are_those_of_the_table() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 4)) * [1.0, 1e-6, 1e8, 1.0] + [0.0, 1e3, -1e9, 7.0]
    values[:, 3] = 7.0
    found = survey(parts_of(values, 7, 33), 4, 10, seed=0).moments
    exact, scale = scale_of(values), found.scale()
    np.testing.assert_allclose(scale.centre / exact.spread, exact.centre / exact.spread, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(scale.spread, exact.spread, rtol=1e-7)  # a mean of 1e9 sds leaves 7 digits of these
    np.testing.assert_array_equal(scale.constant, exact.constant)
    np.testing.assert_array_equal(found.low, values.min(axis=0))
    assert found.rows == 1000 and not found.gaps.any()


def test_moments_count_rows_by_their_weights() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(300, 3)) * [1.0, 1e-6, 1e4] + [0.0, 1e3, -1e5]
    values[:, 2] = rng.integers(0, 4, 300)  # rows of weight zero among them
    found = survey(parts_of(values, 4, 33), 3, 50, seed=0, weigh=2)
    repeated = np.repeat(values, values[:, 2].astype(int), axis=0)
    exact, scale = scale_of(repeated), found.moments.scale()
    np.testing.assert_allclose(scale.centre, exact.centre, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(scale.spread, exact.spread, rtol=1e-7)
    assert found.rows == np.count_nonzero(values[:, 2]) and len(found.sample.values) == 50
    assert (found.sample.values[:, 2] > 0).all()


def test_gaps_are_counted_and_left_out_of_moments() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, 2] = np.nan
    found = Moments.of(values[:90]) + Moments.of(values[90:])
    np.testing.assert_array_equal(found.gaps, np.isnan(values).sum(axis=0))
    np.testing.assert_allclose(found.mean[:2], np.nanmean(values[:, :2], axis=0))
    np.testing.assert_allclose(found.scale().spread[:2], np.nanstd(values[:, :2], axis=0))


@pytest.mark.parametrize("step", [7, 50, 1000])
def test_the_sample_does_not_depend_on_blocks_or_workers(step: int) -> None:
    values = np.arange(3000.0).reshape(1000, 3)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        expected = survey(parts_of(values, 4, 100), 3, 60, seed=5).sample
    found = survey(parts_of(values, 4, step), 3, 60, seed=5, n_jobs=1).sample
    np.testing.assert_array_equal(found.values, expected.values)
    assert len(found.values) == 60 and len(np.unique(found.values[:, 0])) == 60
    assert (np.diff(found.values[:, 0]) > 0).all()  # in the order of the table
    other = survey(parts_of(values, 4, 100), 3, 60, seed=6).sample
    assert not np.array_equal(other.values, expected.values)


def test_every_row_is_drawn_equally_often() -> None:
    values = np.arange(40.0)[:, None]
    counts = np.zeros(40)
    for seed in range(400):
        counts[survey(parts_of(values, 3, 7), 1, 10, seed).sample.values[:, 0].astype(int)] += 1
    # 400 draws of 10 in 40: 100 each, variance 75; the sum of squares is about chi-square(39), above 72.1 by 1 in 1000
    assert ((counts - 100.0) ** 2 / 75.0).sum() * 39 / 40 < 72.1


def test_fewer_rows_than_asked_for_are_all_taken() -> None:
    values = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(survey(parts_of(values, 2, 2), 2, 100, 0).sample.values, values)
