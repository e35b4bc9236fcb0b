"""One table for all targets: standardised once, sent once, and known again by the worker that has seen it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssvgp.data.inputs import Inputs
from ssvgp.run.memo import Memo, digest

_LAST: dict[bytes, Memo] = {}  # what this process worked out of the last table that it saw


@dataclass(eq=False)
class SharedTable:
    """What every target needs of the table, and nothing that depends on y.

    `rows` (n, p) are standardised for all complete targets, with `inputs`; None where rows are weighed or repeat each
    other, since a target then has rows of its own. `X` (n, d) is there where such a target, or one with gaps, needs it.
    `weights` and `known` noise (n,) are None where none matter. `of_more`: the inputs are those of more rows than
    these, of which they are a sample, and hold for every target without gaps.
    """

    X: np.ndarray | None
    rows: Any
    inputs: Inputs
    weights: np.ndarray | None = None
    known: np.ndarray | None = None
    of_more: bool = False
    key: bytes = field(default=b"")

    def __post_init__(self) -> None:
        if not self.key and isinstance(self.rows, np.ndarray):
            self.key = digest(self.rows)

    def __sizeof__(self) -> int:
        """With its arrays: by this a backend sees that the table had better travel once."""
        arrays = (self.X, self.rows, self.inputs.kept, self.inputs.centre, self.inputs.spread)
        return object.__sizeof__(self) + sum(sys.getsizeof(one) for one in arrays if one is not None)

    def memo(self) -> Memo | None:
        """What this process has worked out of the rows; that of another table is let go."""
        if not self.key:
            return None
        if self.key not in _LAST:
            _LAST.clear()
            _LAST[self.key] = Memo()
        return _LAST[self.key]


def no_two_alike(X: np.ndarray) -> bool:
    """Whether no two rows of X (n, d) are equal: then no two are equal with any y beside them."""
    return len({(row + 0.0).tobytes() for row in X}) == len(X)
