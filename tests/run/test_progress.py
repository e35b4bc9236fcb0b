"""Estimates of what remains: by work done, by rounds that are planned, by the part that is done."""

from __future__ import annotations

import pytest

from ssvgp.run import progress
from ssvgp.run.progress import Event, Reporter

WORK = {"growth": 10.0, "moves": 30.0, "averaging": 20.0}


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


def test_later_phases_take_as_long_for_their_work_as_earlier_ones(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("growth")
    clock.at = 5.0
    told.report("one", (), 0.0, 1, work=20.0)  # more than was expected of it, and so it will be with the others
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 5.0 / WORK["growth"])
    assert events[-1].fraction >= 5.0 / 30.0  # what was reported before never falls


def test_phases_that_begin_anew_have_their_own_pace_and_none_of_them_is_over(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    for name in WORK:
        told.begin(name)
        clock.at += 1.0
        told.report("one", (), 0.0, 1, work=1.0)
        told.end((), 0.0, 1)
    told.restart()
    told.begin("growth")
    clock.at += 6.0
    told.report("one", (), 0.0, 1, work=1.0)
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(50.0 * 6.0 / WORK["growth"])


def test_a_phase_that_was_not_needed_does_not_count_as_done(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("growth")
    clock.at = 5.0
    told.report("one", (), 0.0, 1, work=10.0)
    told.end((), 0.0, 1)
    told.begin("moves")
    told.end((), 0.0, 1)
    assert events[-1].seconds_left == pytest.approx(20.0 * 5.0 / 10.0)


def test_rounds_of_a_loop_take_as_long_as_those_before(clock: Clock) -> None:
    events: list[Event] = []
    told = Reporter(events.append, lambda: {"moves": 30.0})
    told.begin("moves")
    clock.at = 100.0
    told.plan(0, 8.0)
    clock.at = 103.0
    told.report("one", (), 0.0, 1, work=1.0)  # at the end of the first round: seven more
    assert events[-1].seconds_left == pytest.approx(21.0)
    told.plan(1, 3.0)
    clock.at = 105.0
    told.report("two", (), 0.0, 1, work=1.0)  # two rounds took five seconds
    assert events[-1].seconds_left == pytest.approx(5.0)


def test_a_part_that_is_known_is_believed(clock: Clock) -> None:
    events: list[Event] = []
    told = Reporter(events.append, lambda: {"averaging": 1.0})
    told.begin("averaging")
    clock.at = 2.0
    told.report("one", (), 0.0, 1, part=0.25)
    assert events[-1].seconds_left == pytest.approx(6.0) and events[-1].fraction == pytest.approx(0.25)


def test_a_phase_that_is_not_listed_is_reported_like_any_other(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    told.begin("a proposer of one's own")
    clock.at = 1.0
    told.report("one", (3,), -1.0, 1, work=10.0)
    told.end((3,), -1.0, 1)
    assert [event.phase for event in events] == ["a proposer of one's own"] * 2
    assert events[-1].seconds_left == pytest.approx(len(WORK))  # it counted as a middling one


def test_the_share_that_is_done_never_falls_and_ends_at_all(clock: Clock) -> None:
    events: list[Event] = []
    told = reporter(events)
    for name in WORK:
        told.begin(name)
        for _ in range(3):
            clock.at += 1.0
            told.report("one", (), 0.0, 1, work=WORK[name])
        told.end((), 0.0, 1)
    shares = [event.fraction for event in events]
    assert shares == sorted(shares) and shares[-1] == 1.0 and events[-1].seconds_left == 0.0


def test_without_a_listener_nothing_is_counted() -> None:
    told = Reporter(None)
    told.begin("growth")
    told.report("one", (), 0.0, 1, work=1.0)
    told.end((), 0.0, 1)
