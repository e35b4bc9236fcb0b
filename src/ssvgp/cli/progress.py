"""Progress of a fit: one line that is kept up to date on a terminal, a line for each phase elsewhere."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from ssvgp.cli.voice import Voice
from ssvgp.tables.columns import plain

BEAT = 0.5  # seconds between two looks at the clock
SHOWN = 4  # inputs of the best set that are named


class Progress:
    """Hears the reports of a fit; `names_of` gives the names by which reports count inputs, once one is needed."""

    def __init__(self, voice: Voice, names_of: Callable[[], Sequence[str]]) -> None:
        self._voice, self._names_of = voice, names_of
        self._names: Sequence[str] | None = None
        self._start = time.monotonic()
        self._said, self._reported_at, self._left = "starting", self._start, None
        self._printed = ""
        self._over = threading.Event()
        self._beat = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Progress:
        if self._voice.live:
            self._beat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._voice.live:
            self._beat.join()
            click.echo("\r\x1b[2K", nl=False, err=True)

    def __call__(self, event: Any) -> None:
        """Take in one report."""
        if self._voice.quiet:
            return
        self._said = self._text(event)
        self._left, self._reported_at = getattr(event, "seconds_left", None), time.monotonic()
        if self._voice.live:
            self._draw()
        elif self._said != self._printed and getattr(event, "member", "all") == "all":  # where a phase ends
            self._printed = self._said
            self._voice.step(self._line())

    def _text(self, event: Any) -> str:
        """Phase, share done, number of sets, and the best of them."""
        parts = [str(getattr(event, "phase", "fit"))]
        fraction = getattr(event, "fraction", None)
        if fraction is not None:
            parts[0] += f" {100.0 * fraction:.0f}%"
        visited = getattr(event, "visited", None)
        if visited:
            parts.append(f"{visited} sets")
        best = getattr(event, "best", None)
        if best is not None:
            parts.append(f"best: {self._named(best)}")
        return ", ".join(parts)

    def _named(self, best: Sequence[int]) -> str:
        if self._names is None:
            self._names = self._names_of()
        names = [plain(self._names[j]) for j in best[:SHOWN]]
        more = [f"{len(best) - SHOWN} more"] if len(best) > SHOWN else []
        return " + ".join(names + more) or "no input"

    def _line(self) -> str:
        now = time.monotonic()
        line = f"[{duration(now - self._start)}] {self._said}"
        if self._left is None:
            return line
        return f"{line}, about {duration(max(0.0, self._left - (now - self._reported_at)))} left"

    def _run(self) -> None:
        while not self._over.wait(BEAT):
            self._draw()

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns
        click.echo("\r\x1b[2K" + self._line()[: width - 1], nl=False, err=True)


def duration(seconds: float) -> str:
    """Seconds for a person: 8.2 s, 42 s, 2 min 05 s, 1 h 02 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if whole < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
