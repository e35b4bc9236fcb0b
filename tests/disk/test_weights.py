"""Weights and known noise of rows on disk: as those of the same rows in memory, whatever the rows come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightweight import light

from ssvgp import SSVGPRegressor
from ssvgp.tables.columns import TableError

pytest.importorskip("pyarrow")
N, PARTS, INPUTS = 120, 3, list("abcd")


def frame() -> pd.DataFrame:
    """Rows of which each fifth weighs nothing, and half are noisier than the rest by what is known of them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(N, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 3.0, 0.0, 0.0], columns=INPUTS)
    table["w"] = rng.uniform(0.5, 3.0, N) * (np.arange(N) % 5 > 0)
    table["s"] = np.where(rng.random(N) < 0.5, 0.0, 0.5)
    loud = np.sqrt(0.01 + table["s"]) * rng.normal(size=N)
    return table.assign(y=np.sin(2.0 * table["a"]) + 0.1 * table["b"] + loud)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.mkdir()
    for k, part in enumerate(np.array_split(np.arange(N), PARTS)):
        frame().iloc[part].to_parquet(path / f"part-{k}.parquet", index=False)
    return path


GIVEN = [{"sample_weight": "w"}, {"noise_variance": "s"}, {"sample_weight": "w", "noise_variance": "s"}]


def alike(model: SSVGPRegressor, plain: SSVGPRegressor, X: Any) -> None:
    np.testing.assert_allclose(model.pip_, plain.pip_, atol=1e-6)  # means are added up in another order
    for found, expected in zip(model.predict(X, return_std=True), plain.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("given", GIVEN)
def test_a_folder_is_fitted_like_its_rows_in_memory(folder: Path, given: dict[str, str]) -> None:
    table, other = frame(), [name for name in "ws" if name not in given.values()]
    X = table[[*INPUTS, *other]]
    model = light().fit(folder, "y", **given)
    plain = light().fit(X, table["y"], **{what: table[name].to_numpy() for what, name in given.items()})
    assert list(model.feature_names_in_) == [*INPUTS, *other]
    assert model.sampling_ == ("all 96 rows" if "sample_weight" in given else "all 120 rows")  # those that count
    alike(model, plain, X)
    ignorant = light().fit(X, table["y"])
    assert np.abs(model.predict(X) - ignorant.predict(X)).max() > 0.01  # it is no fit without them


def test_many_targets_of_a_folder_are_weighed_too(folder: Path) -> None:
    table = frame()
    model = light().fit(folder, ["y", "d"], sample_weight="w", noise_variance="s")
    beside = {"sample_weight": table["w"].to_numpy(), "noise_variance": table["s"].to_numpy()}
    alike(model, light().fit(table[list("abc")], table[["y", "d"]], **beside), table[list("abc")])


def test_a_sample_is_standardised_by_all_rows_as_they_count(folder: Path) -> None:
    table = frame()
    for targets in ("y", ["y", "d"]):
        model = light(sample_rows=40).fit(folder, targets, sample_weight="w", noise_variance="s")
        names, inputs = list(model.feature_names_in_), (model if targets == "y" else model.target("y")).fitted_.inputs
        mean = np.average(table[names], axis=0, weights=table["w"])
        square = np.average((table[names] - mean) ** 2, axis=0, weights=table["w"])
        np.testing.assert_allclose(inputs.centre, mean, rtol=1e-12)
        np.testing.assert_allclose(inputs.spread, np.sqrt(square), rtol=1e-12)
        assert model.sampling_.startswith("40 of 96 rows, drawn at random")


def test_rows_of_no_weight_are_as_good_as_not_there(folder: Path) -> None:
    table = frame()
    table.loc[table["w"] == 0.0, ["a", "y"]] = 1e6, np.nan
    for k, part in enumerate(np.array_split(np.arange(N), PARTS)):
        table.iloc[part].to_parquet(folder.parent / "rows" / f"part-{k}.parquet", index=False)
    model, kept = light(sample_rows=60).fit(folder, "y", sample_weight="w"), frame()["w"] > 0
    assert model.train_.n == 60
    np.testing.assert_allclose(model.fitted_.inputs.centre[0], np.average(frame()["a"][kept], weights=table["w"][kept]))


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, with pandas 3.1
def test_all_sources_give_one_answer(folder: Path) -> None:
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    expected = light(sample_rows=50).fit(folder, "y", sample_weight="w", noise_variance="s")
    table, values = dd.read_parquet(folder), frame()[[*INPUTS, "y", "w", "s"]].to_numpy()
    chunks = [da.from_array(values[:, j], 40) for j in (4, 5, 6)]
    for X, y, weights, noise in (
        (table, "y", "w", "s"),
        (table[INPUTS], table["y"], table["w"], table["s"]),
        (table[[*INPUTS, "s"]], table["y"], table["w"], "s"),
        (da.from_array(values[:, :4], (40, 2)), *chunks),
    ):
        model = light(sample_rows=50).fit(X, y, sample_weight=weights, noise_variance=noise)
        np.testing.assert_array_equal(model.pip_, expected.pip_)
        rows = frame()[INPUTS] if hasattr(model, "feature_names_in_") else values[:, :4]
        np.testing.assert_array_equal(model.predict(rows), expected.predict(frame()[INPUTS]))


def test_a_mapped_array_is_sampled_with_its_weights_and_noise(tmp_path: Path) -> None:
    table = frame()
    mapped = {}
    for name in ("X", "y", "w", "s"):
        np.save(tmp_path / f"{name}.npy", table[INPUTS if name == "X" else name].to_numpy())
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    beside = {"sample_weight": mapped["w"], "noise_variance": mapped["s"]}
    plain = light().fit(table[INPUTS].to_numpy(), table["y"].to_numpy(), table["w"].to_numpy(), table["s"].to_numpy())
    # more rows than are asked for, but not more that count
    alike(light(sample_rows=100).fit(mapped["X"], mapped["y"], **beside), plain, mapped["X"])
    some = light(sample_rows=50).fit(mapped["X"], mapped["y"], **beside)
    assert some.train_.n == 50 and set(some.train_.noise.known * some.fitted_.target.spread**2) <= {0.0, 0.5}
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\), but there are 120 rows"):
        light(sample_rows=50).fit(mapped["X"], mapped["y"], sample_weight=np.ones(3))


def test_one_number_counts_for_all_rows(folder: Path) -> None:
    table = frame()[[*INPUTS, "w", "s"]]
    model = light().fit(folder, "y", sample_weight=2.0, noise_variance=0.2)
    alike(model, light().fit(table, frame()["y"], sample_weight=2.0, noise_variance=0.2), table)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("w", np.nan, "part-1.parquet: a weight is missing"),
        ("w", -1.0, "part-1.parquet: a weight is -1"),
        ("w", np.inf, "part-1.parquet: a weight is inf"),
        ("s", -1.0, "s holds a negative number, -1"),
        ("s", np.nan, r"missing values, and how many of 96 rows: s \(1\)"),
    ],
)
def test_a_wrong_weight_or_variance_is_found_in_any_row(folder: Path, column: str, value: float, words: str) -> None:
    part = folder / "part-1.parquet"
    rows = pd.read_parquet(part)
    rows.loc[rows["w"] > 0, column] = rows.loc[rows["w"] > 0, column].where(np.arange((rows["w"] > 0).sum()) > 0, value)
    rows.to_parquet(part, index=False)
    with pytest.raises(ValueError, match=words):
        light(sample_rows=5).fit(folder, "y", sample_weight="w", noise_variance="s")


def test_wrong_names_are_told(folder: Path) -> None:
    with pytest.raises(TableError, match="no column 'weight'"):
        light().fit(folder, "y", sample_weight="weight")
    with pytest.raises(ValueError, match="are different columns, not y, w, w"):
        light().fit(folder, "y", sample_weight="w", noise_variance="w")
    with pytest.raises(ValueError, match="the name of a column for noise_variance, or one number"):
        light().fit(folder, "y", noise_variance=np.ones(N))
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(TableError, match="no column 'weight'"):
        light().fit(dd.read_parquet(folder), "y", sample_weight="weight")
