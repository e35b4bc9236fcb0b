"""What a callback hears during a fit: where it stands, the best so far, and what remains."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LEAST = 0.03  # share of a fit that must be done before what remains is estimated


@dataclass(frozen=True)
class Event:
    """One report: `step` counts within the phase, `fraction` is the share of the fit that is done, 0 to 1.

    `member` names what was just fitted, `best` are the inputs of the best set so far with its log evidence (method
    "paper": its ELBO). `seconds_left` is an estimate, None while too little is known.
    """

    phase: str
    member: str
    step: int
    visited: int
    best: tuple[int, ...]
    log_evidence: float
    fraction: float
    seconds_left: float | None

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", about {self.seconds_left:.0f} s left"
        return (
            f"{self.phase}, step {self.step} ({self.member}): best of {self.visited} sets has {len(self.best)} inputs,"
            f" log evidence {self.log_evidence:.1f}; {100.0 * self.fraction:.0f}%{left}"
        )


Callback = Callable[[Event], None]


@dataclass
class Reporter:
    """Turns what happens into events. `shares` are the usual parts of the time of each phase, in their order.

    How many steps a phase will take is not known beforehand: within it the share done rises by 1 - exp(-step / usual).
    """

    callback: Callback | None
    shares: Mapping[str, float]
    usual: float = 20.0
    started: float = field(default_factory=time.perf_counter)
    current: str = ""
    step: int = 0
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, phase: str) -> None:
        """A phase begins: those before it are done, or were not needed."""
        self.current, self.step = phase, 0

    def heard(
        self, member: str, best: tuple[int, ...], log_evidence: float, visited: int, part: float | None = None
    ) -> None:
        """Something was fitted; `part` is the share of the phase that is done, where it is known."""
        if self.callback is None:
            return
        with self.one_at_a_time:  # sets may be fitted by several threads
            self.step += 1
            done = self._done(1.0 - math.exp(-self.step / self.usual) if part is None else part)
            self.callback(self._event(member, best, log_evidence, visited, done))

    def end(self, best: tuple[int, ...], log_evidence: float, visited: int) -> None:
        """The phase is over."""
        if self.callback is not None:
            self.callback(self._event("all", best, log_evidence, visited, self._done(1.0)))

    def _done(self, part: float) -> float:
        names = list(self.shares)
        at = names.index(self.current)
        total = sum(self.shares.values())
        return (sum(self.shares[name] for name in names[:at]) + part * self.shares[self.current]) / total

    def _event(self, member: str, best: tuple[int, ...], log_evidence: float, visited: int, done: float) -> Event:
        spent = time.perf_counter() - self.started
        left = spent * (1.0 - done) / done if done > LEAST else None
        return Event(self.current, member, self.step, visited, best, log_evidence, done, left)
