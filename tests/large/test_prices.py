"""What an input costs through the kernel, beyond its shapes."""

from __future__ import annotations

import numpy as np

from ssvgp.evidence.unvisited.factors import THETAS
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.gp.weak import Shapes
from ssvgp.large.prices import prices
from ssvgp.records import Member, Parameters, Train

NOBODY = np.empty(0, dtype=np.intp)


def member(kernel: str, *active: int) -> Member:
    theta = np.full(len(active), 0.5)
    return Member(np.array(active), Parameters(theta, 1.0, 0.5, 0.0, 1.0), kernel_named(kernel), np.ones(len(active)))


def data(n: int = 250) -> Train:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    return Train(X, np.sin(X[:, 0]) + X[:, 1] + 0.7 * rng.standard_normal(n))


def test_products_with_strong_inputs_have_their_price_and_small_strengths_none() -> None:
    train = data()
    every = prices(train, member("se", 0, 1), Shapes.of(train.X), NOBODY, np.random.default_rng(0))
    found = every[2]
    assert every.shape == (5, THETAS.size) and (every == found).all() and abs(found[0]) < 0.2
    assert found[1] > found[2] > found[3] and found[3] < -1.0


def test_an_input_costs_more_beside_more_inputs() -> None:
    train = data()
    one, two = (
        prices(train, member("se", *active), Shapes.of(train.X), NOBODY, np.random.default_rng(0))[2]
        for active in ((0,), (0, 1))
    )
    assert two[3] < one[3] - 0.5


def test_an_input_in_question_has_its_own() -> None:
    """One that acts through a strong input only is worth more than its shapes, and others are not."""
    train = data()
    bent = Train(train.X, train.y + 0.8 * train.X[:, 0] * train.X[:, 3])
    found = prices(bent, member("se", 0, 1), Shapes.of(train.X), np.array([3]), np.random.default_rng(0))
    assert found[3, 3] > found[2, 3] + 5.0 and (found[2] == found[4]).all()
