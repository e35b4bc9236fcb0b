"""Clouds and the census against the sum over every subset, written out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy.special import logsumexp

from ssvgp.evidence.unvisited.census import Priced, census
from ssvgp.evidence.unvisited.cloud import LARGEST_FACTOR, MOST_IDLE, cloud, symmetric_polynomials
from ssvgp.model.priors import log_set_prior
from ssvgp.settings import Prior

D = 6
PRIOR = Prior(a=1.0, b=2.0)


def subsets(items: list[int]) -> list[tuple[int, ...]]:
    return [group for size in range(len(items) + 1) for group in combinations(items, size)]


def table(scales: int, seed: int = 0) -> np.ndarray:
    """Bayes factors (scales, d) below the largest that is believed."""
    return np.random.default_rng(seed).uniform(0.05, 0.95 * LARGEST_FACTOR, (scales, D))


def test_symmetric_polynomials_are_the_sums_over_all_groups() -> None:
    x = table(3)
    groups = [[list(g) for g in combinations(range(D), m)] for m in range(D + 1)]
    expected = np.array([[sum(np.prod(row[g]) for g in of_size) for of_size in groups] for row in x])
    assert symmetric_polynomials(x, D) == pytest.approx(expected)
    assert symmetric_polynomials(x, 2) == pytest.approx(expected[:, :3])


def test_symmetric_polynomials_of_many_inputs_are_the_coefficients_of_the_product() -> None:
    x = np.random.default_rng(3).uniform(0.0, 0.2, 37)
    expected = np.ones(1)
    for each in x:
        expected = np.convolve(expected, [1.0, each])
    for most in (1, 5, MOST_IDLE, 37):
        assert symmetric_polynomials(x[None], most)[0] == pytest.approx(expected[: most + 1])
    assert symmetric_polynomials(x[None], 0)[0] == pytest.approx([1.0])


def test_symmetric_polynomials_pass_over_inputs_that_may_not_join() -> None:
    assert symmetric_polynomials(np.array([[2.0, 0.0, 0.5]]), 2)[0] == pytest.approx([1.0, 2.5, 1.0])


def test_a_cloud_is_the_sum_over_all_groups_of_idle_inputs() -> None:
    factors, shares, active = table(3), np.array([0.2, 0.5, 0.3]), [1, 4]
    factors[:, active] = 0.0
    outside = [0, 2, 3, 5]
    weights = {
        group: np.exp(log_set_prior(2 + len(group), D, PRIOR) - log_set_prior(2, D, PRIOR))
        * float(shares @ np.prod(factors[:, list(group)], axis=1))
        for group in subsets(outside)
    }
    total = sum(weights.values())
    found = cloud(factors, shares, 2, PRIOR)
    assert found.log_mass == pytest.approx(np.log(total))
    joined = [sum(w for group, w in weights.items() if j in group) / total for j in range(D)]
    assert found.joined == pytest.approx(np.array(joined), abs=1e-12)


def test_a_cloud_around_nothing_that_can_join_is_the_set_itself() -> None:
    found = cloud(np.zeros((2, D)), np.array([0.5, 0.5]), 3, PRIOR)
    assert found.log_mass == pytest.approx(0.0)
    assert np.all(found.joined == 0.0)


def test_factors_that_no_idle_input_has_are_cut_off() -> None:
    shares = np.ones(1)
    large, cut = np.full((1, D), 1e6), np.full((1, D), LARGEST_FACTOR)
    assert cloud(large, shares, 1, PRIOR).log_mass == pytest.approx(cloud(cut, shares, 1, PRIOR).log_mass)


def test_joined_probabilities_stay_probabilities_with_thousands_of_inputs() -> None:
    d = 3000
    factors = np.random.default_rng(0).uniform(0.0, LARGEST_FACTOR, (1, d))
    found = cloud(factors, np.ones(1), 2, Prior().for_data(100, d))
    assert np.all((found.joined >= 0.0) & (found.joined <= 1.0))
    assert 0.0 < found.joined.sum() <= MOST_IDLE


# --- the census ---------------------------------------------------------------------------------------------


def made_up(scales: int, seed: int) -> tuple[Callable[[tuple[int, ...]], float], Callable[[tuple[int, ...]], Priced]]:
    """An evidence in which inputs act independently given the slab scale, and what weighing a set would tell."""
    log_x = np.log(table(scales, seed))

    def by_scale(active: tuple[int, ...]) -> np.ndarray:
        return log_x[:, list(active)].sum(1) - np.log(scales)

    def evidence(active: tuple[int, ...]) -> float:
        return float(logsumexp(by_scale(active)) + log_set_prior(len(active), D, PRIOR) - 40.0)

    def weigh(active: tuple[int, ...]) -> Priced:
        factors = log_x.copy()
        factors[:, list(active)] = -np.inf
        share = np.exp(by_scale(active) - logsumexp(by_scale(active)))
        return Priced(active, evidence(active), factors, share)

    return evidence, weigh


@pytest.mark.parametrize("scales", [1, 3])
@pytest.mark.parametrize(
    "visited", [[()], [(), (2,)], [(), (0,), (1,), (0, 1)], [(), (1,), (3,), (1, 3), (0, 1, 3), (4, 5)]]
)
def test_a_census_is_exact_where_inputs_act_independently(scales: int, visited: list[tuple[int, ...]]) -> None:
    evidence, weigh = made_up(scales, seed=1)
    every = {s: np.exp(evidence(s) + 40.0) for s in subsets(list(range(D)))}
    clouds = census([weigh(s) for s in visited], D, PRIOR)
    masses = [np.exp(evidence(s) + 40.0 + c.log_mass) for s, c in zip(visited, clouds, strict=True)]
    assert sum(masses) == pytest.approx(sum(every.values()))
    pip = np.zeros(D)
    for s, c, mass in zip(visited, clouds, masses, strict=True):
        assert np.all(c.joined[list(s)] == 0.0)
        pip[list(s)] += mass
        pip += mass * c.joined
    exact = np.array([sum(w for s, w in every.items() if j in s) for j in range(D)])
    assert pip / sum(masses) == pytest.approx(exact / sum(every.values()))


def test_a_weighed_set_keeps_its_own_price() -> None:
    """Where the evidence of a visited set differs from what its parent would say, the visited one counts."""
    evidence, weigh = made_up(1, seed=2)
    dear = weigh((0,))
    dear = Priced(dear.active, dear.log_evidence + 5.0, dear.log_factors, dear.scale_shares)
    empty_cloud, dear_cloud = census([weigh(()), dear], D, PRIOR)
    without = [s for s in subsets(list(range(D))) if 0 not in s]
    within = [s for s in subsets(list(range(D))) if 0 in s]
    assert evidence(()) + empty_cloud.log_mass == pytest.approx(logsumexp([evidence(s) for s in without]))
    assert dear.log_evidence + dear_cloud.log_mass == pytest.approx(5.0 + logsumexp([evidence(s) for s in within]))
    assert empty_cloud.joined[0] == 0.0


def test_a_set_with_two_parents_of_one_size_gets_the_mean_of_their_prices() -> None:
    """Not visited: {0, 1}, whose parents {0} and {1} tell different prices."""
    evidence, weigh = made_up(1, seed=3)
    bare = np.full((1, D), -np.inf)  # only 0 and 1 may join anything
    parents = [weigh((0,)), weigh((1,))]
    raised = [2.0, 0.0]
    priced = []
    for parent, up in zip(parents, raised, strict=True):
        factors = bare.copy()
        other = 1 - parent.active[0]
        factors[0, other] = parent.log_factors[0, other]
        priced.append(Priced(parent.active, parent.log_evidence + up, factors, parent.scale_shares))
    first, second = census(priced, D, PRIOR)
    mass = sum(np.exp(p.log_evidence + c.log_mass + 40.0) for p, c in zip(priced, (first, second), strict=True))
    pair = np.exp(evidence((0, 1)) + 40.0)
    own = [np.exp(p.log_evidence + 40.0) for p in priced]
    assert mass == pytest.approx(sum(own) + 0.5 * pair * (np.exp(2.0) + 1.0))
    assert first.joined[1] == pytest.approx(0.5 * pair * np.exp(2.0) / (own[0] + 0.5 * pair * np.exp(2.0)))
