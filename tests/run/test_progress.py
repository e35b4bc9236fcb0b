"""Estimates of what remains: by work done, by rounds that are planned, by the part that is done."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.run import progress
from ssvgp.run.progress import Event, Reporter, Work

WORK = {"growth": Work(10.0, 1.0), "moves": Work(30.0, 2.0), "averaging": Work(20.0, 1.0)}


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "now", found)
    return found


def reporter(events: list[Event]) -> Reporter:
    return Reporter(events.append, lambda: WORK)


def fit(told: Reporter, clock: Clock, seconds: float, operations: float) -> None:
    with told.fitting():
        clock.at += seconds
    told.fitted(operations)


def test_fits_and_looks_have_a_pace_each(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("growth")
    fit(told, clock, 5.0, 10.0)
    clock.at += 3.0
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 5.0 / 10.0 + 3.0 * 3.0)


def test_the_pace_is_that_of_operations_however_they_are_spread_over_fits(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("growth")
    fit(told, clock, 0.25, 0.5)  # a part of the rows: cheap, and little of what is to come
    fit(told, clock, 4.75, 9.5)
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 0.5)


def test_where_fits_took_more_than_was_foreseen_half_of_it_is_believed_of_later_ones(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("growth")
    fit(told, clock, 30.0, 30.0)
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 0.5 * (1.0 + 3.0))
    assert events[-1].fraction == pytest.approx(30.0 / 130.0)


def test_fits_of_several_threads_take_their_time_once(clock: Clock) -> None:
    told = reporter([])
    told.begin("growth")
    with told.fitting():
        clock.at += 1.0
        with told.fitting():
            clock.at += 2.0
        clock.at += 1.0
    told.fitted(10.0)
    events: list[Event] = []
    told.callback = events.append
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 0.4)


def test_phases_that_begin_anew_have_their_own_pace_of_fits_and_none_of_them_is_over(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    for name in WORK:
        told.begin(name)
        fit(told, clock, 1.0, 1.0)
        clock.at += WORK[name].looks
        told.end((), 0.0, 1)
    told.restart()
    told.begin("growth")
    fit(told, clock, 60.0, 10.0)
    clock.at += 1.0  # looks are as before: one second each
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 6.0 + 3.0)


def test_a_phase_comes_to_its_end_as_its_fits_are_made(clock: Clock) -> None:
    events: list[Event] = []
    told = Reporter(events.append, lambda: {"growth": Work(10.0)})
    told.begin("growth")
    for _ in range(3):
        fit(told, clock, 1.0, 10.0)
        told.report("one", (), 0.0, 1)
    assert [event.seconds_left for event in events] == pytest.approx([np.exp(-k) for k in (1.0, 2.0, 3.0)])


def test_rounds_of_a_loop_take_as_long_as_those_before(clock: Clock) -> None:
    events: list[Event] = []
    told = Reporter(events.append, lambda: {"moves": Work(30.0)})
    told.begin("moves")
    clock.at = 100.0
    told.plan(0, 8.0)
    clock.at = 103.0
    told.report("one", (), 0.0, 1)  # at the end of the first round: seven more
    assert events[-1].seconds_left == pytest.approx(21.0)
    told.plan(1, 3.0)
    clock.at = 105.0
    told.report("two", (), 0.0, 1)  # two rounds took five seconds
    assert events[-1].seconds_left == pytest.approx(5.0)


def test_a_part_that_is_known_is_believed(clock: Clock) -> None:
    events: list[Event] = []
    told = Reporter(events.append, lambda: {"averaging": Work(looks=1.0)})
    told.begin("averaging")
    clock.at = 2.0
    told.report("one", (), 0.0, 1, part=0.25)
    assert events[-1].seconds_left == pytest.approx(6.0) and events[-1].fraction == pytest.approx(0.25)


def test_a_phase_that_is_not_listed_is_reported_like_any_other(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("a proposer of one's own")
    fit(told, clock, 1.0, 20.0)
    told.report("one", (3,), -1.0, 1)
    told.end((3,), -1.0, 1)
    assert [event.phase for event in events] == ["a proposer of one's own"] * 2
    assert events[-1].seconds_left == pytest.approx(len(WORK))  # it was as long as a middling one


def test_the_share_that_is_done_never_falls_and_ends_at_all(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    for name in WORK:
        told.begin(name)
        for _ in range(3):
            fit(told, clock, 1.0, WORK[name].fits)
            told.report("one", (), 0.0, 1)
        told.end((), 0.0, 1)
    shares = [event.fraction for event in events]
    assert shares == sorted(shares) and shares[-1] == 1.0 and events[-1].seconds_left == 0.0


def test_without_a_listener_nothing_is_counted() -> None:
    told = Reporter(None)
    told.begin("growth")
    told.report("one", (), 0.0, 1)
    told.end((), 0.0, 1)
