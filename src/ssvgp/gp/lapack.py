"""LAPACK routines that let other threads run meanwhile.

The wrappers in scipy.linalg.lapack hold Python's lock while they compute, so that threads would take turns at exactly
the part that costs most. SciPy also publishes the addresses of the same routines for Cython; called through ctypes they
run without the lock. Where those are missing, or count in other integers, the wrappers serve.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from scipy.linalg import cython_blas, cython_lapack, lapack

from ssvgp.settings.machine import STRIP

ROUTINES = ("dpotrf", "dpotrs", "dtrtrs", "dlaset", "dtrtri", "dlauum", "dtrmm")
# Up to STRIP rows the wrappers are called, since the lock is held so shortly that ctypes costs more, and a triangle is
# not halved further, since many small steps would make threads wait for each other.


def _addresses() -> dict[str, int] | None:
    """Where the routines lie, or None where SciPy does not say so or they do not take 32-bit integers."""
    table = {**getattr(cython_lapack, "__pyx_capi__", {}), **getattr(cython_blas, "__pyx_capi__", {})}
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = {}
    for routine in ROUTINES:
        signature = name_of(table[routine]) if routine in table else None
        if signature is None or b"int *" not in signature:
            return None
        found[routine] = pointer_of(table[routine], signature)
    return found


def _bound(address: int, arguments: int) -> Callable[..., None]:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


ADDRESSES = _addresses()
if ADDRESSES is not None:
    _POTRF = _bound(ADDRESSES["dpotrf"], 5)
    _POTRS = _bound(ADDRESSES["dpotrs"], 8)
    _TRTRS = _bound(ADDRESSES["dtrtrs"], 10)
    _LASET = _bound(ADDRESSES["dlaset"], 7)
    _TRTRI = _bound(ADDRESSES["dtrtri"], 6)
    _LAUUM = _bound(ADDRESSES["dlauum"], 5)
    _TRMM = _bound(ADDRESSES["dtrmm"], 11)
LOWER, UPPER, PLAIN = b"L", b"U", b"N"
LEFT, RIGHT = b"L", b"R"


def _by_wrapper(matrix: np.ndarray) -> bool:
    return ADDRESSES is None or matrix.shape[0] <= STRIP


def cholesky(work: np.ndarray) -> int:
    """Put the lower factor of a symmetric matrix (n, n) in column order into its place, and return LAPACK's info.

    0 means that it worked. Then there are zeros above the diagonal; else what lies there is as it was.
    """
    if _by_wrapper(work):
        lower, failed = lapack.dpotrf(work, lower=1, clean=1)
        if failed == 0:
            work[:] = lower
        return int(failed)
    size = work.shape[0]
    n, info = ctypes.byref(ctypes.c_int(size)), ctypes.c_int(0)
    _POTRF(LOWER, n, work.ctypes.data, n, ctypes.byref(info))
    if info.value == 0 and size > 1:
        rest, zero = ctypes.byref(ctypes.c_int(size - 1)), ctypes.byref(ctypes.c_double(0.0))
        _LASET(UPPER, rest, rest, zero, zero, work.ctypes.data + 8 * size, n)
    return info.value


def inverse_lower(lower: np.ndarray) -> tuple[np.ndarray, int]:
    """The lower triangle of (L L')^-1 with zeros above, for L (n, n) in column order, and LAPACK's info."""
    if _by_wrapper(lower):
        inverse, info = lapack.dpotri(lower, lower=1)
        return inverse, int(info)
    n, info = ctypes.byref(ctypes.c_int(lower.shape[0])), ctypes.c_int(0)
    work = lower.copy(order="F")
    _invert_triangle(work, 0, lower.shape[0])
    _LAUUM(LOWER, n, work.ctypes.data, n, ctypes.byref(info))
    return work, info.value


def inverse_triangle(lower: np.ndarray) -> tuple[np.ndarray, int]:
    """L^-1 for L (n, n) in column order, and LAPACK's info. Cost n^3 / 3."""
    if _by_wrapper(lower):
        inverse, info = lapack.dtrtri(lower, lower=1)
        return inverse, int(info)
    work = lower.copy(order="F")
    _invert_triangle(work, 0, lower.shape[0])
    return work, 0


def _invert_triangle(work: np.ndarray, start: int, stop: int) -> None:
    """L^-1 in its place: with L = [A 0; B C] it is [A^-1 0; -C^-1 B A^-1 C^-1].

    Products of halves take half the time of LAPACK's own way, which goes by narrow strips.
    """
    rows = ctypes.byref(ctypes.c_int(work.shape[0]))
    if stop - start <= STRIP:
        size, info = ctypes.byref(ctypes.c_int(stop - start)), ctypes.c_int(0)
        _TRTRI(LOWER, PLAIN, size, _place(work, start, start), rows, ctypes.byref(info))
        return
    middle = start + (stop - start) // 2
    _invert_triangle(work, start, middle)
    _invert_triangle(work, middle, stop)
    shape = ctypes.byref(ctypes.c_int(stop - middle)), ctypes.byref(ctypes.c_int(middle - start))
    below = _place(work, middle, start)
    for side, triangle, sign in ((RIGHT, start, 1.0), (LEFT, middle, -1.0)):
        factor = ctypes.byref(ctypes.c_double(sign))
        _TRMM(side, LOWER, PLAIN, PLAIN, *shape, factor, _place(work, triangle, triangle), rows, below, rows)


def _place(matrix: np.ndarray, row: int, column: int) -> int:
    """The address of an element of a matrix (n, n) in column order."""
    return int(matrix.ctypes.data) + 8 * (row + column * matrix.shape[0])


def solve_both(lower: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, int]:
    """(L L')^-1 b for b (n,) or (n, t), and LAPACK's info."""
    if _by_wrapper(lower):
        x, info = lapack.dpotrs(lower, b, lower=1)
        return x, int(info)
    return _solved(_POTRS, (LOWER,), lower, b)


def solve_lower(lower: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, int]:
    """L^-1 b for b (n,) or (n, t), and LAPACK's info."""
    if _by_wrapper(lower):
        x, info = lapack.dtrtrs(lower, b, lower=1)
        return x, int(info)
    return _solved(_TRTRS, (LOWER, PLAIN, PLAIN), lower, b)


def _solved(
    routine: Callable[..., None], how: tuple[bytes, ...], lower: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, int]:
    """What a routine makes of a copy of b (n,) or (n, t), and its info."""
    x, info = np.array(b, dtype=float, order="F", copy=True), ctypes.c_int(0)
    n, t = (ctypes.byref(ctypes.c_int(size)) for size in (lower.shape[0], 1 if b.ndim == 1 else b.shape[1]))
    routine(*how, n, t, lower.ctypes.data, n, x.ctypes.data, n, ctypes.byref(info))
    return x, info.value
