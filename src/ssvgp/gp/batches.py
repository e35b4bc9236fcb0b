"""Work on many rows in batches of bounded memory, on one thread or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ssvgp.run.workers import Workers
from ssvgp.settings.machine import HELD, LARGE

BATCH_BYTES = 8 * LARGE  # of one batch

Found = TypeVar("Found")


def pieces(count: int, step: int) -> Iterator[slice]:
    """Successive slices of `step` out of `count`."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True)
class Work:
    """How many threads work at a time, and the memory in bytes that a prediction may take; None for no limit.

    A quarter of it goes to the batches at work, a quarter to the rows that are put in order; the rest is for what is
    kept of the training rows and for the answer.
    """

    n_jobs: int = 1
    memory: int | None = None

    def sorted_numbers(self) -> int:
        """Numbers of the new rows that are put in order at a time: there are up to four copies of them."""
        return HELD if self.memory is None else min(HELD, self.memory // (4 * 4 * 8))

    def over_batches(
        self, function: Callable[[slice], Found], count: int, bytes_each: int, multiple: int = 1
    ) -> list[Found]:
        """`function` of successive slices of `count` rows that take `bytes_each`, in order.

        Batches are a multiple of so many rows, and at least that. Memory is kept by smaller batches first, then by
        fewer threads, so that batches do not depend on the number of threads.
        """
        room = None if self.memory is None else self.memory // 4
        most = BATCH_BYTES if room is None else min(BATCH_BYTES, room)
        step = max(1, most // max(1, bytes_each * multiple)) * multiple
        threads = self.n_jobs if room is None else min(self.n_jobs, room // max(1, step * bytes_each))
        batches = list(pieces(count, step))
        if threads <= 1 or len(batches) < 2:
            return [function(at) for at in batches]
        with Workers(threads) as workers:
            return workers.map(function, [(at,) for at in batches])
