"""Searches against sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from ssvgp.gp import neighbours
from ssvgp.gp.neighbours import block, nearest


def distances(rows: np.ndarray, query: np.ndarray, index: np.ndarray) -> np.ndarray:
    return np.sqrt(((query[:, None, :] - rows[index]) ** 2).sum(axis=2))


@pytest.mark.parametrize("p", [1, 3, 10, 11, 40])
@pytest.mark.parametrize("m", [1, 7, 50, 80])
def test_nearest_rows_are_those_of_a_full_sort(p, m) -> None:
    generator = np.random.default_rng(p)
    rows, query = generator.standard_normal((50, p)), generator.standard_normal((13, p))
    index = nearest(rows, query, m)
    assert index.shape == (13, min(m, 50))
    np.testing.assert_array_equal(index, reference.nearest(rows, query, m))


@pytest.mark.parametrize("p", [2, 20])
def test_ties_give_distinct_rows_at_the_right_distances(p) -> None:
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 2, (60, p)).astype(float)
    query = generator.integers(0, 2, (9, p)).astype(float)
    index = nearest(rows, query, 12)
    assert all(np.unique(row).size == 12 for row in index)
    expected = distances(rows, query, reference.nearest(rows, query, 12))
    np.testing.assert_allclose(distances(rows, query, index), expected, atol=1e-12)


def test_no_inputs_make_all_rows_equally_near() -> None:
    index = nearest(np.zeros((20, 0)), np.zeros((4, 0)), 6)
    assert index.shape == (4, 6)
    assert all(np.unique(row).size == 6 for row in index)
    index[0, 0] = 3  # each caller has its own copy
    assert index[1, 0] != 3


def test_batches_do_not_change_the_answer(monkeypatch) -> None:
    generator = np.random.default_rng(1)
    rows, query = generator.standard_normal((40, 15)), generator.standard_normal((21, 15))
    expected = nearest(rows, query, 5)
    monkeypatch.setattr(neighbours, "BATCH_BYTES", 8 * 40 * 4)
    np.testing.assert_array_equal(nearest(rows, query, 5), expected)


@pytest.mark.parametrize("p", [0, 1, 4, 25])
@pytest.mark.parametrize("m", [1, 6, 30, 99])
def test_a_block_is_its_centre_and_the_rows_nearest_to_it(p, m) -> None:
    rows = np.random.default_rng(p).standard_normal((30, p))
    index = block(rows, 17, m)
    assert index.shape == (min(m, 30),) and index[0] == 17
    assert np.unique(index).size == index.size
    if p:
        np.testing.assert_array_equal(index, reference.nearest(rows, rows[[17]], m)[0])


def test_a_block_has_its_centre_first_even_among_equal_rows() -> None:
    assert block(np.zeros((8, 2)), 5, 3)[0] == 5
