"""Growth, pruning, pairs and swaps find what was put into the data."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from experiments import designs
from ssvgp.evidence.laplace import Block, Problem, fit
from ssvgp.gp.background import gram, repetition
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.model.priors import Candidate
from ssvgp.search.book import OPEN_STRENGTH, Ledger, add
from ssvgp.search.moves import drop_probes, empty_fit, expand, explore, grow, look, prune, rank, visit_every_set
from ssvgp.search.screen import Scores
from ssvgp.settings import Prior, SearchSettings

SETTINGS = SearchSettings()


def book(X: np.ndarray, y: np.ndarray, kernel: str = "se", blocks: int = 1) -> Ledger:
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    parts = tuple(Block(X[i::blocks], y[i::blocks]) for i in range(blocks))
    return Ledger(Problem(parts, kernel_named(kernel), Prior().for_data(y.size, X.shape[1])))


def additive(seed: int = 0, n: int = 100, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A wave, a line and a parabola, of inputs 2, 7 and 11."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 2]) + 0.7 * X[:, 7] + 0.6 * X[:, 11] ** 2 + 0.2 * rng.standard_normal(n)


# --- growth -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "blocks"), [("se", 1), ("matern52", 1), ("se", 2)])
def test_growth_finds_a_small_additive_truth(kernel: str, blocks: int) -> None:
    ledger = book(*additive(), kernel, blocks)
    start = empty_fit(ledger)
    found = grow(ledger, start, SETTINGS)
    assert found.candidate.active == (2, 7, 11)
    assert found.log_evidence > start.log_evidence + 30.0
    assert ledger.best() is found


def test_growth_on_noise_stays_empty() -> None:
    for seed in range(3):
        draw = designs.noise(seed, n=80, d=30)
        ledger = book(draw.X, draw.y)
        assert grow(ledger, empty_fit(ledger), SETTINGS).candidate.size == 0


def test_growth_stops_at_the_largest_size() -> None:
    ledger = book(*additive())
    found = grow(ledger, empty_fit(ledger), replace(SETTINGS, largest=1))
    assert 1 <= found.candidate.size <= 4  # one step, which may add several
    assert grow(ledger, found, replace(SETTINGS, largest=1)) is found


def test_growth_beside_a_background_has_a_limit_of_its_own() -> None:
    ledger = book(*additive())
    first = ledger.problem.blocks[0]
    dense = replace(first, grams={"linear": gram("linear", first.X, first.X)})
    ledger = Ledger(replace(ledger.problem, blocks=(dense,)))
    few = replace(SETTINGS, largest_beside=1)
    found = grow(ledger, empty_fit(ledger, "linear"), few)
    assert found.candidate.background == "linear"
    assert 1 <= found.candidate.size < 3  # inputs come several at a time, so that it may be passed once
    assert grow(ledger, empty_fit(ledger, "linear"), SETTINGS).candidate.size >= 3


def test_growth_never_lowers_the_evidence() -> None:
    ledger = book(*additive(seed=1))
    start = ledger.visit(empty_fit(ledger), Candidate((0, 2)))
    assert grow(ledger, start, SETTINGS).log_evidence >= start.log_evidence


def test_interactions_without_main_effects_are_found_thanks_to_pairs_only() -> None:
    draw = designs.interactions(0, n=150, d=30)
    ledger = book(draw.X, draw.y)
    assert set(grow(ledger, empty_fit(ledger), SETTINGS).candidate.active) == {0, 1, 2, 3}
    without = book(draw.X, draw.y)
    blind = grow(without, empty_fit(without), replace(SETTINGS, pair_fits=0))
    assert not {0, 1, 2, 3} <= set(blind.candidate.active)
    assert blind.log_evidence < ledger.best().log_evidence - 30.0


def test_pairs_are_looked_for_once_at_each_set() -> None:
    draw = designs.noise(0, n=60, d=15)
    ledger = book(draw.X, draw.y)
    grow(ledger, empty_fit(ledger), SETTINGS)
    assert Candidate(()) in ledger.paired
    visited = set(ledger.fits)
    grow(ledger, empty_fit(ledger), SETTINGS)
    assert set(ledger.fits) == visited


# --- ranks --------------------------------------------------------------------------------------------------


def test_ranks_hold_every_excluded_input_once_by_falling_strength() -> None:
    rng = np.random.default_rng(0)
    scores = Scores(rng.standard_normal(6), rng.uniform(0, 3, 6), np.array([1.0, 1.0, 0.0, -1.0, 1.0, 1.0]))
    order, strength = rank(scores, Candidate((1, 4)))
    assert sorted(order) == [0, 2, 3, 5]
    assert np.all(np.diff(strength[order]) <= 0)
    assert not np.isnan(strength[order]).any()


def test_the_strength_through_the_kernel_is_the_gain_of_the_best_random_effect() -> None:
    """max over rho of -1/2 log(1 + rho c) + 1/2 rho g / (1 + rho c), on a fine grid."""
    gain, cost = 9.0, 2.0
    rho = np.linspace(0.0, 20.0, 200_001)
    best = np.max(-0.5 * np.log1p(rho * cost) + 0.5 * rho * gain / (1 + rho * cost))
    _, strength = rank(Scores(np.zeros(1), np.array([gain]), np.array([cost])), Candidate(()))
    assert strength[0] == pytest.approx(best, abs=1e-6)


def test_a_look_scores_strong_inputs_first() -> None:
    ledger = book(*additive())
    scores, at = look(ledger, empty_fit(ledger))
    order, _ = rank(scores, Candidate(()))
    assert set(order[:3]) == {2, 7, 11}
    assert len(at) == 1


# --- pruning ------------------------------------------------------------------------------------------------


def test_pruning_drops_noise_and_keeps_the_truth() -> None:
    ledger = book(*additive())
    crowded = ledger.visit(empty_fit(ledger), Candidate((0, 1, 2, 5, 7, 11, 14, 19)))
    found = prune(ledger, crowded)
    assert found.candidate.active == (2, 7, 11)
    assert found.log_evidence > crowded.log_evidence + 5.0


def test_pruning_leaves_a_good_set_alone() -> None:
    ledger = book(*additive())
    good = ledger.visit(empty_fit(ledger), Candidate((2, 7, 11)))
    assert prune(ledger, good) is good


def test_pruning_noise_leads_to_nothing() -> None:
    draw = designs.noise(1, n=80, d=12)
    ledger = book(draw.X, draw.y)
    start = ledger.visit(empty_fit(ledger), Candidate((0, 3, 5)))
    smaller = prune(ledger, start)
    assert smaller.candidate.size < 2
    assert ledger.best().candidate.size == 0


def test_drops_are_ranked_by_the_likelihood_they_cost_not_by_the_size_of_theta() -> None:
    ledger = book(*additive())
    found = ledger.visit(empty_fit(ledger), Candidate((0, 2, 7, 11)))
    first = drop_probes(ledger, found)[0]
    assert first.candidate.active == (2, 7, 11)


# --- moves --------------------------------------------------------------------------------------------------


def correlated(seed: int = 0, n: int = 120, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Input 4 matters; input 9 resembles it (correlation 0.9)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 9] = 0.9 * X[:, 4] + np.sqrt(1 - 0.81) * X[:, 9]
    return X, np.sin(1.5 * X[:, 4]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)


def test_swaps_repair_a_wrong_input_that_resembles_the_right_one() -> None:
    ledger = book(*correlated())
    wrong = ledger.visit(empty_fit(ledger), Candidate((1, 9)))
    expand(ledger, wrong, replace(SETTINGS, width=0))  # no additions: drops and swaps alone
    assert Candidate((1, 4)) in ledger.fits
    assert ledger.best().candidate == Candidate((1, 4))


def test_no_swap_is_tried_for_inputs_that_resemble_nothing() -> None:
    ledger = book(*additive())
    found = ledger.visit(empty_fit(ledger), Candidate((2, 7, 11)))
    before = set(ledger.fits)
    expand(ledger, found, replace(SETTINGS, width=0))
    assert all(set(c.active) < {2, 7, 11} for c in set(ledger.fits) - before)


def test_exploration_ends_at_the_truth_from_a_wrong_start() -> None:
    ledger = book(*correlated())
    ledger.visit(empty_fit(ledger), Candidate((1, 6, 9)))
    explore(ledger, SETTINGS)
    assert ledger.best().candidate == Candidate((1, 4))
    top = ledger.best()
    assert top.candidate in ledger.expanded


def test_exploration_with_few_inputs_and_rows_visits_all_neighbours_of_the_best() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    ledger = book(X, 0.5 * X[:, 1] + rng.standard_normal(50))
    empty_fit(ledger)
    explore(ledger, replace(SETTINGS, reach=50.0))
    best = ledger.best().candidate
    assert {add(best, [j]) for j in range(5)} <= set(ledger.fits)


def test_every_set_is_visited_once_and_fitted_as_well_as_from_a_start_of_its_own() -> None:
    X, y = additive(n=60)
    ledger = book(X[:, [2, 7, 11, 0]], y)
    ledger.visit(empty_fit(ledger), Candidate((1,)))
    before = dict(ledger.fits)
    visit_every_set(ledger)
    every = [Candidate(active) for size in range(5) for active in combinations(range(4), size)]
    assert sorted(c.active for c in ledger.fits) == sorted(c.active for c in every)
    assert all(ledger.fits[candidate] is found for candidate, found in before.items())
    for candidate in every[1:]:
        start = np.append(np.full(candidate.size, np.log(0.3)), [0.5, -1.5])
        assert ledger.fits[candidate].summit.value > fit(ledger.problem, candidate, start).summit.value - 0.3


def test_pruning_moves_to_a_better_set_that_was_visited_before() -> None:
    ledger = book(*additive())
    start = empty_fit(ledger)
    large, true = ledger.visit(start, Candidate((0, 2, 7, 11))), ledger.visit(start, Candidate((2, 7, 11)))
    assert true.log_evidence > large.log_evidence
    assert prune(ledger, large) is true


def test_a_background_of_columns_that_repeat_each_other_is_found_however_strong_it_must_be() -> None:
    rng = np.random.default_rng(0)
    shapes = np.cumsum(rng.standard_normal((4, 50)), axis=1)  # four smooth curves: the fourth matters, and is faint
    amounts = rng.standard_normal((80, 4)) * np.array([10.0, 3.0, 1.0, 0.05])
    X = amounts @ shapes
    X = (X - X.mean(0)) / X.std(0)
    y = amounts[:, 3] / 0.05 + 0.05 * rng.standard_normal(80)
    y = (y - y.mean()) / y.std()
    grams = {"linear": gram("linear", X, X)}
    prior = Prior().for_data(80, 50, repetition(X))
    assert prior.log_background is not None and prior.log_background[1] > OPEN_STRENGTH
    found = empty_fit(Ledger(Problem((Block(X, y, grams),), kernel_named("se"), prior)), "linear")
    assert found.summit.z[0] < -3.0  # little noise is left
    timid = Problem((Block(X, y, grams),), kernel_named("se"), Prior().for_data(80, 50))
    assert found.log_evidence > empty_fit(Ledger(timid), "linear").log_evidence + 20.0
