"""What a target is taken for: numbers, classes or counts, and that it says why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ssvgp.tables.columns import TableError
from ssvgp.tables.prepare import Choice, Prepared, prepare
from ssvgp.tables.source import open_table


@pytest.fixture
def made(tmp_path: Path):
    def of(targets: list[str], **choice: object) -> Prepared:
        path = tmp_path / "table.csv"
        path.write_text("a,n,y\n" + "".join(f"{i % 7},{i + 1},{one}\n" for i, one in enumerate(targets)))
        return prepare(open_table(path), Choice("y", **choice))  # type: ignore[arg-type]

    return of


@pytest.mark.parametrize(
    ("targets", "labels"),
    [
        (["yes", "no"] * 4, ("no", "yes")),
        (["True", "False", "False"] * 3, ("False", "True")),
        (["0", "1", "1"] * 3, ("0", "1")),
        (["1", "2", "1.0"] * 3, ("1", "2")),
        (["-1", "1", ""] * 4, ("-1", "1")),
        (["cat", "dog", "bird", "NA"] * 3, ("bird", "cat", "dog")),
    ],
)
def test_texts_and_two_values_are_classes_by_their_own_labels(made, targets, labels) -> None:
    found = made(targets)
    assert found.outcome.labels == labels and found.outcome.likelihood == "bernoulli"
    assert sorted(set(found.y)) == sorted(labels)
    given = [one for one in targets if one not in ("", "NA")]
    assert found.y.tolist() == [one.replace("1.0", "1") for one in given]
    assert any("taken for" in note and "classes" in note for note in found.notes)


@pytest.mark.parametrize("targets", [["0", "1", "2", "0", "5"], ["1", "2", "1", "3", "40"], ["0", "12", "3", "4", "2"]])
def test_whole_numbers_from_zero_up_are_counts(made, targets) -> None:
    found = made(targets * 2)
    assert found.outcome.counts and any("taken for counts" in note for note in found.notes)
    assert found.y.tolist() == [float(one) for one in targets * 2]


@pytest.mark.parametrize(
    "targets", [["1", "2", "3", "4", "5"], ["0.5", "1", "3", "7", "0"], ["-1", "2", "0", "4", "1"], ["71", "64", "80"]]
)
def test_marks_measurements_and_large_whole_numbers_stay_numbers(made, targets) -> None:
    found = made(targets * 3)
    assert found.outcome.likelihood == "auto" and not found.outcome.labels and found.y.dtype == float


def test_what_is_asked_for_overrides_what_it_looks_like(made) -> None:
    assert made(["0", "1"] * 4, likelihood="gaussian").y.tolist() == [0.0, 1.0] * 4
    assert made(["1", "2", "3", "4"] * 3, likelihood="classes").outcome.labels == ("1", "2", "3", "4")
    assert made(["3", "2", "2", "4"] * 3, likelihood="poisson").outcome.likelihood == "poisson"
    assert made(["3", "2", "2", "4"] * 3, likelihood="classes-probit").outcome.likelihood == "bernoulli-probit"
    with pytest.raises(TableError, match="holds -2: counts are whole numbers"):
        made(["3", "-2", "1"] * 3, likelihood="poisson")
    with pytest.raises(TableError, match="'no' is no number"):
        made(["no", "yes"] * 3, likelihood="gaussian")


def test_a_slip_among_numbers_and_endless_texts_are_no_classes(made) -> None:
    with pytest.raises(TableError, match=r"line 3, column 'y': '1o' is no number.*--likelihood classes"):
        made(["1", "1o", "3.5"] * 3)
    with pytest.raises(TableError, match="30 different texts, which are no classes"):
        made([f"name {i}" for i in range(30)])
    with pytest.raises(TableError, match="two classes are the least"):
        made(["yes"] * 8)


def test_exposures_are_no_inputs_and_new_tables_know_their_column(made) -> None:
    found = made(["0", "3", "1", "7", "0", "2"], exposure="n")
    assert found.recipe.inputs == ("a",) and found.recipe.exposure == "n"
    assert np.array_equal(found.exposure, np.arange(1.0, 7.0))
