"""A large table is standardised when it is looked at, and answers as a standardised copy would."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp import SSVGPRegressor
from ssvgp.data.inputs import inputs_of
from ssvgp.data.view import Columns, kept_rows
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.terms import Linear
from ssvgp.records import Member, Parameters, Train


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 6)) * [1.0, 1e6, 1e-6, 3.0, 1.0, 2.0] + [0.0, 5.0, 1.0, -2.0, 0.0, 9.0]


@pytest.mark.parametrize("rows", [slice(None), np.array([3, 1, 4]), slice(5, 20), 7])
@pytest.mark.parametrize("columns", [None, [2, 0], slice(1, 4)])
def test_a_view_equals_the_standardised_copy(table, rows, columns) -> None:
    inputs = inputs_of(table)
    key = rows if columns is None else (rows, columns)
    expected = inputs.standardise(table)[rows] if columns is None else inputs.standardise(table)[rows][..., columns]
    np.testing.assert_allclose(inputs.view(table)[key], expected, rtol=1e-12)


def test_left_out_columns_are_left_out_of_the_view(table) -> None:
    table[:, 2] = 4.0
    table[:, 5] = table[:, 0]
    inputs = inputs_of(table)
    assert inputs.view(table).shape == (50, 4)
    np.testing.assert_allclose(inputs.view(table)[:, [2]], inputs.standardise(table)[:, [2]])


def test_scales_do_not_depend_on_how_the_table_is_cut(table, monkeypatch) -> None:
    whole = inputs_of(table)
    monkeypatch.setattr("ssvgp.data.inputs.CACHED", 13)
    pieces = inputs_of(table)
    np.testing.assert_allclose(pieces.centre, whole.centre, rtol=1e-12)
    np.testing.assert_allclose(pieces.spread, whole.spread, rtol=1e-12)


def test_a_read_only_float32_map_from_disk_fits_as_it_is(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(2500, 5)).astype(np.float32)
    y = np.sin(4.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=2500)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr("ssvgp.method.line.LARGE", 1000)
    monkeypatch.setattr("ssvgp.data.table.LARGE", 1000)
    model = SSVGPRegressor(kernel="se", random_state=0).fit(mapped, y)
    assert list(model.get_support(indices=True)) == [0, 1]
    assert np.shares_memory(model.train_.X.raw, mapped)
    assert model.score(X[:200], y[:200]) > 0.9


@pytest.mark.parametrize("rows", [slice(None), np.array([3, 1, 4]), slice(5, 20)])
@pytest.mark.parametrize("columns", [np.array([4, 1]), np.array([2]), np.array([], dtype=int)])
def test_kept_columns_answer_as_the_whole_table(table, rows, columns) -> None:
    stored = np.array([1, 2, 4])
    kept = Columns(table[:, stored], stored, 6)
    assert kept.shape == table.shape and len(kept) == 50
    assert np.array_equal(kept[rows, columns], table[rows][:, columns])
    assert np.array_equal(kept[rows][:, columns], table[rows][:, columns])


def test_columns_that_were_not_kept_cannot_be_asked_for(table) -> None:
    kept = Columns(table[:, [1, 4]], np.array([1, 4]), 6)
    for missing in (0, 2, 5):
        with pytest.raises(KeyError, match="asked for"):
            kept[:, np.array([1, missing])]


@pytest.mark.parametrize("background", [0.0, 0.3])
def test_only_a_table_that_a_background_needs_is_rounded(table, background) -> None:
    parameters = Parameters(np.ones(1), 1.0, 0.1, background)
    term = Linear("linear") if background else None
    member = Member(np.array([1]), parameters, squared_exponential(), np.ones(1), term)
    inputs = inputs_of(table)
    for X in (inputs.standardise(table), inputs.view(table)):
        train = Train(X, np.zeros(50))
        kept = kept_rows(train, [member])
        assert (kept.X is X) == (background == 0.0)
        if background:
            assert np.array_equal(kept.X, X[:, np.arange(6)].astype(np.float32).astype(float))
