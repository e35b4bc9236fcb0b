"""The constants of the paper's method, and what its appendix decides by the number of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

SMALL_ROWS = 2000  # up to here all is exact; the paper's method is as on the toy (B.1), beyond as in experiment 2 (B.3)
LARGE_ROWS = 10_000  # the smallest table of experiment 2: from here on its shortcuts too


@dataclass(frozen=True)
class Blur:
    """kappa of A.3 and its `place`, and the jitter of leave-one-out.

    "variance": on the variances (A.3); "noise": in the covariance beside the noise that was learned; "instead": there
    in place of it.
    """

    kappa: float
    place: str
    jitter: float

    def __post_init__(self) -> None:
        if self.place not in ("variance", "noise", "instead"):
            raise ValueError(f"kappa_place is 'variance', 'noise' or 'instead', not {self.place!r}")


@dataclass(frozen=True)
class PaperSettings:
    """Constants of the paper's method with the values of its appendix B.1 and B.3.

    The paper has tables of 100 and 300 rows, and of 10^4 and more. Where it treats them differently, None stands for
    the treatment by the number of rows n. Where its text and its numbers differ, the default is what gives the numbers
    (docs/method.md), but for `target`: print of experiment 1 needs "raw", a user's data had better be standardised.
    """

    target: str = "standardised"  # or "raw": y neither centred nor scaled, as in experiment 1 (B.2)
    # "root": scale and noise are stepped as s and sigma, their roots; or "log". None: roots to 2000 rows, logs beyond
    parametrisation: str | None = None

    a: float = 1e-3
    b: float = 1e-3
    c: float = 1e-8
    v: tuple[float, ...] = tuple(float(x) for x in 1e4 * 2.0 ** np.linspace(-np.log2(1000), np.log2(1000), 11))
    rounds: int | None = None  # None: 10 at zero temperature on minibatches of up to 2000 rows; else 5 (B.1)
    first_steps: int = 200
    steps: int = 100
    learning_rate: float | None = None  # None: 0.05 up to 2000 rows, 0.01 beyond (B.1, B.3)
    prune: float = 0.5  # epsilon; 0 switches pruning off
    minibatch: float | int | None = None  # rows, or a fraction of n; None: n/4 up to 2000 rows, 256 beyond
    minibatch_kind: str = "nearest"  # or "uniform"
    candidates: int = 10_000  # neighbours of a minibatch are sought among this many random rows
    posterior: str = "zero-temperature"  # or "mean-field"
    samples: int = 1  # S, of the reparameterisation gradient
    predictive_samples: int = 100  # S*, of eq. 11
    initial_sd: float = 2e-3
    jitter: float = 1e-3
    loo_jitter: float | None = None  # in place of `jitter` in leave-one-out; None: 1e-2 up to 2000 rows, then the same
    kappa: float | None = None  # blurs leave-one-out; None: 1 up to 2000 rows, 0.1 beyond
    # "noise": kappa is in the covariance beside the noise; "instead": in place of it, both as in the authors' code;
    # "variance": on the variances, as A.3 says. None: the first up to 2000 rows, the last beyond
    kappa_place: str | None = None
    loo_neighbours: int | None = None  # None: exact up to 2000 rows, 64 beyond
    loo_rows: int | None = 10_000  # rows that a truncated density is taken over at most (evidence/race.py); None: all
    thin: int | None = 100  # trials of the multinomial thinning of weights; None keeps the weights
    thinned_pip: bool = False  # whether inclusion probabilities rest on the thinned weights too
    best_only: bool | None = None  # None: from 10^4 rows on, as in B.3
    collapse: bool | None = None  # None: from 10^4 rows on, as in B.3
    shared_first_round: bool | None = None  # None: from 10^4 rows on, as in the authors' public code

    extra_steps: int | None = None  # of members with weight, at most, see `paper`; None: 1200 from 10^4 rows on

    def blur(self, n: int) -> Blur:
        """What is added in leave-one-out of n rows, and where."""
        usual = Blur(1.0, "noise", 1e-2) if n <= SMALL_ROWS else Blur(0.1, "variance", self.jitter)
        return Blur(
            usual.kappa if self.kappa is None else self.kappa,
            self.kappa_place or usual.place,
            usual.jitter if self.loo_jitter is None else self.loo_jitter,
        )

    def learning_rate_for(self, n: int) -> float:
        """The step size of Adam: as set, or as B.1 and B.3 have it for this posterior and number of rows."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.05 if self.posterior == "zero-temperature" and n <= SMALL_ROWS else 0.01

    def rounds_for(self, n: int) -> int:
        """Rounds of a-CAVI: as set, or B.1's 5; print needs the 10 of the authors' code on small minibatches."""
        if self.rounds is not None:
            return self.rounds
        small = n <= SMALL_ROWS and self.minibatch_for(n) < n
        return 10 if self.posterior == "zero-temperature" and small else 5

    def minibatch_for(self, n: int) -> int:
        """m: as set, a number of rows or a fraction of n; else n/4 (mean field: n) to 2000 rows, 256 beyond."""
        m = self.minibatch
        if m is None:
            share = 0.25 if self.posterior == "zero-temperature" else 1.0
            m = share if n <= SMALL_ROWS else 256
        rows = round(m * n) if isinstance(m, float) else int(m)
        if rows < 1 and not (isinstance(m, float) and m > 0):
            raise ValueError(f"minibatch is a number of rows or a fraction of them, above zero, not {m!r}")
        return min(max(rows, 2), n)

    def loo_neighbours_for(self, n: int) -> int | None:
        """Neighbours of leave-one-out, None for all rows: as set, or exact to 2000 rows and 64 beyond."""
        if self.loo_neighbours is not None:
            return self.loo_neighbours
        return 64 if n > SMALL_ROWS else None

    def for_data(self, n: int) -> PaperSettings:
        """The settings with the parametrisation and the shortcuts of experiment 2 decided for n rows."""
        large = n >= LARGE_ROWS
        return replace(
            self,
            parametrisation=self.parametrisation or ("root" if n <= SMALL_ROWS else "log"),
            best_only=large if self.best_only is None else self.best_only,
            collapse=large if self.collapse is None else self.collapse,
            shared_first_round=large if self.shared_first_round is None else self.shared_first_round,
            extra_steps=(1200 if large else 0) if self.extra_steps is None else self.extra_steps,
        )
