"""The book of visited sets: every fit is made once, from the nearest relative, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ssvgp.evidence.ascent import SAME_MODE
from ssvgp.evidence.laplace import Fit, Problem, unexplained
from ssvgp.evidence.logs import NOTICED, log_sum
from ssvgp.gp.kernels.families import Kernel
from ssvgp.model.priors import Candidate
from ssvgp.records import Train
from ssvgp.run.memo import Memo, once
from ssvgp.run.progress import Reporter
from ssvgp.run.randomness import spread_rows
from ssvgp.run.workers import SERIAL, Executor
from ssvgp.search.dictionary import Order
from ssvgp.search.probe import MODEST, Bold, Probe, fit_once, fit_probe, probe
from ssvgp.search.scene import Scene
from ssvgp.search.shapes import Shapes


@dataclass
class Book:
    """All fits of one search, by candidate, and the executor over which probes, fits and blocks are spread."""

    problem: Problem
    workers: Executor = SERIAL
    fits: dict[Candidate, Fit] = field(default_factory=dict)
    expanded: set[Candidate] = field(default_factory=set)
    grown: set[Candidate] = field(default_factory=set)  # from which growth found nothing better
    paired: set[Candidate] = field(default_factory=set)  # beside which products of inputs were looked at
    settled: set[Candidate] = field(default_factory=set)  # fitted from several starts
    shapes: list[Shapes] = field(default_factory=list)  # of the screened blocks, once they are known
    probes: dict[tuple[Candidate, Candidate, Bold], Probe] = field(default_factory=dict)  # by parent, set, starts
    reviewed: set[tuple[Candidate, float, Candidate, Bold]] = field(default_factory=set)  # beside a fit of a parent
    parts: dict[int, Book] = field(default_factory=dict)  # first looks on a part of the rows, by their number
    seen: tuple[Fit, Scene] | None = None  # the last fit that the dictionary was scored against
    orders: dict[int, Order] = field(default_factory=dict)  # the widest look at products of so many inputs
    asked: int = 0  # second opinions
    unchanged: int = 0  # those of them in a row, at the end, that changed nothing
    train: Train | None = None  # the whole table, of which the problem may have blocks
    met: list[np.ndarray] = field(default_factory=list)  # rows of it that the search was shown in blocks
    kernels: tuple[Kernel, ...] = ()  # all that are to judge, that of the problem first
    others: list[Book] = field(default_factory=list)  # books of the same data under the other kernels
    screened_blocks: int | None = None  # how many of the blocks are enough to rank inputs; None: all
    ladder: float | None = None  # share of the rows on which candidates are met first; None: all
    waves: int = 12  # shapes of single inputs
    alone: Callable[[int], bool] = lambda rows: False  # whether a part of so many rows keeps to one thread
    reporter: Reporter | None = None
    told: bool = True  # whether each fit is reported; those to a part of the rows are counted and no more
    memo: Memo | None = None  # of what depends on X alone, where there are other targets

    def emptied(self, problem: Problem) -> Book:
        """An empty book of another problem, with the same executor and the same listener."""
        names = "train kernels screened_blocks ladder waves alone reporter told memo"
        kept = {name: getattr(self, name) for name in names.split()}
        return Book(problem, self.workers, **kept)

    def become(self, other: Book) -> None:
        """Go on with the problem and the fits of another book: nothing is lost until it is filled."""
        for name in "problem fits expanded grown paired settled shapes probes reviewed parts seen".split():
            setattr(self, name, getattr(other, name))

    @property
    def table(self) -> Train:
        """The whole table that the problem was drawn from."""
        if self.train is None:
            raise ValueError("this book knows no table beyond its problem: make it with train=")
        return self.train

    def under(self, kernel: Kernel) -> Book:
        """An empty book of the same data under another kernel."""
        return replace(self.emptied(replace(self.problem, kernel=kernel)), shapes=self.shapes)

    def part(self, rows: int) -> Book:
        """A book of the same problem on at most `rows` of its rows: what is hopeless there need not meet them all."""
        if rows not in self.parts:
            few = thinned(self.problem, rows)
            workers = SERIAL if self.alone(few.n) else self.workers
            self.parts[rows] = Book(few, workers, waves=self.waves, memo=self.memo, reporter=self.reporter, told=False)
        return self.parts[rows]

    def carry(self, found: Fit, bar: float = -np.inf) -> Fit:
        """A fit of another problem carried over, started at its mode, unless the set is in the book already."""
        return self.carry_all([found], bar)[0]

    def carry_all(self, found: Sequence[Fit], bar: float = -np.inf) -> list[Fit]:
        """Fits of another problem carried over, side by side, in the order asked.

        Most steps are made on the part of the rows that candidates are met on first, where there is one.
        """
        new = list({one.candidate: one for one in found if one.candidate not in self.fits}.values())
        inner = self.workers if len(new) == 1 else SERIAL
        tasks = [
            (self.problem, one.candidate, one.summit.z, one.summit.inverse_hessian, None, bar, inner, one.sites)
            for one in self._on_first_rung(new)
        ]
        made = self.made(fit_once, tasks)
        self.fits |= {one.candidate: one for one in made}
        self._report(made)
        return [self.fits[one.candidate] for one in found]

    def _on_first_rung(self, found: Sequence[Fit]) -> list[Fit]:
        """Fits carried to the first rung, but for one that leaves clearly more or less there: at another mode."""
        part = self.first_rung()
        if part is None:
            return list(found)
        part.carry_all([one for one in found if one.candidate.size])
        below = [part.fits.get(one.candidate, one) for one in found]
        left = [
            (unexplained(part.problem, low), unexplained(self.problem, replace(one, sites=())))
            for one, low in zip(found, below, strict=True)
        ]
        apart = [abs(float(np.log(share / own))) > SAME_MODE for share, own in left]
        return [one if far else low for one, low, far in zip(found, below, apart, strict=True)]

    def screened(self) -> tuple[Problem, Shapes]:
        """The first blocks, as many as are enough to rank inputs, and the shapes of their columns, worked out once."""
        few = replace(self.problem, blocks=self.problem.blocks[: self.screened_blocks])
        if not self.shapes:
            X = np.concatenate([block.X for block in few.blocks])
            self.shapes.append(once(self.memo, ("shapes", self.waves), X, lambda: Shapes(X, self.waves)))
        return few, self.shapes[0]

    def first_rung(self) -> Book | None:
        """The book in which candidates are met first, on a share of the rows; None where all are as good."""
        if self.ladder is None:
            return None
        return self.part(round(self.ladder * self.problem.n))

    def best(self, background: bool | None = None) -> Fit:
        """The fit with the highest evidence, among those with or without background where asked."""
        pool = [f for c, f in self.fits.items() if background is None or bool(c.background) == background]
        return max(pool, key=lambda f: f.log_evidence)

    def mass(self) -> float:
        """log of the summed evidence of all visited sets."""
        return log_sum([f.log_evidence for f in self.fits.values()])

    def within(self, reach: float) -> list[Fit]:
        """Fits within `reach` nats of the best, best first."""
        top = self.best().log_evidence
        near = [f for f in self.fits.values() if f.log_evidence >= top - reach]
        return sorted(near, key=lambda f: -f.log_evidence)

    def probe_all(self, parent: Fit, candidates: Iterable[Candidate], bold: Bold = MODEST) -> list[Probe]:
        """Probes of the candidates that have not been visited, best first."""
        wanted = list(dict.fromkeys(c for c in candidates if c not in self.fits))
        new = [c for c in wanted if (parent.candidate, c, bold) not in self.probes]
        found = self.workers.map(probe, [(self.problem, parent, c, bold, self.workers) for c in new])
        self.probes |= {(parent.candidate, p.candidate, bold): p for p in found}
        return sorted((self.probes[parent.candidate, c, bold] for c in wanted), key=lambda p: -p.estimate)

    def made(self, function: Callable[..., list[Fit]], tasks: Sequence[tuple[Any, ...]]) -> list[Fit]:
        """The best fit of each task, which may try several starts, over the executor; listeners hear what it took."""
        if self.reporter is None or self.reporter.callback is None:
            tried: list[list[Fit]] = self.workers.map(function, tasks)
        else:
            with self.reporter.fitting():
                tried = self.workers.map(function, tasks)
            evaluations = sum(one.evaluations for found in tried for one in found)
            self.reporter.fitted(self.problem.operations * evaluations)
        return [max(found, key=lambda f: f.log_evidence) for found in tried]

    def visit_all(self, probes: Sequence[Probe], bar: float = -np.inf) -> list[Fit]:
        """Fit what has not been fitted, in parallel, and return the fits in the order asked.

        One that will clearly not reach `bar` is given up on its way.
        """
        new = list({p.candidate: p for p in probes if p.candidate not in self.fits}.values())
        inner = self.workers if len(new) == 1 else SERIAL  # several fits keep all threads at work
        found = self.made(fit_probe, [(self.problem, p, bar, inner) for p in new])
        for f in found:
            self.fits[f.candidate] = f
        self._report(found)
        return [self.fits[p.candidate] for p in probes]

    def revisit(self, parent: Fit, candidates: Iterable[Candidate], bold: Bold = MODEST) -> None:
        """Fit sets again that look clearly better beside this parent than they are in the book: a better mode.

        Once beside each fit of the parent is enough.
        """
        own = (parent.candidate, parent.log_evidence)
        known = [c for c in candidates if c in self.fits and (*own, c, bold) not in self.reviewed]
        self.reviewed |= {(*own, c, bold) for c in known}
        probes = self.workers.map(probe, [(self.problem, parent, c, bold, self.workers) for c in known])
        better = [p for p in probes if p.estimate > self.fits[p.candidate].log_evidence + NOTICED]
        for f in self.made(fit_probe, [(self.problem, p, -np.inf, self.workers) for p in better]):
            if f.log_evidence > self.fits[f.candidate].log_evidence:
                self.fits[f.candidate] = f

    def _report(self, found: Sequence[Fit]) -> None:
        """Report fits that were made together."""
        if self.reporter is None or self.reporter.callback is None or not self.told:
            return
        for f in found:
            best, size = self.best(), f.candidate.size
            member = f"{self.problem.kernel.name}, {size} inputs" + ", background" * bool(f.candidate.background)
            self.reporter.report(member, best.candidate.active, best.log_evidence, len(self.fits))

    def advance(self, what: str, done: float, of: float) -> None:
        """Tell the listener that so many of so many steps of the phase, which are about alike, are done."""
        if self.reporter is not None and self.reporter.callback is not None:
            best = self.best()
            self.reporter.report(what, best.candidate.active, best.log_evidence, len(self.fits), part=done / of)

    def plan(self, rounds: int, more: float) -> None:
        """Tell the listener how far a loop over sets has come, and how many more rounds it expects."""
        if self.reporter is not None:
            self.reporter.plan(rounds, more)

    def visit(self, parent: Fit, candidate: Candidate) -> Fit:
        """Fit one candidate from a relative, unless that was done before."""
        if candidate in self.fits:
            return self.fits[candidate]
        return self.visit_all([probe(self.problem, parent, candidate, workers=self.workers)])[0]


def thinned(problem: Problem, rows: int) -> Problem:
    """The problem on at most `rows` rows: some of its blocks, or rows from all over the first."""
    first = problem.blocks[0]
    if first.y.size <= rows:
        return replace(problem, blocks=problem.blocks[: max(1, rows // first.y.size)])
    return replace(problem, blocks=(first.rows(spread_rows(first.y.size, rows)),))


def add(candidate: Candidate, inputs: Iterable[int]) -> Candidate:
    """The candidate with more inputs."""
    return replace(candidate, active=tuple(sorted({*candidate.active, *(int(j) for j in inputs)})))


def drop(candidate: Candidate, inputs: Iterable[int]) -> Candidate:
    """The candidate without some inputs."""
    gone = {int(j) for j in inputs}
    return replace(candidate, active=tuple(j for j in candidate.active if j not in gone))
