"""What one kernel has met counts under the others: against the full table of kernels and sets, written out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import logsumexp

from ssvgp.evidence.entry import Entry
from ssvgp.evidence.unvisited.cloud import Cloud
from ssvgp.evidence.unvisited.elsewhere import met_elsewhere
from ssvgp.model.priors import Candidate

D = 4
HEIGHTS = {(0, 1): 0.0, (0,): -0.7, (0, 2): -0.4, (1, 2): -1.5, (0, 1, 2): -1.1}
SHIFT = -2.0  # of the other kernel, the same for all sets


def priced(heights: dict[tuple[int, ...], float]) -> list[tuple[Entry, Cloud]]:
    """Sets of given evidence; the fourth input has joined each of them with a probability of its own."""
    out = []
    for active, height in heights.items():
        fit = cast(Any, SimpleNamespace(candidate=Candidate(active)))
        joined = np.append(np.zeros(3), 0.1 * len(active))
        out.append((Entry(cast(Any, None), fit, None, height), Cloud(0.2 * len(active), joined, np.zeros(D))))
    return out


def told(pairs: list[tuple[Entry, Cloud]]) -> tuple[float, np.ndarray]:
    """log mass and inclusion probabilities (d,) of all sets with their clouds."""
    masses = np.array([entry.log_evidence + cloud.log_mass for entry, cloud in pairs])
    pip = np.zeros(D)
    for (entry, cloud), weight in zip(pairs, np.exp(masses - logsumexp(masses)), strict=True):
        pip[list(entry.fit.candidate.active)] += weight
        pip += weight * (cloud.joined - cloud.left)
    return float(logsumexp(masses)), pip


@pytest.mark.parametrize("met", [[(0, 1)], [(0, 1), (0, 2)], [(0, 1), (0, 2), (0, 1, 2)]])
def test_a_kernel_that_has_met_a_few_sets_is_as_unsure_as_the_one_that_has_met_all(met: list[tuple[int, ...]]) -> None:
    everything = {active: height + SHIFT for active, height in HEIGHTS.items()}
    # a set that holds one of those that were met is in their clouds
    expected = {a: h for a, h in everything.items() if a in met or not any(set(m) <= set(a) for m in met)}
    found = met_elsewhere(priced({active: everything[active] for active in met}), priced(HEIGHTS))
    mass, pip = told(found)
    assert [entry.fit.candidate.active for entry, _ in found] == met
    assert mass == pytest.approx(told(priced(expected))[0], abs=1e-12)
    assert pip == pytest.approx(told(priced(expected))[1], abs=1e-12)


def test_a_kernel_that_shares_no_set_or_has_met_all_says_what_it_said() -> None:
    full = priced(HEIGHTS)
    assert met_elsewhere(full, priced({(0, 1): 3.0})) == full
    alone = priced({(3,): 0.0})
    assert met_elsewhere(alone, full) == alone
    assert met_elsewhere(full, []) == full
