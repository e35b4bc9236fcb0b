"""What a report tells, worked out once: the selected inputs in order, their shares and pairs, and how to name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssvgp.report.page import name

NOTABLE = 0.01  # share of the variation from which a pair is worth a surface


@dataclass(frozen=True)
class Story:
    """A model with what its report needs more than once; `target` is its name, `notes` say what became of the table."""

    model: Any
    target: str
    notes: Sequence[str] = ()
    names: list[str] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)  # by falling share
    first: dict[int, float] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)
    pairs: list[tuple[int, int, float]] = field(default_factory=list)  # strongest first

    @property
    def y(self) -> str:
        return name(self.target) if self.target else "the target"

    @property
    def plain_y(self) -> str:
        return self.target or "target"

    def of(self, j: int) -> str:
        return name(self.names[j])


def story_of(model: Any, target: str, notes: Sequence[str]) -> Story:
    """The story of a fitted model."""
    names, shares = list(model.fitted_.names), model.effect_shares()
    indices = shares.indices.tolist()
    order = np.lexsort((-model.pip_[shares.indices], -shares.total))
    first = dict(zip(indices, shares.first.tolist(), strict=True))
    total = dict(zip(indices, shares.total.tolist(), strict=True))
    upper = [(float(shares.pairs[i, j]), i, j) for i in range(len(indices)) for j in range(i)]
    pairs = [(indices[i], indices[j], value) for value, i, j in sorted(upper, reverse=True) if value >= NOTABLE]
    return Story(model, target, tuple(notes), names, [indices[i] for i in order], first, total, pairs)
