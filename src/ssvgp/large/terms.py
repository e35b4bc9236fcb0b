"""What weak effects may be: terms, the variances of their coefficients, and what is believed of them beforehand.

A term is one input with all its shapes, or the product of two inputs. Terms that are there have normal coefficients of
the variances that the process itself would give them: with theta from the slab and the scale tau of the strong part,
tau lambda_k(theta) for the k-th shape, where lambda are the eigenvalues of a squared exponential kernel under a normal
input (Rasmussen & Williams, 4.3.1; tau theta^2 for the first shape of a small theta), and tau lambda_1^2 for a product.
Sets of inputs have their usual prior, the strong ones counted in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betaln

from ssvgp.evidence.unvisited.factors import THETAS, slab_cells
from ssvgp.settings import Prior


@lru_cache(maxsize=8)
def shape_variances(degrees: int) -> np.ndarray:
    """lambda_k (nodes, L) of the shapes 1 .. L at each of `THETAS`."""
    a, b = 0.25, 0.5 * THETAS**2
    whole = a + b + np.sqrt(a * a + 2.0 * a * b)
    return np.sqrt(2.0 * a / whole)[:, None] * (b / whole)[:, None] ** np.arange(1, degrees + 1)


def log_cells(scales: tuple[float, ...]) -> np.ndarray:
    """log probability (scales, nodes) of each slab in the cells around `THETAS`."""
    return np.log(np.maximum(slab_cells(scales).T, np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms in question, t of them: features (t, f) by number, -1 where one has fewer, and inputs (t, 2).

    `variances` (t, nodes, f) are those of coefficients for a scale of one. A single input is named twice. `strong`
    inputs are in the set whatever happens; d inputs in all.
    """

    features: np.ndarray
    inputs: np.ndarray
    variances: np.ndarray
    strong: frozenset[int]
    d: int

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def pairs(self) -> np.ndarray:
        """Whether each term (t,) is a product."""
        return self.inputs[:, 0] != self.inputs[:, 1]

    @cached_property
    def own(self) -> list[frozenset[int]]:
        """The inputs of each term that are not strong."""
        return [frozenset(row) - self.strong for row in self.inputs.tolist()]

    @cached_property
    def uses(self) -> dict[int, list[int]]:
        """The terms of each input that is not strong."""
        out: dict[int, list[int]] = {}
        for t, own in enumerate(self.own):
            for j in own:
                out.setdefault(j, []).append(t)
        return out


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed beside the sums: the prior, shares of the slab scales by the strong part, and scales tau."""

    prior: Prior
    scale_shares: np.ndarray
    taus: np.ndarray


def log_factors(gain: np.ndarray, cost: np.ndarray, variances: np.ndarray, taus: np.ndarray) -> np.ndarray:
    """log p(y | term) / p(y) at every node (nodes, e) for features that are orthogonal: gain and cost (f, e).

    Variances are (nodes, f); averaged over the scales tau.
    """
    each = []
    for tau in taus:
        rho = tau * variances[:, :, None]
        each.append((0.5 * rho * gain**2 / (1.0 + rho * cost) - 0.5 * np.log1p(rho * cost)).sum(axis=1))
    return np.asarray(np.logaddexp.reduce(each, axis=0)) - np.log(len(taus))


def log_product_prior(size: int, strong: int, products: int, together: int) -> float:
    """log prior of some products in a set of inputs of this size, given the set; `together` weak inputs are in them.

    A set has q products with probability 2^-(q + 1), any q of them alike; an input that is part of a product may or may
    not act by itself.
    """
    if not products:
        return 0.0
    possible = (size * (size - 1) - strong * (strong - 1)) // 2
    choices = -float(betaln(possible - products + 1, products + 1)) - float(np.log(possible + 1.0))
    return -choices - float(np.log(2.0)) * (products + together)
