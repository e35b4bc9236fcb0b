"""The only home of factorisations: jitter policy, log-determinant, inverse, solves.

Every covariance matrix of the package passes through `factor`. A matrix that is not numerically positive
definite is repaired by adding a growing multiple of its mean diagonal to the diagonal; what was added is kept
in `Factor.jitter`, so that a caller can report it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvgp.gp import lapack
from ssvgp.settings.machine import STRIP

JITTERS = (1e-10, 1e-2)  # of the mean diagonal: what is tried first, and last
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
        return _completed(inverse)

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal (n,) of K^-1, from the columns of L^-1. Cost n^3 / 3, half that of `inverse`."""
        triangle, info = lapack.inverse_triangle(self.lower)
        _check(info, "invert")
        return np.einsum("ij,ij->j", triangle, triangle)


def _completed(lower: np.ndarray) -> np.ndarray:
    """The symmetric matrix (n, n) of a lower triangle with zeros above, in its place, by blocks that fit the cache."""
    n, step = lower.shape[0], STRIP // 2
    for start in range(0, n, step):
        own = slice(start, min(start + step, n))
        block = lower[own, own]
        both = block + block.T  # with the diagonal counted twice
        both.flat[:: both.shape[0] + 1] *= 0.5
        lower[own, own] = both
        lower[own, own.stop :] = lower[own.stop :, own].T
    return lower


def completed_upper(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix (n, n) of an upper triangle, whatever lies below, in its place, by blocks in the cache."""
    n, step = upper.shape[0], STRIP // 2
    for start in range(0, n, step):
        own = slice(start, min(start + step, n))
        block = np.triu(upper[own, own])
        upper[own, own] = block + np.triu(block, 1).T
        upper[own.stop :, own] = upper[own, own.stop :].T
    return upper


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
    jitter = JITTERS[0]
    while jitter <= JITTERS[1]:
        repaired = np.array(covariance, dtype=float, order="F", copy=True)
        repaired.flat[:: covariance.shape[0] + 1] += jitter * size
        if lapack.cholesky(repaired) == 0:
            return Factor(repaired, jitter * size)
        jitter *= 10.0
    raise NotPositiveDefiniteError(
        f"a covariance matrix of {covariance.shape[0]} rows is not positive definite even with"
        f" {JITTERS[1]:g} of its mean diagonal added; the kernel is probably not a valid covariance function"
    )


def stack_of_forms(covariances: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y' K^-1 y and log |K| (g,) for a stack of covariance matrices (g, n, n). Cost g n^3 / 3.

    Only their upper triangles are read, and the stack is used up. NaN where a matrix has no factor: it is not repaired.
    """
    if y.size <= STRIP:
        return _small_forms(covariances, y)
    out = np.empty((2, len(covariances)))
    for index, one in enumerate(covariances):
        lower = one.T  # a matrix in row order is its transpose in column order
        if lapack.cholesky(lower) != 0:
            out[:, index] = np.nan
            continue
        half = lapack.solve_lower(lower, y)[0]
        out[:, index] = half @ half, 2.0 * np.log(lower.diagonal()).sum()
    return out[0], out[1]


def _small_forms(covariances: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`stack_of_forms` in one call, with y as one more row, [K y; y' c]: the last row of the factor is (L^-1 y)'."""
    g, n = len(covariances), y.size
    bordered = np.empty((g, n + 1, n + 1))
    bordered[:, :n, :n] = np.swapaxes(covariances, 1, 2)  # numpy reads lower triangles
    bordered[:, n, :n] = y
    bordered[:, n, n] = 1e12 * (1.0 + float(y @ y))  # far above y' K^-1 y, so that only K can fail
    try:
        lower = np.linalg.cholesky(bordered)
    except np.linalg.LinAlgError:
        if g == 1:
            return np.full(1, np.nan), np.full(1, np.nan)
        halves = [_small_forms(part, y) for part in (covariances[: g // 2], covariances[g // 2 :])]
        return np.concatenate([h[0] for h in halves]), np.concatenate([h[1] for h in halves])
    half = lower[:, n, :n]
    diagonal = np.diagonal(lower, axis1=1, axis2=2)[:, :n]
    return np.einsum("gi,gi->g", half, half), 2.0 * np.log(diagonal).sum(1)


def forms_of_each(systems: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y' K^-1 y and log |K| (g,) for a stack of small positive definite matrices (g, f, f), each with its own y (g, f).

    Those that are not positive definite, by rounding alone, are raised until they are. Cost g f^3 / 3.
    """
    g, f = targets.shape
    bordered = np.zeros((g, f + 1, f + 1))
    bordered[:, :f, :f], bordered[:, f, :f] = systems, targets
    size = np.trace(systems, axis1=1, axis2=2) / f
    bordered[:, f, f] = 1e12 * (1.0 + np.einsum("gi,gi->g", targets, targets) / size)
    for jitter in (0.0, *np.geomspace(*JITTERS, 9)):
        raised = bordered.copy()
        raised[:, np.arange(f), np.arange(f)] += jitter * size[:, None]
        try:
            lower = np.linalg.cholesky(raised)
        except np.linalg.LinAlgError:
            continue
        half = lower[:, f, :f]
        diagonal = np.diagonal(lower, axis1=1, axis2=2)[:, :f]
        return np.einsum("gi,gi->g", half, half), 2.0 * np.log(diagonal).sum(1)
    raise NotPositiveDefiniteError("a small system is not positive definite even with jitter")


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


def principal_axes(X: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Squared singular values (k,) of X (n, d), rising, with their right singular vectors (d, k).

    Only those with singular values above `least` times the largest; `least` must stay well above the root of the
    machine's precision, since the shorter side's cross products are what is factored. Cost n d min(n, d).
    """
    wide = X.shape[0] <= X.shape[1]
    values, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    kept = values > least**2 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    return values, X.T @ (vectors / np.sqrt(values)) if wide else vectors


def leading_directions(matrix: np.ndarray, count: int) -> np.ndarray:
    """About the leading eigenvectors (k, n) of a symmetric matrix (n, n) beside the constant, of mean square one.

    A few rounds of subspace iteration: good directions are enough. Cost n^2 k.
    """
    n = matrix.shape[0]
    count = min(count, n - 1)
    basis = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 2 * count + 1)) / n)
    for _ in range(4):
        moved = matrix @ (basis - basis.mean(0))
        basis = np.linalg.qr(moved - moved.mean(0))[0]
    _, vectors = np.linalg.eigh(basis.T @ matrix @ basis)
    return np.sqrt(n) * (basis @ vectors[:, ::-1][:, :count]).T


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^-1 b for a general square matrix a (q, q)."""
    return np.linalg.solve(a, b)


def log_determinant(a: np.ndarray) -> float:
    """log |det A| of a small matrix (q, q)."""
    return float(np.linalg.slogdet(a)[1])


def least_squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x (r,) of least |a x - b| for few columns a (n, r), of which some may repeat others."""
    return np.linalg.lstsq(a, b, rcond=1e-8)[0]


def _check(info: int, verb: str) -> None:
    if info != 0:
        raise NotPositiveDefiniteError(f"LAPACK could not {verb} a factored covariance (info={info})")


def forms_along(forms: np.ndarray, pulls: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """g' C^-1 g (q,) for matrices C (q, s, s) and vectors g (q, s), along the directions that C has, and their number.

    C is scaled to a unit diagonal; eigenvectors whose eigenvalue is at most `least` are left out: along them the parts
    are alike.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(forms, axis1=1, axis2=2), 1e-30))
    values, vectors = np.linalg.eigh(forms / (sizes[:, :, None] * sizes[:, None, :]))
    along = np.einsum("qst,qs->qt", vectors, pulls / sizes)
    kept = values > least
    return np.where(kept, along**2 / np.where(kept, values, 1.0), 0.0).sum(1), kept.sum(1)
