"""How much work a fit has ahead of it, as far as its book of sets can tell, for estimates of what remains.

Work is counted in evaluations of the likelihood and its gradient on all rows, or on one block. The constants are about
what ten real tables took (`python -m benchmarks.progress chosen`), and are judged on ten others (without `chosen`).
Nothing but reports of progress depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import logsumexp

from ssvgp.search.book import Book
from ssvgp.search.moves import rounds_ahead
from ssvgp.settings import Regime

ALL_ROWS = "all rows"  # the phase in which what blocks have found meets all rows

AT_FIRST = {
    "growth": 45.0,
    "products": 45.0,
    "second opinions": 15.0,
    "moves": 60.0,
    "every set": 0.0,
    "background": 0.0,
    "kernels": 40.0,
    "averaging": 70.0,
}
ON_BLOCKS = {
    "growth": 100.0,
    "products": 50.0,
    "second opinions": 60.0,
    "neighbour blocks": 250.0,
    "kernels": 250.0,
    ALL_ROWS: 500.0,
    "averaging": 1000.0,  # most of it on blocks of 1000 rows, each worth 64 of the usual ones
}
EACH = {
    "neighbours": 3.0,  # fits of the neighbours of a set, for each of its inputs
    "backgrounds": 40.0,
    "kernel": 3.0,  # the leading sets under one more kernel
    "surprise": 0.25,  # of the work of moves: where another kernel is better they are made again, under it
    "one of all": 2.5,  # a fit where all sets are visited
    "drawn": 35.0,  # a heavy set where rows are few
    "curvature": 6.0,  # an input of the best set, where they are not
    "look": 3.0,  # a heavy set there
    "measured": 2.0,  # an input that is priced by likelihoods
}


def outlook(book: Book, kernels: int, regime: Regime, spent: Mapping[str, float]) -> Mapping[str, float]:
    """Work of each phase of a fit, in their order; `spent` is that of the phases so far."""
    problem = book.problem
    if not regime.exact:
        return {name: work for name, work in ON_BLOCKS.items() if name != ALL_ROWS}
    if regime.scout is not None:  # fits to all rows are few, but each is worth some of the usual blocks
        return {**ON_BLOCKS, "averaging": ON_BLOCKS[ALL_ROWS]}
    if not book.fits:
        return AT_FIRST
    size = book.best().candidate.size
    every = EACH["one of all"] * 2.0**problem.d if regime.every_set else 0.0
    near = len(book.within(regime.expand_reach))
    rounds = 1.0 + rounds_ahead(near - 1, regime.expanded - 1)
    moves = spent.get("moves", EACH["neighbours"] * max(1, size) * rounds)
    dense = bool(problem.backgrounds) and 0.0 < problem.prior.with_background < 1.0
    again = EACH["surprise"] * (0.5 if dense else 1.0) * moves  # a background often leaves kernels no part
    evidences = np.array([found.log_evidence for found in book.fits.values()])
    return {
        "growth": AT_FIRST["growth"],
        "products": AT_FIRST["products"],
        "second opinions": AT_FIRST["second opinions"],
        "moves": moves,
        "every set": every,
        "background": EACH["backgrounds"] if dense else 0.0,
        "kernels": (EACH["kernel"] + 0.5 * every) * (kernels - 1) + again if kernels > 1 else 0.0,
        "averaging": AveragingSteps(book, regime, evidences).all,
    }


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
