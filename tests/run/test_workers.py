"""Workers: results by position, errors that reach the caller, tasks that hand out tasks."""

from __future__ import annotations

import threading
import time

import pytest

from ssvgp.run.workers import Workers


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs: int) -> None:
    def slow_if_even(i: int) -> int:
        time.sleep(0.002 * (i % 2 == 0))
        return i * i

    with Workers(n_jobs) as workers:
        assert workers.map(slow_if_even, [(i,) for i in range(9)]) == [i * i for i in range(9)]
        assert workers.map(slow_if_even, []) == []


def test_tasks_are_shared_between_threads() -> None:
    both = threading.Barrier(2, timeout=5.0)  # broken unless two threads are here at once
    with Workers(2) as workers:
        assert len(workers.map(lambda _: both.wait(), [(0,), (1,)])) == 2


def test_a_task_may_hand_out_tasks() -> None:
    with Workers(2) as workers:

        def outer(i: int) -> int:
            return sum(workers.map(lambda j: i * j, [(j,) for j in range(4)]))

        assert workers.map(outer, [(i,) for i in range(5)]) == [6 * i for i in range(5)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_reaches_the_caller_and_stops_the_rest(n_jobs: int) -> None:
    done = []

    def task(i: int) -> None:
        if i == 1:
            raise ArithmeticError("no")
        time.sleep(0.001)
        done.append(i)

    with Workers(n_jobs) as workers, pytest.raises(ArithmeticError, match="no"):
        workers.map(task, [(i,) for i in range(200)])
    assert len(done) < 200
