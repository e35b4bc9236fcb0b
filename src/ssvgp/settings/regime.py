"""What the numbers of rows and inputs decide, decided once.

Few rows leave much open and cost little: more sets are fitted, and more draws are taken. Many rows make factorisations
dear and parameters certain: the likelihood is that of blocks, sets have one component each, predictions condition on
neighbours. Whoever must know asks the `Regime`; nobody else compares n or d with a number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.settings.auto import AutoSettings, SearchSettings
from ssvgp.settings.machine import LARGE
from ssvgp.settings.paper import LARGE_ROWS, SMALL_ROWS, PaperSettings
from ssvgp.settings.prior import Prior

FAMILY = ("se", "matern52", "se+linear", "linear")  # what the default averages over where no kernel is named
ROUGH = ("matern12",)  # and what it looks at too where rows are too many for an exact fit: few cannot show roughness
SLIGHT = 0.01  # share of a variance, of the rows or of the weight that nobody would miss
MOST_EXPANDED = 60  # sets whose neighbours are tried, where rows are so few that fits cost next to nothing
CHEAP = 200  # rows of which the usual number of sets is expanded and none of little weight is looked at again
GROUPS_FITTED = 3  # groups of an order that are fitted, and that are probed on blocks, at most
MOST_ON_BLOCKS = 1  # sets whose neighbours are tried on blocks: each costs as much as growth
LARGEST_BESIDE = 20  # inputs of a set on blocks to which growth beside a background goes: it carries the rest
FEW_INPUTS = 12  # up to this many every addition is tried, every one of the 2^d sets has a price, and draws cover them
MEASURED_INPUTS = 40  # up to so many excluded inputs are all measured, where fits cost next to nothing
SCREENED_BLOCKS = 4
HALF = 0.5  # of all rows, on which candidates are met first
FAINT = 0.002  # a set below this weight is taken at its first evidence, however few the rows
CERTAIN = 0.05  # a set of 200 rows that would carry less than this weight is taken at its first evidence
# rows predicted from their neighbours where rows are too many for all: by a check, the first lap of a race, an effect
CHECKED_ROWS = SMALL_ROWS // 2
MEMBERS = 4  # of a mixture where rows are many: prediction pays for every one


@dataclass(frozen=True)
class Regime:
    """Everything that n rows and d inputs decide; `settings` are those of the default method, as given.

    `exact`: all rows are one block; else the likelihood is that of blocks. `scout` is how blocks are searched before
    all rows, where these are too dear for a search and not for their evidence; None: nothing comes before. `cheap`:
    fits cost so little that idle additions are fitted too; `every_set`: all sets are. `kernels` are considered where
    none is named, `backgrounds` as far as n and d decide. Growth begins on `first_rows`, other first looks take
    `part_rows`, None is for all rows at once. `search` is how wide growth from nothing looks, `moves` what comes after
    it; `expanded` sets within `expand_reach` nats of the best have their neighbours tried, `additions` of them by one
    more input. `dense` are the settings of the dense start, None for none. Inputs are ranked on `screened_blocks`, None
    for all. `every_price`: all 2^d sets have a price, fitted or not; up to `measured_inputs` the worth of an input is
    measured, not a formula's.
    `paper` are the settings of the paper's method, None for the default.
    """

    n: int
    d: int
    settings: AutoSettings
    paper: PaperSettings | None
    exact: bool
    cheap: bool
    kernels: tuple[str, ...]
    slab_scales: tuple[float, ...]
    backgrounds: tuple[str, ...]
    search: SearchSettings
    moves: SearchSettings
    first_rows: int | None
    part_rows: int | None
    dense: PaperSettings | None
    expanded: int
    expand_reach: float
    additions: int
    every_set: bool
    screened_blocks: int | None
    ladder: float | None  # share of the rows on which candidates are met first; None: all
    every_price: bool
    measured_inputs: int
    negligible: float  # weight below which a set is not looked at again
    draws: float  # importance draws of a set that carries weight
    components: int | None  # of the predictive mixture, about; None: one for each set
    rows_together: int  # of the largest matrix of a fit, at most
    in_pieces: bool  # whether a large table is standardised as it is read, not at once
    predict_neighbours: int | None  # None: predictions condition on all rows
    check_rows: int | None  # that a check leaves out in turn; None: all
    group_rows: int  # that are near each other, whose targets are modelled jointly in a pass over all rows
    paired_inputs: int  # whose products are looked at in such a pass, those first that look best alone
    shape_rows: int  # of the sample that shapes of inputs are made orthonormal over
    scout: Regime | None = None

    @property
    def first(self) -> Regime:
        """How the search begins: on blocks where these come before all rows."""
        return self.scout or self

    def threads(self, n_jobs: int) -> int:
        """Threads of a fit: with few rows steps are so short that several would only wait for each other."""
        return 1 if self.cheap else n_jobs

    def alone(self, rows: int) -> bool:
        """Whether a part of so many rows keeps to one thread, for the same reason."""
        return rows <= self.search.cheap_rows

    def hurried(self) -> Regime:
        """The same with as little work in averaging as can be: for a fit that was interrupted."""
        s = self.settings
        quick = replace(s, search_blocks=1, polish_rows=s.block_rows)
        scout = self.scout and self.scout.hurried()
        return replace(self, settings=quick, draws=self.draws / 12, components=self.components and 1, scout=scout)

    def __str__(self) -> str:
        near = "all rows" if self.predict_neighbours is None else f"{self.predict_neighbours} neighbours"
        ends = f"predictions from {near}, check of {self.check_rows or 'all'} rows"
        head = f"{self.n} rows, {self.d} inputs: "
        return head + "; ".join([*(self._of_paper(self.paper) if self.paper else self._of_auto()), ends])

    def _of_paper(self, paper: PaperSettings) -> list[str]:
        near = paper.loo_neighbours_for(self.n)
        return [
            f"the paper's method on minibatches of {paper.minibatch_for(self.n)} rows",
            f"rate {paper.learning_rate_for(self.n):g}",
            f"leave-one-out from {'all rows' if near is None else f'{near} neighbours'}",
        ]

    def _of_auto(self) -> list[str]:
        s, dense = self.settings, self.dense
        whole = self.exact and self.scout is None
        blocks = f"{s.blocks} blocks of {s.block_rows} rows"
        judge = "exact" if whole else f"{blocks}, then all rows but of classes and counts" if self.exact else blocks
        first = f"growth from {self.first_rows or 'all'} rows" if whole else f"{s.search_blocks} random blocks"
        start = f"dense start on minibatches of {dense.minibatch_for(self.n)}" if dense else "no dense start"
        every = "every set visited" if self.every_set else f"{self.expanded} sets expanded"
        parts = "one component a set" if self.components is None else f"{self.components} components"
        return [
            judge,
            f"kernels {', '.join(self.kernels)}",
            f"slab scales to {max(self.slab_scales):g}",
            f"backgrounds {', '.join(self.backgrounds) or 'none'}",
            f"{first}, {start}, {every}",
            f"{self.draws:.0f} draws a set, {parts}",
        ]


def regime_for(
    n: int,
    d: int,
    settings: AutoSettings | PaperSettings | None = None,
    prior: Prior | None = None,
    exact_limit: int = SMALL_ROWS,
    predict_neighbours: int = 256,
    worth: float = 1.0,
) -> Regime:
    """The decisions for n rows and d inputs; `settings` of the paper's method ask for that one.

    `worth` is how much a row tells of f beside a measurement under noise of variance one, at most.
    """
    paper = settings.for_data(n) if isinstance(settings, PaperSettings) else None
    auto = settings if isinstance(settings, AutoSettings) else AutoSettings()
    exact_rows = exact_limit // 2 if auto.exact_rows is None else auto.exact_rows
    few = n <= exact_rows
    ends = _ends(n, exact_limit, predict_neighbours, paper is not None)

    def decided(exact: bool) -> Regime:
        return Regime(
            n=n,
            d=d,
            settings=auto,
            paper=paper,
            exact=exact,
            kernels=FAMILY[:1] if paper else FAMILY if few else FAMILY + ROUGH,
            slab_scales=(prior or Prior()).slab_scales_for(n, exact_rows),
            backgrounds=_backgrounds(n, d, auto, exact, worth),
            dense=_dense(n, d, auto),
            rows_together=n if exact else min(n, max(exact_limit, auto.polish_rows)),
            **ends,
            **_passes(n, auto),
            **_breadth(n, d, auto, exact),
            **_weighing(n, d, auto, exact and ends["predict_neighbours"] is None),
        )

    # fits to all rows may cost as much as passes over larger tables do; a search that makes hundreds of them may not
    if few or paper is not None or n**3 > auto.blocks * auto.polish_rows**3:
        return decided(few)
    blocks = decided(False)
    return replace(decided(True), moves=blocks.moves, expanded=blocks.expanded, scout=blocks)


def _ends(n: int, exact_limit: int, neighbours: int, paper: bool) -> dict[str, Any]:
    """How a table is read in the beginning, and how rows are predicted in the end."""
    limit = max(exact_limit, LARGE_ROWS - 1) if paper else exact_limit
    return {
        "in_pieces": n > exact_limit,
        "predict_neighbours": None if n <= limit else neighbours,
        "check_rows": None if n <= exact_limit else CHECKED_ROWS,
    }


def _breadth(n: int, d: int, settings: AutoSettings, exact: bool) -> dict[str, Any]:
    """How widely the search looks, and on how many rows first."""
    search, cheap = settings.search, n <= settings.search.cheap_rows
    moves = search if exact else _narrow(search)
    part = search.cheap_rows if n >= 2 * search.cheap_rows else None
    return {
        "cheap": cheap,
        "search": search,
        "moves": moves,
        "first_rows": max(part, n // 4) if part is not None and exact else None,
        "part_rows": part,
        "expanded": int(np.clip((CHEAP / n) ** 2 * moves.most_expanded, moves.most_expanded, MOST_EXPANDED)),
        "expand_reach": moves.reach if cheap else moves.slack,
        "additions": FEW_INPUTS if d <= FEW_INPUTS else moves.width,
        "every_set": cheap and d <= search.all_sets,
        "screened_blocks": None if exact else SCREENED_BLOCKS,
        "ladder": HALF if part is not None and exact else None,
    }


def _weighing(n: int, d: int, settings: AutoSettings, exact: bool) -> dict[str, Any]:
    """How closely sets are priced and weighed, and of how many components the answer is made."""
    return {
        "every_price": d <= FEW_INPUTS,
        "measured_inputs": MEASURED_INPUTS if n <= settings.search.cheap_rows else 0,
        "negligible": max(FAINT, CERTAIN * min(1.0, (n / CHEAP) ** 2)),
        # few rows leave more open, and draws are cheap there; with many Laplace is close and a few draws will do
        "draws": settings.draws * float(np.clip(settings.search.cheap_rows / n, 0.5, 4.0)),
        # with many rows the parameters of a set are certain, and prediction pays for every component
        "components": int(np.clip(settings.components * 500 / n, 8, settings.components)) if exact else None,
    }


def _passes(n: int, settings: AutoSettings) -> dict[str, Any]:
    """How much a pass over all rows does with each: together as much as factoring `blocks` of the largest blocks."""
    each = np.sqrt(settings.blocks * settings.polish_rows**3 / n)
    group = int(np.clip(each, settings.block_rows // 4, n))
    return {
        "group_rows": group,
        "paired_inputs": max(1, int(each)),
        "shape_rows": 2 * settings.polish_rows,
    }


def _narrow(search: SearchSettings) -> SearchSettings:
    """A narrower search: on all rows the differences seen on blocks would be many times as large."""
    return replace(
        search,
        reach=0.5 * search.reach,
        most_expanded=MOST_ON_BLOCKS,
        groups=GROUPS_FITTED,
        largest_beside=min(search.largest_beside, LARGEST_BESIDE),
    )


def _backgrounds(n: int, d: int, settings: AutoSettings, exact: bool, worth: float) -> tuple[str, ...]:
    """Kinds worth a look: none where inputs are few for the rows that are seen together, so that sets can carry all."""
    if d <= settings.background_from * worth * (n if exact else settings.block_rows):
        return ()
    # many rows show the strengths of columns themselves, and roughness
    without = "rough" if exact else "steep"
    return tuple(kind for kind in settings.backgrounds if kind != without)


def _dense(n: int, d: int, settings: AutoSettings) -> PaperSettings | None:
    """Minibatches of bounded size; uniform rows where a search for neighbours would read too much of a table."""
    batch = settings.dense_batch
    if batch * d > LARGE:
        return None
    if n <= 4 * batch:
        return settings.dense
    kind = "nearest" if settings.dense.candidates * d <= LARGE else "uniform"
    return replace(settings.dense, minibatch=batch, minibatch_kind=kind)
