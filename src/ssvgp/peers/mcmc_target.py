"""The posterior that the chains of `mcmc` walk on: sets of inputs with a Dirac spike, and the parameters of each.

The covariance of y is scale exp(-1/2 sum_j theta_j^2 (x_j - x_j')^2) + mean + noise I, and the priors are those of
`evidence.laplace`, so that inclusion frequencies and our probabilities are estimates of the same numbers. The empty set
has no sparse part; its log scale is kept all the same, with nothing but its prior to say where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaln

from ssvgp.gp.linalg import NotPositiveDefiniteError, factor
from ssvgp.gp.marginal import LOG_2PI
from ssvgp.settings import Prior

HALF_LOG_2_OVER_PI = 0.5 * math.log(2.0 / math.pi)
SHARPNESS = 2  # power of the scores of inputs: tenfold the score is proposed a hundred times as often
DEGREE = 3  # of the powers that inputs are proposed by


@dataclass(slots=True)
class State:
    """One point of the chain: the set (in order of entry), theta (k,) of it, log scale, log noise, and what follows.

    `distance` (n, n) is r^2 in the scaled inputs, `sparse` is exp(-r^2 / 2), `alpha` (n,) is Kt^-1 y. A state is never
    changed once made; `scores` are filled in when they are first asked for.
    """

    active: tuple[int, ...]
    theta: tuple[float, ...]
    log_scale: float
    log_noise: float
    distance: np.ndarray
    sparse: np.ndarray
    alpha: np.ndarray
    log_likelihood: float
    scores: np.ndarray | None = None


@dataclass(frozen=True)
class Target:
    """Standardised data, the prior (its `b` filled in) and the power of the likelihood: at 0 the prior is left.

    `informed` is the share of proposed inputs that are drawn by their scores, the rest are drawn uniformly.
    """

    X: np.ndarray
    y: np.ndarray
    prior: Prior
    informed: float = 0.5
    power: float = 1.0
    columns: np.ndarray = field(init=False, repr=False)  # (d, n): an input is contiguous
    forms: np.ndarray = field(init=False, repr=False)  # (3 d, n): orthonormal x, x^2, x^3 of each input
    set_prior: tuple[float, ...] = field(init=False, repr=False)  # log prior of a set of each size 0..d

    def __post_init__(self) -> None:
        d = self.X.shape[1]
        forms = powers(self.X) if self.informed else np.zeros((0, *self.X.shape))
        a, b, k = self.prior.a, self.prior.b, np.arange(d + 1)
        object.__setattr__(self, "columns", np.ascontiguousarray(self.X.T))
        object.__setattr__(self, "forms", np.ascontiguousarray(forms.transpose(0, 2, 1)).reshape(-1, self.X.shape[0]))
        object.__setattr__(self, "set_prior", tuple((betaln(a + k, b + d - k) - betaln(a, b)).tolist()))

    @property
    def d(self) -> int:
        return self.columns.shape[0]


def log_slab(size: int, square: float, prior: Prior) -> float:
    """log density of theta (k,) in the slab, averaged over its scales, from k and |theta|^2; see `priors.log_slab`.

    In plain floats: four scales are too few for an array to pay.
    """
    each = [size * (HALF_LOG_2_OVER_PI - math.log(s)) - 0.5 * square / (s * s) for s in prior.slabs]
    top = max(each)
    return top + math.log(sum(math.exp(value - top) for value in each) / len(each))


def draw_theta(theta: Sequence[float], prior: Prior, rng: np.random.Generator) -> float:
    """theta of one more input from its prior given those of the set: first the common scale, then a half-normal."""
    square = sum(t * t for t in theta)
    each = [-len(theta) * math.log(s) - 0.5 * square / (s * s) for s in prior.slabs]
    top = max(each)
    shares = [math.exp(value - top) for value in each]
    rest = rng.random() * sum(shares)
    for scale, share in zip(prior.slabs, shares, strict=True):  # noqa: B007
        rest -= share
        if rest < 0.0:
            break
    return max(scale * abs(float(rng.standard_normal())), 1e-300)


def log_prior(state: State, target: Target) -> float:
    """log prior of the set, of log theta (with its Jacobian), log scale and log noise."""
    prior, theta = target.prior, state.theta
    value = target.set_prior[len(theta)] + log_slab(len(theta), sum(t * t for t in theta), prior)
    value += sum(math.log(t) for t in theta)
    for at, (mean, sd) in ((state.log_scale, prior.log_scale), (state.log_noise, prior.log_noise)):
        value -= 0.5 * ((at - mean) / sd) ** 2 + math.log(sd) + 0.5 * LOG_2PI
    return value


def log_posterior(state: State, target: Target) -> float:
    """log p(y, S, log theta, log scale, log noise)."""
    return target.power * state.log_likelihood + log_prior(state, target)


def squared_differences(target: Target, j: int) -> np.ndarray:
    """(x_j - x_j')^2 of all pairs of rows (n, n)."""
    column = target.columns[j]
    out = np.subtract.outer(column, column)
    out *= out
    return out


def state_at(
    target: Target, active: Sequence[int], theta: Sequence[float], log_scale: float, log_noise: float
) -> State:
    """The state with everything computed from nothing. Cost k n^2 + n^3 / 3."""
    distance = np.zeros((target.y.size, target.y.size))
    for j, t in zip(active, theta, strict=True):
        distance += t * t * squared_differences(target, j)
    return at_distance(target, tuple(active), tuple(theta), log_scale, log_noise, distance)


def at_distance(
    target: Target,
    active: tuple[int, ...],
    theta: tuple[float, ...],
    log_scale: float,
    log_noise: float,
    distance: np.ndarray,
) -> State:
    """The state whose r^2 (n, n) is known already: one exponential and one factor. Cost n^3 / 3."""
    sparse = np.multiply(distance, -0.5)
    np.exp(sparse, out=sparse)
    return at_kernel(target, active, theta, log_scale, log_noise, distance, sparse)


def at_kernel(
    target: Target,
    active: tuple[int, ...],
    theta: tuple[float, ...],
    log_scale: float,
    log_noise: float,
    distance: np.ndarray,
    sparse: np.ndarray,
) -> State:
    """The state whose exp(-r^2 / 2) (n, n) is known already: log p is minus infinity where Kt has no factor."""
    y = target.y
    if target.power == 0.0:
        return State(active, theta, log_scale, log_noise, distance, sparse, np.zeros(y.size), 0.0)
    kt = sparse * (math.exp(log_scale) if active else 0.0)
    kt += target.prior.level
    kt.flat[:: y.size + 1] += math.exp(log_noise)
    try:
        chol = factor(kt, overwrite=True)
    except NotPositiveDefiniteError:
        return State(active, theta, log_scale, log_noise, distance, sparse, np.zeros(y.size), -math.inf)
    alpha = chol.solve(y)
    value = -0.5 * (float(y @ alpha) + chol.log_determinant() + y.size * LOG_2PI)
    return State(active, theta, log_scale, log_noise, distance, sparse, alpha, value)


def input_scores(state: State, target: Target) -> np.ndarray:
    """How promising each excluded input (d,) is at this state: its share of all scores; included ones have 0.

    The score of an input is the square of sum_b (phi_b' alpha)^2 over its three shapes (`powers`): what
    the residual of the state holds of it. Being a function of the state alone, it may steer proposals. Cost 3 n d.
    """
    if state.scores is None:
        found = target.forms @ state.alpha
        found *= found
        found = found.reshape(-1, target.d).sum(0) ** SHARPNESS
        found[list(state.active)] = 0.0
        total = float(found.sum())
        # no residual at all (the likelihood is switched off, or y is constant): all excluded inputs are alike
        state.scores = found / total if total > 0.0 else _alike(state, target.d)
    return state.scores


def _alike(state: State, d: int) -> np.ndarray:
    out = np.full(d, 1.0 / max(d - len(state.active), 1))
    out[list(state.active)] = 0.0
    return out


def log_chance_of(j: int, state: State, target: Target) -> float:
    """log probability that an excluded input j is the one proposed for addition at this state."""
    chance = (1.0 - target.informed) / (target.d - len(state.active))
    if target.informed:
        chance += target.informed * float(input_scores(state, target)[j])
    return math.log(chance) if chance > 0.0 else -math.inf


def draw_excluded(state: State, target: Target, rng: np.random.Generator) -> int:
    """An excluded input, with the probabilities of `log_chance_of`."""
    if rng.random() < target.informed:
        cumulative = np.cumsum(input_scores(state, target))
        j = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        if j < target.d and j not in state.active:
            return j
    return draw_uniform(state, target, rng)


def draw_uniform(state: State, target: Target, rng: np.random.Generator) -> int:
    """An excluded input, each equally likely."""
    if 2 * len(state.active) > target.d:
        left = [j for j in range(target.d) if j not in state.active]
        return left[int(rng.integers(len(left)))]
    while True:
        j = int(rng.integers(target.d))
        if j not in state.active:
            return j


def powers(columns: np.ndarray) -> np.ndarray:
    """x, x^2, x^3 of each column (n, q), orthonormal to the constant and to each other: (3, n, q).

    A shape that the column cannot carry (x^2 of a binary input) is left zero.
    """
    n = columns.shape[0]
    out = np.zeros((DEGREE, *columns.shape))
    power = np.ones_like(columns)
    for b in range(DEGREE):
        power = power * columns
        rest = power - power.mean(0)
        before = np.sqrt((rest**2).sum(0)) + 1e-300
        for earlier in out[:b]:
            rest = rest - earlier * (earlier * rest).sum(0)
        norm = np.sqrt((rest**2).sum(0))
        kept = norm > 1e-4 * np.maximum(before, 1e-8 * np.sqrt(n))
        out[b] = np.where(kept, rest / np.where(kept, norm, 1.0), 0.0)
    return out
