"""Parquet and Feather give what the same table in CSV gives."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssvgp.tables.columns import MissingLibrary, TableError
from ssvgp.tables.prepare import Choice, prepare
from ssvgp.tables.source import open_table

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[arrow]'")


@pytest.fixture
def content() -> Any:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": pa.array([*rng.normal(size=9), None]),
            "count": pa.array(range(10), pa.int32()),
            "yes": pa.array([True, False] * 5),
            "group": pa.array(["x", "y", "z", "x", "y"] * 2).dictionary_encode(),
            "y": pa.array(rng.normal(size=10).astype(np.float32)),
        }
    )


def written(content: Any, folder: Path, kind: str) -> Path:
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    path = folder / f"table.{kind}"
    if kind == "csv":
        plain = content.set_column(3, "group", content["group"].cast(pa.string()))
        pyarrow.csv.write_csv(plain, path)
    elif kind == "parquet":
        pyarrow.parquet.write_table(content, path)
    else:
        pyarrow.feather.write_feather(content, path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_table_is_the_same_in_every_format(content: Any, tmp_path: Path, kind: str) -> None:
    choice = Choice("y", missing="median", categories="onehot")
    ours = prepare(open_table(written(content, tmp_path, kind)), choice)
    plain = prepare(open_table(written(content, tmp_path, "csv")), choice)
    assert ours.recipe == plain.recipe and np.array_equal(ours.X, plain.X)
    assert np.allclose(ours.y, plain.y, rtol=1e-6)


def test_text_and_gaps_are_named_by_row(content: Any, tmp_path: Path) -> None:
    table = open_table(written(content, tmp_path, "parquet"))
    with pytest.raises(TableError, match="row 1, column 'group': 'x' is no number"):
        prepare(table, Choice("y"))
    with pytest.raises(TableError, match="row 10, column 'a': value missing"):
        prepare(table, Choice("y", drop=("group",)))


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match="cannot be read as Parquet") as caught:
        open_table(path)
    assert "\n" not in str(caught.value)


def test_without_the_library_the_error_names_the_command(
    content: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(content, tmp_path, "parquet")
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibrary, match=r"pip install 'ssvgp\[arrow\]'"):
        open_table(path)


def test_columns_that_are_not_asked_for_are_not_read(tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({name: np.arange(50.0) for name in "abc"}), path)
    second = parquet.read_metadata(path).row_group(0).column(1)
    cells = bytearray(path.read_bytes())
    start, size = second.dictionary_page_offset or second.data_page_offset, second.total_compressed_size
    cells[start : start + size] = bytes(size)  # nobody could read it
    path.write_bytes(cells)
    (block,) = open_table(path).blocks([2, 0], {})
    np.testing.assert_array_equal(block.values, np.column_stack([np.arange(50.0), np.arange(50.0)]))
    with pytest.raises(OSError):
        list(open_table(path).blocks([0, 1], {}))
