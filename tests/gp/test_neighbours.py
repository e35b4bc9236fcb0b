"""Searches against sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from ssvgp.gp import neighbours
from ssvgp.gp.neighbours import (
    Products,
    Tree,
    block,
    effective_dimension,
    nearest,
    products_over,
    search_over,
    tree_wins,
)


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


# --- products in single precision ------------------------------------------------------------------------


def by_sorting(rows: np.ndarray, query: np.ndarray, m: int) -> np.ndarray:
    """All distances in double precision, sorted; ties by row number."""
    square = np.stack([np.einsum("ij,ij->i", rows - one, rows - one) for one in query])
    return np.argsort(square, axis=1, kind="stable")[:, :m]


def two_clusters(rng: np.random.Generator, p: int) -> np.ndarray:
    rows = rng.standard_normal((900, p))
    rows[::2] += 1e6
    return rows


def one_far_away(rng: np.random.Generator, p: int) -> np.ndarray:
    rows = rng.standard_normal((900, p))
    rows[7] = 1e30
    return rows


TABLES = {
    "normal": lambda rng, p: rng.standard_normal((900, p)),
    "large offset": lambda rng, p: rng.standard_normal((900, p)) + 1e7,
    "tiny": lambda rng, p: 1e-100 * rng.standard_normal((900, p)),
    "huge": lambda rng, p: 1e100 * rng.standard_normal((900, p)),
    "ties": lambda rng, p: rng.integers(0, 2, (900, p)).astype(float),
    "copies": lambda rng, p: np.repeat(rng.standard_normal((30, p)), 30, axis=0),
    "all alike": lambda rng, p: np.full((900, p), 3.0),
    "two clusters": two_clusters,
    "one far away": one_far_away,
    "heavy tails": lambda rng, p: rng.standard_cauchy((900, p)),
    "unequal ranges": lambda rng, p: rng.standard_normal((900, p)) * 10.0 ** -np.arange(p),
    "sorted": lambda rng, p: np.sort(rng.standard_normal((900, p)), axis=0),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("p", [1, 4, 60])
@pytest.mark.parametrize("candidates", [1, 16])
def test_products_find_what_sorting_all_distances_finds(table, p, candidates, monkeypatch) -> None:
    monkeypatch.setattr(
        neighbours, "MOST_CANDIDATES", candidates
    )  # the small one sends many queries to the search by differences
    monkeypatch.setattr(neighbours, "COLUMNS", 32)
    monkeypatch.setattr(neighbours, "QUERIES", 16)
    rng = np.random.default_rng(p)
    rows = table(rng, p)
    spread = np.ptp(rows[1:], axis=0).max() or 1.0
    query = np.concatenate([rows[:20], rows[20:40] + 0.01 * spread * rng.standard_normal((20, p))])
    query[-2:] += np.array([[1e6], [1e20]]) * spread  # far outside
    for m in (1, 17, 899, 900):
        np.testing.assert_array_equal(products_over(rows).nearest(query, m), by_sorting(rows, query, m))


def test_the_error_bound_holds_for_every_product() -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((400, 30)) * 10.0 ** rng.uniform(-3, 3, (400, 1))
    query = rng.standard_normal((50, 30)) * 10.0 ** rng.uniform(-3, 3, (50, 1))
    made = products_over(rows)
    shifted = (query - made.centre) * made.unit
    size = np.sqrt((shifted**2).sum(axis=1))
    left = np.concatenate([-2.0 * shifted, np.ones((50, 1))], axis=1).astype(np.float32)
    true = (((rows[made.order] - made.centre) * made.unit)[None] - shifted[:, None]) ** 2
    wrong = np.abs((left @ made.rows.T).astype(float) - (true.sum(axis=2) - size[:, None] ** 2))
    bound = neighbours._error(30, made.norms[None, :], size[:, None])
    assert (wrong <= bound).all()
    assert np.median(wrong / bound) > 1e-4  # a bound of any use is not far above the errors


def test_both_ways_agree_on_many_rows() -> None:
    rng = np.random.default_rng(5)
    rows, query = rng.standard_normal((30_000, 6)), rng.standard_normal((300, 6))
    tree = search_over(rows, 300)
    assert isinstance(tree, Tree)
    np.testing.assert_array_equal(products_over(rows).nearest(query, 100), tree.nearest(query, 100))


def test_the_way_follows_the_directions_in_which_rows_vary() -> None:
    rng = np.random.default_rng(2)
    wide = rng.standard_normal((5000, 15))
    assert isinstance(search_over(wide), Products)
    assert isinstance(search_over(wide * 0.5 ** np.arange(15)), Tree)
    assert effective_dimension(wide) == pytest.approx(15.0, rel=0.02)
    assert effective_dimension(np.outer(wide[:, 0], wide[0])) == pytest.approx(1.0)
    assert effective_dimension(np.ones((10, 3))) == 1.0
    assert not tree_wins(3.0, 3, queries=1)  # not worth building


def test_blocks_of_products_do_not_change_the_answer(monkeypatch) -> None:
    generator = np.random.default_rng(1)
    rows, query = generator.standard_normal((400, 15)), generator.standard_normal((21, 15))
    expected = nearest(rows, query, 5)
    monkeypatch.setattr(neighbours, "QUERIES", 4)
    monkeypatch.setattr(neighbours, "COLUMNS", 32)
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
