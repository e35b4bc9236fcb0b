"""What evidence is asked of: blocks of rows, the problem that they make, and a set that was fitted to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ssvgp.evidence.ascent import Summit
from ssvgp.gp.kernels.families import Kernel
from ssvgp.gp.terms import Background
from ssvgp.model.inputs import Inputs
from ssvgp.model.priors import Candidate
from ssvgp.records import Likelihood, has_sites
from ssvgp.run.memo import Memo, once
from ssvgp.settings import Prior

Starts = tuple[np.ndarray | None, ...]

CLOSE = 0.05  # nats that an ascent of the search leaves to its promise; where evaluations are dear, four times as much

# Operations for an entry of a covariance matrix, its slopes in all parameters too, where factoring takes one for each
# row: from 250 to 1900 rows evaluations took 146 times as long (134 by this), from 300 to 600 rows 5.2 times (4.9).
ENTRY = 1000.0


def operations(rows: int) -> float:
    """About what an evaluation on so many rows takes: the factor of a matrix, and its entries."""
    return float(rows) ** 2 * (rows + ENTRY)


@dataclass(frozen=True)
class Block:
    """Rows that are modelled jointly: X (m, d), y (m,), and the background matrices (m, m) that may be asked for.

    `noise` is that of the rows, None where all have the learned one.
    """

    X: np.ndarray
    y: np.ndarray
    grams: dict[str, np.ndarray] = field(default_factory=dict)
    noise: Likelihood | None = None

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        backgrounds: Iterable[Background] = (),
        noise: Likelihood | None = None,
        memo: Memo | None = None,
    ) -> Block:
        """The rows with the matrices of these backgrounds, from the memo where other targets have asked for them."""
        grams = {term.name: once(memo, ("gram", term.name), X, partial(term.matrix, X, X)) for term in backgrounds}
        return cls(X, y, grams, noise)

    def rows(self, some: np.ndarray) -> Block:
        """A part of the rows (r,), which keep their covariances."""
        grams = {name: gram[np.ix_(some, some)] for name, gram in self.grams.items()}
        return Block(self.X[some], self.y[some], grams, None if self.noise is None else self.noise.rows(some))


@dataclass(frozen=True)
class Problem:
    """The data in blocks that are independent given the parameters (one block: exact), the kernel and the prior.

    `backgrounds` are the terms over all inputs that a candidate may have beside its sparse part, one at a time.
    `inputs` ties inputs to columns, None where every input is a column. Ascents end `close` nats below their summits.
    """

    blocks: tuple[Block, ...]
    kernel: Kernel
    prior: Prior
    backgrounds: tuple[Background, ...] = ()
    inputs: Inputs | None = None
    close: float = CLOSE

    @property
    def d(self) -> int:
        """How many inputs there are to choose from."""
        return self.blocks[0].X.shape[1] if self.inputs is None else len(self.inputs)

    def owners(self) -> np.ndarray:
        """The input that each column of the table belongs to."""
        return np.arange(self.d) if self.inputs is None else self.inputs.owners()

    def candidate(self, active: Sequence[int], background: str = "") -> Candidate:
        """The set of these inputs, in rising order."""
        return Candidate(tuple(sorted(int(j) for j in active)), background, self.inputs, self.own)

    @property
    def own(self) -> tuple[str, ...]:
        """The slots that the likelihood has in z."""
        likelihood = self.blocks[0].noise
        return likelihood.slots if has_sites(likelihood) else ("noise",)

    @property
    def n(self) -> int:
        return sum(block.y.shape[0] for block in self.blocks)

    @property
    def operations(self) -> float:
        """About what an evaluation of the likelihood and its gradient takes, for estimates of time."""
        return sum(operations(block.y.shape[0]) for block in self.blocks)

    def background(self, name: str) -> Background | None:
        """The background of that name; None for no name."""
        return next(term for term in self.backgrounds if term.name == name) if name else None


@dataclass(frozen=True)
class Fit:
    """A candidate at its posterior mode with its log evidence, prior over sets included.

    `root` has root root' = posterior covariance of z in the Laplace approximation, `log_volume` is log |root|.
    `exact_curvature` says whether they came from the Hessian or from what the ascent picked up on its way. `sites` are
    the states of the blocks' sites at the mode, where the likelihood is not Gaussian: relatives start there.
    """

    candidate: Candidate
    summit: Summit
    root: np.ndarray
    log_evidence: float
    log_volume: float
    exact_curvature: bool
    evaluations: int
    sites: Starts = ()


@dataclass
class Path:
    """Where the sites of the blocks stand, for the next evaluation to start from; a `fixed` one stays where it is.

    An ascent is one evaluation after the other, so that where each starts does not depend on threads.
    """

    sites: Starts = ()
    fixed: bool = False

    def for_blocks(self, count: int) -> Starts:
        return self.sites if len(self.sites) == count else (None,) * count

    def walk(self, sites: Starts) -> None:
        if not self.fixed:
            self.sites = sites
