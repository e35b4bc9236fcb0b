"""A run over many targets from start to end: what is finished already, what is not, and a word on each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvgp.data.inputs import DataWarning, Inputs, listed
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.several import Several, SharedRows
from ssvgp.many.checkpoint import Checkpoint, fingerprint, open_checkpoint
from ssvgp.many.fitting import Asked, Task, outcomes, shared_table
from ssvgp.many.table import SharedTable
from ssvgp.many.targets import Targets
from ssvgp.run.randomness import generator_of


@dataclass(frozen=True)
class Done:
    """A report of progress: how many of all targets are finished, the last one by name, and whether it failed."""

    finished: int
    total: int
    target: str
    error: str = ""

    def __str__(self) -> str:
        ending = f"failed: {self.error}" if self.error else "fitted"
        return f"{self.finished} of {self.total} targets, {self.target} {ending}"


@dataclass(frozen=True, eq=False)
class Order:
    """What a run is asked for beside table and targets; `parameters` are those of the estimator."""

    asked: Asked
    parameters: dict[str, Any]
    random_state: Any = None
    n_jobs: int | None = None
    checkpoint: Any = None
    report: Callable[[Any], None] | None = None


def fit_several(
    X: np.ndarray, targets: Targets, weights: Any, noise: Any, order: Order, inputs: Inputs | None = None
) -> Several:
    """A fit for every target: from the checkpoint where it is finished, the others over joblib's active backend.

    `inputs` say how columns are standardised; None: by these rows.
    """
    table = shared_table(X, targets.Y, weights, noise, order.asked, inputs)
    kept = None
    if order.checkpoint is not None:
        kept = open_checkpoint(order.checkpoint, fingerprint(X, table, order.parameters), order.parameters)
    fits: dict[int, Fitted] = {} if kept is None else _finished(kept, targets, table)
    errors: dict[str, str] = {}
    tasks = [task for task in _tasks(targets, order.random_state) if task.place not in fits]
    for found in outcomes(table, tasks, order.asked, order.n_jobs):
        name = targets.names[found.place]
        if found.fitted is None:
            errors[name] = found.error
        else:
            fits[found.place] = found.fitted
            if kept is not None:
                kept.keep(name, targets.Y[:, found.place], found.fitted, found.common)
        if order.report is not None:
            order.report(Done(len(fits) + len(errors), len(targets.names), name, found.error))
    several = Several(targets.names, tuple(fits.get(k) for k in range(len(targets.names))), table.inputs, errors)
    _say(several, targets)
    return several


def _finished(kept: Checkpoint, targets: Targets, table: SharedTable) -> dict[int, Fitted]:
    """Targets that an earlier run has left, with the rows that they belong to."""
    shared, fits = SharedRows(table.rows, table.inputs), {}
    for place, name in enumerate(targets.names):
        found = kept.find(name, targets.Y[:, place])
        if found is not None:
            fits[place] = shared.bind(found.fitted) if found.common else found.fitted
    return fits


def _tasks(targets: Targets, random_state: Any) -> list[Task]:
    """A task for each target: with a seed each starts as if it were alone, else each has a child of the generator."""
    q = len(targets.names)
    if isinstance(random_state, (int, np.integer)):
        rngs: Sequence[np.random.Generator] = [generator_of(random_state) for _ in range(q)]
    else:
        rngs = generator_of(random_state).spawn(q)
    return [Task(k, np.ascontiguousarray(targets.Y[:, k]), rng) for k, rng in enumerate(rngs)]


def _say(several: Several, targets: Targets) -> None:
    """Which targets failed, and which have gaps; an error where there is none that did not fail."""
    if len(several.errors) == len(several):
        name, reason = next(iter(several.errors.items()))
        raise ValueError(f"no target could be fitted; {name!r}: {reason}")
    if several.errors:
        message = f"{len(several.errors)} of {len(several)} targets failed, see errors_: {listed([*several.errors])}"
        warnings.warn(message, DataWarning, stacklevel=4)
    gaps = [name for name, y in zip(targets.names, targets.Y.T, strict=True) if np.isnan(y).any()]
    gaps = [name for name in gaps if name not in several.errors]
    if gaps:
        message = f"rows without a value are left out of their target's fit: {listed(gaps)}"
        warnings.warn(message, DataWarning, stacklevel=4)
    jitter = [name for name, one in several if one is not None and one.ensemble.notes.get("jitter", 0.0) > 0.0]
    if jitter:
        message = f"a covariance matrix was not positive definite and was repaired: {listed(jitter)}"
        warnings.warn(message, RuntimeWarning, stacklevel=4)
