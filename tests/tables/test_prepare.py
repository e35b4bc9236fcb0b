"""The treatment of a table for a fit, and the same treatment of new rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ssvgp.tables.columns import TableError
from ssvgp.tables.prepare import Choice, Prepared, prepare
from ssvgp.tables.recipe import Rows, recipe_from, recipe_record
from ssvgp.tables.source import open_table


def prepared(path: Path, content: str, **choice: object) -> Prepared:
    path.write_text(content)
    return prepare(open_table(path), Choice("y", **choice))  # type: ignore[arg-type]


def rows(made: Prepared, path: Path, content: str, missing: str | None = None) -> Rows:
    path.write_text(content)
    parts = list(made.recipe.rows(open_table(path), missing))
    return Rows(np.concatenate([part.X for part in parts]), np.concatenate([part.complete for part in parts]))


PLAIN = "a,b,y\n1,9,1\n2,8,4\n3,1,9\n4,2,1\n5,5,7\n"
GAPS = "a,b,y\n1,,1\n2,8,4\n3,1,\n4,2,1\n5,5,7\n6,4,1\n7,6,2\n"
TEXTS = "a,group,y\n1,u,1\n2,v,4\n3,w,9\n4,v,1\n5,v,7\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def test_all_columns_but_the_target_are_inputs(path: Path) -> None:
    made = prepared(path, PLAIN)
    assert made.recipe.inputs == ("a", "b")
    assert made.X.tolist() == [[1, 9], [2, 8], [3, 1], [4, 2], [5, 5]] and made.y.tolist() == [1, 4, 9, 1, 7]


def test_columns_are_chosen_by_name_list_and_pattern(path: Path) -> None:
    header = "x1,x2,z[1],y\n" + "1,2,3,4\n2,1,5,6\n" * 3
    assert prepared(path, header, features=("x*",)).recipe.inputs == ("x1", "x2")
    assert prepared(path, header, features=("z[1],x2",)).recipe.inputs == ("z[1]", "x2")
    assert prepared(path, header, drop=("x1", "z*")).recipe.inputs == ("x2",)
    with pytest.raises(TableError, match=r"no column 'Z\[1': did you mean 'z\[1\]'"):
        prepared(path, header, features=("Z[1",))


def test_rows_without_a_target_are_left_out_with_a_note(path: Path) -> None:
    made = prepared(path, GAPS, missing="drop-columns")
    assert made.X.ravel().tolist() == [1, 2, 4, 5, 6, 7]
    assert any("1 row without a value of 'y'" in note for note in made.notes)


def test_a_gap_is_an_error_that_names_the_ways_out(path: Path) -> None:
    with pytest.raises(TableError, match=r"line 2, column 'b': value missing .*drop-rows, drop-columns or median"):
        prepared(path, GAPS)


def test_gaps_are_treated_as_asked(path: Path) -> None:
    assert prepared(path, GAPS, missing="drop-rows").X.tolist() == [[2, 8], [4, 2], [5, 5], [6, 4], [7, 6]]
    filled = prepared(path, GAPS, missing="median")
    assert filled.X[0].tolist() == [1.0, np.median([8, 2, 5, 4, 6])]


def test_new_gaps_follow_the_fit_unless_told_otherwise(path: Path) -> None:
    new = "b,a\n1,\n2,3\n"
    median = rows(prepared(path, PLAIN, missing="median"), path, new)
    assert median.X.tolist() == [[3, 1], [3, 2]] and median.complete.tolist() == [False, True]
    strict = prepared(path, PLAIN)
    with pytest.raises(TableError, match="line 2, column 'a': value missing; --missing blank"):
        rows(strict, path, new)
    assert rows(strict, path, new, "blank").complete.tolist() == [False, True]


def test_text_is_an_error_that_names_the_ways_out(path: Path) -> None:
    with pytest.raises(TableError, match=r"line 2, column 'group': 'u' is no number: --drop group, or .*onehot"):
        prepared(path, TEXTS)
    with pytest.raises(TableError, match="dates are no inputs"):
        prepared(path, TEXTS.replace(",u,", ",2024-05-01,"))
    with pytest.raises(TableError, match="decimal point"):
        prepared(path, TEXTS.replace(",u,", ',"3,5",'))


def test_text_can_be_left_out_or_become_zeros_and_ones(path: Path) -> None:
    assert prepared(path, TEXTS, categories="drop").recipe.inputs == ("a",)
    made = prepared(path, TEXTS, categories="onehot")
    assert made.recipe.inputs == ("a", "group=u", "group=v", "group=w")
    assert made.X[:, 1:].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    two = prepared(path, TEXTS.replace("w", "u"), categories="onehot")
    assert two.recipe.inputs == ("a", "group=v") and two.X[:, 1].tolist() == [0, 1, 0, 1, 1]


def test_levels_do_not_depend_on_the_order_of_rows(path: Path) -> None:
    made = prepared(path, TEXTS, categories="onehot")
    header, *lines = TEXTS.splitlines()
    back = prepared(path, "\n".join([header, *reversed(lines)]), categories="onehot")
    assert back.recipe == made.recipe and np.array_equal(back.X[::-1], made.X)


def test_new_texts_are_unknown(path: Path) -> None:
    made = prepared(path, TEXTS, categories="onehot")
    with pytest.raises(TableError, match="line 3, column 'group': 'q' was not in the table of the fit"):
        rows(made, path, "group,a\nu,1\nq,2\n")
    blank = rows(made, path, "group,a\nu,1\nq,2\n", "blank")
    assert blank.complete.tolist() == [True, False] and blank.X[0].tolist() == [1, 1, 0, 0]
    assert rows(made, path, "group,a\nq,2\n", "median").X.tolist() == [[2, 0, 1, 0]]  # v is the most frequent


def test_a_column_of_many_texts_is_no_category(path: Path) -> None:
    content = "id,a,y\n" + "".join(f"run{i},{i % 7},{i}\n" for i in range(60))
    with pytest.raises(TableError, match=r"'id' has more than 50 different texts.*--drop id"):
        prepared(path, content, categories="onehot")


def test_columns_of_a_new_table_are_found_by_name(path: Path) -> None:
    made = prepared(path, PLAIN)
    assert rows(made, path, "note,b,y,a\nhello,1,2,3\n").X.tolist() == [[3, 1]]
    with pytest.raises(TableError, match="lacks a column that the model needs: 'b'; did you mean 'B'"):
        rows(made, path, "a,B\n1,2\n")
    with pytest.raises(TableError, match="lacks 2 columns that the model needs: 'a', 'b'"):
        rows(made, path, "u,v\n1,2\n")


def test_a_recipe_survives_json(path: Path) -> None:
    made = prepared(path, TEXTS, categories="onehot", missing="median")
    assert recipe_from(json.loads(json.dumps(recipe_record(made.recipe)))) == made.recipe


def test_row_numbers_and_empty_columns_are_left_out_with_a_note(path: Path) -> None:
    content = ",a,b,y\n" + "".join(f"{i},{i * i % 7},,{i % 3}\n" for i in range(9))
    made = prepared(path, content)
    assert made.recipe.inputs == ("a",)
    assert any("counts the rows" in note for note in made.notes) and any("without a value" in n for n in made.notes)
    assert prepared(path, content, features=("column1", "a")).recipe.inputs == ("column1", "a")


@pytest.mark.parametrize(
    ("content", "choice", "said"),
    [
        ("a,b\n1,2\n", {}, "no column 'y'"),
        ("a,Y\n1,2\n", {}, "did you mean 'Y'"),
        ("a,y\n1,2\n3,x\n", {}, "line 3, column 'y': 'x' is no number"),
        ("a,y\n1,2\n3,4\n5,6\n", {}, "3 rows with a target: 5 are the least"),
        ("a,y\n", {}, "no rows"),
        ("y\n1\n2\n3\n4\n5\n", {}, "no column is left as an input beside the target 'y'"),
        ("y,a,y\n" + "1,2,3\n" * 6, {}, "more than one column is called 'y'"),
        ("a,y\n" + "1,\n" * 6, {}, "'y' has no value in any row"),
        ("a,y\n" + "1,2\n" * 6 + "inf,3\n", {}, "line 8, column 'a': an infinite value"),
        ("a,y\n" + "1,2\n" * 6 + "1e999,3\n", {}, "line 8, column 'a': an infinite value"),
        (PLAIN, {"drop": ("y",)}, "takes out the target"),
        (PLAIN, {"drop": ("a,b",)}, "no column is left"),
        ("a,y\n" + "1,2\n,1\n" * 6, {"missing": "drop-columns"}, "no column is left"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(path: Path, content: str, choice: dict, said: str) -> None:
    with pytest.raises(TableError, match=said) as caught:
        prepared(path, content, **choice)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_files_are_read_or_refused_and_nothing_else(path: Path, seed: int) -> None:
    """Random damage to tables of several kinds: whatever it does, the only error is one line for the user."""
    rng = np.random.default_rng(seed)
    sound = [PLAIN, GAPS, TEXTS, PLAIN.replace(",", ";"), PLAIN.replace(",", "\t"), 'a,"b\nc",y\n' + "1,2,3\n" * 6]
    signs = [b'"', b"\0", b"\xff", b"\r", b"\n", b",", b";", b"1e999", b"_", b"'", b" ", b"-", b"\xef\xbb\xbf"]
    for _ in range(60):
        data = bytearray(sound[rng.integers(len(sound))].encode())
        for _ in range(rng.integers(1, 6)):
            place = int(rng.integers(len(data) + 1))
            data[place : place + int(rng.integers(0, 3))] = signs[rng.integers(len(signs))]
        path.write_bytes(bytes(data[: rng.integers(len(data) + 1)] if rng.random() < 0.2 else data))
        choice = Choice("y", missing=["error", "drop-rows", "drop-columns", "median"][rng.integers(4)],
                        categories=["error", "onehot", "drop"][rng.integers(3)])  # fmt: skip
        try:
            made = prepare(open_table(path), choice)
        except TableError as error:
            assert str(error) and "\n" not in str(error)
        else:
            assert np.isfinite(made.X).all() and np.isfinite(made.y).all() and made.X.shape[0] == made.y.size >= 5
            assert made.X.shape[1] == len(made.recipe.inputs) == len(set(made.recipe.inputs))


# --- weights and noise ------------------------------------------------------------------------------------------

WEIGHED = "a,w,s,y\n1,1,0.5,1\n2,0,0.5,4\n,2,0.5,3\n3,2,1.5,9\n4,1.5,0,1\n5,1,2,7\n6,1,2,\n7,3,0.1,2\n"


def test_weights_and_noise_are_no_inputs_and_follow_their_rows(path: Path) -> None:
    made = prepared(path, WEIGHED, weight="w", noise="s", missing="drop-rows")
    assert made.recipe.inputs == ("a",) and made.y.tolist() == [1, 4, 9, 1, 7, 2]
    assert made.weights is not None and made.weights.tolist() == [1, 0, 2, 1.5, 1, 3]
    assert made.noise is not None and made.noise.tolist() == [0.5, 0.5, 1.5, 0, 2, 0.1]
    plain = prepared(path, WEIGHED, missing="drop-rows")
    assert plain.recipe.inputs == ("a", "w", "s") and plain.weights is None and plain.noise is None


def test_new_tables_need_no_weights(path: Path) -> None:
    made = prepared(path, WEIGHED, weight="w", noise="s", missing="drop-rows")
    assert rows(made, path, "w,a\nmany,2\n,3\n").X.ravel().tolist() == [2, 3]


def test_weights_and_noise_that_are_none_are_errors_with_their_line(path: Path) -> None:
    with pytest.raises(TableError, match=r"line 3, column 'w': -2 is negative"):
        prepared(path, PLAIN.replace("a,b", "a,w").replace("2,8", "2,-2"), weight="w")
    with pytest.raises(TableError, match=r"line 3, column 'w': value missing"):
        prepared(path, PLAIN.replace("a,b", "a,w").replace("2,8", "2,"), weight="w")
    with pytest.raises(TableError, match=r"line 3, column 'w': 'x' is no number"):
        prepared(path, PLAIN.replace("a,b", "a,w").replace("2,8", "2,x"), noise="w")
    with pytest.raises(TableError, match="name different columns"):
        prepared(path, PLAIN, weight="y")
