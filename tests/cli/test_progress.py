"""Progress: one line kept up to date on a terminal, plain lines elsewhere, what reports do not say left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ssvgp import PaperSettings, SSVGPRegressor
from ssvgp.cli.demo import read_table
from ssvgp.cli.progress import Progress, duration
from ssvgp.cli.voice import Voice

NAMES = [f"input {j}" for j in range(9)]


def test_a_line_for_each_phase_where_nothing_can_be_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(Voice(), lambda: NAMES) as progress:
        progress(SimpleNamespace(phase="growth", visited=3, best=(1, 0), log_evidence=-3.0))
        progress(SimpleNamespace(phase="moves", visited=5, best=(), log_evidence=-2.0))
        progress(SimpleNamespace(phase="moves", visited=5, best=(), log_evidence=-2.0))
        progress(SimpleNamespace(phase="kernels", visited=9, best=tuple(range(6)), fraction=0.5, seconds_left=90.0))
    said = [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "growth, 3 sets, best: input 1 + input 0",
        "moves, 5 sets, best: no input",
        "kernels 50%, 9 sets, best: input 0 + input 1 + input 2 + input 3 + 2 more, about 1 min 30 s left",
    ]


def test_nothing_is_said_or_named_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(Voice(quiet=True), lambda: pytest.fail("names are not needed")) as progress:
        progress(SimpleNamespace(phase="growth", visited=3, best=(1,)))
    assert capsys.readouterr() == ("", "")


def test_the_reports_of_both_methods_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    table = read_table()
    for options in ({"kernel": "se"}, {"method": "paper", "settings": PaperSettings(v=(1e4,))}):
        with Progress(Voice(), lambda: table.names) as progress:
            SSVGPRegressor(random_state=0, callback=progress, **options).fit(table.X[:60, 10:22], table.y[:60])
        assert capsys.readouterr().err


def _read(terminal: int) -> str:
    """What a terminal has at hand, a few thousand characters at a time; nothing at its end."""
    try:
        return os.read(terminal, 2**16).decode()
    except OSError:  # nobody writes to it any more
        return ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_one_line_is_written_over(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ssvgp", "demo", "--no-report"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    os.close(theirs)
    said = "".join(iter(lambda: _read(ours), ""))
    os.close(ours)
    assert done.returncode == 0 and b"\x1b" not in done.stdout and b"4 of 60 inputs selected" in done.stdout
    lines = said.split("\r\x1b[2K")
    assert len(lines) > 3 and any("best: feed_flow" in line for line in lines[1:-1])
    assert all(len(line) < 80 for line in lines[1:]) and lines[-1] == ""


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    command = f"{sys.executable} -m ssvgp demo --no-report --json 2>errors | true"
    subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL, timeout=60, check=True)
    assert "Traceback" not in (tmp_path / "errors").read_text()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.4, "9.4 s"), (42.2, "42 s"), (125.0, "2 min 05 s"), (3725, "1 h 02 min")]
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
