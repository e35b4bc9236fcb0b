"""What grows with rows on disk and with targets: seconds, bytes and memory.

    make bench-beyond ARGS='--folder FOLDER --parts 1 5 50'     one pass over the first so many files of a folder
    make bench-beyond ARGS='--targets 24 --jobs 2'              many targets beside a loop of single fits, 200 x 500
    make bench-beyond ARGS='--write FOLDER --parts 50'          a folder of so many files of a million rows of 20 inputs

Seconds of rows are those of the processor, which a busy machine does not change much; those of targets are of the
clock, since what two workers gain is asked: run these on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp import SSVGPRegressor

ROWS = 1_000_000  # of a file
SIGNALS = 5  # of six targets, the sixth is noise


def write(folder: Path, parts: int) -> None:
    """Files of a million rows: five of twenty inputs decide y, whose noise has standard deviation 1/2."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for k in range(parts):
        rng = np.random.default_rng([17, k])
        X = rng.standard_normal((20, ROWS), dtype=np.float32)
        f = np.sin(1.5 * X[0]) + 0.8 * X[1] + 0.6 * X[2] * X[3] + 0.5 * np.abs(X[4])
        y = (f + 0.5 * rng.standard_normal(ROWS)).astype(np.float32)
        columns = {**{f"x{j:02d}": X[j] for j in range(20)}, "y": y}
        path = folder / f"part-{k:03d}.parquet"
        parquet.write_table(pa.table(columns), path, compression="none", use_dictionary=False, row_group_size=ROWS // 4)


def rows(folder: Path, parts: list[int]) -> None:
    """One pass for moments and a sample over the first files of a folder."""
    from ssvgp.disk.folder import ParquetPart, files_in, names_in
    from ssvgp.disk.survey import survey

    files = files_in(folder)
    columns = tuple(names_in(files[0]))
    for count in parts:
        start = time.process_time()
        found = survey([ParquetPart(path, columns) for path in files[:count]], len(columns), 100_000, seed=0, n_jobs=1)
        seconds, size = time.process_time() - start, sum(path.stat().st_size for path in files[:count])
        print(f"{found.rows} rows, {size / 1e9:.2f} GB: {seconds:.1f} s of the processor, {peak():.2f} GB", flush=True)


def peak() -> float:
    """Most memory that this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


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


def targets(count: int, jobs: int) -> None:
    """Many targets together, a loop of single fits on the same cores, and all of them on one core."""
    X, Y = table(count)
    SSVGPRegressor(random_state=0, n_jobs=jobs).fit(X[:50, :5], Y[:50, :jobs])  # workers start before the clock does
    model, together = timed(lambda: SSVGPRegressor(random_state=0, n_jobs=jobs).fit(X, Y))
    singles, loop = timed(lambda: [SSVGPRegressor(random_state=0, n_jobs=jobs).fit(X, y) for y in Y.T])
    one_job = timed(lambda: SSVGPRegressor(random_state=0, n_jobs=1).fit(X, Y))[1]
    worst = max(float(np.abs(one.pip_ - pip).max()) for one, pip in zip(singles, model.pip_, strict=True))
    print(
        f"{count} targets, {jobs} jobs: {together:.1f} s together, {loop:.1f} s one by one: ratio {together / loop:.3f}"
    )
    print(f"{one_job:.1f} s on one core, {one_job / together:.2f} times as long; PIPs differ by {worst:.1g}")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What comes of it, and the seconds that it took."""
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--parts", type=int, nargs="+", default=[1])
    parser.add_argument("--targets", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.write is not None:
        write(given.write, given.parts[0])
    if given.folder is not None:
        rows(given.folder, given.parts)
    if given.targets:
        targets(given.targets, given.jobs)


if __name__ == "__main__":
    main()
