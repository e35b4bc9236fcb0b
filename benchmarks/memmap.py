"""Experiment 2 with ten million rows of float32 in a file: does a fit stay within 3 GB, all included?

The file (4 GB) is written in pieces to a temporary directory; fit and prediction run in a process of their own, whose
peak resident memory counts everything: interpreter, libraries, y, and whatever of the mapped file is resident. Asked
for: at most 3 GB, nmse within 0.0015 of its floor, the two inputs and no other.

    python -m benchmarks.memmap             one draw, results/memmap.jsonl
    python -m benchmarks.memmap --smoke     10^5 rows
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from experiments.cases import Case, main
from experiments.designs import experiment2
from experiments.problems import seeds
from experiments.processes import peak_bytes
from experiments.scores import nmse
from ssvgp import SSVGPRegressor

PIECE = 250_000  # rows that are drawn at a time
D = 100


def write(folder: Path, n: int, seed: int) -> None:
    """X.npy (n, D) in single precision, y.npy (n,) and the test rows of the first piece, in a folder."""
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(n, D))
    y = np.empty(n)
    for number, start in enumerate(range(0, n, PIECE)):
        rows = min(PIECE, n - start)
        draw = experiment2(seed + 10_000 * number, n=rows, d=D, dtype=np.float32)
        X[start : start + rows], y[start : start + rows] = draw.X, draw.y
        if number == 0:
            np.savez(folder / "test.npz", X=draw.X_test, y=draw.y_test, f=draw.f_test)
    X.flush()
    np.save(folder / "y.npy", y)


def fit(folder: Path) -> Mapping[str, float]:
    """Fit to the mapped file and predict the test rows: what it took, and how good it is."""
    X, y, test = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy"), np.load(folder / "test.npz")
    start = time.perf_counter()
    model = SSVGPRegressor(random_state=0).fit(X, y)
    fitted = time.perf_counter()
    mean = model.predict(test["X"])
    done = time.perf_counter()
    return {
        "nmse": nmse(test["y"], mean),
        "floor": nmse(test["y"], test["f"]),
        "exact": float(list(model.get_support(indices=True)) == [0, 1]),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "seconds": done - start,
        "peak_gigabytes": peak_bytes() / 1e9,
        "X_gigabytes": X.nbytes / 1e9,
    }


def draw(n: int, seed: int) -> Mapping[str, float]:
    """One draw: the file, then fit and prediction in a process of their own."""
    with tempfile.TemporaryDirectory() as name:
        # Both in processes of their own: a process starts with the peak of the one that it was started from.
        command = [sys.executable, "-m", "benchmarks.memmap"]
        subprocess.run([*command, "--write", name, str(n), str(seed)], check=True)
        answer = subprocess.run([*command, "--fit", name], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["--fit"]:
        print(json.dumps(fit(Path(sys.argv[2]))))
    else:
        main(Case("memmap", partial(draw, 10_000_000), seeds(1), partial(draw, 100_000)))
