"""A member through a few of its rows predicts what it predicts from all of them, or says that it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.gp.batches import Work
from ssvgp.gp.inducing import MOST, Inducing, chosen, inducing_of, predict_inducing
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.local import Local
from ssvgp.gp.predict import Posterior, posterior, predict_posterior, prepared
from ssvgp.model.likelihoods.gaussian import GaussianNoise
from ssvgp.records import Member, Parameters, Train

SMOOTH = Parameters(np.array([0.5, 0.3]), scale=1.5, noise=0.1, mean=1.0)


def member_of(kernel: str = "se", parameters: Parameters = SMOOTH) -> Member:
    return Member(np.array([1, 3]), parameters, kernel_named(kernel), np.ones(2))


def train_of(n: int, seed: int = 0) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    return Train(X, np.sin(X[:, 1]) + 0.5 * X[:, 3] + np.sqrt(0.1) * rng.standard_normal(n))


NEW = np.random.default_rng(9).standard_normal((300, 5)) * 1.3


@pytest.mark.parametrize("kernel", ["se", "matern52", "se+linear"])
def test_with_every_row_inducing_it_is_the_exact_prediction(kernel: str) -> None:
    member, train = member_of(kernel), train_of(80)
    given = inducing_of(member, train, most=80, left_open=1e-9)
    assert given is not None
    found, exact = predict_inducing(given, NEW), predict_posterior(posterior(member, train), NEW)
    assert found.mean == pytest.approx(exact.mean, abs=1e-5)
    assert found.variance == pytest.approx(exact.variance, abs=1e-5)


def test_a_few_rows_stand_for_a_thousand_of_a_smooth_function() -> None:
    member, train = member_of(), train_of(1000)
    given = inducing_of(member, train)
    assert given is not None
    assert len(given.rows) < 60
    found, exact = predict_inducing(given, NEW), predict_posterior(posterior(member, train), NEW)
    sd = np.sqrt(SMOOTH.noise)
    assert np.abs(found.mean - exact.mean).max() < 0.3 * sd  # at the edge of the rows
    assert np.abs(found.mean - exact.mean).mean() < 0.01 * sd
    ratio = found.variance / exact.variance
    assert ratio.min() > 0.85
    assert 0.98 < np.median(ratio) < 1.1


def test_far_from_all_rows_it_knows_no_more_than_the_prior() -> None:
    member, train = member_of(), train_of(500)
    given = inducing_of(member, train)
    assert given is not None
    far = predict_inducing(given, np.full((1, 5), 60.0))
    exact = predict_posterior(posterior(member, train), np.full((1, 5), 60.0))
    assert far.variance == pytest.approx(exact.variance, rel=0.02)


def test_rows_with_noise_of_their_own_count_by_it() -> None:
    member, train = member_of(), train_of(600)
    known = np.where(np.arange(600) < 300, 5.0, 0.0)
    noisy = replace(train, noise=GaussianNoise(np.ones(600), known))
    given = inducing_of(member, noisy)
    assert given is not None
    exact = predict_posterior(posterior(member, noisy), NEW[:50])
    found = predict_inducing(given, NEW[:50])
    alike = inducing_of(member, train)
    assert alike is not None
    wrong = np.abs(predict_inducing(alike, NEW[:50]).mean - exact.mean).mean()
    assert np.abs(found.mean - exact.mean).mean() < 0.2 * wrong


def test_a_rough_function_takes_too_many_and_has_neighbours() -> None:
    rough = member_of("matern52", replace(SMOOTH, theta=np.array([30.0, 30.0])))
    train = train_of(3000)
    assert chosen(replace(rough, active=np.arange(2)), train.X[:, [1, 3]], MOST, 0.001) is None
    assert isinstance(prepared(rough, train, 64, masses=True), Local)


def test_masses_of_rows_go_through_inducing_rows_and_few_rows_are_exact() -> None:
    member, train = member_of(), train_of(3000)
    assert isinstance(prepared(member, train, 64, masses=True), Inducing)
    assert isinstance(prepared(member, train, 64), Local)
    assert isinstance(prepared(member, train, None, masses=True), Posterior)


def test_batches_and_threads_do_not_change_the_answer() -> None:
    given = inducing_of(member_of(), train_of(1000))
    assert given is not None
    one, two = predict_inducing(given, NEW), predict_inducing(given, NEW, Work(2, 10**6))
    assert one.mean == pytest.approx(two.mean, rel=1e-12)
    assert one.variance == pytest.approx(two.variance, abs=1e-12)
