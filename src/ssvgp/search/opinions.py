"""Second opinions: growth from starts that do not share the first one's blindness, as long as they change the answer.

After k opinions in a row that left the best set as it was, another one would change it with a chance of about
1 / (k + 2) (Laplace's rule of succession). What it could still explain is the noise. Opinions are asked until the
product of the two, the share of the variance that is expected to be left behind, is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ssvgp.evidence.laplace import Fit, unexplained
from ssvgp.evidence.logs import NOTICED
from ssvgp.search.book import Book
from ssvgp.search.growth import BEHIND, grow_on
from ssvgp.settings import SearchSettings


def left_behind(book: Book, unchanged: int) -> float:
    """The share of the variance of y that is expected to be missed after so many opinions without a change."""
    return unexplained(book.problem, book.best()) / (unchanged + 2)


def ask(book: Book, starts: Iterator[Fit], settings: SearchSettings) -> None:
    """Grow from each start until enough of them in a row have changed nothing."""
    while left_behind(book, book.unchanged) > settings.left_behind:
        start = next(starts, None)
        if start is None:
            return
        before, book.asked = book.best().log_evidence, book.asked + 1
        grow_on(book, start, settings)
        book.unchanged = 0 if book.best().log_evidence > before + NOTICED else book.unchanged + 1


def runners_up(book: Book) -> Iterator[Fit]:
    """Visited sets that nothing has grown from, best first: what is behind after one step may lead after two."""
    while True:
        top = book.best()
        rest = [f for c, f in book.fits.items() if c not in book.grown and not c.background and c.size]
        near = [f for f in rest if f.log_evidence > top.log_evidence - BEHIND]
        if not near:
            return
        yield max(near, key=lambda f: f.log_evidence)


def narrow(settings: SearchSettings) -> SearchSettings:
    """For runners-up: groups were looked at beside the best set."""
    return replace(settings, groups=0)
