"""Named places in a vector of unknowns: stretches of one number for each active input, then single slots.

The evidence climbs z = (log theta, log scale, log noise, log background), the paper's walk (theta, scale, noise) or
(mean, log sd, scale, noise). Whoever wants one of them asks for it by name: nobody else counts places.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Coordinates:
    """`size` active inputs with one number each in every stretch, and the slots behind them, in this order."""

    size: int
    slots: tuple[str, ...]
    stretches: tuple[str, ...] = ("theta",)

    @classmethod
    def of_length(cls, length: int, slots: tuple[str, ...], stretches: tuple[str, ...] = ("theta",)) -> Coordinates:
        """The coordinates of a vector of so many unknowns."""
        return cls((length - len(slots)) // len(stretches), slots, stretches)

    def __contains__(self, name: str) -> bool:
        return name in self.slots or (self.size > 0 and name in self.stretches)

    def __len__(self) -> int:
        return len(self.stretches) * self.size + len(self.slots)

    @cached_property
    def theta(self) -> slice:
        """Where the first stretch is: the inverse lengthscales, or what stands for them."""
        return slice(0, self.size)

    @cached_property
    def rest(self) -> slice:
        """Where all slots are."""
        return slice(len(self.stretches) * self.size, None)

    def stretch(self, name: str) -> slice:
        """Where the numbers of that name are, one for each active input."""
        start = self.stretches.index(name) * self.size
        return slice(start, start + self.size)

    def slot(self, name: str) -> int:
        """Where the one number of that name is."""
        return len(self.stretches) * self.size + self.slots.index(name)

    def vector(self, *stretches: np.ndarray, **slots: float) -> np.ndarray:
        """The unknowns (q,) from their parts: every stretch in order, every slot by name."""
        if len(stretches) != len(self.stretches) or set(slots) != set(self.slots):
            raise ValueError(f"unknowns are {self.stretches} and {self.slots}, not {len(stretches)} and {tuple(slots)}")
        return np.concatenate([*stretches, [slots[name] for name in self.slots]])

    def labels(self, thetas: tuple[Hashable, ...]) -> list[Hashable]:
        """A label for each place of one stretch and slots: that of the inverse lengthscale, or the slot's name."""
        return [*thetas, *self.slots]

    def surviving(self, keep: np.ndarray) -> np.ndarray:
        """Which unknowns (q,) are left of the inputs (size,) that stay."""
        return np.concatenate([np.tile(keep, len(self.stretches)), np.ones(len(self.slots), dtype=bool)])
