"""The constants of the default method."""

from __future__ import annotations

from dataclasses import dataclass, field

from ssvgp.settings.paper import PaperSettings


@dataclass(frozen=True)
class SearchSettings:
    """How wide the search looks; nats are differences of log evidence."""

    reach: float = 5.0  # sets this close to the best are expanded and weighed
    width: int = 4  # single additions tried at each step of growth
    groups: int = 10  # of two, three and four inputs looked at when no single input helps; 0 for none
    operations: float = 4e10  # that a look at products of an order may take where nothing is explained yet
    left_behind: float = 0.2  # share of the variance expected to be missed at which no second opinion is asked
    most_expanded: int = 10
    cheap_rows: int = 150  # up to so many fits cost so little that idle additions are fitted too, and first looks begin
    all_sets: int = 8  # up to this many inputs, and so few rows, every set is fitted under every kernel
    largest: int = 60  # inputs of a set to which growth goes
    largest_beside: int = 60  # the same for a set with a background, which carries what is left

    @property
    def slack(self) -> float:
        """How far an estimate may err low before its set is passed over."""
        return 0.6 * self.reach


@dataclass(frozen=True)
class AutoSettings:
    """Constants of the default method.

    Up to `exact_rows` rows everything is exact. Beyond, the likelihood is that of blocks of `block_rows` rows,
    independent of each other given the parameters.
    """

    search: SearchSettings = field(default_factory=SearchSettings)
    # half the steps of the paper's first round rank the inputs as well (docs/method.md), and so do neighbours
    # among fewer rows
    dense: PaperSettings = field(
        default_factory=lambda: PaperSettings(first_steps=100, parametrisation="log", candidates=2000)
    )
    # asked in this order; one of your own joins by `search.proposer.register`
    proposers: tuple[str, ...] = (
        "growth",
        "background",
        "products",
        "second opinions",
        "moves",
        "every set",
        "neighbour blocks",
        "kernels",
    )
    dense_sizes: tuple[int, ...] = (2, 4, 8, 16, 32)
    dense_batch: int = 128  # rows of a minibatch of the dense start, at most
    dense_starts: int = 2
    backgrounds: tuple[str, ...] = ("linear", "unscaled", "steep", "smooth", "wide", "evened", "rough")
    evened_from: float = 20.0  # times that columns repeat each other from which `evened` is considered, as in spectra
    background_from: float = 0.25  # inputs per row from which a background is considered: below, sets can carry it all
    exact_rows: int | None = None  # None: half of `exact_limit`
    # random blocks for the search; what it finds is judged on `blocks` blocks of neighbours, and the parameters of the
    # final sets are fitted to as many larger ones, or twice as many where a race is open
    search_blocks: int = 3
    blocks: int = 16  # and as many of nearest neighbours alone for parameters that serve prediction from neighbours
    block_rows: int = 250  # a power of two would be a fifth slower: its rows fall on the same places of the cache
    polish_rows: int = 1000  # of each of these larger blocks
    draws: int = 24  # importance draws for each set that carries weight
    components: int = 32  # of the predictive mixture, about: every set that counts has one at least
