"""Inputs of several columns, tied and untied: sets count inputs, kernels see columns, plain columns change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.evidence.laplace import Block, Problem, log_joint, log_joint_value, log_joint_values
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.predict import predict
from ssvgp.method.auto import auto_ensemble
from ssvgp.model.inputs import Input, Inputs
from ssvgp.model.priors import Candidate, unpack
from ssvgp.records import Train
from ssvgp.settings import Prior, regime_for

LEVELS = Input((1, 2, 3))  # a category of three levels
GROUP = Input((5, 6), tied=False)
MIXED = Inputs((Input((0,)), LEVELS, Input((4,)), GROUP, Input((7,))))
PLAIN = Inputs(tuple(Input((j,)) for j in range(8)))


def table(n: int = 90) -> Train:
    """y depends on a category (columns 1 to 3), on a group of two columns (5, 6), and on no other input."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 8))
    level = rng.integers(3, size=n)
    X[:, 1:4] = np.eye(3)[level]
    y = np.array([-1.0, 0.2, 1.5])[level] + np.sin(1.5 * X[:, 5]) + 0.5 * X[:, 6] + 0.2 * rng.normal(size=n)
    X = (X - X.mean(0)) / X.std(0)
    return Train(X, (y - y.mean()) / y.std())


def problem(inputs: Inputs | None = MIXED, kernel: str = "se") -> Problem:
    train = table(30)
    prior = Prior().for_data(30, 8, inputs=None if inputs is None else len(inputs))
    return Problem((Block(train.X, train.y),), kernel_named(kernel), prior, inputs=inputs)


def test_every_column_belongs_to_one_input() -> None:
    assert MIXED.columns((1, 3)) == [1, 2, 3, 5, 6] and MIXED.labels((1, 3)) == (1, (3, 5), (3, 6))
    assert MIXED.places((1, 3)).tolist() == [0, 0, 0, 1, 2] and MIXED.owners().tolist() == [0, 1, 1, 1, 2, 3, 3, 4]
    assert MIXED.narrowed((1, 3)) == Inputs((Input((0, 1, 2)), Input((3, 4), tied=False)))
    values = np.arange(8.0)
    assert MIXED.total(values).tolist() == [0, 6, 4, 11, 7] and MIXED.largest(values).tolist() == [0, 3, 4, 6, 7]
    for wrong in ((Input((0, 1)), Input((1,))), (Input((0,)), Input((2,))), (Input(()), Input((0,)))):
        with pytest.raises(ValueError, match="every column must belong to one input"):
            Inputs(wrong)


def test_tied_columns_have_one_inverse_lengthscale_and_untied_ones_their_own() -> None:
    case = problem()
    both = case.candidate((1, 3))
    assert case.d == 5 and both.size == 2 and both.coordinates.size == 3 and both.columns == [1, 2, 3, 5, 6]
    z = both.coordinates.vector(np.log([0.3, 0.8, 0.5]), scale=0.0, noise=-1.0)
    assert np.allclose(unpack(z, both, case.prior).theta, [0.3, 0.3, 0.3, 0.8, 0.5])


@pytest.mark.parametrize("kernel", ["se", "se+linear"])
@pytest.mark.parametrize("active", [(1,), (3,), (0, 1, 3)])
def test_the_gradient_is_that_of_differences(kernel: str, active: tuple[int, ...]) -> None:
    case = problem(kernel=kernel)
    chosen = case.candidate(active)
    z = np.random.default_rng(1).normal(-0.5, 0.3, size=len(chosen.coordinates))
    value, slope = log_joint(case, chosen)(z)
    assert value == pytest.approx(log_joint_value(case, chosen, z))
    steps = 1e-5 * np.eye(z.size)
    above, below = (log_joint_values(case, chosen, z + sign * steps) for sign in (1.0, -1.0))
    np.testing.assert_allclose(slope, (above - below) / 2e-5, rtol=1e-5, atol=1e-6)


def test_an_untied_group_is_its_columns_but_for_the_prior_of_sets() -> None:
    grouped, apart = problem(), replace(problem(), inputs=None)
    z = np.array([-0.2, -0.9, 0.1, -1.0])
    one, two = log_joint(grouped, grouped.candidate((3,)))(z), log_joint(apart, Candidate((5, 6)))(z)
    assert one[0] == two[0] and np.array_equal(one[1], two[1])


def answer(inputs: Inputs | None, n: int = 90, kernel: str = "se"):
    train = table(n)
    regime = regime_for(n, 8 if inputs is None else len(inputs))
    kernels = (kernel_named(kernel),)
    return train, auto_ensemble(train, kernels, Prior(), regime, np.random.default_rng(2), inputs=inputs)


def test_plain_inputs_are_their_columns() -> None:
    _, expected = answer(None)
    _, found = answer(PLAIN)
    assert np.array_equal(found.pip, expected.pip) and np.array_equal(found.weights, expected.weights)


def test_a_tied_and_an_untied_input_through_the_whole_line() -> None:
    train, found = answer(MIXED, n=150)
    assert found.pip.shape == (5,)
    assert found.pip[[1, 3]].min() > 0.99 and found.pip[[0, 2, 4]].max() < 0.3
    for member in found.members:  # members count columns, those of an input together
        columns = set(member.active.tolist())
        assert {1, 2, 3, 5, 6} <= columns
        theta = dict(zip(member.active.tolist(), member.parameters.theta.tolist(), strict=True))
        assert theta[1] == theta[2] == theta[3] and theta[5] != theta[6]
    prediction = predict(found, train, train.X)
    assert np.mean((prediction.mean() - train.y) ** 2) < 0.05


def test_many_rows_are_the_same_line() -> None:
    _, found = answer(MIXED, n=1200)
    assert found.pip[[1, 3]].min() > 0.99 and found.pip[[0, 2, 4]].max() < 0.3
    assert all({1, 2, 3, 5, 6} <= set(member.active.tolist()) for member in found.members)
