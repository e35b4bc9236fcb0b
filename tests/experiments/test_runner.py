"""The runner: resumes after a kill, keeps errors, runs a subset by name, stops at a limit, repeats itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import command, store
from experiments.runner import Experiment, Options, plan, run

ALL = [("average", 0), ("average_few", 0), ("average", 1), ("average_few", 1), ("average", 2)]
Ran = list[tuple[str, int]]


def test_every_method_has_its_number_of_trials_and_one_seed_for_each_trial(fake: Experiment) -> None:
    jobs = list(plan(fake, Options()))
    assert [(job["method"], job["trial"]) for job in jobs] == ALL
    assert {(job["trial"], job["seed"]) for job in jobs} == {(0, 1000), (1, 1001), (2, 1002)}


def test_a_line_tells_scores_rows_settings_machine_and_versions(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    assert run(fake, Options(results=tmp_path, methods=["average_few"], trials=1)) == 0
    (line,) = store.read(tmp_path / "fake.jsonl")
    assert (line["n"], line["rows"], line["d"], line["n_test"]) == (12, 10, 6, 9)
    assert line["scores"]["selected"] == 1.0 and -1.0 <= line["scores"]["mcc"] <= 1.0
    assert line["scores"]["peak_mb"] >= line["scores"]["data_mb"] > 1.0
    assert {"numpy", "scipy", "python"} <= set(line["versions"]) and line["machine"]["cores"] >= 1
    assert line["notes"] == {"heard": 1.0} and line["blas_threads"] == line["n_jobs"] == 1
    assert len(line["profiles"]["score"]["relevant"]) == 5 and len(line["profiles"]["score"]["others"]) == 1
    assert len(line["surface"]) == 9 and "module" not in line


def test_a_second_run_does_nothing_and_a_cut_line_runs_again(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    options, path = Options(results=tmp_path), tmp_path / "fake.jsonl"
    run(fake, options)
    assert here == ALL
    whole = path.read_text()
    run(fake, options)
    assert here == ALL and path.read_text() == whole
    path.write_text(whole[: len(whole) - 40])
    run(fake, options)
    assert here == [*ALL, ALL[-1]]
    assert [store.key_of(line)[1:] for line in store.read(path)] == ALL


def test_the_same_seed_gives_the_same_scores(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    found = []
    for name in ("first", "second"):
        run(fake, Options(results=tmp_path / name, trials=1))
        found.append([line["scores"]["nlpd"] for line in store.read(tmp_path / name / "fake.jsonl")])
    assert found[0] == found[1]


def test_a_failed_trial_is_stored_stops_nothing_and_runs_again_only_on_demand(
    fake: Experiment, here: Ran, tmp_path: Path
) -> None:
    failing = Options(results=tmp_path, replaced={"average": {"fails_at": 1001}})
    assert run(fake, failing) == 1
    assert here == ALL
    errors = [line for line in store.read(tmp_path / "fake.jsonl") if "error" in line]
    assert [(line["method"], line["trial"]) for line in errors] == [("average", 1)]
    assert errors[0]["error"].startswith("RuntimeError: told to fail")
    run(fake, failing)
    assert here == ALL
    assert run(fake, Options(results=tmp_path, retry=True)) == 0
    assert here == [*ALL, ("average", 1)]
    assert not any("error" in line for line in store.read(tmp_path / "fake.jsonl"))


def test_a_subset_by_name(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    command.main(fake, ["--methods", "average_few", "--trials", "1", "--first", "1", "--results", str(tmp_path)])
    assert here == [("average_few", 1)]
    with pytest.raises(SystemExit):
        command.parsed(fake, ["--methods", "nobody"])


def test_a_smoke_run_is_small_and_has_a_file_of_its_own(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    command.main(fake, ["--smoke", "--results", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["fake-smoke.jsonl"]
    assert {line["n"] for line in store.read(tmp_path / "fake-smoke.jsonl")} == {8}
    assert here == ALL[:2]


def test_a_smoke_run_tries_rivals_on_the_first_design_alone(fake: Experiment) -> None:
    designs, names = dict(fake.designs, more=fake.designs["tiny"]), dict(fake.methods, more=["average"])
    two = replace(fake, designs=designs, methods=names)
    assert [job["design"] for job in plan(two, Options(smoke=True))] == ["tiny", "tiny"]
    assert [job["design"] for job in plan(two, Options(trials=1))] == ["tiny", "tiny", "more"]


def test_a_failure_of_a_smoke_run_is_a_failure_of_the_command(fake: Experiment, here: Ran, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="1 trials failed"):
        command.main(fake, ["--smoke", "--results", str(tmp_path), "--set", "average.fails_at=1000"])


def test_settings_of_the_command_line_are_stored_and_a_change_is_told(
    fake: Experiment, here: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--methods", "average", "--trials", "1", "--results", str(tmp_path)]
    command.main(fake, [*arguments, "--set", "average.sleep=0.001"])
    assert store.read(tmp_path / "fake.jsonl")[0]["settings"] == {"sleep": 0.001}
    command.main(fake, arguments)
    assert "stored with other settings, {'sleep': 0.001}" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.parsed(fake, ["--set", "nobody.key=1"])


def test_what_cannot_run_here_is_skipped_with_its_reason(
    fake: Experiment, here: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = replace(fake, unavailable={"tiny": lambda: "the data are on the moon"})
    assert run(lacking, Options(results=tmp_path)) == 0
    assert here == [] and "skipped tiny average: the data are on the moon" in capsys.readouterr().out
    assert not (tmp_path / "fake.jsonl").exists()


def test_a_process_of_its_own_gives_a_line_and_hears_nothing_of_what_libraries_print(
    fake: Experiment, tmp_path: Path
) -> None:
    assert run(fake, Options(results=tmp_path, trials=1, jobs=2)) == 0
    found = {line["method"]: line for line in store.read(tmp_path / "fake.jsonl")}
    assert set(found) == {"average", "average_few"}
    assert all(line["process_seconds"] > 0 and line["at_a_time"] == 2 for line in found.values())


def test_a_trial_is_stopped_at_the_time_limit(fake: Experiment, tmp_path: Path) -> None:
    slow = {"average": {"sleep": 300.0}}
    assert run(fake, Options(results=tmp_path, methods=["average"], trials=1, limit=3.0, replaced=slow)) == 1
    (line,) = store.read(tmp_path / "fake.jsonl")
    assert line["error"] == "stopped at the time limit of 3 s"


def test_an_interrupt_leaves_a_good_file_and_no_error_of_the_unfinished(fake: Experiment, tmp_path: Path) -> None:
    code = "from experiments.command import main; from fake_experiment import EXPERIMENT; main(EXPERIMENT)"
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(root), str(Path(__file__).parent), str(root / "src")])
    arguments = ["--results", str(tmp_path), "--set", "average_few.sleep=300"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    path, deadline = tmp_path / "fake.jsonl", time.monotonic() + 100.0
    while not (path.exists() and path.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.1)
    out = ""
    for _ in range(3):  # Python drops an interrupt that arrives while it clears an object away: people press again
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            out, _ = process.communicate(timeout=30)
            break
    assert process.returncode == 130 and "interrupted" in out
    lines = [json.loads(row) for row in path.read_text().splitlines()]
    assert [(line["method"], "error" in line) for line in lines] == [("average", False)]
