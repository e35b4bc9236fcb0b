"""Questions of benchmarks/: named numbers of draws over seeds, a line for each, a closing table, a file of results."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from benchmarks.unit import unit_seconds
from experiments import store
from experiments.processes import versions
from experiments.scores import HIGH_IS_GOOD, Summary, summary

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Case:
    """One measurement: `draw` maps a seed to named numbers; `smoke` is the same at a size of seconds.

    A `seconds` among the numbers stands for the time of the fit alone; else the whole draw is timed.
    """

    name: str
    draw: Callable[[int], Numbers]
    seeds: Sequence[int]
    smoke: Callable[[int], Numbers] | None = None
    high_is_good: frozenset[str] = HIGH_IS_GOOD


def timed(draw: Callable[[int], Numbers], seed: int) -> dict[str, float]:
    """The numbers of one draw on one BLAS thread, with its seconds and those in units of this machine."""
    with threadpool_limits(limits=1):
        # Measured beside the draw, so that both feel the same load on the machine.
        unit = unit_seconds(repeats=50)
        start = time.perf_counter()
        numbers = dict(draw(seed))
        numbers.setdefault("seconds", time.perf_counter() - start)
    numbers["units"] = numbers["seconds"] / unit
    return {"seed": seed} | {key: float(value) for key, value in numbers.items()}


def rows(draw: Callable[[int], Numbers], seeds: Sequence[int], jobs: int) -> Iterator[dict[str, float]]:
    """Results as they come in: in order with one job, in the order of completion with several."""
    if jobs == 1:
        yield from (timed(draw, seed) for seed in seeds)
        return
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        yield from parallel(joblib.delayed(timed)(draw, seed) for seed in seeds)


def run(
    name: str,
    draw: Callable[[int], Numbers],
    seeds: Sequence[int],
    jobs: int = 1,
    high_is_good: Iterable[str] = HIGH_IS_GOOD,
    results: Path = RESULTS,
) -> dict[str, Summary]:
    """Run `draw` on every seed, print and store each result, and return the summary of every number.

    The file `<name>.jsonl` is begun anew; each draw is written at once, so that a broken run keeps its part.
    """
    if not seeds:
        raise ValueError(f"{name}: no seeds to run; give --draws of at least 1")
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{name}.jsonl"
    path.write_text(json.dumps({"run": name, "seeds": list(seeds), "jobs": jobs} | versions()) + "\n")
    print(f"{name}: {len(seeds)} draws, {jobs} jobs", flush=True)
    # Sorted by seed, so that the summary does not depend on who finished first.
    found = sorted(store.keep(rows(draw, seeds, jobs), path, line, finite), key=lambda row: row["seed"])
    table = summarise(found, frozenset(high_is_good))
    store.append(path, finite({"summary": {key: asdict(value) for key, value in table.items()}}))
    print(render(table), flush=True)
    return table


def summarise(found: Sequence[Numbers], high_is_good: frozenset[str]) -> dict[str, Summary]:
    """The summary of every number that the draws have in common."""
    names = [key for key in found[0] if key != "seed" and all(key in row for row in found)]
    return {key: summary([row[key] for row in found], better="high" if key in high_is_good else "low") for key in names}


def finite(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same with None for what JSON cannot hold: infinities and no-numbers."""
    kept = {key: finite(value) if isinstance(value, Mapping) else value for key, value in row.items()}
    return {key: None if isinstance(one, float) and not math.isfinite(one) else one for key, one in kept.items()}


def line(row: Numbers) -> str:
    """One draw on one line."""
    numbers = "  ".join(f"{key} {value:.4g}" for key, value in row.items() if key != "seed")
    return f"  seed {int(row['seed']):4d}  {numbers}"


def render(table: Mapping[str, Summary]) -> str:
    """The closing table: a row for every number."""
    columns = ("mean", "sd", "median", "lowest", "highest", "worst")
    width = max(len(key) for key in table) + 2
    lines = ["  " + "".ljust(width) + "".join(column.rjust(11) for column in columns)]
    for key, value in table.items():
        cells = "".join(f"{getattr(value, column):11.4g}" for column in columns)
        lines.append("  " + key.ljust(width) + cells)
    return "\n".join(lines)


def main(*cases: Case, results: Path = RESULTS) -> None:
    """The command line of a benchmark file: all its cases, or those named, at full or smoke size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=[case.name for case in cases], help="cases to run")
    parser.add_argument("--seeds", nargs="+", type=int, help="exactly these seeds")
    parser.add_argument("--draws", type=int, help="this many seeds, from the first of the case")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes, one BLAS thread each")
    parser.add_argument("--smoke", action="store_true", help="two draws, small if the case has a small size")
    arguments = parser.parse_args()
    for case in cases:
        if arguments.only and case.name not in arguments.only:
            continue
        seeds = chosen_seeds(case, arguments)
        draw = case.smoke if arguments.smoke and case.smoke else case.draw
        # A smoke run has a file of its own: it must never replace a measurement.
        name = f"{case.name}-smoke" if arguments.smoke else case.name
        run(name, draw, seeds, jobs=arguments.jobs, high_is_good=case.high_is_good, results=results)


def chosen_seeds(case: Case, arguments: argparse.Namespace) -> list[int]:
    """The seeds of the command line, or else those of the case."""
    if arguments.seeds is not None:
        return list(arguments.seeds)
    if arguments.draws is not None:
        first = case.seeds[0]
        return list(range(first, first + arguments.draws))
    return list(case.seeds[:2]) if arguments.smoke else list(case.seeds)
