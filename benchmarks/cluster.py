"""A cluster on one machine: a Dask scheduler and two workers of 1 GB on loopback, one of which is killed on the way.

    python -m benchmarks.cluster --targets 200

fits so many targets and predicts a folder of Parquet files on it, and compares both with the same without a cluster,
bit by bit. On a real cluster the scheduler and the workers are started by its own means, and the rest is the same.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ssvgp import SSVGPRegressor

ROWS, INPUTS = 60, 12
MEMORY = "1GB"


@dataclass
class Cluster:
    """The address of a scheduler, and the processes of its workers."""

    address: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill_one(self) -> None:
        """End a worker, and all that it has started, without a word."""
        os.killpg(self.workers.pop().pid, signal.SIGKILL)


def _start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    line = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    return subprocess.Popen(line, env=alone, start_new_session=True, **quiet)  # type: ignore[call-overload, no-any-return]


@contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    """A scheduler and its workers, in processes of their own, on loopback."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "scheduler.json"
        local = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        scheduler = _start("dask_scheduler", *local, "--scheduler-file", str(note))
        started = []
        try:
            while not (note.exists() and note.read_text().strip()):
                time.sleep(0.1)
            address = json.loads(note.read_text())["address"]
            some = ("--nthreads", "1", "--memory-limit", MEMORY, "--no-dashboard", "--host", "127.0.0.1")
            some = (*some, "--local-directory", folder)
            started = [_start("dask_worker", address, *some) for _ in range(workers)]
            yield Cluster(address, list(started))
        finally:
            for process in (*started, scheduler):
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def table(targets: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (60, 12), and targets of which each sixth is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, INPUTS))
    Y = 0.5 * rng.normal(size=(ROWS, targets))
    for k in range(targets):
        if k % 6 != 5:
            Y[:, k] += np.sin(1.5 * X[:, k % INPUTS]) + 0.5 * X[:, (k + 3) % INPUTS]
    return X, Y


def fit_on(place: Cluster, X: np.ndarray, Y: np.ndarray, kill_after: int, **parameters: Any) -> dict[str, Any]:
    """All targets on the cluster; a worker is killed when so many are there. How often each target came back."""
    from distributed import Client

    came: Counter[str] = Counter()

    def report(done: Any) -> None:
        came[done.target] += 1
        if done.finished == kill_after:
            place.kill_one()

    with Client(place.address) as client:
        client.wait_for_workers(len(place.workers))
        with joblib.parallel_config(backend="dask"):
            model = SSVGPRegressor(random_state=0, callback=report, **parameters).fit(X, Y)
        left = len(client.scheduler_info()["workers"])
    model.callback = None
    return {"model": model, "came": came, "workers": left}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--kernel", default="se")
    given = parser.parse_args()
    X, Y = table(given.targets)
    with cluster() as place:
        start = time.perf_counter()
        found = fit_on(place, X, Y, given.targets // 4, kernel=given.kernel)
        seconds = time.perf_counter() - start
    alone = SSVGPRegressor(random_state=0, kernel=given.kernel).fit(X, Y)
    same = np.array_equal(found["model"].pip_, alone.pip_) and np.array_equal(
        found["model"].predict(X), alone.predict(X)
    )
    twice = sum(count > 1 for count in found["came"].values())
    print(f"{given.targets} targets, a worker killed after {given.targets // 4}: {len(found['came'])} came back,")
    print(f"{twice} of them twice, {found['workers']} worker left; {seconds:.0f} s; bit by bit as without: {same}")


if __name__ == "__main__":
    main()
