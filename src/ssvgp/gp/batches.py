"""Work on many rows in batches of bounded memory, on one thread or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from joblib import Parallel, delayed

BATCH_BYTES = 2**26

Found = TypeVar("Found")


def pieces(count: int, step: int) -> Iterator[slice]:
    """Successive slices of `step` out of `count`."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True)
class Work:
    """How many threads work at a time, and the memory in bytes that all batches at work may take together."""

    n_jobs: int = 1
    batch_bytes: int | None = None  # None: `BATCH_BYTES` for each thread

    def over_batches(
        self, function: Callable[[slice], Found], count: int, bytes_each: int, multiple: int = 1
    ) -> list[Found]:
        """`function` of successive slices of `count` rows that take `bytes_each`, in order.

        Batches are a multiple of so many rows, and at least that. Memory is kept by smaller batches first, then by
        fewer threads.
        """
        whole = BATCH_BYTES if self.batch_bytes is None else self.batch_bytes
        most = min(BATCH_BYTES, whole)
        step = max(1, most // max(1, bytes_each * multiple)) * multiple
        threads = self.n_jobs if self.batch_bytes is None else min(self.n_jobs, whole // max(1, step * bytes_each))
        batches = list(pieces(count, step))
        if threads <= 1 or len(batches) < 2:
            return [function(at) for at in batches]
        return Parallel(n_jobs=threads, prefer="threads")(delayed(function)(at) for at in batches)
