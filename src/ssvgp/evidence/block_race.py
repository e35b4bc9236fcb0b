"""A race: members are scored on common blocks of rows, and those clearly behind drop out.

On the same blocks the difference of two members varies far less than either score. More blocks are drawn only while
the leaders are not separated, and members that are beaten cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ssvgp.run.workers import SERIAL, Workers

SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Standing:
    """How a race of k members ended.

    `behind` (k,) is the mean over blocks of the nats by which a member lies behind the winner, `error` (k,) the
    standard error of that, both from the blocks that the two have in common; `running` (k,) says who was not beaten.
    """

    behind: np.ndarray
    error: np.ndarray
    running: np.ndarray
    blocks: int


def race(
    score: Callable[[int, np.ndarray], float],
    members: int,
    blocks: Iterable[np.ndarray],
    least: int,
    margin: float,
    workers: Workers = SERIAL,
) -> Standing:
    """Score members on blocks of rows until one is left or blocks run out.

    After `least` blocks a member drops out when its mean difference to the leader exceeds `SURE` standard errors, and
    its total difference on these blocks exceeds `margin` nats.
    """
    table = np.full((members, 0), np.nan)
    running = np.ones(members, dtype=bool)
    for rows in blocks:
        alive = np.flatnonzero(running)
        column = np.full((members, 1), np.nan)
        column[alive, 0] = workers.map(score, [(int(i), rows) for i in alive])
        table = np.hstack([table, column])
        if table.shape[1] >= least:
            behind, error = _differences(table, running)
            shared = np.isfinite(table).sum(1)
            running &= ~((behind > SURE * error) & (behind * shared > margin))
            if running.sum() == 1:
                break
    behind, error = _differences(table, running)
    return Standing(behind, error, running, table.shape[1])


def _differences(table: np.ndarray, running: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean difference to the best of those running (k,) per block, and its standard error, on the blocks of both."""
    totals = np.where(running, np.nansum(table, axis=1), -np.inf)
    gap = table[int(np.argmax(totals))] - table
    count = np.isfinite(gap).sum(1)
    behind = np.nanmean(gap, axis=1)
    spread = np.nanstd(gap, axis=1, ddof=1) if table.shape[1] > 1 else np.full(len(gap), np.inf)
    return behind, np.where(behind == 0.0, 0.0, spread / np.sqrt(np.maximum(count, 1)))
