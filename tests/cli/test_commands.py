"""The commands, from a file to an answer: exit codes, what goes where, and what is kept."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, said

from ssvgp import SSVGPRegressor, load
from ssvgp.cli import answer, cells, demo, fitting
from ssvgp.cli.progress import Progress
from ssvgp.report.table import records


def table_of(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    return X, 3.0 + np.sin(2.0 * X[:, 1]) + 0.1 * rng.normal(size=rows)


def write_table(path: Path, rows: int = 30, seed: int = 0, names: tuple[str, ...] = ("a", "b", "c", "d", "y")) -> Path:
    X, y = table_of(rows, seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([names, *np.column_stack([X, y]).tolist()])
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that `ssvgp fit` wrote, beside its table."""
    folder = tmp_path_factory.mktemp("fitted")
    table = write_table(folder / "table.csv")
    result = run("fit", table, "--target", "y", "-o", folder / "table.ssvgp", "--kernel", "se", "--quiet")
    assert (result.exit_code, said(result)) == (0, "")
    return folder / "table.ssvgp"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- fit -----------------------------------------------------------------------------------------------------


def test_fit_answers_on_standard_output_and_tells_progress_on_standard_error(here: Path) -> None:
    write_table(here / "table.csv")
    result = run("fit", "table.csv", "--target", "y", "--kernel", "se")
    assert result.exit_code == 0 and (here / "table.ssvgp").exists()
    assert "1 of 4 inputs selected" in result.stdout and "model in table.ssvgp" in result.stdout
    assert "reading table.csv" in result.stderr and "growth" in result.stderr and "best: b" in result.stderr
    assert "\r" not in said(result) and "\x1b" not in said(result)


def test_a_model_is_that_of_the_estimator(fitted: Path) -> None:
    X, y = table_of(30)
    ours, theirs = load(fitted), SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    assert np.array_equal(ours.pip_, theirs.pip_)
    assert ours.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_fit_speaks_json_to_machines(here: Path, report_stand_in: None) -> None:
    write_table(here / "table.csv")
    result = run("fit", "table.csv", "-t", "y", "--kernel", "se", "--json", "--report", "out.html")
    told = json.loads(result.stdout)
    assert set(told) == {
        "command", "target", "method", "rows", "columns", "threshold", "selected", "inputs", "likelihood",
        "variance_shares", "noise_sd", "leave_one_out", "seconds", "interrupted", "notes", "model", "report",
    }  # fmt: skip
    assert told["selected"] == ["b"] and told["rows"] == 30 and not told["interrupted"]
    assert told["inputs"][0]["name"] == "b" and len(told["inputs"]) == 4
    assert all({"name", "index", "pip", "selected", "lengthscale"} <= set(one) for one in told["inputs"])
    assert sum(told["variance_shares"].values()) == pytest.approx(1.0, abs=1e-5)
    assert (here / "out.html").read_text() == "b"


def test_seed_and_table_decide_the_answer(here: Path) -> None:
    write_table(here / "table.csv")
    one, two = (json.loads(run("fit", "table.csv", "-t", "y", "--json", "--jobs", k).stdout) for k in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_an_interrupted_fit_is_kept_and_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(here / "table.csv")

    class Impatient(Progress):
        def __call__(self, event: Any) -> None:
            super().__call__(event)
            raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "Progress", Impatient)
    result = run("fit", "table.csv", "-t", "y", "--json")
    assert result.exit_code == 130 and json.loads(result.stdout)["interrupted"]
    assert "interrupted: the model holds what was found by then" in result.stderr
    assert run("inspect", "table.ssvgp").exit_code == 0


def test_an_interrupt_before_the_fit_keeps_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(here / "table.csv")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "prepare", interrupted)
    result = run("fit", "table.csv", "-t", "y")
    assert result.exit_code == 130 and result.stderr.splitlines()[-1].startswith("error: interrupted")


def test_columns_left_out_are_told_by_name(here: Path) -> None:
    X, y = table_of(30)
    rows = np.column_stack([X[:, 1], np.ones(30), X[:, 1], y])
    np.savetxt("table.csv", rows, delimiter=",", header="b,still,twin,y", comments="")
    result = run("fit", "table.csv", "-t", "y", "--kernel", "se")
    assert "constant columns are left out: 'still'" in result.stderr
    assert "'twin (copy of b)'" in result.stderr and result.exit_code == 0


def test_names_with_markup_and_control_signs_do_no_harm(here: Path) -> None:
    names = ("[bold]a[/]", "<b>&\x1b[31m", "x" * 200, "größe\u202e", "y")
    write_table(here / "table.csv", names=names)
    result = run("fit", "table.csv", "-t", "y", "--kernel", "se")
    assert result.exit_code == 0 and "<b>&\\x1b[31m" in result.stdout
    assert "\x1b" not in said(result) and "\u202e" not in said(result)
    assert load("table.ssvgp").feature_names_in_.tolist() == list(names[:-1])
    assert run("predict", "table.ssvgp", "table.csv", "-q").exit_code == 0


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", (), "table.csv is empty"),
        ("a,y\n1,2\n3\n", (), "line 3 has 1 cells"),
        ("a,y\n1,2\nx,3\n", (), "line 3, column 'a': 'x' is no number: --drop a"),
        ("a,y\n1,2\n,3\n4,5\n5,6\n7,8\n9,1\n", (), "line 3, column 'a': value missing"),
        ("a,b\n1,2\n", (), "no column 'y': the table has 'a', 'b'"),
        ("a,yy\n1,2\n", (), "did you mean 'yy'?"),
        ("a,y\n1,2\n3,4\n5,7\n", (), "3 rows"),
        ("y\n1\n2\n", (), "no column is left"),
        ("a,y\n1,2\n", ("--drop", "q"), "no column 'q'"),
        ("a,y\n1,2\n", ("--kernel", "sea"), "kernel"),
        ("a,y\n1,2\n", ("--traget", "y"), "--target"),
        ("a,y\n1,2\n", ("--missing", "guess"), "drop-rows"),
        ("a,y\n1,2\n", ("--separator", "ab"), "one sign"),
        ("a,y\n1,2\n", ("-o", "nowhere/model"), "no folder"),
        ("a,y\n1,2\n", ("-o", "table.csv"), "is the input"),
        ("a,y\n1,2\n", ("-o", "."), "is a folder"),
        ("a,y\n1,-2\n2,1\n3,4\n1,0\n2,2\n9,9\n", ("--transform", "log"), "above zero"),
        (b"a,\xe9\n1,2\n", ("--encoding", "utf-8"), "not written in utf-8"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_exit_code_2(
    here: Path, content: str | bytes, options: tuple[str, ...], said: str
) -> None:
    (here / "table.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("fit", "table.csv", "--target", "y", "--quiet", *options)
    (line,) = result.stderr.splitlines()
    assert result.exit_code == 2 and line.startswith("error: ") and said in line
    assert result.stdout == "" and not (here / "table.ssvgp").exists()


@pytest.mark.parametrize(("options", "expected"), [((), "auto"), (("--transform", "none"), None)])
def test_the_curve_of_the_target_is_left_to_the_method_unless_told_otherwise(
    here: Path, options: tuple[str, ...], expected: str | None
) -> None:
    rows = np.random.default_rng(0).uniform(size=(12, 2))
    (here / "table.csv").write_text("a,y\n" + "\n".join(f"{a},{y}" for a, y in rows))
    assert run("fit", "table.csv", "--target", "y", "--quiet", *options).exit_code == 0
    assert load(here / "table.ssvgp").target_transform == expected


def test_without_a_target_the_columns_are_listed(here: Path) -> None:
    write_table(here / "table.csv")
    result = run("fit", "table.csv")
    assert result.exit_code == 2 and "--target NAME; the table has 'a', 'b', 'c', 'd', 'y'" in result.stderr


def test_errors_are_told_to_machines_too(here: Path) -> None:
    result = run("fit", "absent.csv", "-t", "y", "--json")
    assert json.loads(result.stdout) == {"error": "no file 'absent.csv'", "exit_code": 2} and result.exit_code == 2


def test_a_report_that_cannot_be_written_is_told_before_the_fit(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(here / "table.csv")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("fit", "table.csv", "-t", "y", "--report", "out.html")
    assert result.exit_code == 3 and "pip install" in result.stderr and "reading" not in result.stderr


def test_what_nobody_foresaw_is_one_line_as_well(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(here / "table.csv")

    def broken(*_: object) -> None:
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr(fitting, "prepare", broken)
    result = run("fit", "table.csv", "-t", "y")
    assert result.exit_code == 1 and "error: RuntimeError: out of luck" in result.stderr


def test_a_command_that_is_none_gets_a_suggestion() -> None:
    result = run("fti")
    assert (result.exit_code, result.stderr) == (2, "error: no command 'fti': did you mean 'fit'?\n")


# --- predict ---------------------------------------------------------------------------------------------------


def read(text: str) -> tuple[list[str], np.ndarray]:
    names, *rows = csv.reader(io.StringIO(text))
    return names, np.array([[float(cell or "nan") for cell in row] for row in rows])


def test_predictions_are_those_of_the_model_whatever_the_order_of_columns(fitted: Path, here: Path) -> None:
    X, y = table_of(20, seed=1)
    np.savetxt("new.csv", np.column_stack([y, X[:, ::-1]]), delimiter=";", header="extra;d;c;b;a", comments="")
    result = run("predict", fitted, "new.csv", "-o", "out.csv", "--level", 0.8)
    assert result.exit_code == 0 and "20 predictions in out.csv" in result.stdout
    names, values = read((here / "out.csv").read_text())
    model = SSVGPRegressor(kernel="se", random_state=0).fit(*table_of(30))
    mean, std = model.predict(X, return_std=True)
    assert names == ["mean", "std", "lower", "upper"]
    assert np.allclose(values, np.column_stack([mean, std, model.predict_quantiles(X, [0.1, 0.9])]), rtol=1e-8)


def test_predictions_go_to_standard_output_and_do_not_depend_on_blocks(
    fitted: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("predict", fitted, write_table(here / "new.csv", rows=11, seed=2)).stdout
    monkeypatch.setattr("ssvgp.tables.text.BLOCK_CELLS", 20)
    result = run("predict", fitted, "new.csv")
    assert np.allclose(read(result.stdout)[1], read(whole)[1], rtol=1e-8) and len(result.stderr.splitlines()) == 3


def test_columns_are_kept_beside_predictions(fitted: Path, here: Path) -> None:
    (here / "new.csv").write_text('id,a,b,c,d\n"run 1, again",1,2,3,4\nrun 2,1,2,3,4\n')
    result = run("predict", fitted, "new.csv", "--keep", "id", "-q", "-o", "out.tsv")
    first, *rows = csv.reader((here / "out.tsv").read_text().splitlines(), delimiter="\t")
    assert result.exit_code == 0 and first == ["id", "mean", "std", "lower", "upper"]
    assert [row[0] for row in rows] == ["run 1, again", "run 2"] and rows[0][1:] == rows[1][1:]


def test_rows_with_gaps_are_refused_left_empty_or_filled(fitted: Path, here: Path) -> None:
    (here / "new.csv").write_text("a,b,c,d\n1,0,1,1\n1,?,1,1\n")
    refused = run("predict", fitted, "new.csv", "-o", "out.csv")
    assert refused.exit_code == 2 and "line 3, column 'b': value missing" in refused.stderr
    assert list(here.iterdir()) == [here / "new.csv"]
    blank = run("predict", fitted, "new.csv", "--missing", "blank")
    assert np.isnan(read(blank.stdout)[1]).all(axis=1).tolist() == [False, True] and "1 rows have" in blank.stderr
    filled = run("predict", fitted, "new.csv", "--missing", "median", "-q")
    middle = float(np.median(table_of(30)[0][:, 1]))
    (here / "full.csv").write_text(f"a,b,c,d\n1,0,1,1\n1,{middle!r},1,1\n")
    assert filled.stdout == run("predict", fitted, "full.csv", "-q").stdout


def test_texts_are_treated_as_in_the_fit(here: Path) -> None:
    rng = np.random.default_rng(0)
    groups = rng.choice(["north", "south", "west"], size=40)
    y = (groups == "west") * 2.0 + 0.1 * rng.normal(size=40)
    lines = [f"{group},{x},{t}" for group, x, t in zip(groups, rng.normal(size=40), y, strict=True)]
    (here / "table.csv").write_text("\n".join(["group,x,y", *lines]))
    result = run("fit", "table.csv", "-t", "y", "--categories", "onehot", "--json", "--kernel", "se")
    assert json.loads(result.stdout)["selected"] == ["group=west"]
    (here / "new.csv").write_text("x,group\n0.1,west\n0.1,south\n0.1,east\n")
    assert "'east' was not in the table of the fit" in run("predict", "table.ssvgp", "new.csv").stderr
    values = read(run("predict", "table.ssvgp", "new.csv", "--missing", "blank").stdout)[1]
    assert values[0, 0] > 1.5 and abs(values[1, 0]) < 0.5 and np.isnan(values[2]).all()


def test_a_column_that_lacks_is_named_with_the_nearest(fitted: Path, here: Path) -> None:
    (here / "new.csv").write_text("a,B,c,d\n1,2,3,4\n")
    result = run("predict", fitted, "new.csv")
    assert result.exit_code == 2 and "needs: 'b'; did you mean 'B'?" in result.stderr


def test_an_interrupted_prediction_keeps_its_rows(fitted: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(here / "new.csv", rows=9)
    monkeypatch.setattr("ssvgp.tables.text.BLOCK_CELLS", 20)
    real, calls = cells.predictions, []

    def tired(*arguments: Any) -> np.ndarray:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(cells, "predictions", tired)
    result = run("predict", fitted, "new.csv", "-o", "out.csv", "--json")
    assert result.exit_code == 130 and json.loads(result.stdout)["rows"] == 8
    assert len((here / "out.csv").read_text().splitlines()) == 9


@pytest.mark.parametrize("named", [True, False])
def test_models_of_python_predict_files(here: Path, named: bool) -> None:
    import pandas as pd

    X, y = table_of(30)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SSVGPRegressor(kernel="se", random_state=0).fit(frame if named else X, y)
    model.save(here / "model")
    frame[list("dcba") if named else list("abcd")].to_csv("new.csv", index=False)
    result = run("predict", "model", "new.csv")
    assert np.allclose(read(result.stdout)[1][:, 0], model.predict(frame if named else X), rtol=1e-8)
    assert run("predict", "model", "new.csv", "--missing", "median").exit_code == 2
    frame[list("abc")].to_csv("new.csv", index=False)
    assert run("predict", "model", "new.csv").exit_code == 2


# --- the answer ------------------------------------------------------------------------------------------------


def test_the_inputs_of_a_large_table_are_told_without_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SSVGPRegressor(kernel="se", random_state=0).fit(*table_of(30))
    whole = answer.answer_record(model, "y")
    assert whole["inputs"] == records(model.fitted_) and whole["inputs"][0]["total_share"] > 0.5
    assert any("share of variance" in line for line in answer.answer_lines(whole))
    monkeypatch.setattr(answer, "AT_ONCE", 29)
    large = answer.answer_record(model, "y")
    assert large["inputs"] == [one | {"variance_share": None, "total_share": None} for one in whole["inputs"]]
    assert large["leave_one_out"] is None
    assert not any("share of variance" in line for line in answer.answer_lines(large))


# --- report, inspect, demo ---------------------------------------------------------------------------------------


def test_report_writes_beside_where_one_stands(fitted: Path, here: Path, report_stand_in: None) -> None:
    result = run("report", fitted)
    assert (result.exit_code, result.stdout) == (0, "report in table.html\n")
    assert (here / "table.html").read_text() == "b"


def test_inspect_tells_what_fit_told(fitted: Path) -> None:
    lines = run("inspect", fitted).stdout
    assert "30 rows, 4 inputs, method auto, target y" in lines and "1 of 4 inputs selected" in lines
    assert json.loads(run("inspect", fitted, "--json").stdout)["selected"] == ["b"]


@pytest.mark.parametrize("content", [None, b"", b"hello\nworld\n", b"\x80\x04K\x01."])
def test_what_is_no_model_is_refused(here: Path, content: bytes | None) -> None:
    if content is not None:
        (here / "model").write_bytes(content)
    result = run("inspect", "model")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1


def test_a_report_knows_the_target_and_what_became_of_the_table(here: Path) -> None:
    write_table(here / "table.csv")
    with (here / "table.csv").open("a") as file:
        file.write("1,2,3,,4\n")
    asked = ("-t", "y", "--kernel", "se", "--missing", "median", "--report", "one.html")
    assert run("fit", "table.csv", *asked).exit_code == 0
    assert run("report", "table.ssvgp", "-o", "two.html").exit_code == 0
    one, two = ((here / name).read_text(encoding="utf-8") for name in ("one.html", "two.html"))
    assert one == two  # the model file has all that the report of the fit had
    assert "What decides y?" in one and "1 missing values filled with the median of their column" in one


def test_the_demo_finds_what_was_put_in(here: Path, report_stand_in: None) -> None:
    result = run("demo", "--json")
    assert result.exit_code == 0 and set(json.loads(result.stdout)["selected"]) == set(demo.DECISIVE)
    assert sorted(path.suffix for path in here.glob("ssvgp_demo.*")) == [".csv", ".html", ".ssvgp"]


def test_the_demo_goes_without_a_report_where_it_must(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("demo")
    assert result.exit_code == 0 and "note: reports need" in result.stderr
