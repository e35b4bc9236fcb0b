"""The prior of the default method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvgp.settings.paper import SMALL_ROWS

SLAB_SCALES = (0.1, 0.2, 0.4, 0.8)
ROUGH_SCALE = 2.5  # many rows can show rough functions, which few cannot
FEW_ROWS = SMALL_ROWS // 2


@dataclass(frozen=True)
class Prior:
    """The prior of the default method, on standardised data.

    Sets: Beta-Binomial(a, b). Inverse lengthscales of a set: half-normal with one common scale, averaged over
    `slab_scales`. log scale, log noise, log background, log freedom (degrees of freedom of Student-t noise): normal
    (mean, sd). `mean` is the variance of the constant, whose prior no set should have to pay for, see `for_data`.
    """

    a: float = 1.0
    b: float | None = None  # None: d^1.5 / 10 but at least 1, which keeps noise out as d grows
    slab_scales: tuple[float, ...] | None = None  # None: 0.1, 0.2, 0.4, 0.8, and 2.5 too where rows are many
    log_scale: tuple[float, float] = (0.5, 2.0)
    log_noise: tuple[float, float] = (-1.5, 1.5)
    log_background: tuple[float, float] | None = None  # None: effects too small to be seen one by one, see `for_data`
    with_background: float = 0.5
    mean: float | None = None  # None: 1 for a standardised target, 100 where the level of y is open
    log_freedom: tuple[float, float] = (1.4, 1.0)
    rounding: float | None = None  # variance of y by rounding, a known part of the noise; None: by the grid of y

    def of_slot(self, name: str) -> tuple[float, float]:
        """Mean and sd of the normal prior of the log of a parameter, by the name of its slot."""
        normal: tuple[float, float] | None = getattr(self, f"log_{name}")
        assert normal is not None  # filled in by `for_data`
        return normal

    @property
    def slabs(self) -> tuple[float, ...]:
        """The scales of the slab: as given or decided, the usual ones before the number of rows is known."""
        return SLAB_SCALES if self.slab_scales is None else self.slab_scales

    @property
    def level(self) -> float:
        """The variance of the constant: as given or decided, that of a standardised target before."""
        return 1.0 if self.mean is None else self.mean

    def for_data(
        self,
        n: float,
        d: int,
        repetition: float = 1.0,
        inputs: int | None = None,
        spread: float | None = None,
        together: bool = True,
    ) -> Prior:
        """The prior with what depends on the number of rows and inputs filled in.

        A background is made of effects that cannot be seen one by one: each has a variance b / d below about 1 / (4 n).
        Where columns repeat each other, `repetition` times over (gp/axes.py), what matters may lie in small
        differences between them, and effects may be much larger. The prior of sets counts `inputs`, None where these
        are the d columns. Where y is not standardised, noise stands for the variance `spread` in units of f; how large
        f is beside it is then as open as the scale of the sparse part.

        A kernel contains a constant too, of the variance of f, which is large for labels. Beside one of variance m a
        set of scale tau pays log(1 + tau / m) / 2 for it, though the level of f was taken from y and tells nothing. So
        where y is not standardised the constant is wide, if all rows `together` have one level: blocks and
        neighbourhoods, which have one each, are held near that of all rows.
        """
        mean, sd = float(np.log(0.25 * min(1.0, d / n))), 1.0 + float(np.log(repetition))
        if spread is not None:
            mean, sd = mean + float(np.log(spread)), float(np.hypot(sd, self.log_scale[1]))
        background = self.log_background or (mean, sd)
        b = max(1.0, 0.1 * (d if inputs is None else inputs) ** 1.5) if self.b is None else self.b
        level = 100.0 if self.mean is None and spread is not None and together else self.level
        return replace(self, b=b, slab_scales=self.slab_scales_for(n), log_background=background, mean=level)

    def slab_scales_for(self, n: float, few_rows: int = FEW_ROWS) -> tuple[float, ...]:
        """The scales of the slab: as given, or the usual ones, with a rough one too where rows are many."""
        rough = self.slab_scales is None and n > few_rows
        return (*SLAB_SCALES, ROUGH_SCALE) if rough else self.slabs
