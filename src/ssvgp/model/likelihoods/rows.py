"""What a likelihood may know of the training rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Rows:
    """What a likelihood may know of the n training rows: targets y (n,), weights and known noise variances (n,).

    All in units of the standardised target; weights are all one, and known variances zero, where none were given.
    `exposure` (n,) is what a rate of counts is multiplied by, all one where none was given.
    """

    y: np.ndarray
    weights: np.ndarray
    known: np.ndarray
    exposure: np.ndarray = field(default_factory=lambda: np.ones(1))

    @property
    def plain(self) -> bool:
        """Whether all rows count once and none has noise of its own."""
        return bool((self.weights == 1.0).all() and (self.known == 0.0).all())


def standardised(values: np.ndarray) -> np.ndarray:
    """Values (n,) less their mean, over their standard deviation where they have one."""
    gap = values - values.mean()
    spread = float(gap.std())
    return gap / spread if spread > 0.0 else gap
