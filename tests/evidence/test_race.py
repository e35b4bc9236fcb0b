"""The race: common rows, differences more certain than totals, and no more rows for members that are beaten."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ssvgp.evidence import loo, race
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.records import Member, Parameters, Train

N = 3000


def known(densities: np.ndarray) -> tuple[race.Score, list[tuple[tuple[int, ...], int]]]:
    """A score that reads known log densities (k, n), and the record of who was asked for how many rows."""
    asked: list[tuple[tuple[int, ...], int]] = []

    def score(chosen: Sequence[int], rows: np.ndarray) -> list[LeaveOneOut]:
        asked.append((tuple(chosen), rows.size))
        nothing = np.zeros(rows.size)
        return [LeaveOneOut(rows, nothing, nothing, densities[i, rows], densities.shape[1]) for i in chosen]

    return score, asked


def run(densities: np.ndarray, most: int = N, seed: int = 0) -> tuple[race.Race, list[tuple[tuple[int, ...], int]]]:
    score, asked = known(densities)
    n = densities.shape[1]
    return race.race(densities.shape[0], n, most, score, list, np.random.default_rng(seed)), asked


def close_members(gaps: Sequence[float], spread: float = 0.1, n: int = N, seed: int = 0) -> np.ndarray:
    """Log densities (k, n): a common part with sd 2, and for each member its gap with sd `spread`."""
    rng = np.random.default_rng(seed)
    return rng.normal(-1.0, 2.0, n) - np.array(gaps)[:, None] + spread * rng.standard_normal((len(gaps), n))


def test_a_member_that_is_clearly_beaten_meets_the_first_rows_alone() -> None:
    found, asked = run(close_members([0.0, 1.0, 0.5]))
    assert asked == [((0, 1, 2), race.FIRST_ROWS)]
    assert np.argmax(found.totals) == 0


def test_members_that_are_not_separated_meet_all_rows() -> None:
    densities = close_members([0.0, 0.0, 1.0])
    found, asked = run(densities)
    assert sum(rows for who, rows in asked if who[:2] == (0, 1)) == N
    assert found.scores[2].rows.size == race.FIRST_ROWS
    assert found.totals[:2] == pytest.approx(densities[:2].sum(1))
    assert found.errors[:2] == pytest.approx(0.0)


def test_the_race_ends_at_the_rows_that_it_may_draw() -> None:
    found, asked = run(close_members([0.0, 0.0]), most=1700)
    assert sum(rows for _, rows in asked) == 1700
    assert all(one.rows.size == 1700 and np.all(np.diff(one.rows) > 0) for one in found.scores.values())


def test_members_that_were_left_behind_are_compared_by_differences_on_common_rows() -> None:
    densities = close_members([0.0, 0.0, 0.3])
    found, _ = run(densities)
    true = densities.sum(1) - densities[:2].sum(1).max()
    ours = found.totals - found.totals.max()
    assert abs(ours[2] - true[2]) < 5.0 * found.errors[2]
    assert found.errors[2] < 0.1 * found.scores[2].standard_error


def test_members_that_others_stand_for_do_not_run() -> None:
    score, asked = known(close_members([0.0, 0.0, 0.0]))
    found = race.race(3, N, N, score, lambda scores: [0, 2], np.random.default_rng(0))
    assert list(found.scores) == [0, 2]
    assert all(who == (0, 2) for who, _ in asked[1:])


@pytest.mark.parametrize("what", ["total", "difference"])
def test_estimates_lie_within_their_standard_errors_as_often_as_they_should(what: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(600)
    train = Train(X, (y - y.mean()) / y.std())
    members = [member(theta) for theta in ([1.5, 0.0], [1.0, 0.6])]
    whole = [loo.truncated(train, one, 20, 0.1) for one in members]
    part = sampled(whole, 150)
    draws = [part(np.random.default_rng(seed)) for seed in range(400)]
    if what == "total":
        errors = [(left.total - whole[0].total) / left.standard_error for left, _ in draws]
    else:
        gaps = [loo.total_difference(left, right) for left, right in draws]
        true = whole[0].total - whole[1].total
        errors = [(gap.value - true) / gap.standard_error for gap in gaps]
    # binomial sd of the share over 400 draws is 0.023 at 0.68 and 0.011 at 0.95; skew makes normal shares approximate
    assert np.mean(np.abs(errors) < 1.0) == pytest.approx(0.68, abs=0.1)
    assert np.mean(np.abs(errors) < 2.0) == pytest.approx(0.95, abs=0.05)


def member(theta: list[float]) -> Member:
    return Member(np.arange(2), Parameters(np.array(theta), 1.0, 0.1), kernel_named("se"), np.ones(2))


def sampled(whole: list[LeaveOneOut], count: int) -> Callable[[np.random.Generator], tuple[LeaveOneOut, LeaveOneOut]]:
    """Two members on the same random rows of a table whose densities are known at all rows."""

    def part(rng: np.random.Generator) -> tuple[LeaveOneOut, LeaveOneOut]:
        rows = loo.sample_rows(whole[0].n, count, rng)
        left, right = (
            LeaveOneOut(rows, one.mean[rows], one.variance[rows], one.log_density[rows], one.n) for one in whole
        )
        return left, right

    return part


def test_the_difference_of_members_that_are_alike_is_far_more_certain_than_their_totals() -> None:
    rows = loo.sample_rows(N, 500, np.random.default_rng(0))
    left, right = (LeaveOneOut(rows, rows, rows, one[rows], N) for one in close_members([0.0, 0.0]))
    assert loo.total_difference(left, right).standard_error < 0.1 * left.standard_error


def test_scores_on_two_samples_join_to_the_score_on_both() -> None:
    rng = np.random.default_rng(0)
    train = Train(rng.standard_normal((40, 2)), rng.standard_normal(40))
    of = member([1.0, 0.5])
    rows = np.sort(rng.permutation(40)[:20])
    first, second, both = (loo.truncated(train, of, 10, 0.1, part) for part in (rows[::2], rows[1::2], rows))
    found = loo.joined(first, second)
    assert np.array_equal(found.rows, both.rows)
    assert found.mean == pytest.approx(both.mean)
    assert found.variance == pytest.approx(both.variance)
    assert found.total == pytest.approx(both.total)
