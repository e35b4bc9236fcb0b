"""What ties y to f, row by row: Gaussian noise whose variance is learned, with weights and known variances of rows.

The algebra above sees a working target for each row (`Train.y`), a working variance, and terms of log p that do not
depend on f: the record `Working`. Gaussian noise is the trivial case, its target is y itself. A row of weight w is the
row w times: w copies under the variance c = noise + known each are one row under c / w, and

    log p(w copies | f) = log N(y; f, c / w) - (w - 1) / 2 log(2 pi c) - 1/2 log w,

for whole weights exactly, and by the same formula for others. A likelihood of your own joins by `register(name,
build)`, and `SSVGPRegressor(likelihood=name)` uses it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.model.registry import Registry
from ssvgp.records import RowNoise, Working


@dataclass(frozen=True, eq=False)
class Rows:
    """What a likelihood may know of the n training rows: targets y (n,), weights and known noise variances (n,).

    All in units of the standardised target; weights are all one, and known variances zero, where none were given.
    """

    y: np.ndarray
    weights: np.ndarray
    known: np.ndarray

    @property
    def plain(self) -> bool:
        """Whether all rows count once and none has noise of its own."""
        return bool((self.weights == 1.0).all() and (self.known == 0.0).all())


@dataclass(frozen=True, eq=False)
class GaussianNoise:
    """Noise of variance (noise + known_i) / w_i in row i: weights w and known variances (n,)."""

    weights: np.ndarray
    known: np.ndarray

    def at(self, noise: float, jitter: float = 0.0) -> Working:
        copy = noise + jitter + self.known
        spare = self.weights - 1.0
        terms = -0.5 * float((spare * np.log(2.0 * np.pi * copy)).sum() + np.log(self.weights).sum())
        slope = -0.5 * float((spare * noise / copy).sum())
        return Working(copy / self.weights, noise / self.weights, terms, slope)

    def copy_variance(self, noise: float) -> np.ndarray:
        return noise + self.known

    def rows(self, some: np.ndarray) -> GaussianNoise:
        return GaussianNoise(self.weights[some], self.known[some])

    def to_plain(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "known": self.known}


LIKELIHOODS: Registry[Rows, RowNoise] = Registry("likelihood")
register, likelihood_named, from_plain = LIKELIHOODS.register, LIKELIHOODS.named, LIKELIHOODS.from_plain


def _gaussian(rows: Rows) -> RowNoise | None:
    return None if rows.plain else GaussianNoise(rows.weights, rows.known)


register("gaussian", _gaussian, lambda values: GaussianNoise(values["weights"], values["known"]))
