"""Columns that go together with an input: found at the fit, kept in files, at a bounded cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp import DataWarning, SSVGPRegressor, load
from ssvgp.data.inputs import inputs_of
from ssvgp.explain import correlated as relatives
from ssvgp.explain.correlated import relatives_of
from ssvgp.records import Train


def table(n: int = 200) -> np.ndarray:
    """Column 0 constant; 4 goes with 1, 5 against it; 6 copies 1; 2 and 3 are on their own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 7))
    X[:, 0] = 2.0
    X[:, 4], X[:, 5], X[:, 6] = X[:, 1] + 0.5 * X[:, 4], -X[:, 1] + 0.8 * X[:, 5], X[:, 1]
    return X


def found_in(X: np.ndarray, pip: np.ndarray) -> dict[int, tuple[relatives.Relative, ...]]:
    inputs = inputs_of(X)
    return relatives_of(Train(inputs.standardise(X), X[:, 1]), inputs, pip[inputs.kept], np.random.default_rng(0))


def test_correlations_are_those_of_numpy_in_numbers_of_the_table() -> None:
    X = table()
    found = found_in(X, np.array([0.0, 1.0, 0.9, 0.0, 0.01, 0.0, 0.0]))
    whole = np.corrcoef(X[:, 1:], rowvar=False)
    assert set(found) == {1}  # 2 has no relative, 4 is not worth a word, 0 and 6 were left out
    assert [one.column for one in found[1]] == [4, 5]
    assert np.allclose([one.correlation for one in found[1]], [whole[0, 3], whole[0, 4]])


def test_a_large_table_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    X, pip = table(5000), np.array([0.0, 1.0, 0.9, 0.0, 0.0, 0.0, 0.0])
    whole = np.corrcoef(X[:, [1, 4]], rowvar=False)[0, 1]
    monkeypatch.setattr(relatives, "HELD", 6 * 400)
    monkeypatch.setattr(relatives, "LARGE", 6 * 37)  # pieces that do not divide the rows
    near = found_in(X, pip)[1][0]
    assert near.column == 4 and 0 < abs(near.correlation - whole) < 0.1
    assert near == found_in(X, pip)[1][0]


def test_they_survive_a_file(tmp_path: Path) -> None:
    X = table(60)
    with pytest.warns(DataWarning):
        model = SSVGPRegressor(kernel="se", random_state=0).fit(X, X[:, 1] + X[:, 2])
    assert {one.column for others in model.relatives_.values() for one in others} & {4, 5}
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").relatives_ == model.relatives_


def test_a_table_without_relatives_has_none() -> None:
    X = np.random.default_rng(1).normal(size=(50, 3))
    assert found_in(X, np.ones(3)) == {} and found_in(X[:, :1].repeat(2, 1), np.ones(2)) == {}
