"""A large table is standardised when it is looked at, and answers as a standardised copy would."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp import SSVGPRegressor
from ssvgp import estimator as module
from ssvgp.data.inputs import inputs_of


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
    monkeypatch.setattr("ssvgp.data.inputs.PIECE", 13)
    pieces = inputs_of(table)
    np.testing.assert_allclose(pieces.centre, whole.centre, rtol=1e-12)
    np.testing.assert_allclose(pieces.spread, whole.spread, rtol=1e-12)


def test_a_read_only_float32_map_from_disk_fits_as_it_is(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(2500, 5)).astype(np.float32)
    y = np.sin(4.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=2500)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr(module, "LARGE", 1000)
    monkeypatch.setattr("ssvgp.data.table.LARGE", 1000)
    model = SSVGPRegressor(kernel="se", random_state=0).fit(mapped, y)
    assert list(model.get_support(indices=True)) == [0, 1]
    assert np.shares_memory(model.train_.X.raw, mapped)
    assert model.score(X[:200], y[:200]) > 0.9
