"""Large n: blocks of rows that stand for the table, and parameters polished on larger blocks (section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ssvgp.evidence.laplace import Block, Fit, Problem, fit, log_model_prior, mode
from ssvgp.gp.kernels.compose import partly_local
from ssvgp.gp.neighbours import block
from ssvgp.gp.terms import Background, metric
from ssvgp.model.priors import Candidate
from ssvgp.records import Member, Train
from ssvgp.run.workers import SERIAL, Executor


def block_of(train: Train, rows: np.ndarray, backgrounds: Sequence[Background | None] = ()) -> Block:
    """The given rows (m,) as a block, with the matrices of these backgrounds."""
    some = train.rows(rows)
    return Block.of(some.X, some.y, [term for term in backgrounds if term is not None], some.noise)


def fitting(train: Train, count: int, rows: int) -> tuple[int, int]:
    """At most `count` blocks of at most `rows` rows that together are no more than the table has.

    Rows that come twice would count twice as evidence.
    """
    rows = min(rows, train.n // 2)
    return max(1, min(count, train.n // rows)), rows


def random_rows(train: Train, count: int, rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    """`count` samples of rows, or as many as the table can fill: where no metric is known yet."""
    count, rows = fitting(train, count, rows)
    return [np.sort(rng.choice(train.n, rows, replace=False)) for _ in range(count)]


def local_rows(
    train: Train, problem: Problem, best: Fit, count: int, rows: int, rng: np.random.Generator, share: float = 0.5
) -> list[np.ndarray]:
    """Rows of blocks of which a share are nearest neighbours of a random row in the metric of `best`, the rest random.

    Neighbours tell of short scales, random rows of long ones. Without active inputs and background, or for a kernel
    of which no part falls with distance, all rows are random.
    """
    count, rows = fitting(train, count, rows)
    active, at = np.array(best.candidate.columns, dtype=np.intp), mode(problem, best)
    background = problem.background(best.candidate.background)
    if background is not None:
        weights = metric(Member(active, at, problem.kernel, np.ones(active.size), background), train.d)
        scaled = (train.X[:] * weights).astype(np.float32)  # good enough to say which rows are near
    elif active.size and partly_local(problem.kernel):
        scaled = (train.X[:, active] * at.theta).astype(np.float32)
    else:
        return random_rows(train, count, rows, rng)
    chosen = []
    for centre in rng.choice(train.n, count, replace=False):
        near = block(scaled, int(centre), round(share * rows))
        far = rng.choice(train.n, min(rows - near.size, train.n), replace=False)
        chosen.append(np.unique(np.concatenate([near, far])))
    return chosen


def polished(train: Train, problem: Problem, found: Fit, rows: list[np.ndarray], workers: Executor = SERIAL) -> Fit:
    """The same set with its parameters fitted, and its evidence computed, on fewer but larger blocks.

    Many rows at once see short lengthscales, and tell kernels apart, where small blocks cannot.
    """
    narrow, alone = _narrow(train, problem, found, rows)
    better = fit(narrow, alone, found.summit.z, found.summit.inverse_hessian, 0.2, workers=workers)
    return _of_all_inputs(better, narrow, found, problem)


def _narrow(train: Train, problem: Problem, found: Fit, rows: list[np.ndarray]) -> tuple[Problem, Candidate]:
    """The problem of these rows with the columns of one set alone, and that set in it."""
    active, background = found.candidate.columns, problem.background(found.candidate.background)
    whole = [block_of(train, r, [background]) for r in rows]
    blocks = tuple(replace(b, X=np.ascontiguousarray(b.X[:, active])) for b in whole)
    inputs = None if problem.inputs is None else problem.inputs.narrowed(found.candidate.active)
    narrow = replace(problem, blocks=blocks, inputs=inputs)
    return narrow, narrow.candidate(range(found.candidate.size), found.candidate.background)


def _of_all_inputs(better: Fit, narrow: Problem, found: Fit, problem: Problem) -> Fit:
    """A fit to the narrow table as one of the whole table: the prior of the set belongs to all d inputs."""
    evidence = better.log_evidence - log_model_prior(better.candidate, narrow)
    evidence += log_model_prior(found.candidate, problem)
    return replace(better, candidate=found.candidate, log_evidence=evidence)
