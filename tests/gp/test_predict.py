"""Prediction of one member against plain solves, and what truncation and batches may not change."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import reference

from ssvgp.gp import batches as module
from ssvgp.gp import local
from ssvgp.gp.condense import condense
from ssvgp.gp.kernels.compose import KERNELS, kernel_named
from ssvgp.gp.kernels.families import squared_exponential
from ssvgp.gp.neighbours import close_together, nearest
from ssvgp.gp.predict import (
    joint_posterior,
    joint_truncated,
    posterior,
    predict,
    predict_member,
    predict_posterior,
    predict_truncated,
    prepared,
)
from ssvgp.gp.terms import Linear, metric
from ssvgp.records import Ensemble, Member, Parameters, Train

ALL_KERNELS = [*KERNELS, "se+linear"]


def member(active=(0, 2), background=0.0, mean=0.0, noise=0.1, kernel="se") -> Member:
    theta = np.linspace(0.8, 0.5, len(active))
    at = Parameters(theta, scale=1.2, noise=noise, background=background, mean=mean)
    term = Linear("linear") if background else None
    return Member(np.array(active, dtype=int), at, kernel_named(kernel), np.ones(len(active)), term)


@pytest.fixture(scope="module")
def train() -> Train:
    generator = np.random.default_rng(7)
    X = generator.standard_normal((40, 4))
    return Train(X, np.sin(X[:, 0]) + 0.5 * X[:, 2] + 0.2 * generator.standard_normal(40))


@pytest.fixture(scope="module")
def X_new() -> np.ndarray:
    return np.random.default_rng(8).standard_normal((11, 4))


MEMBERS = {
    "paper": member(),
    "background": member(background=0.5),
    "all terms": member(background=0.5, mean=1.0),
    "nothing active": member(active=(), background=0.5, mean=1.0),
    "mean only": member(active=(), mean=1.0),
}
every_member = pytest.mark.parametrize("one", MEMBERS.values(), ids=MEMBERS.keys())


@every_member
def test_exact_prediction_equals_plain_solves(one, train, X_new) -> None:
    mean, covariance = reference.predict(one, train, X_new)
    actual = predict_member(one, train, X_new)
    np.testing.assert_allclose(actual.mean, mean, atol=1e-10)
    np.testing.assert_allclose(actual.variance, np.diagonal(covariance), atol=1e-10)
    joint = joint_posterior(posterior(one, train), X_new)
    np.testing.assert_allclose(joint.mean, mean, atol=1e-10)
    np.testing.assert_allclose(joint.covariance, covariance, atol=1e-10)


@every_member
def test_truncated_prediction_equals_plain_solves_on_the_nearest_rows(one, train, X_new) -> None:
    at = one.parameters
    scaled, query = train.X[:, one.active] * at.theta, X_new[:, one.active] * at.theta
    if at.background:  # those with which f has most in common
        weights = metric(one, train.d)
        index = reference.nearest(train.X * weights, X_new * weights, 9)
    elif one.active.size:
        index = reference.nearest(scaled, query, 9)
    else:
        index = np.tile(np.linspace(0, 39, 9).round().astype(int), (11, 1))
    for i, some in enumerate(index):
        mean, covariance = reference.predict(one, Train(train.X[some], train.y[some]), X_new[i : i + 1])
        actual = predict_truncated(one, train, X_new[i : i + 1], 9)
        assert actual.mean[0] == pytest.approx(mean[0], abs=1e-10)
        assert actual.variance[0] == pytest.approx(covariance[0, 0], abs=1e-10)


@pytest.mark.parametrize("spread", [0.001, 0.05, 1.0, 100.0])
def test_rows_that_share_a_system_have_their_nearest_in_it_and_little_else(spread) -> None:
    rng = np.random.default_rng(1)
    rows, new = rng.standard_normal((4000, 3)), spread * rng.standard_normal((700, 3))
    index = nearest(rows, new[close_together(new, local.GROUP)], 40)
    seen = np.zeros(700, dtype=int)
    for group, some in local._groups(index):
        size = group.stop - group.start
        seen[group] += 1
        assert np.isin(index[group, : 40 // local.SHARED], some).all()
        assert np.isin(some, index[group]).all()
        assert some.size <= 40 * min(local.SHARED, size ** (1 / 3)) + 1e-9
        assert size > 1 or some.size == 40
    assert (seen == 1).all()


@pytest.mark.parametrize("kernel", ["se", "matern12"])
@pytest.mark.parametrize("theta", [0.3, 3.0])
def test_rows_predicted_together_are_predicted_no_worse_than_alone(kernel, theta, monkeypatch) -> None:
    rng = np.random.default_rng(4)
    X, new = rng.uniform(-1, 1, (3000, 4)), rng.uniform(-1, 1, (600, 4))
    signal = [np.sin(2.0 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.5 * rows[:, 3] for rows in (X, new)]
    at = Parameters(np.full(4, theta), 1.0, 0.05)
    one = Member(np.arange(4), at, kernel_named(kernel), np.ones(4))
    train = Train(X, signal[0] + np.sqrt(0.05) * rng.standard_normal(3000))
    together = predict_truncated(one, train, new, 64)
    monkeypatch.setattr(local, "GROUP", 1)
    alone = predict_truncated(one, train, new, 64)
    assert not np.array_equal(together.mean, alone.mean)  # some rows did share
    assert together.variance.mean() <= 1.01 * alone.variance.mean()
    assert np.mean((together.mean - signal[1]) ** 2) <= 1.02 * np.mean((alone.mean - signal[1]) ** 2)


def test_condensed_rows_carry_what_the_rows_carried() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(-1.0, 1.0, size=(60, 2))
    X = np.repeat(places, 6, axis=0) + 1e-4 * rng.normal(size=(360, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=360)
    train = Train(X, y)
    at = Parameters(np.array([1.0, 0.8]), 1.0, 0.01)
    one = Member(np.arange(2), at, squared_exponential(), np.ones(2))
    new = rng.uniform(-1.0, 1.0, size=(15, 2))
    assert condense(Train(X, y), one) is not None
    whole, few = predict_member(one, train, new), predict_truncated(one, train, new, 60)
    np.testing.assert_allclose(few.mean, whole.mean, atol=2e-3)
    np.testing.assert_allclose(few.variance, whole.variance, rtol=0.02, atol=1e-5)


def test_rows_are_condensed_only_where_noise_hides_what_f_does_in_a_cell() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(4000, 2)), rng.normal(size=4000)
    at = Parameters(np.array([1.0, 1.0]), 1.0, 0.1)
    one = Member(np.arange(2), at, squared_exponential(), np.ones(2))
    wide = condense(Train(X, y), one)
    assert wide is not None and wide.counts.sum() == 4000 and wide.counts.mean() > 30
    assert wide.y @ wide.counts == pytest.approx(y.sum())
    np.testing.assert_allclose(wide.counts @ wide.X, X.sum(axis=0))
    narrow = condense(Train(X, y), replace(one, parameters=replace(at, noise=0.005)))
    assert narrow is not None and narrow.counts.size > 3 * wide.counts.size
    assert condense(Train(X, y), replace(one, parameters=replace(at, noise=1e-4))) is None


@every_member
@pytest.mark.parametrize("m", [40, 1000])
def test_truncation_to_all_rows_is_exact(one, m, train, X_new) -> None:
    expected, actual = predict_member(one, train, X_new), predict_truncated(one, train, X_new, m)
    np.testing.assert_allclose(actual.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(actual.variance, expected.variance, atol=1e-12)


@pytest.mark.parametrize("kernel", ALL_KERNELS)
def test_fewer_rows_never_know_more_for_any_kernel(kernel, train, X_new) -> None:
    one = member(mean=0.5, kernel=kernel)
    variances = [predict_truncated(one, train, X_new, m).variance for m in (2, 10, 39, 40)]
    for fewer, more in pairwise(variances):
        assert (fewer >= more - 1e-10).all()


@every_member
def test_truncated_joint_prediction_keeps_the_marginals(one, train, X_new) -> None:
    joint, moments = joint_truncated(one, train, X_new, 9), predict_truncated(one, train, X_new, 9)
    np.testing.assert_allclose(joint.mean, moments.mean, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(joint.covariance), moments.variance, atol=1e-12)
    assert np.linalg.eigvalsh(joint.covariance).min() > -1e-9


@every_member
def test_truncated_joint_prediction_with_all_rows_is_exact(one, train, X_new) -> None:
    joint = joint_truncated(one, train, X_new, 40)
    np.testing.assert_allclose(joint.covariance, reference.predict(one, train, X_new)[1], atol=1e-10)


def test_batches_do_not_change_the_answer(train, X_new, monkeypatch) -> None:
    one = member(background=0.3)
    exact, truncated = predict_member(one, train, X_new), predict_truncated(one, train, X_new, 7)
    monkeypatch.setattr(module, "BATCH_BYTES", 1)  # one row at a time
    np.testing.assert_allclose(predict_member(one, train, X_new), exact, atol=1e-13)
    np.testing.assert_allclose(predict_truncated(one, train, X_new, 7), truncated, atol=1e-13)


def test_a_posterior_is_factored_once_and_used_again(train, X_new) -> None:
    given = posterior(member(), train)
    whole = predict_posterior(given, X_new)
    np.testing.assert_allclose(predict_posterior(given, X_new[4:6]).mean, whole.mean[4:6], atol=1e-13)


@pytest.mark.parametrize("kernel", ALL_KERNELS)
def test_variance_is_never_negative_where_all_is_known(kernel, train) -> None:
    one = member(noise=1e-12, kernel=kernel)
    for moments in (predict_member(one, train, train.X), predict_truncated(one, train, train.X, 12)):
        assert (moments.variance >= 0).all()
        assert np.isfinite(moments.mean).all()


@pytest.mark.parametrize("kernel", [*ALL_KERNELS, "poly*poly"])
@pytest.mark.parametrize("far", [1e8, 1e40, 1e300])
def test_rows_far_away_give_finite_answers(kernel, far, train) -> None:
    X_far = np.full((3, 4), far) * np.array([[1.0], [-1.0], [0.5]])
    one = member(background=0.2, kernel=kernel)
    for moments in (predict_member(one, train, X_far), predict_truncated(one, train, X_far, 5)):
        assert np.isfinite(moments.mean).all()
        assert np.isfinite(moments.variance).all() and (moments.variance >= 0).all()
    assert np.isfinite(joint_posterior(posterior(one, train), X_far).covariance).all()


def test_far_from_all_rows_the_prior_returns(train) -> None:
    moments = predict_member(member(), train, np.full((1, 4), 1e6))
    assert moments.mean[0] == pytest.approx(0.0, abs=1e-12)
    assert moments.variance[0] == pytest.approx(1.2)


def test_no_rows_in_give_no_rows_out(train) -> None:
    for moments in (
        predict_member(member(), train, np.zeros((0, 4))),
        predict_truncated(member(), train, np.zeros((0, 4)), 5),
    ):
        assert moments.mean.shape == moments.variance.shape == (0,)


def test_repeated_rows_without_noise_are_repaired(train, X_new) -> None:
    twice = Train(np.concatenate([train.X, train.X]), np.concatenate([train.y, train.y]))
    one = member(noise=0.0)
    for moments in (predict_member(one, twice, X_new), predict_truncated(one, twice, X_new, 10)):
        assert np.isfinite(moments.mean).all() and (moments.variance >= 0).all()


def test_truncation_to_no_rows_is_refused(train, X_new) -> None:
    with pytest.raises(ValueError, match="at least one neighbour"):
        predict_truncated(member(), train, X_new, 0)


def test_an_ensemble_predicts_what_its_members_predict(train, X_new) -> None:
    members = (member(), member(active=(1,), noise=0.3), member(active=()))
    ensemble = Ensemble(members, np.array([0.5, 0.3, 0.2]), np.zeros(4))
    prediction = predict(ensemble, train, X_new)
    assert prediction.means.shape == prediction.variances.shape == (3, 11)
    np.testing.assert_array_equal(prediction.noises, [0.1, 0.3, 0.1])
    for k, one in enumerate(members):
        moments = predict_member(one, train, X_new)
        np.testing.assert_allclose(prediction.means[k], moments.mean, atol=1e-13)
        np.testing.assert_allclose(prediction.variances[k], moments.variance, atol=1e-13)
    kept = predict(ensemble, train, X_new, given=[prepared(one, train, None) for one in ensemble.members])
    np.testing.assert_allclose(kept.means, prediction.means, atol=1e-13)
    truncated = predict(ensemble, train, X_new, neighbours=6)
    np.testing.assert_allclose(truncated.means[0], predict_truncated(members[0], train, X_new, 6).mean)


def test_an_empty_ensemble_is_refused(train, X_new) -> None:
    with pytest.raises(ValueError, match="without members"):
        predict(Ensemble((), np.zeros(0), np.zeros(4)), train, X_new)


def test_members_with_zero_theta_predict_as_if_the_input_were_left_out(train, X_new) -> None:
    both = member(active=(0, 2))
    at = replace(both.parameters, theta=np.array([0.8, 0.0]))
    with_it = Member(both.active, at, squared_exponential(), np.ones(2))
    without = Member(np.array([0]), replace(at, theta=np.array([0.8])), squared_exponential(), np.ones(1))
    expected, actual = predict_member(without, train, X_new), predict_member(with_it, train, X_new)
    np.testing.assert_allclose(actual, expected, atol=1e-12)
