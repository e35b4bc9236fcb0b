"""What a user may set: the prior of the default method, and the constants of both methods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

SLAB_SCALES = (0.1, 0.2, 0.4, 0.8)
MANY_ROWS, ROUGH_SCALE = 1000, 2.5  # many rows can show rough functions, which few cannot


@dataclass(frozen=True)
class Prior:
    """The prior of the default method, on standardised data.

    Sets: Beta-Binomial(a, b). Inverse lengthscales of a set: half-normal with one common scale, averaged over
    `slab_scales`. log scale, log noise, log background: normal (mean, sd). `mean` is the variance of the constant.
    """

    a: float = 1.0
    b: float | None = None  # None: d^1.5 / 10 but at least 1, which keeps noise out as d grows
    slab_scales: tuple[float, ...] = SLAB_SCALES
    log_scale: tuple[float, float] = (0.5, 2.0)
    log_noise: tuple[float, float] = (-1.5, 1.5)
    log_background: tuple[float, float] | None = None  # None: effects too small to be seen one by one, see `for_data`
    with_background: float = 0.5
    mean: float = 1.0

    def of_slot(self, name: str) -> tuple[float, float]:
        """Mean and sd of the normal prior of log scale, log noise or log background, by the name of its slot."""
        normal: tuple[float, float] | None = getattr(self, f"log_{name}")
        assert normal is not None  # filled in by `for_data`
        return normal

    def for_data(self, n: int, d: int, repetition: float = 1.0) -> Prior:
        """The prior with what depends on the number of rows and inputs filled in.

        A background is made of effects that cannot be seen one by one: each has a variance b / d below about 1 / (4 n).
        Where columns repeat each other, `repetition` times over (gp/background.py), what matters may lie in small
        differences between them, and effects may be much larger.
        """
        scales = self.slab_scales
        if scales == SLAB_SCALES and n > MANY_ROWS:
            scales = (*scales, ROUGH_SCALE)
        background = self.log_background or (float(np.log(0.25 * min(1.0, d / n))), 1.0 + float(np.log(repetition)))
        b = max(1.0, 0.1 * d**1.5) if self.b is None else self.b
        return replace(self, b=b, slab_scales=scales, log_background=background)


SMALL_ROWS = 2000  # of the paper's method: up to here as on the toy (B.1), beyond as in experiment 2 (B.3)
LARGE_ROWS = 10_000  # the smallest table of experiment 2: from here on its shortcuts too


@dataclass(frozen=True)
class Blur:
    """kappa of A.3 in the noise of the covariance or on the variances (`place`), and the jitter of leave-one-out."""

    kappa: float
    place: str
    jitter: float

    def __post_init__(self) -> None:
        if self.place not in ("variance", "noise"):
            raise ValueError(f"kappa_place is 'variance' or 'noise', not {self.place!r}")


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
    rounds: int = 5
    first_steps: int = 200
    steps: int = 100
    learning_rate: float | None = None  # None: 0.05 up to 2000 rows, 0.01 beyond (B.1, B.3)
    beta1: float = 0.9
    beta2: float = 0.999
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
    # "noise": kappa is in the covariance, as in the authors' code; "variance": on the variances, as A.3 says. None: the
    # first up to 2000 rows, the second beyond
    kappa_place: str | None = None
    loo_neighbours: int | None = None  # None: exact up to 2000 rows, 64 beyond
    loo_rows: int | None = 10_000  # rows that a truncated density is taken over at most (evidence/race.py); None: all
    predict_neighbours: int = 256  # from 10^4 rows on; below, predictions condition on all rows
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


@dataclass(frozen=True)
class SearchSettings:
    """How wide the search looks; nats are differences of log evidence."""

    reach: float = 5.0  # sets this close to the best are expanded and weighed
    slack: float = 3.0  # how far an estimate may err low before its set is passed over
    width: int = 4  # single additions tried at each step of growth
    pair_width: int = 200  # pairs of inputs looked at when no single input helps
    pair_rows: int = 100
    pair_fits: int = 3
    pair_slack: float = 28.0  # how far a pair's first look on these rows may fall below the set without it
    most_expanded: int = 10
    cheap_rows: int = 150  # up to this many rows fits cost so little that idle additions are fitted too
    all_sets: int = 8  # up to this many inputs, and so few rows, every set is fitted under every kernel
    most_pair_inputs: int = 3000
    largest: int = 60
    largest_beside: int = 60  # the same for a set with a background, which carries what is left


@dataclass(frozen=True)
class AutoSettings:
    """Constants of the default method.

    Up to `exact_rows` rows everything is exact. Beyond, the likelihood is that of blocks of `block_rows` rows,
    independent of each other given the parameters.
    """

    search: SearchSettings = field(default_factory=SearchSettings)
    # half the steps of the paper's first round rank the inputs as well (docs/method.md)
    dense: PaperSettings = field(default_factory=lambda: PaperSettings(first_steps=100, parametrisation="log"))
    first_rows: int = 150  # growth begins on this many rows, or a quarter of all, where there are twice as many
    dense_sizes: tuple[int, ...] = (2, 4, 8, 16, 32)
    dense_batch: int = 128  # rows of a minibatch of the dense start, at most
    dense_rows: int = 150
    dense_starts: int = 2
    dense_slack: float = 15.0  # how far a cut may fall below the best set so far, on these rows
    backgrounds: tuple[str, ...] = ("linear", "unscaled", "steep", "smooth", "wide", "evened")
    evened_from: float = 20.0  # times that columns repeat each other from which `evened` is considered, as in spectra
    block_backgrounds: tuple[str, ...] = ("rough",)  # further ones where rows are many: few cannot show roughness
    background_from: float = 0.25  # inputs per row from which a background is considered: below, sets can carry it all
    most_dense_inputs: int = 20_000
    exact_rows: int = 1000
    search_blocks: int = 3  # random blocks for the search; what it finds is judged on `blocks` blocks of neighbours
    blocks: int = 16
    block_rows: int = 250  # a power of two would be a fifth slower: its rows fall on the same places of the cache
    polish_blocks: int = 3  # the parameters of the final sets are fitted to these
    most_polish_blocks: int = 6  # where the race between the leading sets is not decided on fewer
    near_blocks: int = 16  # of nearest neighbours alone, for parameters that serve prediction from neighbours
    judged_rows: int = 600  # whose leave-one-out density chooses between parameters
    predict_neighbours: int = 256
    polish_rows: int = 1000
    draws: int = 24  # importance draws for each set that carries weight
    components: int = 32  # of the predictive mixture, about: every set that counts has one at least
