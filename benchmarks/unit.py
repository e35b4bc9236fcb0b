"""A unit of time that travels between machines: one factorisation and inverse of a 256 x 256 matrix.

Seconds divided by this unit say how much work a fit does, whatever the speed of the processor it ran on.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from threadpoolctl import threadpool_limits

SIZE = 256
WARM_UP = 5


def positive_definite(size: int = SIZE) -> np.ndarray:
    """A fixed well-conditioned positive definite matrix in column order, (size, size)."""
    gaps = np.subtract.outer(np.arange(size), np.arange(size)) / 10.0
    return np.asfortranarray(np.exp(-0.5 * gaps**2) + np.eye(size))


def one_unit(matrix: np.ndarray) -> float:
    """Seconds for one potrf and one potri on a copy of `matrix`."""
    work = matrix.copy(order="F")
    start = time.perf_counter()
    factor, failed = dpotrf(work, lower=1, overwrite_a=1)
    _, failed_inverse = dpotri(factor, lower=1, overwrite_c=1)
    seconds = time.perf_counter() - start
    if failed or failed_inverse:
        raise RuntimeError(f"LAPACK returned {failed} and {failed_inverse} where 0 and 0 were expected")
    return seconds


def unit_seconds(repeats: int = 200) -> float:
    """Median seconds of one float64 potrf and potri at 256 x 256 on one thread."""
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}; give at least 1")
    matrix = positive_definite()
    with threadpool_limits(limits=1):
        for _ in range(WARM_UP):
            one_unit(matrix)
        return float(np.median([one_unit(matrix) for _ in range(repeats)]))


def main() -> None:
    """Print the unit of this machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000)
    arguments = parser.parse_args()
    print(f"one unit: {1e3 * unit_seconds(arguments.repeats):.4f} ms")


if __name__ == "__main__":
    main()
