"""Worker processes that die, killed by the system or by someone: what is not done is started again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from joblib.externals.loky.process_executor import TerminatedWorkerError

Result = TypeVar("Result")


def despite_deaths(start: Callable[[], Iterator[Result]], left: Callable[[], int], what: str) -> Iterator[Result]:
    """The results of `start()`, which begins with what is left, and is called again where a worker process dies.

    As long as something gets done in between: what kills its worker twice in a row is an error.
    """
    stuck = 0
    while before := left():
        try:
            yield from start()
        except TerminatedWorkerError:
            stuck = 0 if left() < before else stuck + 1
            if stuck > 1:
                raise
            warnings.warn(f"a worker process died; {left()} {what} are started again", RuntimeWarning, stacklevel=3)
