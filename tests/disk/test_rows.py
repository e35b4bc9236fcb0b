"""Tables that are not in memory: Parquet folders, Dask collections and mapped arrays give one and the same answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightweight import light

from ssvgp import SSVGPRegressor
from ssvgp.tables.columns import TableError

pa = pytest.importorskip("pyarrow")
N, D, PARTS = 120, 4, 3


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * [1.0, 10.0, 0.1, 1.0]
    table = pd.DataFrame(X, columns=list("abcd"))
    return table.assign(y=np.sin(2.0 * X[:, 0]) + 0.1 * X[:, 1] + 0.1 * rng.normal(size=N))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.mkdir()
    for k, part in enumerate(np.array_split(np.arange(N), PARTS)):
        frame().iloc[part].to_parquet(path / f"part-{k}.parquet", index=False)
    return path


def test_a_folder_is_fitted_like_its_rows_in_memory(folder: Path) -> None:
    table = frame()
    model = light().fit(folder, "y")
    plain = light().fit(table[list("abcd")], table["y"])
    assert list(model.feature_names_in_) == list("abcd") and model.sampling_ == "all 120 rows"
    np.testing.assert_allclose(model.pip_, plain.pip_, atol=1e-6)  # means are added up in another order
    np.testing.assert_allclose(model.predict(table[list("abcd")]), plain.predict(table[list("abcd")]), rtol=1e-5)


def test_a_sample_is_standardised_by_all_rows_and_says_what_is_left_out(folder: Path) -> None:
    table = frame()
    model = light(sample_rows=40).fit(str(folder), "y")
    assert model.train_.n == 40 and model.sampling_.startswith("40 of 120 rows, drawn at random")
    np.testing.assert_allclose(model.fitted_.inputs.centre, table[list("abcd")].mean(), rtol=1e-12)
    np.testing.assert_allclose(model.fitted_.inputs.spread, table[list("abcd")].std(ddof=0), rtol=1e-12)
    mapped = light(sample_rows=40).fit(table[list("abcd")].to_numpy(), table["y"].to_numpy())
    assert mapped.train_.n == 40


def test_many_targets_come_from_a_folder_too(folder: Path) -> None:
    model = light(sample_rows=60).fit(folder, ["y", "d"])
    assert model.pip_.shape == (2, 3) and list(model.targets_) == ["y", "d"]
    assert model.pip_[0, 0] > 0.9


def test_a_mapped_array_is_sampled_where_asked(tmp_path: Path) -> None:
    table = frame()
    np.save(tmp_path / "x.npy", table[list("abcd")].to_numpy())
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    y = table["y"].to_numpy()
    whole, some = light().fit(X, y), light(sample_rows=50).fit(X, y)
    assert (whole.train_.n, some.train_.n) == (N, 50) and not hasattr(whole, "sampling_")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), "part-1.parquet' cannot be read as Parquet"),
        (lambda path: frame().astype({"b": str}).to_parquet(path, index=False), "part-1.parquet', column 'b'"),
        (lambda path: frame().drop(columns="c").to_parquet(path, index=False), "part-1.parquet' lacks the column 'c'"),
        (lambda path: path.write_text("no parquet at all"), "part-1.parquet' cannot be read as Parquet"),
    ],
)
def test_a_part_that_is_not_like_the_others_is_named(folder: Path, spoil: object, said: str) -> None:
    spoil(folder / "part-1.parquet")  # type: ignore[operator]
    with pytest.raises(TableError, match=said):
        light().fit(folder, "y")


def test_gaps_and_wrong_names_are_errors(folder: Path) -> None:
    table = frame()
    table.loc[3, "b"] = np.nan
    table.to_parquet(folder / "part-0.parquet", index=False)
    with pytest.raises(ValueError, match=r"missing values, and how many of 200 rows: b \(1\)"):
        light().fit(folder, "y")
    with pytest.raises(TableError, match="no column 'z'"):
        light().fit(folder, "z")
    with pytest.raises(ValueError, match="need the name of the target"):
        light().fit(folder)
    with pytest.raises(TableError, match="no folder"):
        light().fit(folder / "elsewhere", "y")


# --- Dask ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> SSVGPRegressor:
    table = frame()
    return light().fit(table[list("abcd")], table["y"])


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, with pandas 3.1
def test_dask_collections_are_fitted_like_a_folder(folder: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    expected = light(sample_rows=50).fit(folder, "y")
    table = dd.read_parquet(folder)
    for X, y in ((table[list("abcd")], table["y"]), (table, "y")):
        model = light(sample_rows=50).fit(X, y)
        np.testing.assert_array_equal(model.pip_, expected.pip_)
    da = pytest.importorskip("dask.array")
    values = frame().to_numpy()
    arrays = light(sample_rows=50).fit(da.from_array(values[:, :4], (40, 2)), da.from_array(values[:, 4], 40))
    np.testing.assert_array_equal(arrays.pip_, expected.pip_)
    with pytest.raises(ValueError, match="3 chunks of rows but y has 4"):
        light().fit(da.from_array(values[:, :4], (40, 4)), da.from_array(values[:, 4], 30))


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_predictions_of_a_dask_frame_are_lazy(fitted: SSVGPRegressor, folder: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    X = dd.read_parquet(folder)[list("abcd")]
    lazy = fitted.predict(X)
    assert isinstance(lazy, dd.Series) and lazy.npartitions == PARTS
    np.testing.assert_allclose(lazy.compute().to_numpy(), fitted.predict(frame()[list("abcd")]), rtol=1e-9)
    mean, sd = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(sd.compute(), fitted.predict(frame()[list("abcd")], return_std=True)[1], rtol=1e-9)
    np.testing.assert_array_equal(mean.compute(), lazy.compute())
    many = light().fit(frame()[list("abc")], frame()[["y", "d"]])
    answer = many.predict(dd.read_parquet(folder)[list("abc")])
    assert list(answer.columns) == ["y", "d"]
    np.testing.assert_allclose(answer.compute(), many.predict(frame()[list("abc")]), rtol=1e-9)


def test_predictions_of_a_dask_array_are_lazy() -> None:
    da = pytest.importorskip("dask.array")
    X, y = frame()[list("abcd")].to_numpy(), frame()["y"].to_numpy()
    model, many = light().fit(X, y), light().fit(X[:, :3], np.column_stack([y, X[:, 3]]))
    rows = da.from_array(X, chunks=(50, 2))
    lazy = model.predict(rows)
    assert isinstance(lazy, da.Array) and lazy.shape == (N,)
    np.testing.assert_allclose(lazy.compute(), model.predict(X), rtol=1e-9)
    mean, sd = many.predict(rows[:, :3], return_std=True)
    assert mean.shape == sd.shape == (N, 2)
    np.testing.assert_allclose(sd.compute(), many.predict(X[:, :3], return_std=True)[1], rtol=1e-9)
