"""One pass over rows that do not fit into memory: the moments of all of them, and a sample to fit.

Every row has a random key that depends on the seed, its part and its place there alone, and the rows with the least
keys are the sample: uniform, without repetition, and the same whatever the number of workers or the order of work. A
weight says how often a row counts and not how likely it is drawn; a row of weight zero is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

from ssvgp.disk.moments import Moments


class Part(Protocol):
    """A part of a table, such as a file: its name for messages, and its rows in blocks (t, c) of doubles."""

    @property
    def name(self) -> str: ...

    def blocks(self) -> Iterator[np.ndarray]: ...


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows with the least keys so far: values (k, c), keys (k,), and where each comes from (k, 2), part and place."""

    values: np.ndarray
    keys: np.ndarray
    places: np.ndarray

    @classmethod
    def none(cls, c: int) -> Chosen:
        return cls(np.empty((0, c)), np.empty(0), np.empty((0, 2), dtype=np.int64))

    def least(self, most: int) -> Chosen:
        """The `most` rows with the least keys, or all."""
        if self.keys.size <= most:
            return self
        kept = np.argpartition(self.keys, most)[:most]
        return Chosen(self.values[kept], self.keys[kept], self.places[kept])

    def with_rows(self, values: np.ndarray, keys: np.ndarray, places: np.ndarray) -> Chosen:
        return Chosen(
            np.concatenate([self.values, values]),
            np.concatenate([self.keys, keys]),
            np.concatenate([self.places, places]),
        )

    def in_order(self) -> Chosen:
        """By part and place, as in the table."""
        order = np.lexsort((self.places[:, 1], self.places[:, 0]))
        return Chosen(self.values[order], self.keys[order], self.places[order])


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass has found: moments of all rows, and a sample of them."""

    moments: Moments
    sample: Chosen

    @classmethod
    def none(cls, c: int) -> Survey:
        return cls(Moments.none(c), Chosen.none(c))

    @property
    def rows(self) -> int:
        return self.moments.rows

    def beside(self, other: Survey, most: int) -> Survey:
        """What both have found, with at most `most` rows."""
        more = other.sample
        sample = self.sample.with_rows(more.values, more.keys, more.places).least(most)
        return Survey(self.moments + other.moments, sample)

    def in_order(self) -> Survey:
        return Survey(self.moments, self.sample.in_order())


@dataclass(eq=False)
class Drawing:
    """What a pass over rows of c columns has found so far; it holds 2 c most numbers."""

    c: int
    most: int
    seed: int
    bar: float = np.inf  # no row with a larger key has a chance any more
    seen: int = 0  # rows so far

    def __post_init__(self) -> None:
        self.moments, self.sample = Moments.none(self.c), Chosen.none(self.c)

    def begin(self, number: int) -> None:
        """The blocks that follow are those of this part."""
        self.number, self.rng = number, np.random.default_rng([self.seed, number])

    def take(self, block: np.ndarray, weights: np.ndarray | None = None) -> None:
        """The next rows (t, c), which count by weights (t,)."""
        keys = self.rng.random(len(block))
        there = np.ones(len(block), dtype=bool) if weights is None else weights > 0.0
        counted = block if there.all() else block[there]
        self.moments = self.moments + Moments.of(counted, None if weights is None else weights[there])
        near = np.flatnonzero(there & (keys < self.bar))
        places = np.column_stack([np.full(near.size, self.number), self.seen + near])
        self.sample = self.sample.with_rows(block[near], keys[near], places)
        if self.sample.keys.size > 2 * self.most:
            self.sample = self.sample.least(self.most)
            self.bar = float(self.sample.keys.max())
        self.seen += len(block)

    def found(self) -> Survey:
        return Survey(self.moments, self.sample.least(self.most))


@dataclass(eq=False)
class Total:
    """What the parts of a table have told so far, with at most `most` of their rows."""

    told: Survey
    most: int

    def add(self, part: Survey) -> None:
        self.told = self.told.beside(part, self.most)

    @property
    def bar(self) -> float:
        """No row with a larger key has a chance any more."""
        keys = self.told.sample.keys
        return float(keys.max()) if keys.size == self.most else np.inf


def survey(
    parts: Sequence[Part], c: int, most: int, seed: int, n_jobs: int | None = None, weigh: int | None = None
) -> Survey:
    """Moments and `most` rows of parts with c columns, of which `weigh` has the weights, over joblib's active backend.

    A worker holds 2 c most numbers, and so does who asks.
    """
    all_parts = Total(Survey.none(c), most)
    # a part hears of the bar as it is when its turn comes, so that late ones send few rows
    for found in _over(parts, lambda k, part: delayed(look)(part, k, c, most, seed, weigh, all_parts.bar), n_jobs):
        all_parts.add(found)
    return all_parts.told.in_order()


def _over(parts: Sequence[Part], job: Callable[[int, Part], Any], n_jobs: int | None) -> Iterable[Survey]:
    """The jobs of all parts, their results in the order of the parts."""
    jobs = (job(k, part) for k, part in enumerate(parts))
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1, pre_dispatch="n_jobs")
    except ValueError:  # a backend that gives its results at the end
        parallel = Parallel(n_jobs=n_jobs)
    found: Iterable[Survey] = parallel(jobs)
    return found


def look(
    part: Part, number: int, c: int, most: int, seed: int, weigh: int | None = None, bar: float = np.inf
) -> Survey:
    """One part: its moments, and its rows with the least keys, all of them below the bar."""
    drawing = Drawing(c, most, seed, bar)
    drawing.begin(number)
    for block in part.blocks():
        block = np.ascontiguousarray(block, dtype=float)  # sums in another order in memory round otherwise
        drawing.take(block, None if weigh is None else _checked(block[:, weigh], part))
    return drawing.found()


def _checked(weights: np.ndarray, part: Part) -> np.ndarray:
    """The weights (t,) of a block; an error that names the part where one is no weight."""
    wrong = weights[~((weights >= 0.0) & np.isfinite(weights))]
    if wrong.size:
        what = "missing" if np.isnan(wrong[0]) else f"{wrong[0]:g}"
        raise ValueError(f"{part.name}: a weight is {what}; each must be a number from zero up")
    return weights
