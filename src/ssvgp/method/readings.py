"""How y may be read: with Gaussian noise, with heavy tails, or through a curve; evidence decides.

The search begins with Gaussian noise. Where it has come to its first answer, and again at its end, the best set is
fitted under the other readings to a part of the rows, from its own mode: the cost of a few fits. What explains these
rows clearly better is the reading under which the search begins anew. Densities of different scales and curves are
compared in units of y, by the slopes of the curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ssvgp.data.target import Target
from ssvgp.evidence.laplace import Fit, Problem, fit
from ssvgp.evidence.transplant import transplant
from ssvgp.large.blocks import block_of
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.search.book import Book
from ssvgp.settings import Prior, Regime


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read y: what it is in `words`, how it is standardised, the rows with their likelihood, and the prior.

    `log_slopes` (n,) turn the log density of a standardised target into one of y, all copies of a row counted.
    """

    words: str
    target: Target
    train: Train
    prior: Prior
    log_slopes: np.ndarray

    @property
    def log_slope(self) -> float:
        """For all rows."""
        return float(self.log_slopes.sum())


@dataclass
class Readings:
    """The ways to read y, that of the search first, and what they were worth to the sets they have judged."""

    all: Sequence[Reading]
    worth: dict[Candidate, list[float]] = field(default_factory=dict)

    def better(self, book: Book, regime: Regime, lead: float) -> int | None:
        """The number of the reading that explains the best set's rows best, if by `lead` nats or more than the first.

        The rows are at most as many as a block has. Each of the others takes a fit to them.
        """
        if len(self.all) < 2:
            return None
        best, n = book.best(), self.all[0].train.n
        if best.candidate not in self.worth:
            rows = np.sort(np.random.default_rng(0).permutation(n)[: regime.settings.block_rows])
            own = _worth(book.problem, best, self.all[0], self.all[0], rows)
            tasks = [(book.problem, best, self.all[0], one, rows, own + lead) for one in self.all[1:]]
            rest = book.workers.map(_worth, tasks)
            self.worth[best.candidate] = [own, *rest]
        worth = self.worth[best.candidate]
        leader = int(np.argmax(worth))
        return leader if worth[leader] > worth[0] + lead else None

    def hopeless(self, book: Book, number: int, lead: float) -> bool:
        """Whether no judged set has come within `lead` nats of what the best one has under the first reading."""
        best = self.worth[book.best().candidate][0]
        return all(worth[number] < best - lead for worth in self.worth.values())


def _worth(
    problem: Problem, best: Fit, first: Reading, reading: Reading, rows: np.ndarray, bar: float = -np.inf
) -> float:
    """log evidence of a set for some rows (r,) in units of y, fitted under a reading from its mode under the first.

    One that will clearly not reach `bar` is given up on its way.
    """
    background = problem.background(best.candidate.background)
    block = block_of(reading.train, rows, [background])
    own = {name: getattr(reading.prior, name) for name in ("rounding", "log_noise", "log_freedom", "mean")}
    prior = replace(problem.prior, **own)
    narrow = replace(problem, blocks=(block,), prior=prior)
    candidate = replace(best.candidate, own=narrow.own)
    louder = 2.0 * float(np.log(first.target.spread / reading.target.spread))
    start, curvature = _carried(best, candidate, narrow, louder)
    slopes = float(reading.log_slopes[rows].sum())
    return fit(narrow, candidate, start, curvature, bar=bar - slopes).log_evidence + slopes


def _carried(best: Fit, candidate: Candidate, problem: Problem, louder: float) -> tuple[np.ndarray, np.ndarray]:
    """z (q,) of the best set in the units of another reading, where variances are `louder` in nats, and its curvature.

    What only the other reading has is where its prior is, and as uncertain.
    """
    z, curvature, _ = transplant(best, candidate, problem)
    known, where = best.candidate.coordinates.slots, candidate.coordinates
    for name in where.slots:
        place = where.slot(name)
        if name not in known:
            curvature[place, place] = problem.prior.of_slot(name)[1] ** 2
        elif name != "freedom":
            z[place] += louder
    return z, curvature
