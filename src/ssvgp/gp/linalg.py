"""The only home of factorisations: jitter policy, log-determinant, inverse, solves.

Every covariance matrix of the package passes through `factor`. A matrix that is not numerically positive
definite is repaired by adding a growing multiple of its mean diagonal to the diagonal; what was added is kept
in `Factor.jitter`, so that a caller can report it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.gp import lapack

FIRST_JITTER = 1e-10
LAST_JITTER = 1e-2
NOT_FINITE = "the covariance matrix holds NaN or infinite values; check the scale of the inputs and the kernel"


class NotPositiveDefiniteError(ArithmeticError):
    """A covariance matrix could not be repaired by jitter."""


@dataclass(frozen=True)
class Factor:
    """Lower Cholesky factor L of a covariance matrix (n, n), with the jitter that it needed."""

    lower: np.ndarray
    jitter: float

    def log_determinant(self) -> float:
        """log |K|, from the diagonal of L."""
        return 2.0 * float(np.log(np.diagonal(self.lower)).sum())

    def solve(self, b: np.ndarray) -> np.ndarray:
        """K^-1 b for b (n,) or (n, t)."""
        x, info = lapack.solve_both(self.lower, b)
        _check(info, "solve")
        return x

    def half_solve(self, b: np.ndarray) -> np.ndarray:
        """L^-1 b, so that b' K^-1 b is the squared norm of what is returned."""
        x, info = lapack.solve_lower(self.lower, b)
        _check(info, "solve")
        return x

    def inverse(self) -> np.ndarray:
        """K^-1 as a full symmetric matrix (n, n). Cost n^3 / 1.5."""
        inverse, info = lapack.inverse_lower(self.lower)
        _check(info, "invert")
        # potri fills the lower triangle only and `factor` left zeros above it, so adding the transpose
        # completes it, with the diagonal counted twice.
        inverse = inverse + inverse.T
        inverse.flat[:: inverse.shape[0] + 1] *= 0.5
        return inverse


def factor(covariance: np.ndarray, overwrite: bool = False) -> Factor:
    """Cholesky factor of a symmetric matrix (n, n), repaired by the least jitter that works. Cost n^3 / 3.

    With `overwrite` a matrix in row order becomes the memory of its factor: one that is not needed again saves a copy.
    """
    given = overwrite and covariance.flags.c_contiguous and covariance.dtype == np.float64
    # the transpose of a symmetric matrix is itself, and lies in memory as LAPACK wants it
    lower = covariance.T if given else np.array(covariance.T, dtype=float, order="F", copy=True)
    diagonal = lower.diagonal().copy()
    info = lapack.cholesky(lower)
    # LAPACK need not notice NaN, but NaN or infinity anywhere in the matrix reaches the diagonal of L
    if info == 0 and np.isfinite(lower.diagonal()).all():
        return Factor(lower, 0.0)
    if given and info == 0:
        raise NotPositiveDefiniteError(NOT_FINITE)
    if given:  # above the diagonal it is as it was
        above = np.triu(lower, 1)
        covariance = above + above.T
        np.fill_diagonal(covariance, diagonal)
    return _repaired(covariance)


def _repaired(covariance: np.ndarray) -> Factor:
    """The factor of a matrix that has none, after a growing multiple of its mean diagonal was added."""
    if not np.isfinite(covariance).all():
        raise NotPositiveDefiniteError(NOT_FINITE)
    size = float(np.mean(np.diagonal(covariance)))
    jitter = FIRST_JITTER
    while jitter <= LAST_JITTER:
        repaired = np.array(covariance, dtype=float, order="F", copy=True)
        repaired.flat[:: covariance.shape[0] + 1] += jitter * size
        if lapack.cholesky(repaired) == 0:
            return Factor(repaired, jitter * size)
        jitter *= 10.0
    raise NotPositiveDefiniteError(
        f"a covariance matrix of {covariance.shape[0]} rows is not positive definite even with"
        f" {LAST_JITTER:g} of its mean diagonal added; the kernel is probably not a valid covariance function"
    )


def stack_of_forms(covariances: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y' K^-1 y and log |K| (g,) for a stack of covariance matrices (g, n, n). Cost g n^3 / 3.

    Small matrices are factored in one call with y as one more row, [K y; y' c]: the last row of the factor is then
    (L^-1 y)'. The stack is used up.
    """
    g, n = covariances.shape[0], y.size
    if n > lapack.SMALL:
        return _forms_one_by_one(covariances, y)
    bordered = np.empty((g, n + 1, n + 1))
    bordered[:, :n, :n] = covariances
    bordered[:, n, :n] = bordered[:, :n, n] = y
    # y' K^-1 y is at most y'y over the least eigenvalue of K; a corner that is large enough keeps all definite
    bordered[:, n, n] = 1e12 * (1.0 + float(y @ y))
    try:
        lower = np.linalg.cholesky(bordered)
    except np.linalg.LinAlgError:  # one of them needs repair
        return _forms_one_by_one(covariances, y)
    half = lower[:, n, :n]
    diagonal = np.diagonal(lower, axis1=1, axis2=2)[:, :n]
    return np.einsum("gi,gi->g", half, half), 2.0 * np.log(diagonal).sum(1)


def _forms_one_by_one(covariances: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`stack_of_forms` by a factor for each; one that cannot be repaired has an infinite square."""
    out = np.zeros((2, len(covariances)))
    for index, one in enumerate(covariances):
        try:
            chol = factor(one, overwrite=True)
        except NotPositiveDefiniteError:
            out[:, index] = np.inf, 0.0
            continue
        half = chol.half_solve(y)
        out[:, index] = half @ half, chol.log_determinant()
    return out[0], out[1]


def symmetric_square_root_inverse(hessian: np.ndarray, floor: float) -> tuple[np.ndarray, float]:
    """R with R R' = H^-1 and log |H|, for a symmetric H (q, q) whose eigenvalues are raised to `floor`.

    Used for the Laplace approximation, where a curvature below the floor means a direction that data and
    prior leave open.
    """
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    values = np.maximum(values, floor)
    return vectors / np.sqrt(values), float(np.log(values).sum())


def symmetric_square_root(covariance: np.ndarray) -> np.ndarray:
    """R = R' with R R = K (t, t) for a positive semi-definite K that may be singular.

    Unlike a Cholesky factor it needs no jitter, and depends continuously on K where K is singular.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^-1 b for a general square matrix a (q, q)."""
    return np.linalg.solve(a, b)


def _check(info: int, verb: str) -> None:
    if info != 0:
        raise NotPositiveDefiniteError(f"LAPACK could not {verb} a factored covariance (info={info})")
