"""What grows with rows on disk: seconds, bytes and memory.

    make bench-beyond ARGS='--write FOLDER --parts 50'          a folder of so many files of a million rows of 20 inputs
    make bench-beyond ARGS='--folder FOLDER --parts 1 10 50'    one pass over the first so many files of a folder
    make bench-beyond ARGS='--folder FOLDER --parts 10 --jobs 2 --busy'     the same by one worker and by two, in turns

Lines go to results/beyond.jsonl. `processor` are seconds of the processor, which a busy machine does not change much.
Of two workers only the clock tells (`--busy`: see benchmarks/targets.py).
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np

from benchmarks.targets import sessions_apart, stand_in, timed
from experiments.cases import RESULTS
from experiments.store import append
from ssvgp.disk.folder import ParquetPart, files_in, names_in
from ssvgp.disk.survey import Survey, survey

ROWS = 1_000_000  # of a file


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


def rows(folder: Path, parts: list[int], jobs: int, busy: bool) -> None:
    """One pass for moments and a sample over the first files of a folder, by one worker and by several."""
    files = files_in(folder)
    columns = tuple(names_in(files[0]))
    for count in parts:
        some = [ParquetPart(path, columns) for path in files[:count]]
        line: dict[str, float] = {"bytes": sum(path.stat().st_size for path in files[:count])}
        if jobs > 1:
            sessions_apart(jobs)
            line |= {"jobs": jobs, "several": timed(lambda some=some: one_pass(some, jobs))[1]}
        with stand_in(jobs - 1 if busy else 0):
            start = time.process_time()
            found, line["one"] = timed(lambda some=some: one_pass(some, 1))
        line |= {"rows": found.rows, "processor": time.process_time() - start, "most_gigabytes": peak()}
        append(RESULTS / "beyond.jsonl", line | {"load": os.getloadavg()[0]})
        print(line, flush=True)


def one_pass(parts: list[ParquetPart], jobs: int) -> Survey:
    return survey(parts, len(parts[0].columns), 100_000, seed=0, n_jobs=jobs)


def peak() -> float:
    """Most memory that this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--parts", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="others use the machine: as many contend in all cases")
    given = parser.parse_args()
    if given.write is not None:
        write(given.write, given.parts[0])
    if given.folder is not None:
        rows(given.folder, given.parts, given.jobs, given.busy)


if __name__ == "__main__":
    main()
