"""What an input outside a set would gain and cost through the kernel: the slope of log p in theta_j^2 at zero.

Prices of sets that are not visited rest on it (evidence/unvisited); what the search looks at is in
search/dictionary.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.gp.marginal import State
from ssvgp.search.scene import COLUMNS


@dataclass(frozen=True)
class Scores:
    """For all d inputs, through the kernel: `gain` and `cost`.

    slope of log p in theta_j^2 at zero = (gain_j - cost_j) / 2; under no effect gain is about cost times a chi-square.
    """

    gain: np.ndarray
    cost: np.ndarray


def screen(blocks: Sequence[np.ndarray], at: Sequence[State], scale: float) -> Scores:
    """Scores of all inputs against a member, summed over blocks X (m, d) with states. Cost m^2 d per block."""
    d = blocks[0].shape[1]
    total = np.zeros((2, d))
    for X, here in zip(blocks, at, strict=True):
        pull = np.outer(here.alpha, here.alpha)
        for start in range(0, d, COLUMNS):
            part = slice(start, start + COLUMNS)
            total[0, part] += scale * here.kernel.slopes(pull, X[:, part])
            total[1, part] += scale * here.kernel.slopes(here.precision, X[:, part])
    return Scores(total[0], total[1])
