"""Splits, transforms and loaders of the experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import boxcox

from experiments import datasets
from experiments.problems import Problem, box_cox, from_table, thinned


def table(n: int = 53) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return np.arange(2.0 * n).reshape(n, 2), np.exp(rng.normal(size=n)) - 4.0


def test_a_split_is_four_to_one_and_no_row_is_in_both_parts() -> None:
    X, y = table()
    problem = from_table("t", X, y, seed=1, most_test=1000)
    assert (problem.y.size, problem.y_test.size) == (43, 10)
    assert sorted([*problem.X[:, 0], *problem.X_test[:, 0]]) == list(X[:, 0])
    assert not np.array_equal(problem.X, from_table("t", X, y, seed=2, most_test=1000).X)
    small = from_table("t", X, y, seed=1, most_test=3, rows=20)
    assert (small.y.size, small.y_test.size) == (16, 3)


def test_box_cox_takes_its_power_from_the_training_rows_alone() -> None:
    X, y = table()
    problem = from_table("t", X, y, seed=1, most_test=1000)
    done = box_cox(problem, float(y.min()))
    expected, power = boxcox(problem.y - y.min() + 1.0)
    np.testing.assert_allclose(done.y, expected)
    np.testing.assert_allclose(done.y_test, ((problem.y_test - y.min() + 1.0) ** power - 1.0) / power)


def test_a_method_that_cannot_take_all_rows_gets_a_random_part_of_them() -> None:
    X, y = table()
    problem = Problem("t", X, y, X[:2], y[:2])
    assert thinned(problem, None, 0) is problem and thinned(problem, 53, 0) is problem
    part = thinned(problem, 11, 0)
    assert part.y.size == 11 and set(part.y) <= set(y) and part.X_test is problem.X_test


def test_ct_slices_from_the_published_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "slices.csv"
    rows = np.arange(3 * 386.0).reshape(3, 386)
    np.savetxt(path, rows, delimiter=",", header="patientId,...,reference", comments="")
    monkeypatch.setenv(datasets.CT_VARIABLE, str(path))
    X, y = datasets.load(datasets.CT_SLICES)
    np.testing.assert_array_equal(X, rows[:, 1:-1])
    np.testing.assert_array_equal(y, rows[:, -1])


def test_ct_slices_that_are_missing_or_wrong_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.CT_VARIABLE, raising=False)
    with pytest.raises(datasets.MissingData, match=datasets.CT_VARIABLE):
        datasets.load(datasets.CT_SLICES)
    path = tmp_path / "slices.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setenv(datasets.CT_VARIABLE, str(path))
    with pytest.raises(ValueError, match="2 columns; UCI 206 has 386"):
        datasets.load(datasets.CT_SLICES)


def test_a_missing_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSVGP_DATA", str(tmp_path))
    assert "SSVGP_DATA" in (datasets.missing("tecator") or "")
    np.savez(tmp_path / "tecator.npz", X=np.array([[1.0, np.nan], [2.0, 3.0]]), y=np.array([1, 2]))
    X, y = datasets.load("tecator")
    assert X.shape == (2, 1) and y.dtype == float
