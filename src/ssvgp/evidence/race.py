"""A race between members by truncated leave-one-out density: more rows only while the leaders are not separated.

All members are scored on the same random rows. The difference of two of them is then far more certain than the total
of either, since what makes a row hard to predict is hard for both. Members that fall behind the leader by many standard
errors of the difference meet no further rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.evidence.loo import LeaveOneOut, joined, total_difference

FIRST_ROWS = 1000  # of the first lap (B.3 compares members with the same active set on as many)
GROWTH = 3  # rows after a lap over rows before it
BEATEN = 4.0  # standard errors behind the leader from which a member meets no more rows
NEGLIGIBLE = 12.0  # nats that the difference must amount to as well: below, the member may still carry weight

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
    done = first.size
    running = _running(scores, done)
    while done < order.size and len(running) > 1:
        lap = np.sort(order[done : done * GROWTH])
        for index, more in zip(running, score(running, lap), strict=True):
            scores[index] = joined(scores[index], more)
        done += lap.size
        running = _running(scores, done)
    return _result(scores)


def _leader(scores: dict[int, LeaveOneOut]) -> int:
    """The best mean density among the members with the most rows; the first of equals."""
    most = max(one.rows.size for one in scores.values())
    return max((i for i, one in scores.items() if one.rows.size == most), key=lambda i: (scores[i].total, -i))


def _running(scores: dict[int, LeaveOneOut], done: int) -> list[int]:
    """Members that have met all rows so far and are not clearly beaten by the leader."""
    leader = scores[_leader(scores)]
    out = []
    for index, one in scores.items():
        behind = total_difference(leader, one)
        if one.rows.size == done and behind.value <= max(BEATEN * behind.standard_error, NEGLIGIBLE):
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
