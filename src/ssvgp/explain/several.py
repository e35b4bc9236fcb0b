"""`Several`: what the fits of many targets to one table have left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ssvgp.data.inputs import Inputs
from ssvgp.data.view import Columns, kept_rows, needs_whole_table
from ssvgp.explain.fitted import Fitted


@dataclass(frozen=True)
class Several:
    """A fit for each of q targets by name, None where it failed, which `errors` then explains.

    All are fits to the same columns, `inputs`.
    """

    names: tuple[str, ...]
    fits: tuple[Fitted | None, ...]
    inputs: Inputs
    errors: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, Fitted | None]]:
        return zip(self.names, self.fits, strict=True)

    @property
    def n(self) -> int:
        """Rows of the fits, of those with the most."""
        return max(one.train.n for one in self.fits if one is not None)

    def of_sample(self) -> Several:
        """The same fits, to rows that are a sample of many more."""
        fits = tuple(None if one is None else replace(one, sampled=True) for one in self.fits)
        return replace(self, fits=fits)

    def table(self, of_one: Callable[[Fitted], np.ndarray | float]) -> np.ndarray:
        """What is asked of each fit, one row for each target (q, ...): NaN where there is no fit."""
        found = [None if one is None else np.asarray(of_one(one), dtype=float) for one in self.fits]
        empty = next((np.full(one.shape, np.nan) for one in found if one is not None), np.full((), np.nan))
        return np.stack([empty if one is None else one for one in found])

    @property
    def pip(self) -> np.ndarray:
        """Inclusion probabilities (q, d), NaN for a target without a fit."""
        if not any(self.fits):
            return np.full((len(self), self.inputs.d), np.nan)
        return self.table(lambda one: one.pip)

    def place(self, target: int | str) -> int:
        """The place of a target, by its name or its number."""
        if isinstance(target, str):
            if target not in self.names:
                raise ValueError(f"no target {target!r}: there are {_first(self.names)}")
            return self.names.index(target)
        if not -len(self) <= target < len(self):
            raise ValueError(f"no target {target}: there are {len(self)}, counted from 0")
        return int(target) % len(self)

    def one(self, target: int | str) -> Fitted:
        """The fit of a target; an error with its reason where that failed."""
        found = self.fits[self.place(target)]
        if found is None:
            name = self.names[self.place(target)]
            raise ValueError(f"target {name!r} was not fitted: {self.errors.get(name, 'unknown error')}")
        return found


def _first(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def bare(fitted: Fitted) -> Fitted:
    """A fit without the table, which is the same for many of them: light to send and to keep."""
    nothing = Columns(np.empty((fitted.train.n, 0)), np.empty(0, dtype=np.intp), fitted.train.d)
    return replace(fitted, train=replace(fitted.train, X=nothing, memo=None))


@dataclass
class SharedRows:
    """The standardised rows (n, p) that many fits condition on: one array for all, and its rounded copy for some."""

    X: np.ndarray
    inputs: Inputs
    _rounded: np.ndarray | None = None

    def bind(self, fitted: Fitted) -> Fitted:
        """A fit with these rows as its table, as if it had been fitted alone."""
        train, members = replace(fitted.train, X=self.X), fitted.ensemble.members
        if needs_whole_table(members):
            if self._rounded is None:
                self._rounded = kept_rows(train, members).X
            train = replace(train, X=self._rounded)
        return replace(fitted, train=train, inputs=self.inputs)
