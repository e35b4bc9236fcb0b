"""Shapes of single inputs: functions of ranks, centred, of one size, bounded, and like the effects that inputs have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from ssvgp.search.shapes import FINE, Shapes

WAVES = 12


def every_shape(X: np.ndarray) -> np.ndarray:
    """(waves + slow, n, d)."""
    of = Shapes(X, WAVES)
    return np.concatenate([of.waves(slice(0, of.d)), of.slow(np.arange(of.d))])


def table(n: int = 80, d: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("tails", ["normal", "cauchy", "lognormal"])
def test_shapes_are_centred_of_mean_square_one_and_bounded_whatever_the_tails(tails: str) -> None:
    rng = np.random.default_rng(1)
    draws = {
        "normal": rng.standard_normal((300, 3)),
        "cauchy": rng.standard_cauchy((300, 3)),
        "lognormal": np.exp(3.0 * rng.standard_normal((300, 3))),
    }
    found = every_shape(draws[tails])
    assert found.shape == (WAVES + FINE, 300, 3)
    assert found.mean(1) == pytest.approx(0.0, abs=1e-6)
    assert (found.astype(float) ** 2).mean(1) == pytest.approx(1.0, abs=1e-5)
    assert np.abs(found).max() < 2.0


def test_waves_are_cosines_of_the_rank() -> None:
    X = table()
    u = (np.argsort(np.argsort(X, axis=0), axis=0) + 0.5) / len(X)
    found = Shapes(X, WAVES).waves(slice(0, 4))
    for k in range(WAVES):
        assert found[k] == pytest.approx(np.sqrt(2.0) * np.cos(np.pi * (k + 1) * u), abs=1e-4)


def test_waves_are_orthogonal() -> None:
    found = Shapes(table(d=1), WAVES).waves(slice(0, 1))[:, :, 0]
    assert found @ found.T / 80 == pytest.approx(np.eye(WAVES), abs=1e-4)


@pytest.mark.parametrize("rising", [np.exp, lambda x: x**3, lambda x: 5.0 * x - 100.0])
def test_a_rising_transform_of_an_input_changes_nothing(rising) -> None:
    X = table()
    assert np.array_equal(every_shape(rising(X)), every_shape(X))


def test_a_falling_transform_changes_signs_alone() -> None:
    found, turned = every_shape(table()), every_shape(-table())
    signs = [(-1.0) ** (k + 1) for k in range(WAVES)] + [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]
    for one, other, sign in zip(found, turned, signs, strict=True):
        assert other == pytest.approx(sign * one, abs=1e-4)


def test_equal_values_have_equal_shapes() -> None:
    X = np.random.default_rng(2).integers(0, 5, (90, 3)).astype(float)
    found = every_shape(X)
    assert np.isfinite(found).all()
    for j in range(3):
        for value in range(5):
            assert np.ptp(found[:, X[:, j] == value, j], axis=1) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("ones", [20, 31, 3])
def test_a_binary_column_has_one_shape_up_to_its_sign_or_none(ones: int) -> None:
    x = np.zeros(40)
    x[:ones] = 7.0
    own = (x - x.mean()) / x.std()
    kept = 0
    for shape in every_shape(x[:, None])[:, :, 0]:
        assert np.abs(shape) == pytest.approx(np.abs(own) if shape.any() else 0.0, abs=1e-4)
        kept += bool(shape.any())
    assert kept >= 2


def test_a_constant_column_has_no_shape() -> None:
    assert not every_shape(np.full((30, 1), 3.0)).any()


def test_slow_shapes_resemble_the_effects_that_inputs_have() -> None:
    x = ndtri((np.arange(2000) + 0.5) / 2000)
    slow = Shapes(x[:, None], WAVES).slow(np.arange(1))[:, :, 0]
    even = [x**2, np.abs(x), np.exp(-(x**2)), np.cos(2.0 * x)]
    likeness = [
        (0, x, 0.94),
        (0, x > 0.0, 0.89),
        *((1, effect, 0.82) for effect in even),
        (2, np.sin(2.0 * x), 0.62),
        (2, np.sin(3.0 * x), 0.87),
    ]
    for shape, effect, least in likeness:
        assert abs(np.corrcoef(slow[shape], effect)[0, 1]) > least


def test_some_columns_have_the_shapes_that_they_have_among_all() -> None:
    of, others = Shapes(table(d=9), WAVES), Shapes(table(d=9), WAVES)
    every = of.slow(np.arange(9))
    some = np.array([7, 0, 4])
    assert np.array_equal(of.slow(some), every[:, :, some])
    assert np.array_equal(others.slow(some), every[:, :, some])  # before all of them were asked for
    assert np.array_equal(of.waves(slice(3, 6)), of.waves(slice(0, 9))[:, :, 3:6])
