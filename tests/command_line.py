"""The command line called from a test, with both its streams kept apart in every version of Click."""

from __future__ import annotations

import inspect

from click.testing import CliRunner, Result

from ssvgp.cli.main import cli

# Click 8.1 mixes the streams unless told not to; 8.2 keeps them apart and has no such argument.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def run(*arguments: object) -> Result:
    """What `ssvgp` answers to these arguments."""
    return CliRunner(**APART).invoke(cli, [str(one) for one in arguments])


def said(result: Result) -> str:
    """All that it wrote, to either stream."""
    return result.stdout + result.stderr
