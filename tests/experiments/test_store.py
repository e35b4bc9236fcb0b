"""Results survive a kill: whole lines are read, a half-written one is cut off, the last line of a trial counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import store


def line(trial: int, **more: object) -> dict[str, object]:
    return {"design": "d", "method": "m", "trial": trial, **more}


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.jsonl"
    for trial in (2, 0, 1):
        store.append(path, line(trial, value=0.1 * trial))
    assert [one["trial"] for one in store.read(path)] == [2, 0, 1]
    assert store.read(tmp_path / "absent.jsonl") == []


def test_a_half_written_last_line_is_passed_over_and_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store.append(path, line(0))
    whole = path.read_text()
    path.write_text(whole + whole[: len(whole) // 2])
    assert [one["trial"] for one in store.read(path)] == [0]
    assert store.mend(path)
    assert path.read_text() == whole
    assert not store.mend(path)


def test_a_whole_object_without_its_line_end_counts_as_half_written(tmp_path: Path) -> None:
    # A number may have lost its last digits: "1.25" cut to "1.2" still looks like a number.
    path = tmp_path / "a.jsonl"
    store.append(path, line(0))
    path.write_text(path.read_text() + '{"design": "d", "method": "m", "trial": 1}')
    assert [one["trial"] for one in store.read(path)] == [0]


def test_the_last_line_of_a_trial_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store.append(path, line(0, error="first"))
    store.append(path, line(1))
    store.append(path, line(0, value=3))
    assert {one["trial"]: one.get("value") for one in store.read(path)} == {0: 3, 1: None}


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"design": "d", "method": "m", "trial": 0}\n{"design": \n{"design": "d"}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2"):
        store.read(path)


def test_numbers_that_json_does_not_know_are_refused_and_leave_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store.append(path, line(0))
    before = path.read_text()
    with pytest.raises(ValueError, match="JSON"):
        store.append(path, line(1, value=float("inf")))
    assert path.read_text() == before
