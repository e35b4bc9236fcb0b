"""Which weak effects there are: the posterior over sets of terms, given sums over all rows (large/rows.py).

With so many rows all of it is closed form given which terms are there and their theta (large/terms.py), and Gibbs draws
of these give the rest; probabilities are averages of conditional ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.evidence.unvisited.factors import THETAS
from ssvgp.gp.linalg import factor, forms_of_each
from ssvgp.large.rows import Sums
from ssvgp.large.terms import Beliefs, Terms, log_cells, log_product_prior
from ssvgp.model.priors import log_set_prior

SWEEPS = 240  # of the draws; the first sixth of them does not count


@dataclass(frozen=True, eq=False)
class Found:
    """Probability of each term (t,), and of inputs by number; mean (r,) and covariance (r, r) of coefficients.

    `theta` is the mean inverse lengthscale of inputs, zero where they are not there; `odds` (scales,) are prior odds of
    one more input, with the probability of each slab scale: for inputs that were not in question. `explained` is the
    share of q that the terms explain.
    """

    terms: np.ndarray
    inputs: dict[int, float]
    theta: dict[int, float]
    mean: np.ndarray
    covariance: np.ndarray
    odds: np.ndarray
    explained: float


def draw(sums: Sums, terms: Terms, beliefs: Beliefs, rng: np.random.Generator) -> Found:
    """The posterior over all sets of terms by Gibbs draws, from nothing. Cost a few thousand small systems."""
    chain = _Chain(sums, terms, beliefs, rng)
    kept = _Kept(chain)
    for number in range(SWEEPS):
        chain.sweep()
        if number >= SWEEPS // 6:
            kept.add()
    return kept.found()


class _Chain:
    """Gibbs draws over terms, nodes, the slab scale, tau, and the scale of the sums.

    `nodes` has the node of every term that is there, `rows` their features, V the covariance of their coefficients.
    `chance` (t,) is that of each term given the others when it was asked last, `by_term` (inputs, t) what this says of
    its inputs; `has` (inputs, t) says which these are.
    """

    def __init__(self, sums: Sums, terms: Terms, beliefs: Beliefs, rng: np.random.Generator) -> None:
        self.terms, self.beliefs, self.rng, self.n = terms, beliefs, rng, sums.n
        # one more feature, of nothing, stands for those that a term does not have
        self.C, self.g, self.q = np.pad(sums.C, (0, 1)), np.append(sums.g, 0.0), sums.q
        self.cells = log_cells(beliefs.prior.slabs)
        self.log_priors = [log_set_prior(k, terms.d, beliefs.prior) for k in range(terms.d + 1)]
        self.nodes: dict[int, int] = {}
        self.scale, self.tau, self.spread = int(np.argmax(beliefs.scale_shares)), len(beliefs.taus) // 2, 1.0
        self.has = np.array([[t in of for t in range(len(terms))] for of in terms.uses.values()], dtype=np.intp)
        self.has = self.has.reshape(len(terms.uses), len(terms))
        self.chance, self.by_term = np.zeros(len(terms)), np.zeros(self.has.shape)
        self.rivals = _alike(sums.C, terms)
        self.refresh()

    # --- one sweep

    def sweep(self) -> None:
        """All terms in a random order, each of them once, then rivals, then what all have in common.

        The order knows nothing of who is there. Where those that had just left were asked again, with all that were
        away, a term of probability p was there in p / (1 - p + p^2) of the draws: 0.71 for 0.54.
        """
        order = self.rng.permutation(len(self.terms))
        luck = np.log(self.rng.uniform(size=order.size))
        while order.size:
            asked = self._ask(order, luck)
            order, luck = order[asked:], luck[asked:]
        for i, j in self.rivals:
            if (i in self.nodes) != (j in self.nodes):
                self._exchange(int(i), int(j))
        self._common()

    def _ask(self, order: np.ndarray, luck: np.ndarray) -> int:
        """How many were asked: the first if it is there, else all up to the next that is, or joins.

        Those that stay away change nothing for the next.
        """
        there = np.flatnonzero([int(t) in self.nodes for t in order])
        some = order[: max(1, int(there[0]))] if there.size else order
        at = self.conditionals(some)
        odds = self._odds(some.tolist(), at)
        joining = np.flatnonzero(luck[: some.size] < -np.logaddexp(0.0, -odds))
        asked = int(joining[0]) + 1 if joining.size else some.size
        self._note(some[:asked], odds[:asked])
        if joining.size or int(some[0]) in self.nodes:
            self._settle(int(some[asked - 1]), at[asked - 1], bool(joining.size))
        return asked

    def _note(self, some: np.ndarray, odds: np.ndarray) -> None:
        """Chances of terms (s,), and of their inputs: one by another term that is there, or that of the term."""
        self.chance[some] = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
        there = np.zeros(len(self.terms), dtype=np.intp)
        there[list(self.nodes)] = 1
        others = (self.has @ there)[:, None] - (self.has * there)[:, some]
        self.by_term[:, some] = np.where(others > 0, 1.0, self.chance[some])

    def _odds(self, some: list[int], at: np.ndarray) -> np.ndarray:
        """log odds (s,) of terms, all of them away or a single one that is there, by what they are worth (s, nodes)."""
        without = self.log_prior(set(self.nodes) - set(some))
        prior = np.array([self.log_prior({*self.nodes, t}) for t in some])
        return prior - without + np.logaddexp.reduce(at, axis=1)

    def _settle(self, t: int, at: np.ndarray, there: bool) -> None:
        self.nodes.pop(t, None)
        if there:
            self.nodes[t] = self._node(at)
        self.refresh()

    def _exchange(self, i: int, j: int) -> None:
        """Which of two terms is there, given that one is."""
        for k in (i, j):
            self.nodes.pop(k, None)
        self.refresh()
        at = self.conditionals(np.array([i, j]))
        place = self._node(self._odds([i, j], at))
        self._settle((i, j)[place], at[place], True)

    def _node(self, log_weights: np.ndarray) -> int:
        return int(np.argmax(log_weights + self.rng.gumbel(size=log_weights.size)))

    def _common(self) -> None:
        """The slab scale, tau where the strong part has none, and the scale of the sums."""
        nodes = list(self.nodes.values())
        with np.errstate(divide="ignore"):
            self.scale = self._node(np.log(self.beliefs.scale_shares) + self.cells[:, nodes].sum(axis=1))
        if len(self.beliefs.taus) > 1 and nodes:
            self.tau = self._node(np.array([self._evidence(tau) for tau in range(len(self.beliefs.taus))]))
        self.spread = max(self.q - self.explained(), 1e-12 * self.q) / self.n
        self.refresh()

    # --- what a state is worth

    def refresh(self) -> None:
        """V and the features that are there."""
        there = list(self.nodes)
        self.rows = self.terms.features[there].ravel()
        self.V = factor(self._system(self.tau)).inverse() if there else np.empty((0, 0))

    def _rho(self, tau: int) -> np.ndarray:
        """Variances (r,) of the coefficients that are there."""
        there, nodes = list(self.nodes), list(self.nodes.values())
        return self.beliefs.taus[tau] * self.terms.variances[there, nodes].ravel()

    def _system(self, tau: int) -> np.ndarray:
        M = self.C[np.ix_(self.rows, self.rows)] / self.spread
        M.flat[:: len(M) + 1] += 1.0 / self._rho(tau)
        return M

    def _evidence(self, tau: int) -> float:
        """log p(y | terms and nodes that are there, tau), less that of none."""
        chol = factor(self._system(tau))
        half = chol.half_solve(self.g[self.rows] / self.spread)
        return 0.5 * (float(half @ half) - chol.log_determinant() - float(np.log(self._rho(tau)).sum()))

    def explained(self) -> float:
        """What the terms explain of q."""
        g = self.g[self.rows]
        return float(g @ self.V @ g) / self.spread

    def conditionals(self, some: np.ndarray) -> np.ndarray:
        """log p(node) p(y | term at the node, the others) / p(y | the others) (s, nodes) of some terms (s,).

        Those that are there come one at a time. V given the others is V less what the term itself had a part in.
        """
        rows, V, own = self.rows, self.V, self.terms.features[some]
        if some.size == 1 and int(some[0]) in self.nodes:
            place = list(self.nodes).index(int(some[0]))
            out = np.zeros(rows.size, dtype=bool)
            out[place * own.shape[1] : (place + 1) * own.shape[1]] = True
            cross = V[np.ix_(~out, out)]
            V, rows = V[np.ix_(~out, ~out)] - cross @ factor(V[np.ix_(out, out)]).solve(cross.T), rows[~out]
        cross = self.C[own[:, :, None], rows] / self.spread
        along = cross @ V
        C = self.C[own[:, :, None], own[:, None, :]] / self.spread - along @ np.swapaxes(cross, 1, 2)
        g = (self.g[own] - along @ self.g[rows]) / self.spread
        rho = self.beliefs.taus[self.tau] * self.terms.variances[some]
        s, nodes, f = rho.shape
        systems = np.repeat(C, nodes, axis=0)
        systems[:, np.arange(f), np.arange(f)] += 1.0 / rho.reshape(-1, f)
        squares, determinants = forms_of_each(systems, np.repeat(g, nodes, axis=0))
        worth = 0.5 * (squares - determinants).reshape(s, nodes) - 0.5 * np.log(rho).sum(axis=2)
        return self.cells[self.scale] + worth

    def log_prior(self, there: set[int]) -> float:
        """log prior of the inputs of these terms, and of which of their products are among them."""
        terms, strong = self.terms, len(self.terms.strong)
        products = [t for t in there if terms.pairs[t]]
        size = strong + len(frozenset().union(*(terms.own[t] for t in there)))
        together = frozenset().union(*(terms.own[t] for t in products))
        return self.log_priors[size] + log_product_prior(size, strong, len(products), len(together))


def _alike(C: np.ndarray, terms: Terms) -> np.ndarray:
    """Pairs (a, 2) of single terms that may change places: |correlation| above 1/2 given the strong part."""
    first = terms.features[:, 0]
    size = np.sqrt(np.maximum(np.diagonal(C)[first], np.finfo(float).tiny))
    alike = np.abs(C[np.ix_(first, first)]) / np.outer(size, size) > 0.5
    return np.argwhere(np.triu(alike & np.outer(~terms.pairs, ~terms.pairs), 1))


class _Kept:
    """What is kept of the draws: sums over them."""

    def __init__(self, chain: _Chain) -> None:
        self.chain, r = chain, chain.g.size
        self.count, self.total = 0, np.zeros(len(chain.terms))
        self.mean, self.square = np.zeros(r), np.zeros((r, r))
        self.odds, self.explained = np.zeros(len(chain.cells)), 0.0
        self.uses = chain.terms.uses
        self.by_term, self.theta = np.zeros(chain.has.shape), dict.fromkeys(self.uses, 0.0)

    def add(self) -> None:
        """One more draw."""
        chain = self.chain
        self.count += 1
        self.total += chain.chance
        self.by_term += chain.by_term
        for j, some in self.uses.items():
            self.theta[j] += max((float(THETAS[chain.nodes[t]]) for t in some if t in chain.nodes), default=0.0)
        m = chain.V @ (chain.g[chain.rows] / chain.spread)
        self.mean[chain.rows] += m
        self.square[np.ix_(chain.rows, chain.rows)] += chain.V + np.outer(m, m)
        size = len(chain.terms.strong) + sum(any(t in chain.nodes for t in some) for some in self.uses.values())
        if size < chain.terms.d:
            self.odds[chain.scale] += np.exp(chain.log_priors[size + 1] - chain.log_priors[size])
        self.explained += chain.explained() / chain.q

    def found(self) -> Found:
        """Averages over the draws; of an input, over its terms too, most by those that are there most often."""
        count = self.count
        share = self.chain.has * self.total
        chances = (self.by_term * share).sum(axis=1) / share.sum(axis=1)
        mean = (self.mean / count)[:-1]
        covariance = (self.square / count)[:-1, :-1] - np.outer(mean, mean)
        inputs = {j: float(chance) / count for j, chance in zip(self.uses, chances, strict=True)}
        theta = {j: value / count for j, value in self.theta.items()}
        return Found(self.total / count, inputs, theta, mean, covariance, self.odds / count, self.explained / count)
