"""The book of visited sets: every fit is made once, from the nearest relative, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem, fit, log_joint_value, log_joint_values, log_model_prior
from ssvgp.evidence.logs import log_sum
from ssvgp.gp.kernels.families import Kernel, with_groups
from ssvgp.gp.marginal import log_likelihood, log_likelihoods, stack_size
from ssvgp.model.priors import Candidate, unpack
from ssvgp.run.progress import Reporter
from ssvgp.search.screen import shapes
from ssvgp.settings import Prior

NEW_THETA = np.array([0.05, 0.2, 0.6])  # where a new input is first tried: weak, middling, strong
NEW_VARIANCE = 0.4  # of log theta of a new input, before its curvature is known
NEW_SCALE_VARIANCE = 1.5  # of log scale, which weak data leave open
BOLD_VARIANCE = 0.2
REMEMBERED = 2**26  # bytes of shapes that are kept
OPEN_STRENGTH = 1.5  # sd of log background from which one first try is not enough
CLEARLY_BETTER = 3.0  # nats by which a bold fit must beat the estimate of the modest one, for that to be left untried


@dataclass(frozen=True)
class Probe:
    """A first look at a candidate with the parent's parameters held fixed: starts for a fit, estimated evidence."""

    candidate: Candidate
    starts: tuple[np.ndarray, ...]
    inverse_hessian: np.ndarray
    estimate: float


def transplant(parent: Fit, candidate: Candidate, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parent's mode and curvature carried to another set: z (q,), inverse Hessian (q, q), places of new inputs."""
    old, z_old, b_old = parent.candidate, parent.summit.z, parent.summit.inverse_hessian
    names_new = candidate.coordinates.labels(candidate.active)
    where = {name: i for i, name in enumerate(old.coordinates.labels(old.active))}
    defaults = {name: problem.prior.of_slot(name)[0] for name in candidate.coordinates.slots}
    z = np.array([z_old[where[x]] if x in where else defaults.get(str(x), np.log(NEW_THETA[1])) for x in names_new])
    b = np.diag([NEW_SCALE_VARIANCE if name == "scale" else NEW_VARIANCE for name in names_new])
    kept_new = [i for i, name in enumerate(names_new) if name in where]
    kept_old = [where[names_new[i]] for i in kept_new]
    b[np.ix_(kept_new, kept_new)] = b_old[np.ix_(kept_old, kept_old)]
    added = np.array([i for i in range(candidate.size) if candidate.active[i] not in where], dtype=np.intp)
    return z, b, added


def probe(problem: Problem, parent: Fit, candidate: Candidate) -> Probe:
    """Try new inputs at three strengths beside the parent's parameters, and estimate the candidate's evidence.

    The estimate integrates the new inputs' common log theta over the three strengths and takes the parent's Laplace
    volume for the rest; since the rest is not refitted it errs low, most for strong inputs, which are fitted anyway.
    """
    z, b, added = transplant(parent, candidate, problem)
    if added.size == 0:
        if candidate.background and not parent.candidate.background:
            z = _with_best_strength(problem, candidate, z)
        value = log_joint_value(problem, candidate, z)
        return Probe(candidate, (z,), b, value + _rest(parent, candidate, problem))
    tries = []
    for theta in NEW_THETA:
        trial = z.copy()
        trial[added] = np.log(theta)
        tries.append(trial)
    together = added.size > 1  # inputs that may act only with each other
    if together:
        tries.append(bold(z, added, candidate))
    values = list(log_joint_values(problem, candidate, np.stack(tries)))
    spacing = float(np.diff(np.log(NEW_THETA)).mean())
    # one new input: the rectangle rule in log theta; several: as if each had the width of one node
    estimate = log_sum(values) + added.size * float(np.log(spacing)) + _rest(parent, candidate, problem)
    modest = tries[int(np.argmax(values[: len(NEW_THETA)]))]
    # Where the bold start looks best there may be two modes, one with the new inputs at work and one with them idle:
    # the fit tries both.
    starts = (tries[-1], modest) if together and values[-1] == max(values) else (modest,)
    return Probe(candidate, starts, b, estimate)


def background_strengths(prior: Prior) -> list[float]:
    """Where log background is first tried: at the mean of its prior, and above where that leaves much open."""
    mean, sd = prior.of_slot("background")
    return [mean] if sd < OPEN_STRENGTH else [mean + step * sd for step in (0.0, 1.0, 2.0)]


def _with_best_strength(problem: Problem, candidate: Candidate, z: np.ndarray) -> np.ndarray:
    """z (q,) with the strength of a new background that serves it best."""
    strengths = background_strengths(problem.prior)
    if len(strengths) == 1:
        return z
    tries = np.tile(z, (len(strengths), 1))
    tries[:, candidate.coordinates.slot("background")] = strengths
    return tries[np.argmax(log_joint_values(problem, candidate, tries))]


def fit_probe(problem: Problem, seen: Probe) -> Fit:
    """The fit of a candidate from the starts of its probe: the mode with the higher evidence, if there are two."""
    if len(seen.starts) == 1:
        return fit(problem, seen.candidate, seen.starts[0], seen.inverse_hessian)
    # far from the parent's mode its curvature means nothing
    bold_curvature = np.diag(np.full(seen.starts[0].size, BOLD_VARIANCE))
    found = fit(problem, seen.candidate, seen.starts[0], bold_curvature)
    if found.log_evidence > seen.estimate + CLEARLY_BETTER:
        return found
    other = fit(problem, seen.candidate, seen.starts[1], seen.inverse_hessian)
    return max(found, other, key=lambda f: f.log_evidence)


def bold(z: np.ndarray, added: np.ndarray, candidate: Candidate) -> np.ndarray:
    """A start from which inputs that act only together are found: strong new inputs, less noise, no long plateaus.

    Beside the parent's own noise and scale an interaction looks worthless until it is fitted; the likelihood has one
    mode with the new inputs idle and one with them at work, and this start lies in the basin of the second.
    """
    where = candidate.coordinates
    trial = z.copy()
    trial[where.theta] = np.maximum(trial[where.theta], np.log(0.3))
    trial[added] = 0.0
    scale = where.slot("scale")
    trial[scale] = min(trial[scale], np.log(3.0))
    trial[where.slot("noise")] -= 1.0
    return trial


def _rest(parent: Fit, candidate: Candidate, problem: Problem) -> float:
    """The Laplace volume of the parameters common with the parent, and the prior of the candidate."""
    common = parent.summit.z.size
    shared = len(set(parent.candidate.active) & set(candidate.active))
    gone = parent.candidate.size - shared
    volume = parent.log_volume + 0.5 * (common - gone) * float(np.log(2.0 * np.pi))
    if gone:
        sd = np.sqrt(np.diagonal(parent.summit.inverse_hessian)[: parent.candidate.size])
        lost = [i for i, j in enumerate(parent.candidate.active) if j not in candidate.active]
        volume -= float(np.log(np.maximum(sd[lost], 1e-3)).sum())
    return volume + log_model_prior(candidate, problem)


@dataclass
class Ledger:
    """All fits of one search, by candidate, with the number of likelihood evaluations spent."""

    problem: Problem
    fits: dict[Candidate, Fit] = field(default_factory=dict)
    expanded: set[Candidate] = field(default_factory=set)
    paired: set[Candidate] = field(default_factory=set)
    shapes: list[np.ndarray] = field(default_factory=list)
    probes: dict[tuple[Candidate, Candidate], Probe] = field(default_factory=dict)  # by parent and candidate
    parts: dict[int, Ledger] = field(default_factory=dict)  # first looks on a part of the rows, by their number
    looked: tuple[Any, ...] | None = None  # the last fit that was screened, and what was seen
    reporter: Reporter | None = None

    def under(self, kernel: Kernel) -> Ledger:
        """An empty book of the same data under another kernel."""
        return Ledger(replace(self.problem, kernel=kernel), shapes=self.shapes, reporter=self.reporter)

    def part(self, rows: int) -> Ledger:
        """A book of the same problem on at most `rows` of its rows: what is hopeless there need not meet them all."""
        if rows not in self.parts:
            self.parts[rows] = Ledger(thinned(self.problem, rows))
        return self.parts[rows]

    def carry(self, found: Fit, bar: float = -np.inf) -> Fit:
        """A fit of another problem carried over, started at its mode, unless the set is in the book already."""
        if found.candidate not in self.fits:
            start, curvature = found.summit.z, found.summit.inverse_hessian
            self.fits[found.candidate] = fit(self.problem, found.candidate, start, curvature, bar=bar)
        return self.fits[found.candidate]

    def shapes_of(self, blocks: Sequence[Block]) -> list[np.ndarray] | None:
        """The shapes (3, m, d) of the first blocks, worked out once, or None where they would fill the memory."""
        if sum(3 * b.X.nbytes for b in blocks) > REMEMBERED:
            return None
        if not self.shapes:
            self.shapes.extend(shapes(b.X) for b in blocks)
        return self.shapes

    def best(self, background: bool | None = None) -> Fit:
        """The fit with the highest evidence, among those with or without background where asked."""
        pool = [f for c, f in self.fits.items() if background is None or bool(c.background) == background]
        return max(pool, key=lambda f: f.log_evidence)

    def within(self, reach: float) -> list[Fit]:
        """Fits within `reach` nats of the best, best first."""
        top = self.best().log_evidence
        near = [f for f in self.fits.values() if f.log_evidence >= top - reach]
        return sorted(near, key=lambda f: -f.log_evidence)

    def probe_all(self, parent: Fit, candidates: Iterable[Candidate]) -> list[Probe]:
        """Probes of the candidates that have not been visited, best first."""
        wanted = list(dict.fromkeys(c for c in candidates if c not in self.fits))
        new = [c for c in wanted if (parent.candidate, c) not in self.probes]
        found = self.problem.workers.map(probe, [(self.problem, parent, c) for c in new])
        self.probes |= {(parent.candidate, p.candidate): p for p in found}
        return sorted((self.probes[parent.candidate, c] for c in wanted), key=lambda p: -p.estimate)

    def bold_values(self, parent: Fit, groups: np.ndarray, rows: int) -> tuple[np.ndarray, float]:
        """log likelihood at the bold start of the parent with each group (g, k) of inputs added, and the parent's own.

        On a random part of the rows. Cheap, and it tells a lot: the start lies in the basin of the mode where the new
        inputs are at work. All groups have the same start, so nothing but the columns changes between them.
        """
        part = thinned(self.problem, rows)
        block, own = part.blocks[0], parent.candidate
        sample = add(own, groups[0])
        z, _, added = transplant(parent, sample, part)
        size = sample.size
        old = np.setdiff1d(np.arange(size), added)
        at = unpack(bold(z, added, sample), sample, part.prior)
        at = replace(at, theta=np.concatenate([at.theta[old], at.theta[added]]))
        gram = block.grams.get(own.background)
        old_rows = block.X[:, list(own.active)]
        step = stack_size(block.y.size)

        def values(some: np.ndarray) -> np.ndarray:
            stack = with_groups(part.kernel, old_rows, block.X, at.theta, some)
            return np.nan_to_num(log_likelihoods(stack, block.y, [at] * len(some), gram), nan=-np.inf)

        mine = unpack(parent.summit.z, own, part.prior)
        base = log_likelihood(part.kernel, old_rows, block.y, mine, gram)
        chunks = [(groups[start : start + step],) for start in range(0, len(groups), step)]
        return np.concatenate(self.problem.workers.map(values, chunks)), base

    def visit_all(self, probes: Sequence[Probe]) -> list[Fit]:
        """Fit what has not been fitted, in parallel, and return the fits in the order asked."""
        new = list({p.candidate: p for p in probes if p.candidate not in self.fits}.values())
        found = self.problem.workers.map(fit_probe, [(self.problem, p) for p in new])
        for f in found:
            self.fits[f.candidate] = f
            self._report(f)
        return [self.fits[p.candidate] for p in probes]

    def _report(self, found: Fit) -> None:
        if self.reporter is not None and self.reporter.callback is not None:
            best, size = self.best(), found.candidate.size
            member = f"{self.problem.kernel.name}, {size} inputs" + ", background" * bool(found.candidate.background)
            self.reporter.heard(member, best.candidate.active, best.log_evidence, len(self.fits))

    def visit(self, parent: Fit, candidate: Candidate) -> Fit:
        """Fit one candidate from a relative, unless that was done before."""
        if candidate in self.fits:
            return self.fits[candidate]
        return self.visit_all([probe(self.problem, parent, candidate)])[0]


def thinned(problem: Problem, rows: int) -> Problem:
    """The problem on at most `rows` random rows of its first block."""
    first = problem.blocks[0]
    if first.y.size <= rows:
        return replace(problem, blocks=(first,))
    some = np.sort(np.random.default_rng(0).permutation(first.y.size)[:rows])
    grams = {kind: gram[np.ix_(some, some)] for kind, gram in first.grams.items()}
    return replace(problem, blocks=(Block(first.X[some], first.y[some], grams),))


def add(candidate: Candidate, inputs: Iterable[int]) -> Candidate:
    """The candidate with more inputs."""
    return Candidate(tuple(sorted({*candidate.active, *(int(j) for j in inputs)})), candidate.background)


def drop(candidate: Candidate, inputs: Iterable[int]) -> Candidate:
    """The candidate without some inputs."""
    gone = {int(j) for j in inputs}
    return Candidate(tuple(j for j in candidate.active if j not in gone), candidate.background)
