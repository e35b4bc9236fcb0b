"""The race: who drops out, when it stops, and that the standard error of a difference is right."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.evidence.race import race_on_blocks


def scores(gaps: list[float], blocks: int, common: float = 30.0, own: float = 1.0, seed: int = 0) -> np.ndarray:
    """(members, blocks): a large part that all share, the gaps, and some noise of each member's own."""
    rng = np.random.default_rng(seed)
    shared = common * rng.standard_normal(blocks)
    return shared - np.array(gaps)[:, None] + own * rng.standard_normal((len(gaps), blocks))


def run(table: np.ndarray, least: int = 3, margin: float = 5.0) -> tuple:  # type: ignore[type-arg]
    asked = []

    def score(member: int, rows: np.ndarray) -> float:
        asked.append((member, int(rows[0])))
        return float(table[member, rows[0]])

    blocks = [np.array([b]) for b in range(table.shape[1])]
    return race_on_blocks(score, len(table), blocks, least, margin), asked


def test_a_clear_winner_ends_the_race_at_once() -> None:
    found, asked = run(scores([0.0, 20.0, 30.0], blocks=40))
    assert found.running.tolist() == [True, False, False]
    assert found.blocks == 3
    assert len(asked) == 9


def test_more_blocks_are_drawn_only_for_those_still_running() -> None:
    found, asked = run(scores([0.0, 40.0, 0.1], blocks=25))
    assert found.blocks == 25
    assert found.running.tolist() == [True, False, True]
    assert sum(member == 1 for member, _ in asked) <= 4
    assert sum(member == 0 for member, _ in asked) == 25


def test_equal_members_both_stay() -> None:
    found, _ = run(np.tile(scores([0.0], blocks=10), (2, 1)))
    assert found.running.all()
    assert found.behind.tolist() == [0.0, 0.0]


def test_a_small_but_certain_difference_is_no_reason_to_drop_out() -> None:
    found, _ = run(scores([0.0, 0.05], blocks=20, own=1e-4), margin=5.0)
    assert found.running.all()


def test_what_all_members_share_is_not_in_the_error() -> None:
    quiet = run(scores([0.0, 1.0], blocks=20, common=0.0), margin=1e9)[0]
    loud = run(scores([0.0, 1.0], blocks=20, common=1e4), margin=1e9)[0]
    assert loud.error == pytest.approx(quiet.error, rel=1e-6)
    assert loud.behind == pytest.approx(quiet.behind, rel=1e-6)


def test_the_standard_error_covers_the_truth_as_often_as_it_should() -> None:
    inside = 0
    for seed in range(300):
        found = run(scores([0.0, 1.5], blocks=12, seed=seed), margin=1e9)[0]
        first = int(np.argmin(found.behind))
        estimate = found.behind[1] - found.behind[0]
        inside += abs(estimate - 1.5) < 2.2 * found.error[1 - first]  # t with 11 degrees of freedom: 95%
    assert 270 <= inside <= 297
