"""What depends on a table alone, kept while several targets are fitted to it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

KEPT = 32  # results of a table: shapes, a matrix for each background, of all rows and of a part of them

Found = TypeVar("Found")


class Memo:
    """Results by what they are and by the content of the array that they were worked out of.

    By content, not by name: whoever asks with other rows gets what belongs to them. The oldest go first. Threads may
    ask at a time; at worst a result is worked out twice.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()

    def once(self, kind: Hashable, X: np.ndarray, work_out: Callable[[], Found]) -> Found:
        """What is kept of this kind for the numbers X (n, d), or is worked out now and kept."""
        key = (kind, X.shape, digest(X))
        if key not in self._found:
            self._found[key] = work_out()
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        found: Found = self._found[key]
        return found

    def __len__(self) -> int:
        return len(self._found)

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()  # a copy elsewhere starts empty


def digest(values: np.ndarray) -> bytes:
    """128 bits that are the same for equal numbers of the same type alone."""
    found = hashlib.blake2b(str(values.dtype).encode(), digest_size=16)
    found.update(np.ascontiguousarray(values).data)
    return found.digest()


def once(memo: Memo | None, kind: Hashable, X: np.ndarray, work_out: Callable[[], Found]) -> Found:
    """From the memo, or worked out where there is none."""
    return work_out() if memo is None else memo.once(kind, X, work_out)
