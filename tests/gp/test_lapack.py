"""LAPACK by address: the same as by SciPy's wrappers, at every size, and without Python's lock."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from ssvgp.gp import lapack

SIZES = [1, 2, 127, 128, 129, 161, 300, 321, 401, 643]


def matrix(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, n + 2))
    return np.asfortranarray(half @ half.T / n + np.eye(n))


@pytest.fixture(params=[True, False], ids=["by address", "by wrapper"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and lapack.ADDRESSES is None:
        pytest.skip("this SciPy does not publish the addresses of LAPACK")
    if not request.param:
        monkeypatch.setattr(lapack, "ADDRESSES", None)


@pytest.mark.parametrize("n", SIZES)
def test_factor_inverse_and_solves(n: int, way: None) -> None:
    K = matrix(n)
    lower = K.copy(order="F")
    assert lapack.cholesky(lower) == 0
    assert np.array_equal(np.triu(lower, 1), np.zeros((n, n)))
    assert lower @ lower.T == pytest.approx(K, abs=1e-12)
    inverse, info = lapack.inverse_lower(lower)
    assert info == 0
    assert np.tril(inverse) == pytest.approx(np.tril(np.linalg.inv(K)), abs=1e-11)
    assert np.array_equal(np.triu(inverse, 1), np.zeros((n, n)))
    triangle, info = lapack.inverse_triangle(lower)
    assert info == 0
    assert triangle @ lower == pytest.approx(np.eye(n), abs=1e-11)
    assert np.array_equal(np.triu(triangle, 1), np.zeros((n, n)))
    for b in (np.arange(1.0, n + 1), np.random.default_rng(0).standard_normal((n, 3))):
        assert lapack.solve_both(lower, b)[0] == pytest.approx(np.linalg.solve(K, b), rel=1e-8, abs=1e-10)
        assert lapack.solve_lower(lower, b)[0] == pytest.approx(np.linalg.solve(lower, b), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("n", [40, 200])
def test_a_matrix_without_a_factor_is_reported_and_keeps_its_upper_triangle(n: int, way: None) -> None:
    K = matrix(n) - 3.0 * np.eye(n)
    work = K.copy(order="F")
    assert lapack.cholesky(work) > 0
    assert np.array_equal(np.triu(work, 1), np.triu(K, 1))


@pytest.mark.skipif(lapack.ADDRESSES is None, reason="this SciPy does not publish the addresses of LAPACK")
def test_other_threads_run_while_lapack_works() -> None:
    work = matrix(1500)
    ticks = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    start = time.perf_counter()
    lapack.cholesky(work)
    end = time.perf_counter()
    stop.set()
    other.join()
    assert sum(start < at < end for at in ticks) >= 2
