"""One pass over rows that do not fit into memory: the moments of all of them, and a sample to fit.

Every row has a random key that depends on the seed, its part and its place there alone, and the rows with the least
keys are the sample: uniform, without repetition, and the same whatever the number of workers or the order of work.
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

    @property
    def rows(self) -> int:
        return self.moments.rows

    def outside(self) -> np.ndarray:
        """For each column (c,), how far all rows reach beyond those of the sample, as a share of its range."""
        values = self.sample.values
        with np.errstate(invalid="ignore", divide="ignore"):
            span = self.moments.high - self.moments.low
            seen = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
            return np.where(span > 0, 1.0 - seen / span, 0.0)


def survey(parts: Sequence[Part], c: int, most: int, seed: int, n_jobs: int | None = None) -> Survey:
    """Moments and `most` rows of parts with c columns, over joblib's active backend.

    A worker holds 2 c most numbers, and so does who asks.
    """
    moments, sample = Moments.none(c), Chosen.none(c)
    for found in _over(parts, lambda k, part: delayed(look)(part, k, c, most, seed), n_jobs):
        moments = moments + found.moments
        both = sample.with_rows(found.sample.values, found.sample.keys, found.sample.places)
        sample = both.least(most)
    return Survey(moments, sample.in_order())


def _over(parts: Sequence[Part], job: Callable[[int, Part], Any], n_jobs: int | None) -> Iterable[Survey]:
    """The jobs of all parts, their results in the order of the parts."""
    jobs = (job(k, part) for k, part in enumerate(parts))
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1, pre_dispatch="n_jobs")
    except ValueError:  # a backend that gives its results at the end
        parallel = Parallel(n_jobs=n_jobs)
    found: Iterable[Survey] = parallel(jobs)
    return found


def look(part: Part, number: int, c: int, most: int, seed: int) -> Survey:
    """One part: its moments, and its rows with the least keys."""
    rng = np.random.default_rng([seed, number])
    moments, sample, start = Moments.none(c), Chosen.none(c), 0
    bar = np.inf  # no row with a larger key has a chance any more
    for block in part.blocks():
        block = np.ascontiguousarray(block, dtype=float)  # sums in another order in memory round otherwise
        moments = moments + Moments.of(block)
        keys = rng.random(len(block))
        near = np.flatnonzero(keys < bar)
        places = np.column_stack([np.full(near.size, number), start + near])
        sample = sample.with_rows(block[near], keys[near], places)
        if sample.keys.size > 2 * most:
            sample = sample.least(most)
            bar = float(sample.keys.max())
        start += len(block)
    return Survey(moments, sample.least(most))
