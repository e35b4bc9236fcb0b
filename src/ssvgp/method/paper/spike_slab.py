"""The spike-and-slab prior of section 3.1, the exact updates of q(gamma) and q(pi), their part of the ELBO.

Nothing here sees the data: the inverse lengthscales enter through their second moments <theta_j^2> alone,
which is mu_j^2 at zero temperature and mu_j^2 + sigma_j^2 for a mean-field Gaussian. Probabilities of
inclusion are formed from logits, because with c = 1e-8 and v up to 1e7 the exponentials of eq. 6 overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, expit, xlogy

from ssvgp.gp.marginal import LOG_2PI


@dataclass(frozen=True)
class SpikeSlab:
    """theta_j | gamma_j is N(0, 1/(c v)) in the slab and N(0, 1/v) in the spike; pi is Beta(a, b)."""

    v: float
    c: float = 1e-8
    a: float = 1e-3
    b: float = 1e-3

    def __post_init__(self) -> None:
        if not (self.v > 0 and 0 < self.c < 1 and self.a > 0 and self.b > 0):
            raise ValueError(f"a spike-and-slab prior needs v, a, b > 0 and 0 < c < 1, got {self}")


@dataclass(frozen=True)
class Beliefs:
    """q(gamma) and q(pi): inclusion probabilities lambda (d,) and Beta parameters xi = (xi_a, xi_b)."""

    inclusion: np.ndarray
    xi: tuple[float, float]


def initial_beliefs(d: int) -> Beliefs:
    """lambda = 1, xi = 1 (B.1): a smaller lambda would shrink relevant inputs before they are learned."""
    return Beliefs(np.ones(d), (1.0, 1.0))


def exclusion_log_odds(xi: tuple[float, float]) -> float:
    """<log (1 - pi) / pi> under q(pi) = Beta(xi) (A.2.2)."""
    return float(digamma(xi[1]) - digamma(xi[0]))


def inclusion_logits(prior: SpikeSlab, second_moment: np.ndarray, log_odds: float) -> np.ndarray:
    """logit lambda_j (d,) of eq. 6 from <theta_j^2> (d,) and <log (1 - pi) / pi>."""
    return 0.5 * np.log(prior.c) + 0.5 * prior.v * (1.0 - prior.c) * second_moment - log_odds


def update_inclusion(prior: SpikeSlab, second_moment: np.ndarray, xi: tuple[float, float]) -> np.ndarray:
    """The lambda (d,) that maximises the ELBO given q(theta) and q(pi), eq. 6."""
    return expit(inclusion_logits(prior, second_moment, exclusion_log_odds(xi)))


def update_pi(prior: SpikeSlab, inclusion: np.ndarray) -> tuple[float, float]:
    """The xi that maximises the ELBO given lambda (d,), eq. 7."""
    included = float(inclusion.sum())
    # d - sum(lambda) as a sum of 1 - lambda: no cancellation where nearly all inputs are in
    return prior.a + included, prior.b + float((1.0 - inclusion).sum())


def penalty(prior: SpikeSlab, inclusion: np.ndarray) -> np.ndarray:
    """The precision v (lambda_j c + 1 - lambda_j) (d,) with which q(gamma) pulls theta_j to zero (A.2.1)."""
    return prior.v * (inclusion * prior.c + (1.0 - inclusion))


def intersection_squared(prior: SpikeSlab, log_odds: float) -> float:
    """<theta^2> at which eq. 6 gives 1/2; negative where every theta is more likely in than out (eq. 14)."""
    return (-np.log(prior.c) + 2.0 * log_odds) / (prior.v * (1.0 - prior.c))


def intersection(prior: SpikeSlab, xi: tuple[float, float]) -> float:
    """The posterior point of intersection under q(pi) = Beta(xi), eq. 14; 0 where there is none."""
    return float(np.sqrt(max(intersection_squared(prior, exclusion_log_odds(xi)), 0.0)))


def intersection_at(prior: SpikeSlab, pi: float) -> float:
    """The posterior point of intersection for a fixed pi, eq. 14; 0 where there is none."""
    return float(np.sqrt(max(intersection_squared(prior, float(np.log1p(-pi) - np.log(pi))), 0.0)))


def inclusion_cost(prior: SpikeSlab) -> float:
    """What the ELBO charges for moving one lambda from 0 to 1 whatever the data say: 1/2 log(1/c) (A.6)."""
    return -0.5 * float(np.log(prior.c))


@dataclass(frozen=True)
class ElboTerms:
    """The ELBO without the expected log likelihood and the entropy of q(theta), term by term."""

    theta: float  # <log p(theta | gamma)>
    gamma: float  # <log p(gamma | pi)>
    pi: float  # <log p(pi)>
    gamma_entropy: float
    pi_entropy: float

    @property
    def total(self) -> float:
        return self.theta + self.gamma + self.pi + self.gamma_entropy + self.pi_entropy


def elbo_terms(prior: SpikeSlab, second_moment: np.ndarray, beliefs: Beliefs) -> ElboTerms:
    """-KL[q(theta) q(gamma) q(pi) || p(theta, gamma, pi)] but for the entropy of q(theta) (eq. 5, A.6)."""
    lam, (xi_a, xi_b) = beliefs.inclusion, beliefs.xi
    log_pi = float(digamma(xi_a) - digamma(xi_a + xi_b))
    log_not_pi = float(digamma(xi_b) - digamma(xi_a + xi_b))
    included, excluded = float(lam.sum()), float((1.0 - lam).sum())
    constant = 0.5 * lam.size * (np.log(prior.v) - LOG_2PI)
    theta = constant - inclusion_cost(prior) * included - 0.5 * float(penalty(prior, lam) @ second_moment)
    return ElboTerms(
        theta=float(theta),
        gamma=included * log_pi + excluded * log_not_pi,
        pi=(prior.a - 1.0) * log_pi + (prior.b - 1.0) * log_not_pi - float(betaln(prior.a, prior.b)),
        gamma_entropy=-float((xlogy(lam, lam) + xlogy(1.0 - lam, 1.0 - lam)).sum()),
        pi_entropy=float(betaln(xi_a, xi_b)) - (xi_a - 1.0) * log_pi - (xi_b - 1.0) * log_not_pi,
    )


def gaussian_entropy(log_sd: np.ndarray) -> float:
    """Entropy of a mean-field Gaussian q(theta) with log standard deviations (p,)."""
    return float(log_sd.sum()) + 0.5 * log_sd.size * (1.0 + LOG_2PI)
