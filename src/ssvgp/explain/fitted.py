"""`Fitted`: what a fit has left, and what explanations, reports, files and commands read of it.

It holds what was found and how to get back to units of the table; what follows from these at no cost is a property,
what costs time is worked out once and kept in its `Cache`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from ssvgp.data.inputs import Inputs
from ssvgp.data.memory import bytes_of, warn_of_memory
from ssvgp.data.target import Target
from ssvgp.explain.correlated import Relative
from ssvgp.gp.batches import Work
from ssvgp.gp.predict import Prepared, posterior, predict, prepared, ready_bytes
from ssvgp.gp.weak import Weak
from ssvgp.records import Ensemble, Member, Prediction, Train, has_sites
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings.machine import HELD

CACHE_BYTES = 32 * HELD  # factors and searches kept between predictions
READY = "prepared"  # the kind under which these are kept

Found = TypeVar("Found")


class Cache:
    """Results that cost time, each worked out once. Keys begin with a kind; copies and pickles start empty."""

    def __init__(self) -> None:
        self._found: dict[tuple[Hashable, ...], Any] = {}

    def once(self, key: tuple[Hashable, ...], work_out: Callable[[], Found]) -> Found:
        """What is kept under the key, or is worked out now and kept."""
        if key not in self._found:
            with one_blas_thread():
                self._found[key] = work_out()
        found: Found = self._found[key]
        return found

    def forget(self, kind: Hashable) -> None:
        """Drop all that was kept of a kind."""
        for key in [key for key in self._found if key[0] == kind]:
            del self._found[key]

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return iter(tuple(self._found))

    def __getstate__(self) -> dict[str, Any]:
        return {"_found": {}}


@dataclass(frozen=True)
class Fitted:
    """The mixture, its data, how to get back to units of the table, and how it is asked.

    `ensemble` counts inputs among the kept columns, `relatives` in the table. `given_names` (d,) are those of the
    table's columns, None where it had none. `numbers` (r,) are the user's rows that took part and `places` (r,) where
    each is among the n of `train`, None where these are the rows as they came. `neighbours` are those that a prediction
    conditions on, None where it is exact; `sampled` rows stand for many more, and masses of those will be asked for;
    `check_rows` are left out in turn by a check, each given `check_neighbours`; None is for all rows. Samples of rows
    and orders of draws start from `seed`, which the fit has drawn.
    """

    ensemble: Ensemble
    train: Train
    inputs: Inputs
    target: Target
    relatives: Mapping[int, tuple[Relative, ...]] = field(default_factory=dict)
    given_names: tuple[str, ...] | None = None
    numbers: np.ndarray | None = None
    places: np.ndarray | None = None
    neighbours: int | None = None
    sampled: bool = False
    check_rows: int | None = None
    check_neighbours: int = 256
    seed: int = 0
    threshold: float = 0.5
    n_jobs: int = 1
    max_memory: int | str | None = None
    cache: Cache = field(default_factory=Cache, repr=False, compare=False)

    # --- what was found, in the table's own terms

    @property
    def names(self) -> tuple[str, ...]:
        """Names (d,) of the columns: those of the table, or x0, x1 and so on."""
        return tuple(f"x{j}" for j in range(self.inputs.d)) if self.given_names is None else self.given_names

    @property
    def pip(self) -> np.ndarray:
        """Inclusion probabilities (d,), 0 for columns that were left out."""
        return self.inputs.widen(np.clip(self.ensemble.pip, 0.0, 1.0))  # rounding only

    @property
    def support(self) -> np.ndarray:
        """Whether each column (d,) is selected: its inclusion probability lies above the threshold."""
        return self.pip > self.threshold

    @property
    def members(self) -> tuple[Member, ...]:
        """The components of the mixture; inputs are numbered as in the table."""
        return tuple(self.inputs.in_table(member) for member in self.ensemble.members)

    @property
    def inverse_lengthscales(self) -> np.ndarray:
        """Mean |theta| (d,) over members, for standardised inputs; 0 where no member has the input."""
        out = np.zeros(self.inputs.d)
        for member, weight in zip(self.members, self.ensemble.weights, strict=True):
            out[member.active] += weight * np.abs(member.parameters.theta)
        if self.weak is not None:
            out[self.inputs.kept[self.weak.columns]] += self.weak.theta
        return out

    @property
    def lengthscales(self) -> np.ndarray:
        """Lengthscales (d,) in units of the columns, NaN for inputs that no member has.

        One over the mean |theta| of the members that have the input, by their weights.
        """
        weight = np.zeros(self.inputs.d)
        for member, share in zip(self.members, self.ensemble.weights, strict=True):
            weight[member.active] += share
        if self.weak is not None:
            weight[self.inputs.kept[self.weak.columns]] += self.weak.chance
        theta, out = self.inverse_lengthscales, np.full(self.inputs.d, np.nan)
        spread = self.inputs.widen(self.inputs.spread)
        np.divide(spread * weight, theta, out=out, where=(weight > 0) & (theta > 0))
        return out

    @property
    def noise_variance(self) -> float:
        """Variance of the noise in squared units of y, of the transformed y under a transform."""
        return self._noise * self.target.spread**2

    @property
    def variance_shares(self) -> dict[str, float]:
        """Shares of sparse part, background and noise, which sum to one."""
        if "shares" in self.ensemble.notes:
            return dict(self.ensemble.notes["shares"])
        # a standardised y has variance one, so that without a background the sparse part has what noise leaves
        share = self._noise / float(np.var(self.train.y)) if self.target.raw else self._noise
        return {"sparse": max(1.0 - share, 0.0), "background": 0.0, "noise": min(share, 1.0)}

    @property
    def weak(self) -> Weak | None:
        """The part of f that only all rows together show, beside the members; None where there is none."""
        weak: Weak | None = self.ensemble.weak
        return weak

    @property
    def standardised(self) -> np.ndarray:
        """Training targets (n,) as the fit met them; members are conditioned on what the weak part leaves of them."""
        return self.train.y if self.weak is None else self.train.y + self.weak.at(self.train.X)

    @property
    def _noise(self) -> float:
        """Mean noise variance of the members, of the standardised target, or what stands for it in units of f."""
        noise, each = self.train.noise, [member.parameters for member in self.ensemble.members]
        return float(
            self.ensemble.weights @ np.array([noise.spread(at) if has_sites(noise) else at.noise for at in each])
        )

    @property
    def observed(self) -> np.ndarray:
        """Training targets in units of y, one for each of the user's rows that took part."""
        y = self.target.restore(self.standardised)
        return y if self.places is None else y[self.places]

    # --- predictions

    @property
    def likelihood(self) -> str:
        """The likelihood that ties y to f, by name: the one that was asked for, or that the evidence chose."""
        return getattr(self.train.noise, "name", "gaussian")

    @property
    def reading(self) -> str:
        """How y was read, in words: "gaussian noise", "heavy tails", "outliers", or the curve that it passed.

        Where a likelihood was asked for, this is its name.
        """
        return str(self.ensemble.notes.get("reading") or self.likelihood)

    def predict(self, rows: Any, exposure: np.ndarray | None = None) -> Prediction:
        """Moments of every component at standardised rows (t, p); the rates of counts are those of `exposure` (t,)."""
        work = Work(self.n_jobs, bytes_of(self.max_memory))
        with one_blas_thread():
            found = predict(self.ensemble, self.train, rows, self.neighbours, self.prepared(), work)
        if exposure is not None:
            found = replace(found, means=found.means + np.log(exposure))
        if self.weak is None:
            return found
        with one_blas_thread():
            means, variances = found.means + self.weak.at(rows), found.variances + self.weak.variance(rows)
        return replace(found, means=means, variances=variances)

    def prepared(self) -> tuple[Prepared, ...] | None:
        """Members made ready for prediction, once, where they are small enough to keep."""
        key, members = (READY, self.neighbours), self.ensemble.members  # neighbours may change without a new fit
        if key not in self.cache:
            limit = bytes_of(self.max_memory)
            each = [ready_bytes(one, self.train, self.neighbours) for one in members]
            warn_of_memory(max(each), self.max_memory, f"a prediction from {self.train.n} rows")
            if sum(each) > (CACHE_BYTES if limit is None else min(CACHE_BYTES, limit // 4)):
                return None
            self.cache.forget(READY)
        return self.cache.once(key, lambda: tuple(self._prepared(one) for one in members))

    def _prepared(self, member: Member) -> Prepared:
        return prepared(member, self.train, self.neighbours, masses=self.sampled)

    def exact_posteriors(self) -> Any:
        """Every member factored, from what is at hand or one after the other."""
        ready = self.prepared() if self.neighbours is None else None
        return ready if ready is not None else (posterior(member, self.train) for member in self.ensemble.members)

    # --- rows and columns to look at

    def looked_at(self, place: int) -> bool:
        """Whether some member looks at this one of the kept columns."""
        if self.weak is not None and place in self.weak.columns:
            return True
        return any(m.background is not None or place in m.active for m in self.ensemble.members)

    def generator(self) -> np.random.Generator:
        """A generator that is the same each time: what is asked twice has one answer."""
        return np.random.default_rng(self.seed)

    def reference(self, count: int) -> np.ndarray:
        """The first `count` rows of one fixed random order (count,): part of a larger count's.

        Rows that count unequally come as often as they count, one after the other in a random order.
        """
        noise, rng = self.train.noise, self.generator()
        if noise is None or (noise.weights == noise.weights[0]).all():
            return rng.permutation(self.train.n)[:count]
        return rng.choice(self.train.n, count, p=noise.weights / noise.weights.sum())

    def values_of(self, index: int, most: int = 1000) -> np.ndarray:
        """Values (r,) of a column of the table over a fixed sample of rows, in its units; none where it is not kept.

        A copied column has the values of the one that stands for it.
        """
        inputs = self.inputs
        place = np.flatnonzero(inputs.kept == inputs.duplicate_of.get(index, index))
        if not place.size or not self.looked_at(int(place[0])):
            return np.empty(0)
        values: np.ndarray = self.train.X[self.reference(most)][:, place][:, 0]
        return values * inputs.spread[place[0]] + inputs.centre[place[0]]
