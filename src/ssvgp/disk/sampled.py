"""A sample that stands for many rows: what is fitted, how all rows are scaled, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvgp.data.inputs import Inputs, inputs_of
from ssvgp.disk.moments import Moments

FAR = 0.5  # of the range of a column beyond the sample's own: worth a word


@dataclass(frozen=True, eq=False)
class Sampled:
    """Rows X (k, d) with y (k,) or (k, q), drawn at random from `rows`; `moments` of the d columns are those of all.

    `own` (d,) are columns whose moments are not known of all rows, such as levels of a category: the sample's are used.
    `names` of inputs and `targets` are None where the rows came without. Where rows have weights (k,), none of them is
    zero, `rows` has no such row either, and moments count by them; `noise` (k,) are known variances.
    """

    X: np.ndarray
    y: np.ndarray
    rows: int
    moments: Moments
    own: np.ndarray
    names: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    noise: np.ndarray | None = None

    @property
    def whole(self) -> bool:
        """Whether the sample is all there is."""
        return len(self.X) == self.rows

    def inputs(self) -> Inputs:
        """Which columns are kept, which the sample tells, and how they are standardised: by the moments of all rows."""
        found, scale = inputs_of(self.X, self.weights), self.moments.scale()
        centre, spread = found.centre.copy(), found.spread.copy()
        of_all = ~self.own[found.kept]
        centre[of_all], spread[of_all] = scale.centre[found.kept][of_all], scale.spread[found.kept][of_all]
        return replace(found, centre=centre, spread=spread)

    def __str__(self) -> str:
        if self.whole:
            return f"all {self.rows} rows"
        share = f"{len(self.X)} of {self.rows} rows, drawn at random"
        return (
            f"{share}: means and standard deviations are those of all rows, everything else is the sample's; what only "
            f"the other rows show (rare levels, effects too weak for {len(self.X)} rows) is left out"
        )

    def far(self) -> np.ndarray:
        """Columns (.,) of which other rows reach far beyond the sample: predictions there are guesses."""
        span, seen = self.moments.high - self.moments.low, np.ptp(self.X, axis=0)
        with np.errstate(invalid="ignore"):
            return np.flatnonzero((span - seen > FAR * span) & ~self.own & (seen > 0))
