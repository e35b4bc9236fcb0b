"""Whoever shows sets to the evidence: the method is a list of proposers, each of which writes into the same book.

A proposer of your own joins by `register`, and is asked where `AutoSettings.proposers` has its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssvgp.search.book import Book
from ssvgp.settings import Regime


def always(book: Book, regime: Regime) -> bool:
    """Whether a proposer is asked that has nothing against it."""
    return True


@dataclass(frozen=True)
class Proposer:
    """A name, what is done under it, and the time that this usually takes, as a share of that of the others.

    `propose` visits sets in the book (`book.visit`, `grow` and so on) and returns nothing: what it found is weighed by
    evidence with all the rest. It draws from its own generator alone. One that is not `wanted` is passed over.
    """

    name: str
    propose: Callable[[Book, Regime, np.random.Generator], None]
    share: float = 0.1
    wanted: Callable[[Book, Regime], bool] = always


_PROPOSERS: dict[str, Proposer] = {}


def register(proposer: Proposer) -> None:
    """Let settings name this proposer; one of the same name is replaced."""
    _PROPOSERS[proposer.name] = proposer


def proposers_named(names: Sequence[str]) -> tuple[Proposer, ...]:
    """The proposers of these names, in this order, which is that in which they are asked."""
    unknown = [name for name in names if name not in _PROPOSERS]
    if unknown:
        known = ", ".join(sorted(_PROPOSERS))
        raise ValueError(f"no proposer is called {unknown[0]!r}: register it, or name some of {known}")
    return tuple(_PROPOSERS[name] for name in names)
