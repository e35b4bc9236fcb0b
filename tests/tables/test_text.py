"""Text tables: how they are written is detected, and what is wrong in them is named with line and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp.tables import text
from ssvgp.tables.columns import TableError
from ssvgp.tables.dialect import Asked
from ssvgp.tables.source import open_table


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def values(table: object) -> np.ndarray:
    return np.concatenate([block.values for block in table.blocks(range(len(table.names)))])  # type: ignore[attr-defined]


NUMBERS = [[1.5, 2.0], [-3.0, 4e2]]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1.5,2\n-3,4e2\n",
        "a;b\n1.5;2\n-3;4e2\n",
        "a;b\n1,5;2,0\n-3,0;4e2\n",
        "a\tb\n1.5\t2\n-3\t4e2\n",
        "a|b\n1.5|2\n-3|4e2",
        "a b\n1.5   2\n  -3 4e2  \n",
        "a,b\r\n1.5,2\r\n-3,4e2\r\n",
        "a,b\r1.5,2\r-3,4e2\r",
        "\ufeffa,b\n1.5,2\n-3,4e2\n",
        '"a","b"\n"1.5","2"\n"-3","4e2"\n',
        "a, b\n 1.5, 2 \n\n-3, 4e2\n\n",
        "a,b\n1.5,2,\n-3,4e2,\n",
        "sep=;\na;b\n1.5;2\n-3;4e2\n",
        "a,b\n1.5,2\n-3,4e2\n".encode("utf-16"),
    ],
    ids=["comma", "semicolon", "decimal-comma", "tab", "bar", "blanks", "crlf", "cr", "bom", "quoted", "spaced",
         "trailing-comma", "sep-line", "utf-16"],
)  # fmt: skip
def test_a_table_is_read_however_it_is_written(tmp_path: Path, content: str | bytes) -> None:
    table = open_table(write(tmp_path / "table.csv", content))
    assert table.names == ("a", "b")
    assert values(table).tolist() == NUMBERS


def test_a_file_without_header_gets_counted_names(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "table.csv", "1,5;2,0\n3,5;4,0\n"))
    assert table.names == ("column1", "column2") and any("no header" in note for note in table.notes)
    assert values(table).tolist() == [[1.5, 2.0], [3.5, 4.0]]


def test_a_first_row_with_text_above_text_and_with_numbers_is_no_header(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", "x,1.0\ny,2.0\nz,3.0\n")
    assert open_table(path).names == ("column1", "column2")
    assert open_table(path, Asked(header=True)).names == ("x", "1.0")


def test_a_single_column_may_have_decimal_commas(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "table.csv", "y\n1,5\n2,5\n"))
    assert table.names == ("y",) and values(table).tolist() == [[1.5], [2.5]]


def test_quoted_cells_may_hold_separators_and_line_breaks(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "table.csv", 'name,"a ""b"",\nc",y\n"one\ntwo, three",1,2\n"four",3,x\n'))
    assert table.names == ("name", 'a "b",\nc', "y")
    (block,) = table.blocks([1, 2])
    assert block.values[0].tolist() == [1.0, 2.0] and block.lines.tolist() == [4, 5]
    assert block.odd == {2: (5, "x")}
    assert list(table.texts([0])) == [["one\ntwo, three"], ["four"]]


def test_names_that_are_not_in_utf8_are_read_as_windows_1252(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", "größe,y\n1,2\n".encode("latin-1"))
    table = open_table(path)
    assert table.names == ("größe", "y") and any("Windows-1252" in note for note in table.notes)
    assert open_table(path, Asked(encoding="latin-1")).notes == ()


def test_names_that_repeat_or_lack_are_made_unique(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "table.csv", "x,x,,x.2,x\n1,2,3,4,5\n"))
    assert table.names == ("x", "x.3", "column3", "x.2", "x.4")


def test_missing_values_and_truths_are_known(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "table.csv", "a,b,c,d\n,NA,?,nan\nNULL,n/a,TRUE,false\n1,2,3,4\n"))
    read = values(table)
    assert np.isnan(read[0]).all() and np.isnan(read[1, :2]).all()
    assert read[1, 2:].tolist() == [1.0, 0.0] and read[2].tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("cell", ["2020_01", "abc", "1,5", "0x10", "1 2", "--3", "2021-03-04"])
def test_what_is_no_number_is_not_taken_for_one(tmp_path: Path, cell: str) -> None:
    table = open_table(write(tmp_path / "table.csv", f'a,b\n1,2\n3,"{cell}"\n4,5\n'))
    (block,) = table.blocks([0, 1])
    assert block.odd == {1: (3, cell)} and np.isnan(block.values[1, 1])


def test_points_in_a_file_with_decimal_commas_are_not_guessed_at(tmp_path: Path) -> None:
    lines = ["a;b", *["1,5;2,5"] * 100, "1.234;2,5"]
    table = open_table(write(tmp_path / "table.csv", "\n".join(lines)))
    (block,) = table.blocks([0, 1])
    assert block.odd == {0: (102, "1.234")}


def test_a_block_ends_where_the_file_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BLOCK_CELLS", 6)
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(7, 2))
    content = "a,b\n" + "".join(f"{a!r},{b!r}\n" for a, b in expected.tolist())
    blocks = list(open_table(write(tmp_path / "table.csv", content)).blocks([0, 1]))
    assert [len(block.values) for block in blocks] == [3, 3, 1]
    assert np.array_equal(np.concatenate([block.values for block in blocks]), expected)
    assert np.concatenate([block.lines for block in blocks]).tolist() == list(range(2, 9))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells where the header has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells"),
        (b"a,b\n1,2\n\0\0\0", "zero bytes"),
        (b"PK\x03\x04rest", "Excel"),
        (b"\x1f\x8brest", "compressed"),
        ('a,b\n1,2\n3,"4\n' + "5,6\n" * 40000, "quotation mark"),
    ],
    ids=["nothing", "blank", "short", "long", "zeros", "workbook", "gzip", "quote"],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(TableError, match=said) as caught:
        values(open_table(write(tmp_path / "table.csv", content)))
    assert "\n" not in str(caught.value)


def test_bytes_against_the_encoding_asked_for_are_refused_with_their_line(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv", "a,b\n1,ä\n".encode("latin-1"))
    with pytest.raises(TableError, match=r"near line \d: not written in utf-8"):
        values(open_table(path, Asked(encoding="utf-8")))
    with pytest.raises(TableError, match="no encoding is called 'utf-9'"):
        open_table(path, Asked(encoding="utf-9"))


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no file"):
        open_table(tmp_path / "absent.csv")
    with pytest.raises(TableError, match="folder"):
        open_table(tmp_path)
