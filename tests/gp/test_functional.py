"""Averages of f over blocks of rows, against the joint posterior of all those rows."""

from __future__ import annotations

import numpy as np
import pytest

from ssvgp.gp import functional
from ssvgp.gp.axes import evened_axes
from ssvgp.gp.functional import Blocks, averages, averages_truncated, latent_means, latent_means_truncated
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.predict import joint_posterior, posterior, predict_posterior
from ssvgp.model.terms import Columns, backgrounds_for
from ssvgp.records import Ensemble, Member, Parameters, Train

N, D, R = 30, 5, 4
CASES = [
    ("se", 0.0, "linear"),
    ("matern52", 0.3, "linear"),
    ("se+linear", 0.2, "smooth"),
    ("linear", 0.4, "unscaled"),
    ("se", 0.3, "steep"),
    ("se", 0.3, "evened"),
]


def setting(kernel: str, background: float, kind: str) -> tuple[Member, Train, Blocks]:
    rng = np.random.default_rng(0)
    train = Train(rng.normal(size=(N, D)), rng.normal(size=N))
    parameters = Parameters(np.array([0.8, 0.5, 0.3]), 1.3, 0.2, background, 1.0)
    columns = Columns(D, rng.uniform(1, 2, D), evened_axes(train.X))
    (term,) = backgrounds_for([kind], columns)
    member = Member(np.array([0, 2, 3]), parameters, kernel_named(kernel), np.ones(3), term if background else None)
    nothing = np.nan
    values = np.array([[nothing, nothing], [0.7, nothing], [nothing, -1.0], [0.7, -1.0], [2.0, 0.0]])[:, :, None]
    return member, train, Blocks(train.X[:R], np.array([2, 4]), values)


def slow_rows(blocks: Blocks) -> np.ndarray:
    """All rows of all blocks (b r, d), one at a time."""
    out = []
    for values in blocks.values:
        for row in np.asarray(blocks.base):
            changed = row.copy()
            for column, value in zip(blocks.changed, values[:, 0], strict=True):
                changed[column] = changed[column] if np.isnan(value) else value
            out.append(changed)
    return np.array(out)


@pytest.mark.parametrize(("kernel", "background", "kind"), CASES)
def test_averages_are_those_of_the_joint_posterior(
    kernel: str, background: float, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functional, "BATCH_NUMBERS", 2 * R * N)  # several batches, the last one not full
    member, train, blocks = setting(kernel, background, kind)
    given = posterior(member, train)
    contrasts = np.random.default_rng(1).normal(size=(3, blocks.count))
    found = averages([given], blocks, blocks, contrasts)
    joint = joint_posterior(given, slow_rows(blocks))
    mean = np.kron(np.eye(blocks.count), np.full((1, R), 1.0 / R))  # averages over the rows of each block
    assert np.allclose(found.means[0], contrasts @ mean @ joint.mean, rtol=1e-10)
    expected = np.diag(contrasts @ mean @ joint.covariance @ mean.T @ contrasts.T)
    assert np.allclose(found.variances[0], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("kernel", "background", "kind"), CASES)
def test_latent_means_are_those_of_prediction(kernel: str, background: float, kind: str) -> None:
    member, train, blocks = setting(kernel, background, kind)
    given = posterior(member, train)
    expected = predict_posterior(given, slow_rows(blocks)).mean.reshape(blocks.count, R)
    assert np.allclose(latent_means(given, blocks), expected, rtol=1e-10)
    several = latent_means_truncated(member, train, [blocks, blocks.part(slice(0, 1))], N)
    assert np.allclose(several[0], expected, rtol=1e-8) and np.allclose(several[1], expected[:1], rtol=1e-8)


@pytest.mark.parametrize(("kernel", "background", "kind"), CASES)
def test_with_all_neighbours_truncation_changes_nothing(kernel: str, background: float, kind: str) -> None:
    member, train, blocks = setting(kernel, background, kind)
    contrasts = np.eye(blocks.count)[1:] - np.eye(blocks.count)[:1]
    exact = averages([posterior(member, train)], blocks, blocks, contrasts)
    truncated = averages_truncated(Ensemble((member,), np.ones(1), np.zeros(D)), train, blocks, N, contrasts)
    assert np.allclose(exact.means, truncated.means, rtol=1e-8)
    assert np.allclose(exact.variances, truncated.variances, rtol=1e-7, atol=1e-12)


def test_a_member_that_does_not_look_at_the_changed_inputs_sees_no_change() -> None:
    member, train, blocks = setting("se", 0.0, "linear")
    other = Blocks(blocks.base, np.array([1, 4]), blocks.values)
    contrasts = np.array([[1.0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 1.0]])
    for found in (
        averages([posterior(member, train)], other, other, contrasts),
        averages_truncated(Ensemble((member,), np.ones(1), np.zeros(D)), train, other, 10, contrasts),
    ):
        assert found.means[0, 0] != 0.0 and found.variances[0, 0] > 0.0
        assert found.means[0, 1] == found.variances[0, 1] == 0.0
