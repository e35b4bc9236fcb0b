"""Many targets on one table of 200 rows and 500 inputs: seconds together, one by one and on one core, and a kill.

    make bench-targets ARGS='--targets 300 --rounds 10'     results/targets.jsonl, about twenty minutes of two cores
    make bench-targets ARGS='--smoke'                       twelve targets

Seconds are of the clock, since what two workers gain is asked. What is compared takes turns on the same few targets,
round by round: a machine that others use changes from minute to minute. With `--busy` every worker has a session of its
own, since Linux shares cores among sessions and not among processes, and where one worker is at work a process that
does nothing else stands for the other, so that as many contend for the cores. At the end all targets are fitted in one
run, whose inclusion probabilities are compared with those of the single fits, and in one more that is killed after half
and started again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from experiments.cases import RESULTS
from experiments.processes import versions
from experiments.store import append
from ssvgp import SSVGPRegressor

SIGNALS = 5  # of six targets, the sixth is noise
CURVE = (1, 10, 30, 100)  # targets of runs of their own


def table(targets: int, n: int = 200, d: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Rows (200, 500) and targets of three inputs each, every sixth of them noise."""
    X = np.random.default_rng(1).normal(size=(n, d))
    Y = np.empty((n, targets))
    for k in range(targets):
        rng = np.random.default_rng([2, k])
        a, b, c = rng.choice(d, 3, replace=False)
        f = np.sin(X[:, a]) + 0.8 * X[:, b] + 0.5 * X[:, c] ** 2
        signal = f / f.std() if k % (SIGNALS + 1) < SIGNALS else np.zeros(n)
        Y[:, k] = signal + 0.5 * rng.normal(size=n)
    return X, Y


def model(jobs: int, **parameters: Any) -> SSVGPRegressor:
    return SSVGPRegressor(random_state=0, n_jobs=jobs, **parameters)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What comes of it, and the seconds that it took."""
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def sessions_apart(jobs: int) -> None:
    """Give every worker process a session of its own."""
    Parallel(n_jobs=jobs, batch_size=1)(delayed(_apart)() for _ in range(8 * jobs))


def _apart() -> None:
    if os.getsid(0) != os.getpid():
        os.setsid()
    time.sleep(0.1)  # so that every worker gets one


@contextmanager
def stand_in(count: int) -> Iterator[None]:
    """So many processes that only keep a core busy, in sessions of their own."""
    line = [sys.executable, "-c", f"import os\nwhile os.getppid() == {os.getpid()}: pass"]  # it ends with this one
    started = [subprocess.Popen(line, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def take_turns(X: np.ndarray, Y: np.ndarray, jobs: int, rounds: int, busy: bool, path: Path) -> np.ndarray:
    """Targets together, in a loop of single fits on the same cores, and on one core; the PIPs (q, d) of the loop."""
    alone = []
    for k, some in enumerate(np.array_split(np.arange(Y.shape[1]), rounds)):
        part = Y[:, some]
        if busy:
            sessions_apart(jobs)  # workers may be new ones
        both, together = timed(lambda part=part: model(jobs).fit(X, part))
        singles, loop = timed(lambda part=part: [model(jobs).fit(X, y).pip_ for y in part.T])
        with stand_in(jobs - 1 if busy else 0):
            one_job = timed(lambda part=part: model(1).fit(X, part))[1]
        alone += singles
        worst = float(np.abs(both.pip_ - np.array(singles)).max())
        line = {"round": k, "targets": some.size, "together": together, "loop": loop, "one_job": one_job}
        line |= {"ratio": together / loop, "gain": one_job / together, "worst": worst, "load": os.getloadavg()[0]}
        append(path, line)
        print(line, flush=True)
    return np.array(alone)


def curve(X: np.ndarray, Y: np.ndarray, jobs: int, busy: bool, path: Path) -> None:
    """Seconds of the first so many targets, by several workers and by one."""
    for count in (count for count in CURVE if count < Y.shape[1]):
        some = Y[:, :count] if count > 1 else Y[:, 0]
        if busy:
            sessions_apart(jobs)
        several = timed(lambda some=some: model(jobs).fit(X, some))[1]
        spent = time.process_time()
        with stand_in(jobs - 1 if busy else 0):
            one = timed(lambda some=some: model(1).fit(X, some))[1]
        line = {"curve": count, "several": several, "one": one, "processor": time.process_time() - spent}
        append(path, line)
        print(line, flush=True)


def killed_and_resumed(targets: int, jobs: int) -> dict[str, Any]:
    """A run that is killed after half of its targets and started again: what was kept, fitted again, and found."""
    X, Y = table(targets)
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, "-m", "benchmarks.targets", "--targets", str(targets), "--jobs", str(jobs)]
        ended = subprocess.run([*line, "--die-in", folder], check=False).returncode
        kept = {path: path.stat().st_mtime_ns for path in Path(folder).glob("*.ssvgp")}
        again: list[str] = []
        found = model(jobs, checkpoint=folder, callback=lambda done: again.append(done.target)).fit(X, Y)
        untouched = sum(path.stat().st_mtime_ns == when for path, when in kept.items())
    return {"ended": ended, "kept": len(kept), "untouched": untouched, "fitted_again": len(again), "pip": found.pip_}


def die(folder: str, targets: int, jobs: int) -> None:
    """Fit with a checkpoint and kill this process after half of the targets."""

    def report(done: Any) -> None:
        if done.finished == targets // 2:
            os.kill(os.getpid(), signal.SIGKILL)

    model(jobs, checkpoint=folder, callback=report).fit(*table(targets))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--targets", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--busy", action="store_true", help="others use the machine: as many contend in all cases")
    parser.add_argument("--smoke", action="store_true", help="twelve targets, in a file of their own")
    parser.add_argument("--die-in", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.die_in:
        die(given.die_in, given.targets, given.jobs)
    count, rounds = (12, 2) if given.smoke else (given.targets, given.rounds)
    path = RESULTS / f"targets{'-smoke' if given.smoke else ''}.jsonl"
    path.write_text(
        json.dumps({"run": "targets", "targets": count, "jobs": given.jobs, "busy": given.busy} | versions()) + "\n"
    )
    X, Y = table(count)
    model(given.jobs).fit(X[:50, :5], Y[:50, : given.jobs])  # workers start before the clock does
    curve(X, Y, given.jobs, given.busy, path)
    alone = take_turns(X, Y, given.jobs, rounds, given.busy, path)
    whole, seconds = timed(lambda: model(given.jobs).fit(X, Y))
    line = {"whole": count, "seconds": seconds, "worst": float(np.abs(whole.pip_ - alone).max())}
    append(path, line)
    print(line, flush=True)
    found = killed_and_resumed(count, given.jobs)
    found["same"] = bool(np.array_equal(found.pop("pip"), whole.pip_))
    append(path, {"killed": count // 2} | found)
    print(found, flush=True)


if __name__ == "__main__":
    main()
