"""Average information: the curvature of log p in all parameters, from what its gradient has at hand.

With alpha = Kt^-1 y and the vectors t_i = (d Kt / d z_i) alpha, the mean of the observed and of the expected
information is 1/2 t_i' Kt^-1 t_j (Gilmour, Thompson and Cullis 1995): no trace is left, and all of it costs n^2 for
each parameter beside the n^3 of the gradient. It is never negative, and near the mode it is the Hessian but for chance.

Far from the mode y' Kt^-1 y is not n but s^2 n, and it is too large by s^2, where the expected information is as it
was. For noise that is wrong by a factor s^2 the step log s^2 that is wanted lies between theirs, 1 - s^-2 and s^2 - 1;
their geometric mean, the average information divided by s, makes it s - 1/s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssvgp.gp.kernels.families import Kernel, along
from ssvgp.gp.marginal import Gradient, Information, Moved, State, gradient_at, state
from ssvgp.records import Likelihood, Parameters, Settling, row_noise

SLOTS = ("scale", "noise", "background")  # behind the inverse lengthscales


def informed(
    kernel: Kernel,
    rows: np.ndarray,
    y: np.ndarray,
    parameters: Parameters,
    gram: np.ndarray | None = None,
    jitter: float = 0.0,
    rows_noise: Likelihood | None = None,
    start: np.ndarray | None = None,
) -> Gradient:
    """`gradient` with the information of the rows, where its kernel can tell. Cost n^2 p more."""
    at = state(kernel, rows, y, parameters, gram, jitter, rows_noise=rows_noise, start=start, to=Settling.STEP)
    moved = moved_at(at, parameters, gram)
    known = None if moved is None else information_at(at, y, parameters, moved, jitter, rows_noise)
    return gradient_at(at, parameters, gram, jitter, rows_noise, moved, known)


def moved_at(at: State, parameters: Parameters, gram: np.ndarray | None = None) -> Moved | None:
    """What the parts of the covariance make of alpha; None where the kernel cannot tell.

    Nor is it told where sites have noise of their own to learn: they give way to every step, and what is curved at
    fixed sites is flatter than that (heavy tails took 1.4 times as long by it).
    """
    if at.settled is not None and "noise" in at.settled.slopes:
        return None
    theta = along(at.kernel, at.alpha)
    if theta is None:
        return None
    beside = parameters.background and gram is not None
    return Moved(theta, at.kernel.matrix @ at.alpha, gram @ at.alpha if beside else np.zeros(at.alpha.size))


def information_at(
    at: State,
    y: np.ndarray,
    parameters: Parameters,
    moved: Moved,
    jitter: float = 0.0,
    rows_noise: Likelihood | None = None,
) -> Information:
    """Of a process that has been factored, by what its parts make of alpha."""
    noise: np.ndarray | float = 0.0
    if at.settled is None:
        own = row_noise(rows_noise)
        noise = parameters.noise if own is None else own.at(parameters.noise, jitter).slope
    p = moved.theta.shape[1]
    t = np.empty((y.size, p + len(SLOTS)))
    np.multiply(moved.theta, parameters.scale, out=t[:, :p])
    t[:, p:] = np.stack([parameters.scale * moved.scale, noise * at.alpha, parameters.background * moved.background], 1)
    target = y if at.settled is None else at.settled.target
    count = float(y.size) if rows_noise is None else float(rows_noise.weights.sum())
    return Information(0.5 * t.T @ (at.precision @ t), float(target @ at.alpha), count)


def curvature(each: Sequence[Information]) -> np.ndarray:
    """The curvature (p + 3, p + 3) of all blocks together, between their average and their expected information."""
    misfit = sum(one.square for one in each) / sum(one.rows for one in each)
    total: np.ndarray = np.sum([one.forms for one in each], axis=0)
    return total / np.sqrt(max(misfit, 1e-6))
