"""The command line that every experiment has.

python -m experiments.toy                        all that is not stored yet
python -m experiments.toy --methods ssvgp mlii --trials 3 --jobs 2
python -m experiments.toy --set svgp.max_seconds=600
python -m experiments.toy --smoke                one small trial of everything, into a file of its own
python -m experiments.toy --list                 what there is, what is stored, what cannot run here and why
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import store
from experiments.runner import Experiment, Options, plan, reason_to_skip, run


def main(experiment: Experiment, arguments: Sequence[str] | None = None) -> None:
    """Run or list; the exit code is 1 where a trial of a smoke run failed, 130 after an interrupt."""
    options, listing = parsed(experiment, arguments)
    if listing:
        listed(experiment, options)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        failed = run(experiment, options)
    except KeyboardInterrupt:
        print("interrupted: what was finished is stored", flush=True)
        sys.exit(130)
    if failed and options.smoke:
        sys.exit(f"{failed} trials failed")


def parsed(experiment: Experiment, arguments: Sequence[str] | None = None) -> tuple[Options, bool]:
    """The options of a command line, and whether it asks for the list alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted({name for group in experiment.methods.values() for name in group})
    parser.add_argument("--methods", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--designs", nargs="+", choices=list(experiment.designs), metavar="NAME")
    parser.add_argument("--trials", type=int, help="this many trials of every method")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time, one BLAS thread each")
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="folder of the results")
    parser.add_argument("--limit", type=float, help="seconds after which a trial is stopped")
    parser.add_argument("--set", nargs="+", default=[], metavar="METHOD.KEY=VALUE", help="replace settings")
    parser.add_argument("--smoke", action="store_true", help="one small trial of everything")
    parser.add_argument("--retry", action="store_true", help="run failed trials again")
    parser.add_argument("--list", action="store_true", help="what there is, and what is stored")
    given = vars(parser.parse_args(arguments))
    listing, replaced = given.pop("list"), _replacements(given.pop("set"), names, parser)
    return Options(replaced=replaced, **given), listing


def listed(experiment: Experiment, options: Options) -> None:
    """Print what there is, how much of it is stored, and what cannot run here."""
    path = store.file_of(experiment.name, options.smoke, options.results)
    stored = [store.key_of(line) for line in store.read(path)]
    wanted: dict[tuple[str, str], int] = {}
    reasons: dict[tuple[str, str], str] = {}
    for job in plan(experiment, options):
        pair = (job["design"], job["method"])
        wanted[pair] = wanted.get(pair, 0) + 1
        if pair not in reasons:
            reasons[pair] = reason_to_skip(experiment, job) or ""
    for (design, method), count in wanted.items():
        have = sum(key[:2] == (design, method) for key in stored)
        print(f"{design:18s} {method:16s} {have} of {count}  {reasons[(design, method)]}".rstrip())


def _replacements(texts: Sequence[str], names: Sequence[str], parser: argparse.ArgumentParser) -> dict[str, Any]:
    """From "svgp.max_seconds=600" to {"svgp": {"max_seconds": 600}}; values are JSON, or else text."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        method, dot, key = place.partition(".")
        if not (equals and dot and key) or method not in names:
            parser.error(f"--set takes METHOD.KEY=VALUE with a method of this experiment, not {text!r}")
        try:
            found.setdefault(method, {})[key] = json.loads(value)
        except ValueError:
            found.setdefault(method, {})[key] = value
    return found
