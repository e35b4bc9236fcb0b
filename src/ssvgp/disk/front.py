"""What an estimator can do with rows that are not in memory: fit a sample of them, and predict them lazily."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ssvgp.data.inputs import warn_of_columns
from ssvgp.data.rows import sample_of
from ssvgp.disk import collections
from ssvgp.disk.sampled import Sampled
from ssvgp.many.targets import Targets
from ssvgp.method.line import fit_table, warn_of_notes
from ssvgp.method.request import Request
from ssvgp.run.progress import listener
from ssvgp.run.randomness import generator_of


def is_on_disk(X: Any, sample_rows: int | None) -> bool:
    """Whether rows are to be sampled: a path, a Dask collection, or an array of more rows than were asked for."""
    if isinstance(X, (str, PathLike, Sampled)) or collections.is_dask(X):
        return True
    return sample_rows is not None and isinstance(X, np.ndarray) and X.ndim == 2 and len(X) > sample_rows


class RowsOnDisk:
    """The part of an estimator that knows of rows on disk; `sampling_` says in a sentence what a fit has seen."""

    def _fit_disk(self: Any, request: Request, X: Any, y: Any, weights: Any, noise: Any) -> Any:
        found = X if isinstance(X, Sampled) else self._drawn(X, y, weights, noise)
        self.n_features_in_ = found.X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if found.names is not None:
            self.feature_names_in_ = np.array(found.names, dtype=object)
        # one number stands for all rows, and need not be read with them
        weights = weights if isinstance(weights, Real) else found.weights
        noise = noise if isinstance(noise, Real) else found.noise
        inputs = found.inputs()
        warn_of_columns(inputs, found.names or range(found.X.shape[1]))
        if found.y.ndim == 2:
            from ssvgp.many.run import fit_several

            names = found.targets or tuple(f"y{k}" for k in range(found.y.shape[1]))
            targets = y if isinstance(y, Targets) else Targets(np.asfortranarray(found.y), names)
            several = fit_several(found.X, targets, weights, noise, self._order(request), inputs)
            self._hold_several(several if found.whole else several.of_sample())
        else:
            sample = sample_of(found.X, np.ascontiguousarray(found.y), weights, noise, self.exact_limit)
            regime, rng = self._regime(sample.y.size, inputs.kept.size), generator_of(self.random_state)
            fitted = fit_table(sample, inputs, request, regime, rng, listener(self.verbose, self.callback))
            warn_of_notes(fitted.ensemble.notes)
            self._hold(replace(fitted, sampled=not found.whole))
        self.sampling_ = str(found)
        return self

    def _drawn(self: Any, X: Any, y: Any, weights: Any, noise: Any) -> Sampled:
        from ssvgp.disk.sources import sampled  # here, since it reads files

        (drawing,) = generator_of(self.random_state).spawn(1)
        beside = (None if isinstance(one, Real) else one for one in (weights, noise))
        return sampled(X, y, self.sample_rows, int(drawing.integers(2**31)), self.n_jobs, *beside)

    def _predict_lazily(self: Any, X: Any, return_std: bool, noise: bool) -> Any:
        """Predictions of a Dask collection, as one: nothing is computed before it is asked for."""
        names = [str(name) for name in getattr(self, "targets_", ["prediction"])]
        ask = partial(_moments, self, return_std, noise)
        if not return_std:
            return collections.predicted(ask, X, tuple(names) if hasattr(self, "targets_") else None)
        both = collections.predicted(ask, X, (*(f"{one} mean" for one in names), *(f"{one} std" for one in names)))
        return tuple(self._half(both, X, names, what) for what in ("mean", "std"))

    def _half(self: Any, both: Any, X: Any, names: list[str], what: str) -> Any:
        """The means, or the standard deviations, of a collection that has both."""
        many = hasattr(self, "targets_")
        if collections.is_frame(X):
            columns = [f"{one} {what}" for one in names]
            if many:
                return both[columns].rename(columns=dict(zip(columns, names, strict=True)))
            return both[columns[0]].rename(what)
        start = 0 if what == "mean" else len(names)
        return both[:, start : start + len(names)] if many else both[:, start]


def _moments(model: Any, return_std: bool, noise: bool, rows: Any) -> np.ndarray:
    """Means (t,) or (t, q) of rows in memory, or with standard deviations (t, 2) or (t, 2 q)."""
    ask = model.predict if noise else model.predict_latent
    if not return_std:
        return np.asarray(ask(rows))
    return np.column_stack(ask(rows, return_std=True))
