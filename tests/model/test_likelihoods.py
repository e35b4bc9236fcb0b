"""Rows that count unequally or have noise of their own: weights are repeated rows, by every way a fit takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.evidence import loo
from ssvgp.evidence.laplace import Block, Problem, fit, log_joint, log_joint_value, log_joint_values
from ssvgp.gp.condense import condense
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.local import local_of, predict_local
from ssvgp.gp.marginal import gradient, log_likelihood
from ssvgp.gp.predict import posterior, predict_posterior, predict_truncated
from ssvgp.gp.terms import Linear
from ssvgp.model.likelihoods import GaussianNoise, Rows, from_plain, likelihood_named, register
from ssvgp.model.priors import Candidate
from ssvgp.records import Member, Parameters, Train
from ssvgp.settings import Prior
from tests.reference import central_difference

N, D = 24, 4
RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((N, D)), RNG.standard_normal(N)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
KNOWN = RNG.uniform(0.0, 0.5, N)
NOISES = {
    "weights": GaussianNoise(WEIGHTS, np.zeros(N)),
    "known": GaussianNoise(np.ones(N), KNOWN),
    "both": GaussianNoise(WEIGHTS, KNOWN),
}
REPEATED = np.repeat(np.arange(N), WEIGHTS.astype(int))
AT = Parameters(np.array([0.6, 0.9]), scale=1.3, noise=0.2, background=0.4, mean=0.7)
MEMBER = Member(np.array([0, 2]), AT, kernel_named("se"), np.ones(2), Linear("linear"))
SPARSE = replace(MEMBER, parameters=replace(AT, background=0.0), background=None)
every_noise = pytest.mark.parametrize("name", NOISES)


def tables(name: str) -> tuple[Train, Train]:
    """The rows with their noise, and the same with every copy written out."""
    noise = NOISES[name]
    copies = np.repeat(np.arange(N), noise.weights.astype(int))
    written = GaussianNoise(np.ones(copies.size), noise.known[copies])
    return Train(X, Y, noise), Train(X[copies], Y[copies], written)


def problem_of(train: Train) -> Problem:
    terms = (Linear("linear"),)
    block = Block.of(train.X, train.y, terms, train.noise)
    return Problem((block,), kernel_named("se"), Prior().for_data(train.count, D), terms)


# --- evidence -----------------------------------------------------------------------------------------------


@every_noise
@pytest.mark.parametrize("candidate", [Candidate(()), Candidate((0, 2)), Candidate((0, 2), "linear")])
def test_a_row_that_counts_twice_is_the_row_twice(name: str, candidate: Candidate) -> None:
    one, other = (problem_of(train) for train in tables(name))
    z = np.linspace(-1.0, 0.3, len(candidate.coordinates))
    value, slope = log_joint(one, candidate)(z)
    expected, steep = log_joint(other, candidate)(z)
    assert value == pytest.approx(expected, abs=1e-9) and slope == pytest.approx(steep, abs=1e-8)
    assert log_joint_value(one, candidate, z) == pytest.approx(expected, abs=1e-9)
    assert log_joint_values(one, candidate, np.stack([z, z + 0.1]))[0] == pytest.approx(expected, abs=1e-9)
    assert one.prior == other.prior
    if name == "weights":  # copies that agree leave no noise, and the written-out matrix is singular nearly
        return
    first, second = fit(one, candidate, z), fit(other, candidate, z)
    assert first.log_evidence == pytest.approx(second.log_evidence, abs=1e-6)


def test_noise_that_is_the_same_for_all_rows_is_no_noise_of_rows() -> None:
    plain = GaussianNoise(np.ones(N), np.zeros(N))
    rows, gram = X[:, [0, 2]], X @ X.T / D
    expected = log_likelihood(MEMBER.kernel, rows, Y, AT, gram)
    assert log_likelihood(MEMBER.kernel, rows, Y, AT, gram, 0.0, plain) == pytest.approx(expected, abs=1e-12)
    assert likelihood_named("gaussian").build(Rows(Y, np.ones(N), np.zeros(N))) is None


@pytest.mark.parametrize("jitter", [0.0, 0.05])
@every_noise
def test_the_gradient_is_that_of_finite_differences(name: str, jitter: float) -> None:
    noise, rows, gram = NOISES[name], X[:, [0, 2]], X @ X.T / D
    if name == "weights":
        noise = GaussianNoise(RNG.uniform(0.3, 2.5, N), noise.known)  # no whole numbers

    def value(z: np.ndarray) -> float:
        at = replace(AT, theta=z[:2], scale=np.exp(z[2]), noise=np.exp(z[3]), background=np.exp(z[4]))
        return log_likelihood(MEMBER.kernel, rows, Y, at, gram, jitter, noise)

    found = gradient(MEMBER.kernel, rows, Y, AT, gram, jitter, noise)
    z = np.concatenate([AT.theta, np.log([AT.scale, AT.noise, AT.background])])
    slope = np.concatenate([found.theta, [found.log_scale, found.log_noise, found.log_background]])
    assert slope == pytest.approx(central_difference(value, z), abs=1e-6)
    assert found.value == pytest.approx(value(z), abs=1e-10)


# --- prediction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", [MEMBER, SPARSE], ids=["dense", "sparse"])
@every_noise
def test_predictions_are_those_of_the_repeated_rows(name: str, member: Member) -> None:
    one, other = tables(name)
    new = RNG.standard_normal((7, D))
    found, expected = (predict_posterior(posterior(member, train), new) for train in (one, other))
    assert found.mean == pytest.approx(expected.mean, abs=1e-9)
    assert found.variance == pytest.approx(expected.variance, abs=1e-9)
    nearly_all = predict_truncated(member, one, new, N - 1)
    assert nearly_all.mean == pytest.approx(expected.mean, abs=0.2)
    local = local_of(member, one, N, condensing=False)
    assert predict_local(local, new).mean == pytest.approx(expected.mean, abs=1e-9)


def test_a_row_of_huge_known_noise_is_left_out() -> None:
    known = np.zeros(N)
    known[3] = 1e12
    others = np.delete(np.arange(N), 3)
    new = RNG.standard_normal((7, D))
    found = predict_posterior(posterior(MEMBER, Train(X, Y, GaussianNoise(np.ones(N), known))), new)
    expected = predict_posterior(posterior(MEMBER, Train(X[others], Y[others])), new)
    assert found.mean == pytest.approx(expected.mean, abs=1e-8)
    assert found.variance == pytest.approx(expected.variance, abs=1e-8)


@every_noise
def test_condensed_rows_count_by_their_weights_and_their_noise(name: str) -> None:
    rng = np.random.default_rng(0)
    n = 4000
    table = rng.uniform(-1.0, 1.0, (n, 2))
    y = np.sin(table[:, 0]) + 0.7 * rng.standard_normal(n)
    weights = rng.integers(1, 4, n).astype(float) if name != "known" else np.ones(n)
    known = rng.uniform(0.0, 2.0, n) if name != "weights" else np.zeros(n)
    member = Member(np.arange(2), Parameters(np.array([0.9, 0.5]), 1.0, 0.5), kernel_named("se"), np.ones(2))
    train = Train(table, y, GaussianNoise(weights, known))
    found = condense(train, member)
    assert found is not None and found.counts.sum() == n
    precision = weights / (0.5 + known)
    assert (1.0 / found.variance).sum() == pytest.approx(precision.sum())
    assert (found.y / found.variance).sum() == pytest.approx(precision @ y)
    new = rng.uniform(-0.8, 0.8, (5, 2))
    exact = predict_posterior(posterior(member, train), new)
    local = predict_local(local_of(member, train, 400), new)
    assert local.mean == pytest.approx(exact.mean, abs=0.03)
    assert local.variance == pytest.approx(exact.variance, rel=0.4)


# --- leave-one-out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", [MEMBER, SPARSE], ids=["dense", "sparse"])
@every_noise
def test_leave_one_out_leaves_one_copy_out(name: str, member: Member) -> None:
    one, other = tables(name)
    found, expected = loo.exact(one, member, 0.1), loo.exact(other, member, 0.1)
    where = np.repeat(np.arange(N), NOISES[name].weights.astype(int))
    assert found.mean[where] == pytest.approx(expected.mean, abs=1e-8)
    assert found.variance[where] == pytest.approx(expected.variance, abs=1e-8)
    assert found.total == pytest.approx(expected.total, abs=1e-7)
    truncated = loo.truncated(one, member, N - 1, 0.1)
    assert truncated.mean == pytest.approx(found.mean) and truncated.variance == pytest.approx(found.variance)
    assert truncated.total == pytest.approx(found.total)
    again = found.at(where, np.arange(where.size))
    assert again.total == pytest.approx(expected.total, abs=1e-7)


def test_a_row_that_counts_less_than_once_is_left_out_whole() -> None:
    weights = np.ones(N)
    weights[5] = 0.4
    found = loo.exact(Train(X, Y, GaussianNoise(weights, np.zeros(N))), MEMBER)
    others = np.delete(np.arange(N), 5)
    expected = predict_posterior(posterior(MEMBER, Train(X[others], Y[others])), X[5:6])
    assert found.mean[5] == pytest.approx(expected.mean[0]) and found.variance[5] == pytest.approx(
        expected.variance[0] + AT.noise
    )


def test_scores_of_samples_are_joined_with_their_weights() -> None:
    train, _ = tables("both")
    whole = loo.truncated(train, MEMBER, N - 1)
    first, second = (loo.truncated(train, MEMBER, N - 1, rows=rows) for rows in (np.arange(10), np.arange(10, N)))
    both = loo.joined(second, first)
    assert both.total == pytest.approx(whole.total) and np.array_equal(both.weights, train.noise.weights)
    assert loo.total_difference(both, whole).value == pytest.approx(0.0, abs=1e-9)


# --- the registry -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian"])  # those with sites are in tests/contracts/test_sites.py
def test_a_likelihood_survives_being_plain(name: str) -> None:
    noise = likelihood_named(name).build(Rows(Y, WEIGHTS, KNOWN))
    again = from_plain(name, noise.to_plain())
    for part in ("variance", "slope", "log_terms", "log_terms_slope"):
        assert np.array_equal(getattr(again.at(0.3), part), getattr(noise.at(0.3), part))


def test_names_are_given_once_and_unknown_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        register("gaussian", lambda rows: None)
    with pytest.raises(ValueError, match="one of gaussian"):
        likelihood_named("weibull")
