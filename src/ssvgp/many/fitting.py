"""Fits of many targets: one task each, over joblib's active backend, and every result kept as it comes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ssvgp.data.inputs import Inputs, inputs_of
from ssvgp.data.rows import Sample, checked_numbers, sample_of
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.several import SharedRows, bare
from ssvgp.many.table import SharedTable, no_two_alike
from ssvgp.method.line import fit_rows, fit_table, standardised_rows
from ssvgp.method.request import Request
from ssvgp.run.deaths import despite_deaths
from ssvgp.settings import Regime

LEAST_ROWS = 2
PORTION = 8  # targets for each worker before any is kept, where results come all at once: waiting costs an eighth or so

RegimeOf = Callable[[int, int], Regime]


@dataclass(frozen=True, eq=False)
class Task:
    """One target: its place among all, values (n,), and the generator that its fit starts from."""

    place: int
    y: np.ndarray
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a target: a fit, or the reason why there is none. `common`: it has the rows of the shared table."""

    place: int
    fitted: Fitted | None
    error: str = ""
    common: bool = True


@dataclass(frozen=True)
class Asked:
    """What is asked of every target: the request, and what n rows and d inputs decide."""

    request: Request
    regime_of: RegimeOf
    most_merged: int


def shared_table(
    X: np.ndarray, Y: np.ndarray, weights: Any, noise: Any, asked: Asked, inputs: Inputs | None = None
) -> SharedTable:
    """The table for all targets: standardised here where they can share it."""
    n = len(X)
    given, known = checked_numbers(weights, "sample_weight", n), checked_numbers(noise, "noise_variance", n)
    given = None if given is not None and (given == 1.0).all() else given
    known = None if known is not None and (known == 0.0).all() else known
    of_more = inputs is not None
    inputs = inputs_of(X, given) if inputs is None else inputs
    rows = None
    if given is None and (n > asked.most_merged or no_two_alike(X)):
        rows = standardised_rows(X, inputs, asked.request, asked.regime_of(n, inputs.kept.size))
    whole = rows is not None and np.isfinite(Y).all()
    return SharedTable(None if whole else X, rows, inputs, given, known, of_more)


def fit_target(table: SharedTable, task: Task, asked: Asked) -> Outcome:
    """One target from the shared table; whatever goes wrong in it is its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said for all targets together
        try:
            return _fit(table, task, asked)
        except (KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:
            return Outcome(task.place, None, f"{type(error).__name__}: {error}")


def _fit(table: SharedTable, task: Task, asked: Asked) -> Outcome:
    if np.isinf(task.y).any():
        raise ValueError("the target holds an infinite value")
    there = ~np.isnan(task.y)
    if int(there.sum()) < LEAST_ROWS:
        raise ValueError(f"the target has a value in {int(there.sum())} rows, and {LEAST_ROWS} are the least")
    common = table.rows is not None and bool(there.all())
    if common:
        sample = Sample(None, task.y, None, table.known)
        regime = asked.regime_of(task.y.size, table.inputs.kept.size)
        fitted = fit_rows(table.rows, sample, table.inputs, asked.request, regime, task.rng, None, memo=table.memo())
    else:
        fitted = _fit_alone(table, task, there, asked)
    if fitted.ensemble.notes.get("interrupted"):
        raise KeyboardInterrupt  # what it had found by then is no result of this target
    return Outcome(task.place, bare(fitted) if common else fitted, common=common)


def _fit_alone(table: SharedTable, task: Task, there: np.ndarray, asked: Asked) -> Fitted:
    """A target with rows of its own, as if there were no other."""
    assert table.X is not None
    weights, known = (None if one is None else one[there] for one in (table.weights, table.known))
    sample = sample_of(table.X[there], task.y[there], weights, known, asked.most_merged)
    inputs = table.inputs if table.of_more and there.all() else inputs_of(sample.X, sample.weights)
    return fit_table(sample, inputs, asked.request, asked.regime_of(sample.y.size, inputs.kept.size), task.rng, None)


def outcomes(table: SharedTable, tasks: Sequence[Task], asked: Asked, n_jobs: int | None) -> Iterator[Outcome]:
    """What comes of every task, in the order in which they are done, each with the shared rows as its table."""
    asked = replace(asked, request=replace(asked.request, n_jobs=1))
    shared = SharedRows(table.rows, table.inputs)
    left = {task.place: task for task in tasks}

    def start() -> Iterator[Outcome]:
        for found in _run(table, list(left.values()), asked, n_jobs):
            del left[found.place]
            bound = found.fitted is not None and found.common
            yield replace(found, fitted=shared.bind(found.fitted)) if bound else found  # type: ignore[arg-type]

    return despite_deaths(start, lambda: len(left), "targets")


def _run(table: SharedTable, tasks: Sequence[Task], asked: Asked, n_jobs: int | None) -> Iterator[Outcome]:
    """The tasks over joblib's active backend."""
    jobs = [delayed(fit_target)(table, task, asked) for task in tasks]
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    except (
        ValueError
    ):  # a backend that gives its results at the end, as Ray does: in portions, so that they can be kept
        step = PORTION * effective_n_jobs(n_jobs)
        with Parallel(n_jobs=n_jobs) as parallel:
            for first in range(0, len(jobs), step):
                yield from parallel(jobs[first : first + step])
        return
    yield from parallel(jobs)
