"""Runs an experiment: one line of results for each trial, appended at once; what is stored is not run again.

A run that was killed goes on where it was. A trial that failed is stored with its error, and is tried again only when
asked for. The command line is in experiments/command.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments import methods, store
from experiments.problems import FIRST_SEED, Maker
from experiments.processes import Workers, machine

SMOKE_LIMIT = 120.0


@dataclass(frozen=True)
class Experiment:
    """Problems (`designs`), the methods that answer each, and how often.

    `trials` is the usual number; `except_for` has others, of a method or of a design and a method as "design/method".
    `settings` belong to either, too. `unavailable` gives the reason why a design cannot be had here. `keep` values of
    irrelevant inputs are stored, and with `surfaces` a coarse grid of predictions.
    """

    name: str
    designs: Mapping[str, Maker]
    methods: Mapping[str, Sequence[str]]
    trials: int
    except_for: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    smoke_designs: Sequence[str] | None = None
    unavailable: Mapping[str, Callable[[], str | None]] = field(default_factory=dict)
    limit: float = 3600.0
    keep: int = 20
    surfaces: bool = False
    module: str = ""


@dataclass(frozen=True)
class Options:
    """What the command line asks for; None stands for all."""

    methods: Sequence[str] | None = None
    designs: Sequence[str] | None = None
    trials: int | None = None
    first: int = 0
    smoke: bool = False
    jobs: int = 1
    retry: bool = False
    limit: float | None = None
    results: Path = store.RESULTS
    replaced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def plan(experiment: Experiment, options: Options) -> Iterator[dict[str, Any]]:
    """The jobs of a run, trial by trial, so that a run that ends early has something of every method."""
    designs = options.designs or (options.smoke and experiment.smoke_designs) or tuple(experiment.designs)
    most = 1 if options.smoke else max([experiment.trials, *experiment.except_for.values()])
    for trial in range(options.first, options.first + (options.trials or most)):
        for design in designs:
            for method in experiment.methods[design]:
                others = experiment.except_for
                usual = others.get(f"{design}/{method}", others.get(method, experiment.trials))
                if options.methods and method not in options.methods:
                    continue
                if options.smoke and design != designs[0] and methods.METHODS[method].peer:
                    continue  # loading and compiling takes most of a small trial: once is enough
                if options.trials is None and trial >= options.first + usual:
                    continue
                yield _job(experiment, design, method, trial, options)


def _job(experiment: Experiment, design: str, method: str, trial: int, options: Options) -> dict[str, Any]:
    extra = {
        **experiment.settings.get(method, {}),
        **experiment.settings.get(f"{design}/{method}", {}),
        **options.replaced.get(method, {}),
    }
    return {
        "experiment": experiment.name,
        "module": experiment.module or f"experiments.{experiment.name}",
        "design": design,
        "method": method,
        "trial": trial,
        "seed": FIRST_SEED + trial,
        "smoke": options.smoke,
        "settings": json.loads(json.dumps(methods.settings_of(method, extra, options.smoke))),
    }


def reason_to_skip(experiment: Experiment, job: Mapping[str, Any]) -> str | None:
    """Why a job cannot run here: its data or its library are missing."""
    why = experiment.unavailable.get(job["design"])
    return (why and why()) or methods.missing(job["method"])


def run(experiment: Experiment, options: Options) -> int:
    """Run what is not stored yet; returns how many trials failed."""
    path = store.file_of(experiment.name, options.smoke, options.results)
    if store.mend(path):
        print(f"{path.name}: the last line was not finished, and its trial runs again", flush=True)
    stored = {store.key_of(line): line for line in store.read(path)}
    todo, skipped = [], {}
    for job in plan(experiment, options):
        old, reason = stored.get(store.key_of(job)), reason_to_skip(experiment, job)
        if old is not None and not (options.retry and "error" in old):
            if old["settings"] != job["settings"]:
                print(f"{label(job)}: stored with other settings, {old['settings']}", flush=True)
        elif reason:
            skipped[(job["design"], job["method"])] = reason
        else:
            todo.append(job)
    for (design, method), reason in skipped.items():
        print(f"skipped {design} {method}: {reason}", flush=True)
    print(f"{experiment.name}: {len(stored)} trials stored, {len(todo)} to run, {options.jobs} at a time", flush=True)
    limit = options.limit or (SMOKE_LIMIT if options.smoke else experiment.limit)
    workers = Workers(limit)
    try:
        lines = store.keep(_lines(todo, workers, options.jobs), path, told)
    except BaseException:
        workers.stop()
        raise
    return sum("error" in line for line in lines)


def _lines(todo: Sequence[Mapping[str, Any]], workers: Workers, jobs: int) -> Iterator[store.Line]:
    """Lines of jobs in processes of their own, at most `jobs` at a time, as they are done. What is stopped has none."""
    common = {"blas_threads": 1, "n_jobs": 1, "at_a_time": jobs, "machine": machine()}

    def one(job: Mapping[str, Any]) -> store.Line | None:
        result = workers.result(job)
        return result and {key: value for key, value in job.items() if key != "module"} | common | result

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            for future in as_completed([pool.submit(one, job) for job in todo]):
                line = future.result()
                if line is not None:
                    yield line
        except BaseException:
            workers.stop()  # before the pool is left, which waits for what is running
            raise


def label(job: Mapping[str, Any]) -> str:
    """A trial by name."""
    return f"{job['design']:18s} {job['method']:16s} trial {job['trial']}"


def told(line: Mapping[str, Any]) -> str:
    """One trial on one line of the screen."""
    if "error" in line:
        return f"  {label(line)}  FAILED {line['error']}"
    shown = {
        key: line["scores"].get(key)
        for key in ("nmse", "loss", "base", "auc", "mcc", "nlpd", "selected", "seconds", "peak_mb")
    }
    return f"  {label(line)}  " + "  ".join(f"{key} {value:.4g}" for key, value in shown.items() if value is not None)
