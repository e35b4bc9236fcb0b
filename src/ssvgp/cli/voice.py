"""What a command says and where: answers on standard output, progress and notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from ssvgp.tables.columns import plain

OK, FAILED, WRONG_INPUT, NO_LIBRARY, INTERRUPTED = 0, 1, 2, 3, 130  # exit codes


class Interrupted(Exception):
    """A command was interrupted, and what it has done is kept; the message says where."""


@dataclass(frozen=True)
class Voice:
    """How to speak: not at all but for answers and errors, to a machine, or to a person."""

    quiet: bool = False
    as_json: bool = False

    @property
    def live(self) -> bool:
        """Whether lines on standard error may be written over."""
        return not self.quiet and sys.stderr.isatty()

    def step(self, text: str) -> None:
        """Say what is done now."""
        if not self.quiet:
            click.echo(plain(text), err=True)

    def note(self, text: str) -> None:
        """Say what was assumed or left out."""
        self.step(f"note: {text}")

    def answer(self, record: dict[str, Any], lines: Sequence[str]) -> None:
        """Give the result of a command: one JSON object, or lines for a person."""
        if self.as_json:
            click.echo(json.dumps(record, allow_nan=False))
        elif not self.quiet:
            click.echo("\n".join(plain(line) for line in lines))
