"""How much work a fit has ahead of it, as far as its book of sets can tell, for estimates of what remains.

Fits are counted in evaluations of the likelihood and its gradient, times the operations that one takes on the rows of
the phase (`Problem.operations`): all rows take a hundred times as long as a block, a part of them a quarter. Looks are
counted in those of growth. The constants are about the medians of forty real tables and parts of them (those of
`python -m benchmarks.progress chosen` among them), and are judged on ten others (without `chosen`). Nothing but reports
of progress depends on them.

After a third of a fit the estimate of what remains lies within a factor of two on 31 of 41 tables and parts that are
not among the ten; its logarithm is off by 0.58 (root mean square), so that 7 to 9 of ten are to be expected. What it
misses are phases that find more to do than they mostly do (products, moves) and searches under other readings of y.
Medians measured anew, a rest that grows with what was done, and a second search like the first made it no better.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import logsumexp

from ssvgp.evidence.problem import operations
from ssvgp.method.all_rows import asked_of_all_rows
from ssvgp.records import has_sites
from ssvgp.run.progress import Work
from ssvgp.search.book import Book
from ssvgp.settings import Regime

ALL_ROWS = "all rows"  # the phase in which what blocks have found meets all rows

ONCE = {  # evaluations, and looks beside those of growth
    "growth": (28.0, 1.0),
    "products": (40.0, 1.7),
    "second opinions": (8.0, 0.5),
    "background": (45.0, 1.0),
    "neighbour blocks": (55.0, 5.0),
    "kernels": (50.0, 1.0),  # on blocks
    ALL_ROWS: (65.0, 0.0),
    "averaging": (40.0, 0.5),
}
EACH = {
    "empty": 20.0,  # moves of no inputs
    "neighbours": 50.0,  # the same for one more, and for others by the square root of their number
    "moves": 1.0,  # looks
    "beside": 0.4,  # of products, and of the inputs that moves will meet, where a background may carry them
    "kernel": 6.0,  # the leading sets under one more kernel
    "one of all": 2.5,  # a fit where all sets are visited
    "drawn": 35.0,  # a heavy set where rows are few
    "curvature": 2.5,  # an input of the best set, where they are not
    "look": 2.0,  # a heavy set there
    "measured": 2.0,  # an input that is priced by likelihoods
    "reading": 15.0,  # the best set under other readings of y
    "sites": 1.6,  # times as many evaluations where noise is not Gaussian,
    "dearer": 3.0,  # which take so many times as long, if the sets that they find are not smaller
}


def outlook(book: Book, regime: Regime, spent: Mapping[str, float], known_size: int = 0) -> Mapping[str, Work]:
    """Work of each phase of a search and of averaging, in their order; `spent` are the operations of those so far.

    `known_size` is how many inputs a search under another reading of y has found.
    """
    sites = has_sites(book.table.noise)
    if not asked_of_all_rows(book.table):
        regime = regime.first
    if regime.scout is not None or not regime.exact:
        known = _on_blocks(regime)
    else:
        known = _on_rows(book, regime, spent, known_size)
    more = EACH["sites"] if sites else 1.0
    return {name: Work(more * work.fits, work.looks) for name, work in known.items()}


def _on_blocks(regime: Regime) -> dict[str, Work]:
    """A search on blocks, and what all rows take after it where they are asked."""
    settings = regime.settings
    block, many = operations(settings.block_rows), min(settings.blocks, regime.n // settings.block_rows)
    first, later, whole = settings.search_blocks * block, many * block, operations(regime.n)
    cost = dict.fromkeys(("growth", "products", "second opinions"), first)
    cost |= dict.fromkeys(("neighbour blocks", "kernels"), later)
    cost |= {ALL_ROWS: whole, "averaging": whole} if regime.exact else {"averaging": later}
    return {name: Work(ONCE[name][0] * each, ONCE[name][1]) for name, each in cost.items()}


def _on_rows(book: Book, regime: Regime, spent: Mapping[str, float], known_size: int) -> dict[str, Work]:
    """A search on all rows, with what the best sets so far let expect of moves and averaging."""
    problem, each = book.problem, operations(regime.n)
    size = book.best().candidate.size if book.fits else 1
    size = size if "products" in spent else max(size, known_size)  # until then it grows
    dense = bool(problem.backgrounds) and 0.0 < problem.prior.with_background < 1.0
    few = EACH["beside"] if dense else 1.0
    moves = EACH["empty"] + EACH["neighbours"] * size**0.5 * (1.0 if "background" in spent else few)
    every = EACH["one of all"] * 2.0**problem.d if regime.every_set else 0.0
    evidences = np.array([found.log_evidence for found in book.fits.values()])
    work = {name: ONCE[name] for name in ("growth", "products", "second opinions")}
    work["products"] = few * work["products"][0], work["products"][1]
    work["moves"] = moves, EACH["moves"]
    work["every set"] = every, 0.0
    work["background"] = ONCE["background"] if dense else (0.0, 0.0)
    work["kernels"] = (EACH["kernel"] + 0.5 * every) * (len(book.kernels) - 1), 0.0
    averaging, looks = ONCE["averaging"]
    work["averaging"] = AveragingSteps(book, regime, evidences).all if book.fits else averaging, looks
    return {name: Work(fits * each, looks) for name, (fits, looks) in work.items()}


class AveragingSteps:
    """Work and reports of averaging: heavy sets are drawn from, and all inputs outside of each are priced."""

    def __init__(self, book: Book, regime: Regime, log_evidences: np.ndarray) -> None:
        weights = np.exp(log_evidences - logsumexp(log_evidences))
        heavy = max(1, int((weights >= regime.negligible).sum()))
        size, outside = book.best().candidate.size, book.problem.d - book.best().candidate.size
        self._book, self._done, self._told = book, 0.0, regime.exact  # else most of averaging comes after this
        self._drawn = EACH["drawn"] if regime.cheap else EACH["curvature"] * size / heavy + EACH["look"]
        self._priced = EACH["measured"] * outside if outside <= regime.measured_inputs else EACH["look"]
        self.all = heavy * (self._drawn + self._priced) + 5.0

    def drawn(self) -> None:
        """One more set has been drawn from."""
        self._step("a set of inputs weighed", self._drawn)

    def priced(self) -> None:
        """The inputs outside of one more set have been priced."""
        self._step("other inputs priced", self._priced)

    def _step(self, what: str, work: float) -> None:
        self._done += work
        if self._told:
            self._book.advance(what, min(self._done, self.all), self.all)
