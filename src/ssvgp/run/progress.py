"""What a callback hears during a fit: where it stands, the best so far, and what remains."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

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


class Work(NamedTuple):
    """What a phase takes: operations of fits, and looks, which are all else that takes time, in any unit."""

    fits: float = 0.0
    looks: float = 0.0

    def times(self, factor: float) -> Work:
        """So many times as much."""
        return Work(factor * self.fits, factor * self.looks)

    def and_also(self, other: Work) -> Work:
        """Both together."""
        return Work(self.fits + other.fits, self.looks + other.looks)


@dataclass
class _Phase:
    """Where a phase stands: since when, what was done of it, and what it has said about the rest."""

    began: float
    done: float = 0.0
    part: float = 0.0
    rounds: int = 0  # that a loop, which began at `looped`, has gone, and `more` that it expects, the present one too
    more: float = 0.0
    looped: float = 0.0

    def open_share(self, expected: Work) -> float:
        """The share of it that is still to come: it may be more than was expected, or less."""
        if self.part > 0.0:
            return 1.0 - self.part
        return math.exp(-self.done / expected.fits) if expected.fits else 1.0

    def known_seconds(self, at: float) -> float | None:
        """Seconds that it still takes by its own time, where it knows its part or its rounds."""
        if self.part > 0.0:
            return (at - self.began) * (1.0 - self.part) / self.part
        return (at - self.looped) * max(self.more - 1.0, 0.0) / (self.rounds + 1) if self.more > 0.0 else None


@dataclass
class Reporter:
    """Turns what happens into events, with an estimate of what remains.

    There are two paces, for the operations of fits and for looks, and each goes on as it has so far: which of the two
    takes the time differs by the table. `outlook` tells the work of each phase, in their order, as far as it can be
    known now; a phase itself may know better, by the rounds of a loop that it plans or by the part of it that is done.
    A phase that is not listed counts as a middling one.
    """

    callback: Callback | None
    outlook: Callable[[], Mapping[str, Work]] = dict
    spent: dict[str, float] = field(default_factory=dict)  # operations of fits in the phases that are over
    current: str = ""
    step: int = 0
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._started, self._fraction, self._looked = now(), 0.0, 0.0
        self._busy, self._since, self._in_fits = 0, 0.0, 0.0
        self.restart()

    def restart(self) -> None:
        """The phases begin anew, with fits at another pace; looks are the same as before."""
        self._done, self._met, self._foreseen, self._fits_before = 0.0, 0.0, 0.0, self._in_fits
        self._phase = _Phase(now())
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

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """The time inside is that of fits, once however many threads are at them."""
        with self.one_at_a_time:
            if self._busy == 0:
                self._since = now()
            self._busy += 1
        try:
            yield
        finally:
            with self.one_at_a_time:
                self._busy -= 1
                if self._busy == 0:
                    self._in_fits += now() - self._since

    def fitted(self, operations: float) -> None:
        """Fits took so many operations."""
        with self.one_at_a_time:
            self._phase.done += operations
            self._done += operations

    def report(
        self, member: str, best: tuple[int, ...], log_evidence: float, visited: int, part: float | None = None
    ) -> None:
        """Something was fitted; `part` is the share of the phase that is done, where it is known."""
        if self.callback is None:
            return
        with self.one_at_a_time:  # sets may be fitted by several threads
            self.step += 1
            self._phase.part = part or self._phase.part
            expected = self.outlook()
            own, at = _of(expected, self.current), now()
            open_share = self._phase.open_share(own)
            looked = self._looked + (1.0 - open_share) * own.looks
            known = self._phase.known_seconds(at)
            rest = self._later(expected) if known is not None else self._later(expected).and_also(own.times(open_share))
            left = (known or 0.0) + self._seconds(rest, looked, at)
            self.callback(self._event(member, best, log_evidence, visited, left))

    def end(self, best: tuple[int, ...], log_evidence: float, visited: int) -> None:
        """The phase is over."""
        self.spent[self.current] = self._phase.done
        if self.callback is not None:
            expected = self.outlook()
            own = _of(expected, self.current)
            self._looked += own.looks
            self._met, self._foreseen = self._met + self._phase.done, self._foreseen + own.fits
            left = self._seconds(self._later(expected), self._looked, now())
            self.callback(self._event("all", best, log_evidence, visited, left))

    def _seconds(self, work: Work, looked: float, at: float) -> float:
        """Seconds for so much work, each kind as fast as it was; after so many looks."""
        in_fits = self._in_fits + (at - self._since if self._busy else 0.0)
        fits = (in_fits - self._fits_before) * work.fits
        looks = (at - self._started - in_fits) * work.looks
        return (fits / self._done if self._done else math.inf if fits else 0.0) + (looks / looked if looked else 0.0)

    def _later(self, expected: Mapping[str, Work]) -> Work:
        """The work of the phases that come after this one.

        Fits that have taken more than was foreseen may go on to do so: half of it is believed.
        """
        names = list(expected)
        coming = names[names.index(self.current) + 1 :] if self.current in names else names
        work = all_of(expected[name] for name in coming if name not in self.spent)
        return Work(0.5 * (1.0 + self._met / self._foreseen) * work.fits, work.looks) if self._foreseen else work

    def _event(self, member: str, best: tuple[int, ...], log_evidence: float, visited: int, left: float) -> Event:
        spent = now() - self._started
        done = spent / (spent + left) if left else 1.0
        self._fraction = max(self._fraction, done)  # what was reported never falls
        seconds = left if done > LEAST else None
        return Event(self.current, member, self.step, visited, best, log_evidence, self._fraction, seconds)


def all_of(parts: Iterable[Work]) -> Work:
    """All of it together."""
    every = list(parts)
    return Work(sum(one.fits for one in every), sum(one.looks for one in every))


def _of(expected: Mapping[str, Work], phase: str) -> Work:
    """The work of a phase; a middling one where it is not listed."""
    return expected[phase] if phase in expected else all_of(expected.values()).times(1.0 / max(1, len(expected)))
