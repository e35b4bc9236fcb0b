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


def listener(verbose: int, callback: Callback | None) -> Callback | None:
    """What hears the reports: printed lines, the callback, or both; None where nobody listens."""
    if not verbose:
        return callback

    def listen(event: Event) -> None:
        print(f"ssvgp: {event}", flush=True)
        if callback is not None:
            callback(event)

    return listen


def now() -> float:
    """Seconds on the clock that estimates are made by."""
    return time.perf_counter()


@dataclass
class _Phase:
    """Where a phase stands: since when, what was done of it, and what it has said about the rest."""

    began: float
    done: float = 0.0
    part: float = 0.0
    rounds: int = 0  # that a loop, which began at `looped`, has gone, and `more` that it expects, the present one too
    more: float = 0.0
    looped: float = 0.0

    def seconds_left(self, at: float, pace: float, expected: float) -> float:
        """Seconds that it still expects: by its own time where it knows its part or its rounds, else by its work."""
        if self.part > 0.0:
            return (at - self.began) * (1.0 - self.part) / self.part
        if self.more > 0.0:
            return (at - self.looped) * max(self.more - 1.0, 0.0) / (self.rounds + 1)
        return pace * expected * math.exp(-self.done / expected) if expected else 0.0  # it may be more or less


@dataclass
class Reporter:
    """Turns what happens into events, with an estimate of what remains.

    Work is counted in evaluations of the likelihood; each takes as long as it has taken so far. `outlook` tells the
    work of each phase, in their order, as far as it can be known now; a phase itself may know better, by the rounds of
    a loop that it plans or by the part of it that is done. A phase that is not listed counts as a middling one. One
    that is over counts as what was expected of it: looks and probes are no evaluations, and take their time as well.
    """

    callback: Callback | None
    outlook: Callable[[], Mapping[str, float]] = dict
    spent: dict[str, float] = field(default_factory=dict)  # work of the phases that are over
    current: str = ""
    step: int = 0
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._started, self._fraction = now(), 0.0
        self.restart()

    def restart(self) -> None:
        """The phases begin anew, at another pace."""
        self._again, self._done = now(), 0.0
        self._phase = _Phase(self._again)
        self.spent.clear()

    def begin(self, phase: str) -> None:
        """A phase begins: those before it are done, or were not needed."""
        self.current, self.step, self._phase = phase, 0, _Phase(now())

    def plan(self, rounds: int, more: float) -> None:
        """A loop of the phase has gone so many rounds and expects so many more, the one that begins now among them.

        They take as long each; none more ends the loop.
        """
        with self.one_at_a_time:
            if rounds == 0:
                self._phase.looped = now()
            self._phase.rounds, self._phase.more = rounds, more

    def report(
        self,
        member: str,
        best: tuple[int, ...],
        log_evidence: float,
        visited: int,
        part: float | None = None,
        work: float = 0.0,
    ) -> None:
        """Something was fitted by so much work; `part` is the share of the phase that is done, where it is known."""
        if self.callback is None:
            return
        with self.one_at_a_time:  # sets may be fitted by several threads
            self.step += 1
            expected = self.outlook()
            if part is not None:
                self._phase.part, work = part, part * _of(expected, self.current) - self._phase.done
            self._phase.done += work
            self._done += work
            at, pace = now(), self._pace()
            left = self._phase.seconds_left(at, pace, _of(expected, self.current))
            self.callback(self._event(member, best, log_evidence, visited, left + self._later(expected, pace)))

    def end(self, best: tuple[int, ...], log_evidence: float, visited: int) -> None:
        """The phase is over."""
        self.spent[self.current] = self._phase.done
        if self.callback is not None:
            expected = self.outlook()
            if self._phase.done > 0.0:
                self._done += _of(expected, self.current) - self._phase.done
            later = self._later(expected, self._pace())
            self.callback(self._event("all", best, log_evidence, visited, later))

    def _pace(self) -> float:
        """Seconds for a unit of work."""
        return (now() - self._again) / self._done if self._done > 0.0 else math.inf

    def _later(self, expected: Mapping[str, float], pace: float) -> float:
        """Seconds of the phases that come after this one."""
        names = list(expected)
        coming = names[names.index(self.current) + 1 :] if self.current in names else names
        work = sum(expected[name] for name in coming if name not in self.spent)
        return pace * work if work else 0.0

    def _event(self, member: str, best: tuple[int, ...], log_evidence: float, visited: int, left: float) -> Event:
        spent = now() - self._started
        done = spent / (spent + left) if left else 1.0
        self._fraction = max(self._fraction, done)  # what was reported never falls
        seconds = left if done > LEAST else None
        return Event(self.current, member, self.step, visited, best, log_evidence, self._fraction, seconds)


def _of(expected: Mapping[str, float], phase: str) -> float:
    """The work of a phase; a middling one where it is not listed."""
    return expected[phase] if phase in expected else sum(expected.values()) / max(1, len(expected))
