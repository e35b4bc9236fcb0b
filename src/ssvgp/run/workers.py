"""Threads that share a list of tasks: the one place where the package runs things side by side.

BLAS is pinned to one thread around every fit, so that `n_jobs` is the number of threads in all. Results are kept by
position, never by time of arrival: they do not depend on the number of threads.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController


class Executor(Protocol):
    """Whoever runs a list of tasks: these threads, or other machines. It is handed to stages, never kept in data."""

    @property
    def n_jobs(self) -> int:
        """How many tasks run at a time."""
        ...

    def map(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """[function(*a) for a in arguments], in any order and place, the results in this one."""
        ...


class Workers:
    """The calling thread and n_jobs - 1 others. Leave the `with` block to let them go.

    Tasks may ask the same workers again; what is asked from within a task is done by the thread that is on it.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs
        self._at_work = threading.local()
        self._pool = ThreadPoolExecutor(n_jobs - 1) if n_jobs > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)  # after an interrupt nobody waits for what still runs

    def map(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """[function(*a) for a in arguments], by all threads that are free."""
        if self._pool is None or len(arguments) < 2 or getattr(self._at_work, "now", False):
            return [function(*a) for a in arguments]
        tasks = _Tasks(function, arguments, self._at_work)
        others = [self._pool.submit(tasks.work) for _ in range(min(self.n_jobs, len(arguments)) - 1)]
        try:
            tasks.work()
        except BaseException:
            tasks.give_up()
            raise
        finally:
            # one that has not begun finds nothing to do: only those at work are waited for
            errors = [other.exception() for other in others if not other.cancel()]
        for error in errors:
            if error is not None:
                raise error
        return tasks.results


SERIAL = Workers(1)


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Pin BLAS to one thread: faster on small matrices, and rounding does not depend on their number."""
    return _controller().limit(limits=1, user_api="blas")


def keep_freed_memory() -> None:
    """Let the C library keep freed arrays of up to 32 MB instead of handing each back to the system.

    glibc learns from the size of what it frees, and until it has seen a large one a fit spends up to half of its time
    on pages that come and go. Elsewhere this is an allocation that is never touched.
    """
    large = np.empty(2**22 - 2**12)
    del large


class _Tasks:
    """Tasks that threads take one at a time, in order, each putting its result in its place."""

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], at_work: threading.local
    ) -> None:
        self._at_work = at_work
        self.results: list[Any] = [None] * len(arguments)
        self._function, self._arguments = function, arguments
        self._next, self._lock = 0, threading.Lock()

    def work(self) -> None:
        """Take tasks until none is left; after an error nobody takes a new one."""
        self._at_work.now = True
        try:
            while (at := self._take()) is not None:
                self.results[at] = self._function(*self._arguments[at])
        except BaseException:
            self.give_up()
            raise
        finally:
            self._at_work.now = False

    def give_up(self) -> None:
        """Leave what has not been taken."""
        with self._lock:
            self._next = len(self._arguments)

    def _take(self) -> int | None:
        with self._lock:
            at = self._next
            self._next += 1
        return at if at < len(self._arguments) else None
