"""Folders and many targets in commands: one line for what is wrong, and what is done is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import run, said
from deaths import kill_a_worker

import ssvgp
from ssvgp.cli import folders
from ssvgp.disk import predicting

pytest.importorskip("pyarrow")
N, PARTS = 120, 3


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    table["kind"] = np.where(rng.random(N) < 0.5, "left", "right")
    table["y"] = np.sin(2.0 * table["a"]) + 0.1 * rng.normal(size=N)
    return table


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows"
    path.mkdir()
    for k, part in enumerate(np.array_split(np.arange(N), PARTS)):
        frame().iloc[part].to_parquet(path / f"part-{k}.parquet", index=False)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    frame().to_csv(path / "all.csv", index=False)
    result = run("fit", path / "all.csv", "-t", "y", "--drop", "kind", "--kernel", "se", "-o", path / "m.ssvgp", "-q")
    assert result.exit_code == 0, said(result)
    return path / "m.ssvgp"


def test_a_folder_is_fitted_from_a_sample(folder: Path) -> None:
    common = ("--target", "y", "--kernel", "se", "--categories", "onehot")
    result = run("fit", "rows", *common, "--sample-rows", 60, "--json")
    assert result.exit_code == 0, said(result)
    answer = json.loads(result.stdout)
    assert answer["rows"] == 60 and answer["selected"] == ["a"] and Path("rows.ssvgp").exists()
    assert any("60 of 120 rows, drawn at random" in note for note in answer["notes"])
    inputs = ssvgp.load("rows.ssvgp").fitted_.inputs
    np.testing.assert_allclose(inputs.centre[:3], frame()[list("abc")].mean(), rtol=1e-12)  # of all rows
    whole = json.loads(run("fit", "rows", *common, "--json").stdout)
    assert whole["rows"] == N and not any("drawn at random" in note for note in whole["notes"])


def weighed(path: Path) -> pd.DataFrame:
    """The folder with weights, some of them zero, and known noise beside its rows; all of them in one table."""
    rng = np.random.default_rng(7)
    table = frame().drop(columns="kind")
    table = table.assign(w=rng.integers(0, 4, N).astype(float), s=np.where(rng.random(N) < 0.5, 0.0, 0.3))
    for k, part in enumerate(np.array_split(np.arange(N), PARTS)):
        table.iloc[part].to_parquet(path / f"part-{k}.parquet", index=False)
    table.to_parquet("all.parquet", index=False)
    return table


@pytest.mark.parametrize("given", [("--weight", "w"), ("--noise", "s"), ("--weight", "w", "--noise", "s")])
def test_weights_and_noise_of_a_folder_count_as_those_of_a_file(folder: Path, given: tuple[str, ...]) -> None:
    table = weighed(folder)
    inputs = ("--features", "a,b,c", "--target", "y", "--kernel", "se", "--json")
    whole, file = (json.loads(run("fit", name, *given, *inputs).stdout) for name in ("rows", "all.parquet"))
    assert whole["selected"] == file["selected"] and "a" in whole["selected"]
    one, other = ssvgp.load("rows.ssvgp"), ssvgp.load("all.ssvgp")
    np.testing.assert_allclose(one.pip_, other.pip_, atol=1e-6)
    new = table[list("abc")]
    np.testing.assert_allclose(one.predict(new), other.predict(new), rtol=1e-5, atol=1e-7)
    assert run("fit", "rows", *given, *inputs, "--sample-rows", 50).exit_code == 0
    mean = np.average(new, axis=0, weights=table["w"] if "w" in given else None)
    np.testing.assert_allclose(ssvgp.load("rows.ssvgp").fitted_.inputs.centre, mean, rtol=1e-12)  # of all rows


@pytest.mark.parametrize("weight", [("--weight", "w", "--noise", "s"), ("--drop", "w,s")])
def test_a_folder_may_have_more_targets_than_inputs_and_weights_for_them(folder: Path, weight: tuple[str, ...]) -> None:
    table = weighed(folder)
    given = ("--target", "y,b,c", *weight, "--kernel", "se", "-q")
    assert run("fit", "rows", *given).exit_code == run("fit", "all.parquet", *given).exit_code == 0
    one, other = ssvgp.load("rows.ssvgp"), ssvgp.load("all.ssvgp")
    np.testing.assert_allclose(one.pip_, other.pip_, atol=1e-6)
    np.testing.assert_allclose(one.predict(table[["a"]]), other.predict(table[["a"]]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("column", "value"), [("w", -1.0), ("s", -1.0), ("s", np.nan), ("w", "heavy")])
def test_a_wrong_weight_or_variance_is_named_by_file_and_row(folder: Path, column: str, value: object) -> None:
    weighed(folder)
    rows = pd.read_parquet(folder / "part-1.parquet")
    rows[column] = [value if k == 3 else given for k, given in enumerate(rows[column])]
    rows = rows.astype({column: str}) if isinstance(value, str) else rows
    rows.to_parquet(folder / "part-1.parquet", index=False)
    result = run("fit", "rows", "-t", "y", "--weight", "w", "--noise", "s", "--sample-rows", 8, "--quiet")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "part-1.parquet" in result.stderr and f"column '{column}'" in result.stderr
    assert "row 4" in result.stderr or isinstance(value, str)  # a column of text is refused as one


def test_a_folder_is_predicted_part_by_part_and_parts_are_kept(folder: Path, model: Path) -> None:
    result = run("predict", model, "rows", "-o", "out", "--keep", "y,kind", "--jobs", 1)
    assert result.exit_code == 0, said(result)
    found = pd.concat([pd.read_parquet(path) for path in sorted(Path("out").glob("*.parquet"))])
    assert list(found.columns) == ["y", "kind", "mean", "std", "lower", "upper"]
    expected = ssvgp.load(model).predict(frame()[list("abc")])
    np.testing.assert_allclose(found["mean"], expected, rtol=1e-9)
    np.testing.assert_array_equal(found["y"], frame()["y"])
    (Path("out") / "part-1.parquet").unlink()
    kept = (Path("out") / "part-0.parquet").stat().st_mtime_ns
    again = json.loads(run("predict", model, "rows", "-o", "out", "--keep", "y,kind", "--json").stdout)
    assert again["kept"] == PARTS - 1 and (Path("out") / "part-0.parquet").stat().st_mtime_ns == kept


def test_a_kill_leaves_whole_files_alone(folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    original, seen = predicting.os.replace, []

    def replace(source: Path, target: Path) -> None:
        seen.append(Path(target).name)
        if len([name for name in seen if name.endswith(".parquet")]) == 2:
            raise Killed  # between writing a part and giving it its name
        original(source, target)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(predicting.os, "replace", replace)
        run("predict", model, "rows", "-o", "out")
    assert [path.name for path in Path("out").glob("*.parquet")] == ["part-0.parquet"]
    assert json.loads(run("predict", model, "rows", "-o", "out", "--json").stdout)["kept"] == 1


def zeros_inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[20 : len(content) // 2] = bytes(len(content) // 2 - 20)
    path.write_bytes(content)


SPOILED = {
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "cannot be read as Parquet"),
    "cut in half": (lambda path: path.write_bytes(path.read_bytes()[:2000]), "cannot be read as Parquet"),
    "zeros": (zeros_inside, "cannot be read as Parquet"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read as Parquet"),
    "no Parquet": (lambda path: path.write_text("a,b,c,kind,y\n"), "cannot be read as Parquet"),
    "text": (lambda path: frame().astype({"b": str}).to_parquet(path, index=False), "column 'b': "),
    "dates": (lambda path: frame().assign(b=pd.Timestamp(0)).to_parquet(path, index=False), "column 'b': timestamp"),
    "column": (lambda path: frame().drop(columns="b").to_parquet(path, index=False), "lacks the column 'b'"),
    "link": (lambda path: path.unlink() or path.symlink_to("nowhere"), "is missing"),
}


@pytest.mark.parametrize("part", ["part-0.parquet", "part-1.parquet"])
@pytest.mark.parametrize("how", SPOILED)
def test_a_part_that_cannot_be_used_is_one_line_and_the_others_are_kept(
    folder: Path, model: Path, how: str, part: str
) -> None:
    spoil, words = SPOILED[how]
    spoil(folder / part)  # type: ignore[operator]
    result = run("predict", model, "rows", "-o", "out", "--quiet")
    assert result.exit_code == 2, said(result)
    assert part in result.stderr and words in result.stderr and result.stderr.count("\n") == 1
    others = sorted({"part-0.parquet", "part-1.parquet", "part-2.parquet"} - {part})
    assert sorted(path.name for path in Path("out").glob("*.parquet")) == others
    assert not list(Path("out").glob(".*"))
    fit = run("fit", "rows", "-t", "y", "--drop", "kind", "--kernel", "se", "--quiet")
    if (how, part) == ("column", "part-0.parquet"):  # the first says which columns there are
        page = run("fit", "rows", "-t", "y", "--drop", "kind", "--kernel", "se")
        assert "left out columns that part-0.parquet lacks: 'b (part-1.parquet)'" in page.stderr
    else:
        assert fit.exit_code == 2 and part in fit.stderr and fit.stderr.count("\n") == 1


def test_a_part_that_is_missing_is_named_and_the_others_are_predicted(folder: Path, model: Path) -> None:
    assert run("predict", model, "rows", "-o", "out", "-q").exit_code == 0
    (folder / "part-2.parquet").unlink()
    (Path("out") / "part-1.parquet").unlink()
    for _ in range(2):  # it is not forgotten
        result = run("predict", model, "rows", "-o", "out", "-q")
        assert result.exit_code == 2 and "part-2.parquet' is missing" in result.stderr
    assert len(list(Path("out").glob("*.parquet"))) == PARTS
    other = run("predict", model, "rows", "-o", "out", "-q", "--level", 0.5)
    assert other.exit_code == 2 and "another model or table" in other.stderr
    assert run("predict", model, "rows", "-q").exit_code == 2  # no place to write to


def test_a_part_that_the_list_of_the_folder_names_must_be_there(folder: Path, model: Path) -> None:
    from pyarrow import parquet

    listed = None
    for k in range(PARTS):
        noted = parquet.read_metadata(folder / f"part-{k}.parquet")
        noted.set_file_path(f"part-{k}.parquet")
        listed = noted if listed is None else listed.append_row_groups(noted) or listed
    listed.write_metadata_file(folder / "_metadata")  # type: ignore[union-attr]
    (folder / "part-1.parquet").unlink()
    for arguments in (("fit", "rows", "-t", "y", "--drop", "kind"), ("predict", model, "rows", "-o", "out")):
        result = run(*arguments, "-q")
        assert result.exit_code == 2 and "part-1.parquet' is missing" in result.stderr
    assert len(list(Path("out").glob("*.parquet"))) == PARTS - 1
    (folder / "_metadata").write_text("damaged")
    result = run("predict", model, "rows", "-o", "out", "-q")
    assert result.exit_code == 2 and "_metadata' cannot be read as Parquet" in result.stderr


def test_columns_that_a_model_does_not_need_may_be_lacking_and_rows_too(folder: Path, model: Path) -> None:
    frame()[list("cba")].to_parquet(folder / "part-1.parquet", index=False)
    frame().iloc[:0].to_parquet(folder / "part-2.parquet", index=False)
    answer = json.loads(run("predict", model, "rows", "-o", "out", "--json").stdout)
    assert answer["rows"] == N // PARTS + N and answer["parts"] == PARTS
    nothing = pd.read_parquet(Path("out") / "part-2.parquet")
    assert list(nothing.columns) == ["mean", "std", "lower", "upper"] and not len(nothing)
    kept = run("predict", model, "rows", "-o", "beside", "--keep", "y", "-q")
    assert kept.exit_code == 2 and "part-1.parquet, no column 'y'" in kept.stderr


def test_a_worker_process_that_is_killed_loses_no_part(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = pd.concat([frame()] * 10)  # a part that is still in the making when the worker is killed
    for k in range(PARTS, 9):
        long.to_parquet(folder / f"part-{k}.parquet", index=False)
    original, came = folders.predict_parts, []

    def with_a_kill(*arguments: Any) -> Any:
        def report(made: Any, count: int, total: int) -> None:
            came.append(made.name)
            if count == 1:
                kill_a_worker()

        return original(*arguments[:-1], report)

    assert run("predict", model, "rows", "-o", "here", "-q").exit_code == 0
    monkeypatch.setattr(folders, "predict_parts", with_a_kill)
    with pytest.warns(RuntimeWarning, match="a worker process died"):
        result = run("predict", model, "rows", "-o", "out", "-q", "--jobs", 2)
    assert result.exit_code == 0, said(result)
    assert sorted(came) == sorted(path.name for path in folder.glob("*.parquet"))
    for path in Path("here").glob("*.parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(Path("out") / path.name), check_exact=True)


def test_many_targets_have_a_line_each_one_file_and_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    for k, name in enumerate("abc"):
        table[f"gene_{k}"] = table[name] + 0.2 * rng.normal(size=40)
    table.loc[0, "gene_1"] = np.nan
    table.to_csv("genes.csv", index=False)
    arguments = ("fit", "genes.csv", "-t", "gene_*", "--kernel", "se", "--checkpoint", "kept")
    result = run(*arguments, "--report", "genes.html")
    assert result.exit_code == 0, said(result)
    lines = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("gene_")]
    assert lines == ["gene_0", "gene_1", "gene_2"] and "3 of 3 targets fitted" in result.stdout
    page = Path("genes.html").read_text(encoding="utf-8")
    assert "What decides 3 targets?" in page and page.count("<img") == 1 and "gene_<wbr>2" in page
    model = ssvgp.load("genes.ssvgp")
    assert list(model.targets_) == ["gene_0", "gene_1", "gene_2"] and list(model.feature_names_in_) == list("abc")
    answer = json.loads(run(*arguments, "--json").stdout)
    assert [one["selected"][0]["name"] for one in answer["targets"]] == list("abc") and answer["failed"] == 0
    assert "gene_2" in run("inspect", "genes.ssvgp").stdout
    assert run("report", "genes.ssvgp", "-o", "again.html").exit_code == 0 and Path("again.html").exists()
    assert run("predict", "genes.ssvgp", "genes.csv", "-o", "out.csv").exit_code == 0
    predicted = pd.read_csv("out.csv")
    np.testing.assert_allclose(predicted["gene_2.mean"], model.predict(table[list("abc")])[:, 2], rtol=1e-8)
    other = run(*arguments[:-2], "--checkpoint", "kept", "--seed", 3)
    assert other.exit_code == 2 and "other settings" in other.stderr
