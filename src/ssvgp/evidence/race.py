"""Races between members: more rows only while the leaders are not separated.

All members are scored on the same random rows, or the same blocks of rows. The difference of two of them is then far
more certain than the total of either, since what makes a row hard to predict is hard for both. Members that fall behind
the leader by many standard errors of the difference, and by nats that matter, meet no further rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.evidence.logs import NEGLIGIBLE
from ssvgp.evidence.loo import LeaveOneOut, joined, total_difference
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.settings.regime import CHECKED_ROWS

FIRST_ROWS = CHECKED_ROWS  # of the first lap (B.3 compares members with the same active set on as many)
GROWTH = 3  # rows after a lap over rows before it
SURE = 3.0  # standard errors behind the leader from which a member meets no more rows, or blocks of rows

Score = Callable[[Sequence[int], np.ndarray], Sequence[LeaveOneOut]]


@dataclass(frozen=True)
class Race:
    """Scores by number of the members that were raced, their totals (k,) in that order, and the standard errors.

    `totals` are comparable: that of the leader from all its rows, the others from their difference to it on the rows
    they have in common. `errors` (k,) are the standard errors of these differences, zero for the leader.
    """

    scores: dict[int, LeaveOneOut]
    totals: np.ndarray
    errors: np.ndarray


def race(
    count: int,
    n: int,
    most: int,
    score: Score,
    select: Callable[[dict[int, LeaveOneOut]], Sequence[int]],
    rng: np.random.Generator,
) -> Race:
    """Race members 0 .. count - 1 over at most `most` of n rows, in laps that grow.

    `score` gives the densities of some members at some rows. `select` says after the first lap which members go on at
    all, and may leave out those that others stand for (B.3).
    """
    order = rng.permutation(n)[: min(most, n)]
    first = np.sort(order[:FIRST_ROWS])
    scores = dict(zip(range(count), score(range(count), first), strict=True))
    scores = {index: scores[index] for index in select(scores)}

    def meet(running: Sequence[int], lap: np.ndarray) -> list[int]:
        for index, more in zip(running, score(running, lap), strict=True):
            scores[index] = joined(scores[index], more)
        return _running(scores)

    _run(_running(scores), _laps(order, first.size), meet)
    return _result(scores)


def _run(
    running: Sequence[int], laps: Iterable[np.ndarray], meet: Callable[[Sequence[int], np.ndarray], list[int]]
) -> Sequence[int]:
    """The race itself: whoever still runs meets the next lap, which tells who runs on, until one is left."""
    for lap in laps:
        if len(running) < 2:
            break
        running = meet(running, lap)
    return running


def _laps(order: np.ndarray, done: int) -> Iterator[np.ndarray]:
    """Rows in laps that grow, after those that are done."""
    while done < order.size:
        lap = np.sort(order[done : done * GROWTH])
        yield lap
        done += lap.size


def _leader(scores: dict[int, LeaveOneOut]) -> int:
    """The best mean density among the members with the most rows; the first of equals."""
    most = max(one.rows.size for one in scores.values())
    return max((i for i, one in scores.items() if one.rows.size == most), key=lambda i: (scores[i].total, -i))


def _running(scores: dict[int, LeaveOneOut]) -> list[int]:
    """Members that have met all rows so far and are not clearly beaten by the leader."""
    leader, out = scores[_leader(scores)], []
    for index, one in scores.items():
        behind = total_difference(leader, one)
        if one.rows.size == leader.rows.size and behind.value <= max(SURE * behind.standard_error, NEGLIGIBLE):
            out.append(index)
    return out


def _result(scores: dict[int, LeaveOneOut]) -> Race:
    leader = scores[_leader(scores)]
    behind = [total_difference(leader, one) for one in scores.values()]
    return Race(
        scores,
        leader.total - np.array([one.value for one in behind]),
        np.array([one.standard_error for one in behind]),
    )


# --- on blocks of rows ------------------------------------------------------------------------------------------


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


def race_on_blocks(
    score: Callable[[int, np.ndarray], float],
    members: int,
    blocks: Iterable[np.ndarray],
    least: int,
    margin: float,
    workers: Executor = SERIAL,
) -> Standing:
    """Score members on blocks of rows until one is left or blocks run out.

    After `least` blocks a member drops out when its mean difference to the leader exceeds `SURE` standard errors, and
    its total difference on these blocks exceeds `margin` nats.
    """
    columns: list[np.ndarray] = []

    def meet(running: Sequence[int], rows: np.ndarray) -> list[int]:
        columns.append(np.full(members, np.nan))
        columns[-1][list(running)] = workers.map(score, [(i, rows) for i in running])
        if len(columns) < least:
            return list(running)
        table, alive = np.stack(columns, axis=1), np.isin(np.arange(members), running)
        behind, error = _differences(table, alive)
        beaten = (behind > SURE * error) & (behind * np.isfinite(table).sum(1) > margin)
        return [int(i) for i in np.flatnonzero(alive & ~beaten)]

    left = _run(range(members), blocks, meet)
    running = np.isin(np.arange(members), left)
    table = np.stack(columns, axis=1) if columns else np.zeros((members, 1))
    return Standing(*_differences(table, running), running, len(columns))


def _differences(table: np.ndarray, running: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean difference to the best of those running (k,) per block, and its standard error, on the blocks of both."""
    totals = np.where(running, np.nansum(table, axis=1), -np.inf)
    gap = table[int(np.argmax(totals))] - table
    count = np.isfinite(gap).sum(1)
    behind = np.nanmean(gap, axis=1)
    spread = np.nanstd(gap, axis=1, ddof=1) if table.shape[1] > 1 else np.full(len(gap), np.inf)
    return behind, np.where(behind == 0.0, 0.0, spread / np.sqrt(np.maximum(count, 1)))
