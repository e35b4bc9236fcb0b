"""How y may be read: with Gaussian noise, with heavy tails, or through a curve; evidence and left-out rows decide.

The search begins with Gaussian noise. At its end the best set is fitted under the other readings to a part of the
rows: the cost of a few fits. What explains these rows clearly better is the reading under which the search begins anew;
the set that it finds may be better off under a third one, and so on. Before its end a search would be misled: effects
of several inputs together look like heavy tails until they are found.

Better is what is better both by its evidence and by the density of rows that are left out in turn: no reading is the
truth, and each of the two errs where the other does not. Evidence charges a function for all rows that it takes to be
learned, so that heavy tails and nothing else had more of it than four inputs that act together; and where y has next to
no noise, what a bound gave away is overestimated, by thousands of nats in one table. Left-out rows have been seen by
the fit, and favour what has more parameters: 3 nats of 50 rows for tails that were not there.
Densities of different scales and curves are compared in units of y, by the slopes of the curves; a reading whose
likelihood goes by a bound gets back what the bound gives away, 5 to 12 nats of 250 rows under heavy tails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssvgp.data.target import Target
from ssvgp.evidence.entry import member_of
from ssvgp.evidence.importance import fair_evidence
from ssvgp.evidence.laplace import Block, Fit, Problem, fit, states
from ssvgp.evidence.logs import NEGLIGIBLE, NOTICED
from ssvgp.evidence.loo import exact, truncated
from ssvgp.evidence.problem import operations
from ssvgp.evidence.race import SURE
from ssvgp.evidence.transplant import NEW_THETA, transplant
from ssvgp.large.blocks import block_of
from ssvgp.method.outlook import ALL_ROWS, EACH
from ssvgp.model.likelihoods.student import log_t
from ssvgp.model.priors import Candidate
from ssvgp.records import Train, has_sites
from ssvgp.run.progress import Work, all_of
from ssvgp.run.randomness import spread_rows
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


@dataclass(frozen=True)
class Better:
    """The number of a reading, and the best set as it was fitted to a part of the rows under it."""

    number: int
    found: Fit


def better_reading(
    readings: Sequence[Reading], first: int, searched: Collection[int], book: Book, regime: Regime
) -> Better | None:
    """The reading that explains the best set's rows best, if clearly better than the first.

    The book is of a search under the first; those that have been searched are not asked again. The rows are at most as
    many as a block has. Each of the others takes a fit to them or two.
    """
    open_ones = [number for number in range(len(readings)) if number not in searched]
    if not open_ones:
        return None
    best, own = book.best(), readings[first]
    rows = _telling_rows(book, readings[0].train.n, regime.settings.block_rows)
    if any(has_sites(readings[number].train.noise) for number in open_ones) and not _tails_may_pay(book, rows, regime):
        open_ones = [number for number in open_ones if not has_sites(readings[number].train.noise)]
    if not open_ones:
        return None
    (first_worth, _), *rest = book.workers.map(
        _on_rows, [(book.problem, best, own, one, rows) for one in (own, *(readings[k] for k in open_ones))]
    )
    gains = [worth.promised(first_worth, regime.search.slack) for worth, _ in rest]
    leader = int(np.argmax(gains))
    return Better(open_ones[leader], rest[leader][1]) if gains[leader] > -np.inf else None


def _telling_rows(book: Book, n: int, count: int) -> np.ndarray:
    """At most `count` of n rows, in rising order: each k-th by how far off they are when left out, the farthest first.

    Three gross errors of a thousand rows would be in a quarter of them, taken anyhow, with a chance of a half. Rows are
    those of the blocks that the search has ended with; from all over the table where sites hide how far off they are.
    """
    blocks = book.problem.blocks
    if n <= count or has_sites(blocks[0].noise):
        return spread_rows(n, count)
    numbers = np.arange(n) if blocks[0].y.size == n else np.concatenate(book.met[-len(blocks) :])
    if numbers.size != book.problem.n:
        return spread_rows(n, count)
    far = np.concatenate([np.abs(at.alpha) / np.sqrt(at.precisions) for at in states(book.problem, book.best())])
    farthest = numbers[np.argsort(-far, kind="stable")]
    return np.unique(farthest[np.arange(count) * farthest.size // count])


def _tails_may_pay(book: Book, rows: np.ndarray, regime: Regime) -> bool:
    """Whether some rows (r,) have heavier tails than a Gaussian where each is left out in turn.

    Their standardised residuals tell what other noise would gain, by Student's t with the best degrees of freedom: of
    250 rows it was within 2 nats of the difference of evidence wherever that is below 5. Where rows are few a set may
    have followed the odd ones, and a fit costs next to nothing.
    """
    block, *more = book.problem.blocks
    if regime.cheap or not regime.exact or more or has_sites(block.noise):
        return True
    return _shown(book, rows) > NOTICED


@dataclass
class Prospect:
    """What a search under another reading may take, for estimates of what remains: a guess by the best set so far.

    A skewed target mostly passes a curve. Other noise is searched where tails show, on the rows that will be asked.
    """

    readings: Sequence[Reading]
    searched: Collection[int]
    size: int = 0  # of the best set under the reading before
    seen: Fit | None = None  # the best set that it was last worked out for
    tails: bool = False

    def work(self, book: Book, regime: Regime, search: Mapping[str, Work]) -> Work:
        """To ask the readings that are left, and what may follow, where the phases of the present one take `search`."""
        ways = [has_sites(one.train.noise) for number, one in enumerate(self.readings) if number not in self.searched]
        if not ways or not book.fits:
            return Work()
        rows, own = regime.settings.block_rows, has_sites(book.table.noise)
        asked = Work(EACH["reading"] * operations(min(regime.n, rows)))
        if not all(ways) and len(self.searched) == 1:  # after one curve another seldom pays
            return all_of(search.values()).and_also(asked)
        best, block = book.best(), book.problem.blocks[0]
        shown = best.candidate.size or best.candidate.background  # of y itself every effect is a tail
        if best is not self.seen and shown and not own:
            self.seen, self.tails = best, _shown(book, spread_rows(block.y.size, rows)) > NEGLIGIBLE
        if not self.tails:
            return asked if own or regime.cheap else Work()
        again = search[ALL_ROWS] if ALL_ROWS in search else all_of(search.values())  # blocks are not searched again
        return Work(EACH["dearer"] * (asked.fits + again.fits), again.looks)


def _shown(book: Book, rows: np.ndarray) -> float:
    """The gain of tails on rows (r,) of an exact fit, each left out in turn."""
    (at,) = states(replace(book.problem, blocks=(book.problem.blocks[0].rows(rows),)), book.best())
    return gain_of_tails(at.alpha / np.sqrt(at.precisions))


def gain_of_tails(residuals: np.ndarray) -> float:
    """Nats by which residuals (r,) are better explained by Student's t than by a Gaussian, each at its best scale."""
    square = residuals**2 / np.mean(residuals**2)
    scales = np.geomspace(0.05, 1.5, 24)  # of t^2, beside the mean square
    gaussian = -0.5 * square.size * (1.0 + np.log(2.0 * np.pi))
    best = max(float(log_t(square, scale, nu).sum()) for scale in scales for nu in (1.0, 2.0, 4.0, 8.0, 16.0))
    return best - gaussian


@dataclass(frozen=True)
class Worth:
    """Nats by which a reading explains y: by its evidence, and row by row (r,), of n, where each is left out in turn.

    None where the evidence is that of blocks, which compares with nothing else.
    """

    evidence: float | None
    left_out: np.ndarray
    n: int

    def beyond(self, other: Worth) -> float:
        """The lesser of both gains beside another reading."""
        gap = self.left_out - other.left_out
        gain = self.n * float(gap.mean())
        if self.evidence is None or other.evidence is None:
            return gain
        return min(gain, self.evidence - other.evidence)

    def promised(self, other: Worth, least: float) -> float:
        """Both gains together, where this one's best set may be another; none where evidence does not gain that much.

        The set was found under the other reading, for its odd rows perhaps, which that predicts better then though they
        are left out: it may do so within chance.
        """
        gap = self.left_out - other.left_out
        assert self.evidence is not None and other.evidence is not None
        gain = self.evidence - other.evidence
        behind = -float(gap.sum()) > SURE * float(np.sqrt(gap.size) * gap.std())
        return -np.inf if behind or gain <= least else gain + float(gap.sum())


def _on_rows(problem: Problem, best: Fit, first: Reading, reading: Reading, rows: np.ndarray) -> tuple[Worth, Fit]:
    """What a set is worth on some rows (r,) under a reading, and its fit to them, from its mode under the first.

    A set that took odd rows for effects has that mode under heavy tails too, beside a better one: a second fit starts
    afresh.
    """
    background = problem.background(best.candidate.background)
    block = _off_the_grid(block_of(reading.train, rows, [background]), reading.prior)
    own = {name: getattr(reading.prior, name) for name in ("rounding", "log_noise", "log_freedom", "mean")}
    prior = replace(problem.prior, **own)
    narrow = replace(problem, blocks=(block,), prior=prior)
    begun = restated(narrow, best, first, reading)
    found = [fit(narrow, begun.candidate, begun.summit.z, begun.summit.inverse_hessian)]
    if reading is not first and has_sites(block.noise):
        found.append(fit(narrow, begun.candidate, _afresh(begun.candidate, prior), known=found[0].summit.z))
    evidences = [fair_evidence(narrow, one) for one in found]
    lead = int(np.argmax(evidences))
    left_out = exact(Train(block.X, block.y, block.noise), member_of(narrow, found[lead]))
    slopes = reading.log_slopes[rows]
    return Worth(evidences[lead] + float(slopes.sum()), left_out.counted + slopes, rows.size), found[lead]


def worth_of(reading: Reading, book: Book, regime: Regime) -> Worth:
    """What the best set of a search is worth on all rows of its table.

    Where predictions are from neighbours so are those of left-out rows, as many as a check has.
    """
    lead = max((one for one in (book, *book.others) if one.fits), key=lambda one: one.best().log_evidence)
    found, train, slopes = lead.best(), reading.train, reading.log_slopes
    whole = all(block.y.size == train.n for block in lead.problem.blocks)
    evidence = fair_evidence(lead.problem, found) + float(slopes.sum()) if whole else None
    member = member_of(lead.problem, found)
    if regime.predict_neighbours is None:
        return Worth(evidence, exact(train, member).counted + slopes, train.n)
    rows = spread_rows(train.n, regime.check_rows or train.n)
    left_out = truncated(train, member, regime.predict_neighbours, rows=rows)
    return Worth(evidence, left_out.counted + slopes[rows], train.n)


def _off_the_grid(block: Block, prior: Prior) -> Block:
    """The rows with a rounded y anywhere in its cell, the same for every reading.

    Many residuals of rounded targets are zero, and a density with a peak there would be paid for what is no density.
    """
    cell = np.sqrt(12.0 * (prior.rounding or 0.0))
    # at random: rows in order, as repeated ones are, must not get a pattern
    return replace(block, y=block.y + cell * (np.random.default_rng(0).uniform(size=block.y.size) - 0.5))


def _afresh(candidate: Candidate, prior: Prior) -> np.ndarray:
    """z (q,) with all inputs where a new one is first tried, and all else where the prior is."""
    where = candidate.coordinates
    z = np.full(len(where), np.log(NEW_THETA[1]))
    for name in where.slots:
        z[where.slot(name)] = prior.of_slot(name)[0]
    return z


def restated(problem: Problem, found: Fit, first: Reading, reading: Reading) -> Fit:
    """A fit under the first reading as the start of one to a problem of another, whose units of y are its own.

    What only the other reading has is where its prior is, and as uncertain; tails and shares of errors are so too.
    """
    louder = 2.0 * float(np.log(first.target.spread / reading.target.spread))
    candidate = replace(found.candidate, own=problem.own)
    z, curvature, _ = transplant(found, candidate, problem)
    known, where = found.candidate.coordinates.slots, candidate.coordinates
    for name in where.slots:
        place = where.slot(name)
        if name not in known or name == "freedom":
            z[place], sd = problem.prior.of_slot(name)
            curvature[place], curvature[:, place] = 0.0, 0.0
            curvature[place, place] = sd**2
        else:
            z[place] += louder
    summit = replace(found.summit, z=z, inverse_hessian=curvature)
    return replace(found, candidate=candidate, summit=summit, sites=())
