"""One trial in a process of its own: the runner writes the job to its input and reads the last line of its output.

A process of its own makes peak memory honest, keeps rivals' libraries apart, and can be stopped at a time limit.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.unit import unit_seconds
from experiments import methods, scoring, store
from experiments.outcomes import outcome_scores
from experiments.problems import thinned
from experiments.processes import peak_bytes, versions
from ssvgp import peers

MEGABYTE = 2.0**20


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """The result of one job, or the error that ended it."""
    try:
        return _measured(job)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return {"error": f"{type(error).__name__}: {error} ({place})"}


def _measured(job: Mapping[str, Any]) -> dict[str, Any]:
    experiment = import_module(job["module"]).EXPERIMENT
    name, seed = job["method"], job["seed"]
    whole = experiment.designs[job["design"]](seed, job["smoke"])
    problem = thinned(whole, methods.METHODS[name].most_rows, seed)
    if not job["smoke"]:
        methods.warm_up(name, *problem.X.shape)
    unit, before = unit_seconds(repeats=50), peak_bytes() / MEGABYTE
    start = time.process_time()
    answer = methods.answer(name, problem, job["settings"], seed, store.checkpoint_of(job))
    cpu, peak = time.process_time() - start, peak_bytes() / MEGABYTE
    numbers = problem.kind == "numbers"
    found = scoring.scores(problem, answer) if numbers else outcome_scores(problem, answer)
    found |= {"cpu_seconds": cpu, "peak_mb": peak, "data_mb": before}
    if not math.isfinite(found["nmse" if numbers else "loss"]):
        raise ValueError("the predictions are not finite")
    out = {
        "n": int(whole.y.size),
        "rows": int(problem.y.size),
        "d": int(whole.X.shape[1]),
        "n_test": int(whole.y_test.size),
        "scores": found,
        "notes": answer.notes,
        "profiles": {
            key: scoring.profile(values, whole.relevant, experiment.keep) for key, values in answer.profiles.items()
        },
        "unit_seconds": unit,
        "versions": versions(libraries_of(name)),
    }
    if experiment.surfaces:
        out["surface"] = scoring.surface(answer.mean)
    return finite(out)


def finite(value: Any) -> Any:
    """The same with plain numbers, and None for what JSON cannot hold: infinities and no-numbers."""
    if isinstance(value, Mapping):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    number = float(value)
    return float(f"{number:.6g}") if math.isfinite(number) else None


def libraries_of(name: str) -> tuple[str, ...]:
    """The libraries of a rival, whose versions are stored beside its numbers."""
    entry = peers.PEERS.get(methods.METHODS[name].peer)
    return tuple(entry.libraries) if entry else ()


def main() -> None:
    """Read a job, run it, write its result."""
    warnings.simplefilter("ignore")  # constant columns of a split, rivals' own notices
    job = json.loads(sys.stdin.read())
    # What libraries print to the output must not mix with the result.
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    result.write(json.dumps(run(job), allow_nan=False) + "\n")
    result.flush()


if __name__ == "__main__":
    main()
