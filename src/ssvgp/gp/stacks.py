"""log p(y) of the same rows at many parameters: kernel matrices in stacks that fit the cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssvgp.gp.kernels.families import Kernel, upper_at_each
from ssvgp.gp.linalg import NotPositiveDefiniteError, completed_upper, stack_of_forms
from ssvgp.gp.marginal import LOG_2PI, covariance, log_likelihood, of_process
from ssvgp.gp.sites import Settled, Worth, as_settled
from ssvgp.records import Likelihood, Parameters, Settling, Sites, has_sites, row_noise
from ssvgp.settings.machine import CACHED


def stack_size(n: int) -> int:
    """How many covariance matrices of n rows make a stack."""
    return max(1, CACHED // n**2)


def stack_values(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    each: list[Parameters],
    gram: np.ndarray | None,
    noise: Likelihood | None = None,
    start: np.ndarray | None = None,
    worth: Worth = as_settled,
) -> np.ndarray:
    """log p(y | theta, phi) (g,) at each of the parameters, for the same rows (n, p)."""
    stack = upper_at_each(kernel, rows, np.array([one.theta for one in each]))
    values = log_likelihoods(stack, y, each, gram, noise, start, worth)
    for index in np.flatnonzero(np.isnan(values)):  # needs repair, and with it the whole matrix
        try:
            values[index] = log_likelihood(kernel, rows, y, each[index], gram, 0.0, noise, start, worth)
        except NotPositiveDefiniteError:
            values[index] = -np.inf
    return values


def log_likelihoods(
    sparse: np.ndarray,
    y: np.ndarray,
    each: Sequence[Parameters],
    gram: np.ndarray | None = None,
    rows_noise: Likelihood | None = None,
    start: np.ndarray | None = None,
    worth: Worth = as_settled,
) -> np.ndarray:
    """log p(y | theta, phi) (g,) for a stack of sparse kernel matrices (g, n, n) with their parameters.

    Only upper triangles are read, and the stack is used up. NaN where a matrix would need repair. Many matrices to a
    call leave threads little to wait for each other. Cost g n^3 / 3.
    """
    if has_sites(rows_noise):
        return np.array([_at_sites(rows_noise, *one, y, gram, start, worth) for one in zip(sparse, each, strict=True)])
    for matrix, parameters in zip(sparse, each, strict=True):
        covariance(matrix, parameters, gram, out=matrix, rows_noise=rows_noise)
    squares, log_determinants = stack_of_forms(sparse, y)
    values: np.ndarray = -0.5 * (squares + log_determinants + y.size * LOG_2PI)
    own = row_noise(rows_noise)
    if own is not None:
        values += np.array([own.at(parameters.noise).log_terms for parameters in each])
    return values


def _at_sites(
    sites: Sites,
    upper: np.ndarray,
    parameters: Parameters,
    y: np.ndarray,
    gram: np.ndarray | None,
    start: np.ndarray | None,
    worth: Worth,
) -> float:
    """log p of one of a stack, whose kernel matrix has its upper triangle only; NaN where it would need repair."""
    whole = completed_upper(upper)
    try:
        found: Settled = sites.settle(of_process(whole, parameters, gram, whole), y, parameters, start, Settling.VALUE)
    except NotPositiveDefiniteError:
        return float("nan")
    return worth(sites, y, parameters, found)
