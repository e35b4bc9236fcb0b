"""Classes and counts on the command line: what is said, written and kept."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import run, said

from ssvgp import SSVGPClassifier, load
from ssvgp.cli import demo


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of classes and one of counts, each with its model."""
    folder, rng = tmp_path_factory.mktemp("outcomes"), np.random.default_rng(0)
    X = rng.normal(size=(70, 3)).round(3)
    verdict = np.where(X[:, 1] + 0.2 * rng.normal(size=70) > 0, "good", "bad")
    hours = rng.integers(1, 9, size=70)
    faults = rng.poisson(hours * np.exp(X[:, 0]))
    for name, target, more in (("classes", verdict, (np.ones(70),)), ("counts", faults, (hours,))):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            names = ("a", "b", "c", "hours" if name == "counts" else "d", "y")
            csv.writer(file).writerows([names, *zip(*X.T.tolist(), *more, target, strict=True)])
    return folder


@pytest.fixture(scope="module")
def classes(folder: Path) -> tuple[Path, dict, str]:
    model = folder / "classes.ssvgp"
    result = run("fit", folder / "classes.csv", "-t", "y", "-o", model, "--kernel", "se", "--json")
    assert result.exit_code == 0, said(result)
    return model, json.loads(result.stdout), result.stderr


@pytest.fixture(scope="module")
def counts(folder: Path) -> tuple[Path, dict, str]:
    model, table = folder / "counts.ssvgp", folder / "counts.csv"
    result = run("fit", table, "-t", "y", "--exposure", "hours", "-o", model, "--kernel", "se", "--json")
    assert result.exit_code == 0, said(result)
    return model, json.loads(result.stdout), result.stderr


def read(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_fit_sees_classes_and_says_so(classes: tuple[Path, dict, str]) -> None:
    model, told, notes = classes
    assert "target 'y' is taken for 2 classes ('bad', 'good'), since it holds text" in notes
    assert told["classes"] == ["bad", "good"] and told["selected"] == ["b"] and told["likelihood"] == "bernoulli"
    assert told["leave_one_out"]["accuracy"] > 0.8 and np.sum(told["leave_one_out"]["confusion"]) == 70
    assert isinstance(load(model), SSVGPClassifier)


def test_predict_writes_class_and_probabilities(classes: tuple[Path, dict, str], folder: Path) -> None:
    out = folder / "predicted.csv"
    result = run("predict", classes[0], folder / "classes.csv", "-o", out, "--keep", "y")
    assert result.exit_code == 0, said(result)
    rows = read(out)
    assert list(rows[0]) == ["y", "class", "probability bad", "probability good"]
    found = np.array([[float(row["probability bad"]), float(row["probability good"])] for row in rows])
    assert np.allclose(found.sum(axis=1), 1.0)
    assert [row["class"] for row in rows] == np.where(found[:, 1] > 0.5, "good", "bad").tolist()
    assert np.mean([row["class"] == row["y"] for row in rows]) > 0.85


def test_a_row_with_a_gap_has_no_class(classes: tuple[Path, dict, str], folder: Path) -> None:
    (folder / "gap.csv").write_text("a,b,c,d\n1,1,1,1\n0,,0,1\n")
    result = run("predict", classes[0], folder / "gap.csv", "--missing", "blank")
    assert result.stdout.splitlines()[2] == ",,"


def test_inspect_and_report_speak_of_classes(classes: tuple[Path, dict, str], folder: Path) -> None:
    result = run("inspect", classes[0])
    assert "classes: bad, good" in result.stdout and "area under the ROC curve" in result.stdout
    assert "<- predicted" in result.stdout
    pytest.importorskip("matplotlib")
    page = folder / "classes.html"
    assert run("report", classes[0], "-o", page).exit_code == 0
    assert "ROC curve" in page.read_text() and "taken for 2 classes" in page.read_text()


def test_fit_sees_counts_and_new_tables_have_their_exposure(counts: tuple[Path, dict, str], folder: Path) -> None:
    model, told, notes = counts
    assert "is taken for counts, since it holds whole numbers from 0 up" in notes
    assert told["selected"] == ["a"] and load(model).fitted_.likelihood == "negative-binomial"
    out = folder / "counted.csv"
    assert run("predict", model, folder / "counts.csv", "-o", out, "--keep", "y,hours").exit_code == 0
    rows = read(out)
    ends = np.array([[float(row[name]) for name in ("lower", "upper", "mean", "y")] for row in rows])
    assert (ends[:, :2] == np.round(ends[:, :2])).all() and (ends[:, 0] >= 0).all()
    assert np.mean((ends[:, 0] <= ends[:, 3]) & (ends[:, 3] <= ends[:, 1])) > 0.85
    (folder / "twice.csv").write_text("a,b,c,hours\n0.5,0,0,2\n0.5,0,0,4\n")
    result = run("predict", model, folder / "twice.csv")
    first, second = (float(line.split(",")[0]) for line in result.stdout.splitlines()[1:])
    assert np.isclose(second, 2.0 * first)
    (folder / "never.csv").write_text("a,b,c,hours\n0.5,0,0,0\n")
    assert "an exposure lies above zero" in said(run("predict", model, folder / "never.csv"))
    (folder / "none.csv").write_text("a,b,c\n0.5,0,0\n")
    assert "no column 'hours'" in said(run("predict", model, folder / "none.csv"))


def test_what_does_not_go_with_classes_is_an_error(folder: Path) -> None:
    table = folder / "classes.csv"
    for options, message in (
        (("--method", "paper"), "the paper's method is for numbers"),
        (("--noise", "d"), "--noise is for numbers and counts"),
        (("--likelihood", "poisson"), "is no number"),
    ):
        result = run("fit", table, "-t", "y", "-o", folder / "never.ssvgp", *options)
        assert result.exit_code == 2 and message in said(result)


@pytest.mark.parametrize("kind", ["classes", "counts"])
def test_the_bundled_tables_are_those_that_the_functions_make(kind: str) -> None:
    made, bundled = {"classes": demo.make_classes, "counts": demo.make_counts}[kind](), demo.read_table(kind)
    assert bundled.names == made.names and bundled.target == made.target
    assert np.array_equal(bundled.X, made.X) and np.array_equal(bundled.y, made.y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("classes", {"reactor_temperature", "reactor_dose", "reactor_turbidity"}),
        ("counts", {"column_pressure", "feed_temperature", "feed_flow"}),
    ],
)
def test_a_demo_finds_what_decides(
    kind: str, chosen: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", f"--{kind}", "--json", "--no-report")
    assert set(json.loads(result.stdout)["selected"]) == chosen
    assert (tmp_path / f"ssvgp_demo_{kind}.csv").exists() and (tmp_path / f"ssvgp_demo_{kind}.ssvgp").exists()
