"""The ascent reaches known maxima, stops by nats, and pays little where curvature is inherited."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.evidence.ascent import Height, Objective, apart, climb

CENTRE = np.array([1.0, -2.0, 0.5, 3.0])


def precision(seed: int = 0) -> np.ndarray:
    """A precision matrix (4, 4) with curvatures from 0.3 to 30 along oblique axes."""
    axes, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))
    return (axes * np.array([0.3, 1.0, 5.0, 30.0])) @ axes.T


def quadratic(z: np.ndarray) -> Height:
    pull = precision() @ (CENTRE - z)
    return Height(-0.5 * float((CENTRE - z) @ pull), pull)


def banana(z: np.ndarray) -> Height:
    """A curved ridge along z_1 = z_0^2 with its maximum 7 at (1, 1)."""
    bend = z[1] - z[0] ** 2
    value = 7.0 - 0.5 * (1.0 - z[0]) ** 2 - 5.0 * bend**2
    return Height(float(value), np.array([1.0 - z[0] + 20.0 * bend * z[0], -10.0 * bend]))


def cold(size: int) -> np.ndarray:
    return np.diag(np.full(size, 0.2))


def counted(objective: Objective) -> tuple[Objective, list[np.ndarray]]:
    seen: list[np.ndarray] = []

    def record(z: np.ndarray) -> Height:
        seen.append(z.copy())
        return objective(z)

    return record, seen


def test_a_concave_quadratic_is_climbed_to_its_maximum() -> None:
    top = climb(quadratic, np.zeros(4), cold(4), tolerance=1e-8)
    assert top.value == pytest.approx(0.0, abs=1e-6)
    assert np.abs(top.z - CENTRE).max() < 1e-3
    assert np.abs(top.gradient).max() < 1e-2


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (2.0, -2.0)])
def test_a_banana_is_climbed_to_its_maximum(start: tuple[float, float]) -> None:
    top = climb(banana, np.array(start), cold(2), tolerance=1e-8, most=200)
    assert top.value == pytest.approx(7.0, abs=1e-5)
    assert np.abs(top.z - 1.0).max() < 1e-2


@pytest.mark.parametrize("tolerance", [0.5, 0.05, 1e-4])
def test_the_ascent_stops_within_the_tolerance_in_nats_and_not_much_later(tolerance: float) -> None:
    exact = np.linalg.inv(precision())
    direction = np.linalg.cholesky(exact) @ np.full(4, 0.5)  # a quarter-nat gain for each of four directions, at 1
    below = CENTRE + direction * np.sqrt(1.9 * tolerance)  # 0.95 tolerance below the top
    above = CENTRE + direction * np.sqrt(2.1 * tolerance)
    assert quadratic(below)[0] == pytest.approx(-0.95 * tolerance)
    ended = climb(quadratic, below, exact, tolerance)
    assert ended.evaluations == 1
    assert ended.value + ended.promised == pytest.approx(0.0, abs=1e-9)  # what was not walked is counted
    assert climb(quadratic, above, exact, tolerance).evaluations > 1


@pytest.mark.parametrize("tolerance", [0.05, 0.005])
def test_a_cold_start_ends_within_a_few_tolerances_of_the_top(tolerance: float) -> None:
    # The gain still promised is judged by the curvature met so far; a bent ridge hides more than a straight one.
    straight = climb(quadratic, np.full(4, -1.0), cold(4), tolerance, most=200)
    bent = climb(banana, np.full(2, -1.0), cold(2), tolerance, most=200)
    assert 0.0 - straight.value < 4.0 * tolerance
    assert 7.0 - bent.value < 10.0 * tolerance


def test_an_inherited_exact_curvature_takes_two_evaluations_where_a_cold_start_takes_many() -> None:
    start = CENTRE + 0.5
    inherited = climb(quadratic, start, np.linalg.inv(precision()), tolerance=1e-6)
    fresh = climb(quadratic, start, cold(4), tolerance=1e-6)
    assert inherited.evaluations <= 2
    assert inherited.value == pytest.approx(0.0, abs=1e-9)
    assert fresh.evaluations > 3 * inherited.evaluations


def test_the_curvature_picked_up_on_the_way_becomes_that_of_a_quadratic() -> None:
    top = climb(quadratic, np.zeros(4), cold(4), tolerance=1e-12, most=200)
    exact = np.linalg.inv(precision())
    assert np.abs(top.inverse_hessian - exact).max() < 0.2 * np.abs(exact).max()
    assert np.linalg.eigvalsh(top.inverse_hessian).min() > 0


def test_curvature_of_the_places_spares_steps_and_a_wrong_inherited_one_does_no_harm() -> None:
    def curved(z: np.ndarray) -> Height:
        return Height(*quadratic(z)[:2], precision())

    start, wrong = np.full(4, -0.2), 50.0 * np.eye(4)
    known = climb(curved, start, wrong, tolerance=1e-6, longest_step=10.0)
    assert known.evaluations == 2
    assert np.abs(known.z - CENTRE).max() < 1e-9
    assert climb(quadratic, start, wrong, tolerance=1e-6, longest_step=10.0).evaluations > 4


def test_what_the_last_step_met_corrects_a_curvature_that_is_wrong() -> None:
    """Curvature ten times too large would creep: the step along which it was wrong is made good at once."""

    def curved(z: np.ndarray) -> Height:
        return Height(*quadratic(z)[:2], 10.0 * precision())

    found = climb(curved, CENTRE + np.array([0.5, 0.0, 0.0, 0.0]), np.eye(4), tolerance=1e-6)
    assert np.abs(found.z - CENTRE).max() < 0.01
    assert found.evaluations < 15


def test_a_cliff_of_minus_infinity_is_backed_away_from() -> None:
    def cliff(z: np.ndarray) -> Height:
        if z[0] > 1.0:
            return Height(-np.inf, np.full(2, np.nan))
        return quadratic_2(z)

    def quadratic_2(z: np.ndarray) -> Height:
        return Height(-5.0 * float((z - 0.9) @ (z - 0.9)), -10.0 * (z - 0.9))

    objective, seen = counted(cliff)
    top = climb(objective, np.zeros(2), np.eye(2), tolerance=1e-6)
    assert any(z[0] > 1.0 for z in seen)  # the cliff was met
    assert np.isfinite(top.value)
    assert np.abs(top.z - 0.9).max() < 0.01


def test_an_objective_that_is_minus_infinity_all_around_ends_where_it_began() -> None:
    start = np.array([0.3, 0.4])

    def pit(z: np.ndarray) -> Height:
        return Height(1.0, np.ones(2)) if np.array_equal(z, start) else Height(-np.inf, np.zeros(2))

    top = climb(pit, start, np.eye(2))
    assert np.array_equal(top.z, start)
    assert top.value == 1.0


def test_no_more_evaluations_are_spent_than_allowed_and_all_are_counted() -> None:
    objective, seen = counted(banana)
    top = climb(objective, np.array([-1.2, 1.0]), cold(2), tolerance=1e-12, most=9)
    assert top.evaluations == len(seen) == 9


def test_no_step_is_longer_than_allowed() -> None:
    objective, seen = counted(quadratic)
    climb(objective, np.full(4, -20.0), np.eye(4), longest_step=1.5, most=30)
    assert np.abs(np.diff(seen, axis=0)[0]).max() <= 1.5 + 1e-12


def test_the_value_never_falls_below_the_start() -> None:
    for seed in range(20):
        start = 3.0 * np.random.default_rng(seed).standard_normal(2)
        assert climb(banana, start, 10.0 * np.eye(2), most=15).value >= banana(start)[0]


def test_an_ascent_that_comes_to_a_known_summit_ends_there_and_another_is_not_disturbed() -> None:
    whole = climb(banana, np.array([-1.2, 1.0]), cold(2), tolerance=1e-8, most=200)
    short = climb(banana, np.array([-1.2, 1.0]), cold(2), tolerance=1e-8, most=200, known=np.ones(2))
    assert short.evaluations < whole.evaluations
    assert not apart(short.z, whole.z)
    elsewhere = climb(banana, np.array([-1.2, 1.0]), cold(2), tolerance=1e-8, most=200, known=np.full(2, 9.0))
    assert elsewhere.z == pytest.approx(whole.z, abs=0.0)


def test_where_nothing_is_left_to_climb_there_is_one_summit() -> None:
    # the empty set of labels has no parameter: a part of the rows and all rows have the same mode of it
    assert not apart(np.empty(0), np.empty(0))
