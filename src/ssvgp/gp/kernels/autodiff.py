"""Any differentiable kernel that a user writes as a function of (x, x', theta), through JAX or PyTorch.

The library is asked for two things only: the kernel matrix, and its vector-Jacobian product in theta.
Factorisations and everything above them stay in NumPy, in double precision, whatever the library's own
default is. Like every kernel of the package, the function must leave out an input whose theta_j is zero.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ssvgp.gp.batches import BATCH_BYTES
from ssvgp.run.optional import require
from ssvgp.settings.machine import HELD

KERNEL = "this kernel"
STEPS = (1e-6, 1e-2)  # smallest and largest of a difference


class _Programs(NamedTuple):
    """What a library makes of a function, arrays in and out.

    value(left, right, theta), product(left, right, theta, weights), diagonal(rows, theta).
    """

    value: Callable[..., np.ndarray]
    product: Callable[..., np.ndarray]
    diagonal: Callable[..., np.ndarray]


def _over_pairs(function: Callable[..., Any], vmap: Callable[..., Any]) -> Callable[..., Any]:
    """k(x, x', theta) of two points as the matrix of all pairs of rows."""
    return vmap(vmap(function, (None, 0, None)), (0, None, None))


def _over_rows(function: Callable[..., Any], vmap: Callable[..., Any], whole: bool) -> Callable[..., Any]:
    """k(x, x, theta) of every row."""

    def at(x: Any, theta: Any) -> Any:
        return function(x[None], x[None], theta)[0, 0] if whole else function(x, x, theta)

    return vmap(at, (0, None))


# --- the two libraries -----------------------------------------------------------------------------------


def _double_precision(jax: Any) -> AbstractContextManager[Any]:
    """JAX in 64 bits for the length of a block, which leaves the user's own setting as it was."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return importlib.import_module("jax.experimental").enable_x64()


def _jax_programs(function: Callable[..., Any], whole: bool) -> _Programs:
    jax = require("jax", KERNEL)
    pairs = function if whole else _over_pairs(function, jax.vmap)

    def pull(left: Any, right: Any, theta: Any, weights: Any) -> Any:
        return jax.vjp(lambda at: pairs(left, right, at), theta)[1](weights)[0]

    def in_numpy(program: Callable[..., Any]) -> Callable[..., np.ndarray]:
        compiled = jax.jit(program)

        def call(*arrays: np.ndarray) -> np.ndarray:
            with _double_precision(jax):
                return np.asarray(compiled(*arrays))

        return call

    return _Programs(in_numpy(pairs), in_numpy(pull), in_numpy(_over_rows(function, jax.vmap, whole)))


def _torch_programs(function: Callable[..., Any], whole: bool) -> _Programs:
    torch = require("torch", KERNEL)
    pairs = function if whole else _over_pairs(function, torch.func.vmap)
    diagonal = _over_rows(function, torch.func.vmap, whole)

    def tensors(*arrays: np.ndarray) -> list[Any]:
        return [torch.from_numpy(np.array(array, dtype=np.float64)) for array in arrays]

    def in_numpy(program: Callable[..., Any]) -> Callable[..., np.ndarray]:
        def call(*arrays: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                return program(*tensors(*arrays)).numpy()

        return call

    def pull(left: np.ndarray, right: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        a, b, at, w = tensors(left, right, theta, weights)
        value = pairs(a, b, at.requires_grad_())
        if not value.requires_grad:  # a kernel that ignores theta has no graph to walk back
            return np.zeros_like(theta)
        (slope,) = torch.autograd.grad(value, at, w, materialize_grads=True)
        return slope.numpy()

    return _Programs(in_numpy(pairs), pull, in_numpy(diagonal))


_MAKERS: dict[str, Callable[[Callable[..., Any], bool], _Programs]] = {
    "jax": _jax_programs,
    "torch": _torch_programs,
}


# --- the kernel --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AutodiffKernel:
    """A user's function as a kernel; made by `autodiff_kernel`, which says what the fields mean."""

    function: Callable[..., Any]
    library: str
    name: str
    even: bool
    takes_matrices: bool
    local: bool

    @functools.cached_property
    def _programs(self) -> _Programs:
        return _MAKERS[self.library](self._of_theta, self.takes_matrices)

    def __getstate__(self) -> dict[str, Any]:
        # compiled programs do not pickle, and are made again at first use
        return {name: value for name, value in self.__dict__.items() if name != "_programs"}

    def _of_theta(self, left: Any, right: Any, theta: Any) -> Any:
        """The function, of theta^2 where it is not even itself: the prior then lies on sqrt(theta) (A.1)."""
        return self.function(left, right, theta if self.even else theta * theta)

    def _width(self, p: int) -> int:
        """Inputs shown to the function: at least one; for JAX a power of two, so that it compiles seldom."""
        return 1 << max(p - 1, 0).bit_length() if self.library == "jax" else max(p, 1)

    def _widened(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Each array with zeros appended to its last axis; zero in theta too, so that they change nothing."""
        extra = self._width(arrays[0].shape[-1]) - arrays[0].shape[-1]
        return [np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, extra)]) for array in arrays]

    def _chunks(self, left: int, right: int, p: int) -> Iterator[slice]:
        """Slices of the left rows that keep a function of two points within bounded memory."""
        rows = left if self.takes_matrices else max(1, BATCH_BYTES // (8 * max(right, 1) * p))
        return (slice(start, start + rows) for start in range(0, left, max(rows, 1)))

    def matrix(self, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """C (a, b) between the rows of left (a, p) and right (b, p)."""
        shape = (left.shape[0], right.shape[0])
        if 0 in shape:
            return np.zeros(shape)
        theta, left, right = self._widened(theta, left, right)
        value = self._programs.value
        chunks = self._chunks(*shape, theta.shape[0])
        parts = [self._checked(value(left[at], right, theta), left[at], right) for at in chunks]
        return np.concatenate(parts)

    def diagonal(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """k(x, x) for each row (a,)."""
        if rows.shape[0] == 0:
            return np.zeros(0)
        theta, rows = self._widened(theta, rows)
        return np.array(self._checked(self._programs.diagonal(rows, theta), rows))

    def evaluate(self, rows: np.ndarray, theta: np.ndarray, floor: float = 0.0) -> _AutodiffEvaluation:
        """C (n, n) with derivatives; `floor` is the theta_j^2 at which `slopes` are read if not 0."""
        matrix = self.matrix(rows, rows, theta)
        gap, size = (float(np.abs(m).max(initial=0.0)) for m in (matrix - matrix.T, matrix))
        if gap > 1e-8 * size:
            raise ValueError(
                f"kernel {self.name!r} is not symmetric: k(x, x') and k(x', x) differ by up to {gap:.3g};"
                " a covariance function must give the same number for both orders"
            )
        return _AutodiffEvaluation(0.5 * (matrix + matrix.T), self, rows, theta, floor)

    def pull(self, rows: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """d <weights, C> / d theta (p,), summed over chunks of rows."""
        total = np.zeros(theta.shape[0])
        wide, all_rows = self._widened(theta, rows)
        for at in self._chunks(rows.shape[0], rows.shape[0], wide.shape[0]):
            total += self._programs.product(all_rows[at], all_rows, wide, weights[at])[: theta.shape[0]]
        if not np.isfinite(total).all():
            raise ValueError(
                f"the gradient of kernel {self.name!r} in theta holds NaN or infinite values; often a square"
                " root is taken of a distance of exactly 0: add a small constant under it"
            )
        return total

    def _checked(self, value: np.ndarray, *rows: np.ndarray) -> np.ndarray:
        """The library's answer, if it has the right shape and precision and is finite."""
        shape = tuple(side.shape[0] for side in rows)
        if value.shape != shape:
            wanted = "(a, b) from (a, p) and (b, p)" if self.takes_matrices else "a scalar from two points"
            raise ValueError(
                f"kernel {self.name!r} must return {wanted}; over all rows that is {shape}, but the shape was"
                f" {value.shape}"
            )
        if value.dtype != np.float64:
            raise ValueError(
                f"kernel {self.name!r} returned {value.dtype} for arguments in float64; do not cast inside it"
            )
        if not np.isfinite(value).all():
            raise ValueError(f"kernel {self.name!r} returned NaN or infinite values for finite arguments")
        return value


@dataclass(frozen=True)
class _AutodiffEvaluation:
    """C (n, n) of a user's kernel at one theta; derivatives are asked of the library when needed."""

    matrix: np.ndarray
    kernel: AutodiffKernel
    rows: np.ndarray
    theta: np.ndarray
    floor: float

    def pullback(self, weights: np.ndarray) -> np.ndarray:
        """d <weights, C> / d theta (p,)."""
        return self.kernel.pull(self.rows, self.theta, weights)

    def slopes(self, weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """d <weights, C> / d theta_j^2 at theta_j = 0 (q,) for columns (n, q).

        Read nearby as (d <weights, C> / d theta_j) / (2 theta_j). The error is of the order of the step
        squared, because the kernel is even in theta_j.
        """
        p, q = self.theta.shape[0], columns.shape[1]
        step = min(max(np.sqrt(self.floor), STEPS[0]), STEPS[1])
        out = np.empty(q)
        together = max(1, HELD // self.matrix.size)  # a library may make them all, times all pairs of rows, at once
        for start in range(0, q, together):
            some = columns[:, start : start + together]
            rows = np.concatenate([self.rows, some], axis=1)
            theta = np.concatenate([self.theta, np.full(some.shape[1], step)])
            out[start : start + together] = self.kernel.pull(rows, theta, weights)[p:] / (2.0 * step)
        return out


def autodiff_kernel(
    function: Callable[..., Any],
    library: str = "jax",
    name: str = "",
    even: bool = True,
    matrix: bool = False,
    local: bool = False,
) -> AutodiffKernel:
    """A kernel object from a function k(x, x', theta) written in JAX or PyTorch.

    The function takes two points (p,) and theta (p,) and returns a scalar; with `matrix` it takes (a, p) and
    (b, p) and returns (a, b). `even` says that k(., ., -theta) = k(., ., theta); where that is false the
    function is given theta^2, as appendix A.1 asks. `local` says that k falls with ||theta * (x - x')||. The
    kernel pickles where the function does.
    """
    if not callable(function):
        raise TypeError(f"a kernel is a function of (x, x', theta); got {type(function).__name__}")
    if library not in _MAKERS:
        raise ValueError(f"unknown library {library!r}; kernels are written in one of: {', '.join(_MAKERS)}")
    require(library, KERNEL)
    label = name or getattr(function, "__name__", type(function).__name__)
    return AutodiffKernel(function, library, label, even, matrix, local)
