"""Large n: blocks of rows that stand for the table, and parameters polished on larger blocks (section 3.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssvgp.gp.neighbours import block
from ssvgp.records import Train
from ssvgp.weigh.evidence import Block, Fit, Problem, fit, log_model_prior, mode


def random_blocks(train: Train, count: int, rows: int, rng: np.random.Generator) -> tuple[Block, ...]:
    """`count` blocks of random rows: where no metric is known yet."""
    chosen = [np.sort(rng.choice(train.n, min(rows, train.n), replace=False)) for _ in range(count)]
    return tuple(Block(train.X[r], train.y[r]) for r in chosen)


def local_rows(
    train: Train, problem: Problem, best: Fit, count: int, rows: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Rows of blocks that are half nearest neighbours of a random row in the metric of `best`, half random rows.

    Neighbours tell of short scales, random rows of long ones. Without active inputs, or for a kernel that does not fall
    with distance, all rows are random.
    """
    active = list(best.candidate.active)
    if not active or not problem.kernel.local:
        return [np.sort(rng.choice(train.n, min(rows, train.n), replace=False)) for _ in range(count)]
    scaled = train.X[:, active] * mode(problem, best).theta
    chosen = []
    for centre in rng.choice(train.n, count, replace=False):
        near = block(scaled, int(centre), rows // 2)
        far = rng.choice(train.n, min(rows - near.size, train.n), replace=False)
        chosen.append(np.unique(np.concatenate([near, far])))
    return chosen


def polished(train: Train, problem: Problem, found: Fit, rows: list[np.ndarray]) -> Fit:
    """The same set with its parameters fitted, and its evidence computed, on fewer but larger blocks.

    Many rows at once see short lengthscales, and tell kernels apart, where small blocks cannot.
    """
    columns = train.X[:, list(found.candidate.active)]
    narrow = replace(problem, blocks=tuple(Block(np.ascontiguousarray(columns[r]), train.y[r]) for r in rows))
    alone = replace(found.candidate, active=tuple(range(columns.shape[1])))
    better = fit(narrow, alone, found.summit.z, found.summit.inverse_hessian, 0.2)
    # the prior of the set belongs to all d inputs, not to the narrow table
    evidence = better.log_evidence - log_model_prior(alone, narrow) + log_model_prior(found.candidate, problem)
    return replace(better, candidate=found.candidate, log_evidence=evidence)
