"""The page on the command line tells the truth: its examples run, in order, and its tables name what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from command_line import run, said

from ssvgp.cli import voice
from ssvgp.cli.main import cli
from ssvgp.tables.cells import MISSING

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = [line for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.M | re.S) for line in block.splitlines()]


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report_stand_in: None) -> None:
    monkeypatch.chdir(tmp_path)
    for example in EXAMPLES:
        program, *arguments = shlex.split(example, comments=True)
        expected = re.search(r"# exit code (\d+): (.*)", example)
        result = run(*arguments)
        assert program == "ssvgp" and result.exit_code == (int(expected[1]) if expected else 0), said(result)
        assert expected is None or expected[2] in result.stderr
    names = {"ssvgp_demo.csv", "ssvgp_demo.ssvgp", "ssvgp_demo.html", "yield.ssvgp", "yield.html", "again.html"}
    assert {path.name for path in tmp_path.iterdir()} == names | {"predictions.csv", "predictions.tsv"}


def test_every_command_has_an_example() -> None:
    assert {shlex.split(example)[1] for example in EXAMPLES} == set(cli.commands)


def test_options_that_are_named_exist() -> None:
    known = {option for command in cli.commands.values() for one in command.params for option in one.opts}
    known |= {option for command in cli.commands.values() for one in command.params for option in one.secondary_opts}
    assert set(re.findall(r"--[a-z][a-z-]*", TEXT)) <= known | {"--help"}


def test_choices_are_named_in_full() -> None:
    choices = [one.type.choices for one in cli.commands["fit"].params if isinstance(one.type, click.Choice)]
    for name in ("median", "drop-rows", "drop-columns", "onehot"):
        assert name in TEXT and any(name in choice for choice in choices)


def test_exit_codes_and_signs_of_gaps_are_those_of_the_code() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.M)}
    assert codes == {voice.OK, voice.FAILED, voice.WRONG_INPUT, voice.NO_LIBRARY, voice.INTERRUPTED}
    (row,) = (line for line in TEXT.splitlines() if line.startswith("| a gap in an input"))
    assert {sign.casefold() for sign in re.findall(r"`([^`-]+?)`", row.split("|")[1])} <= MISSING
