"""The designs are what they say: shapes, noise, correlations, and the same draw for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments import designs

# Every design at a small size, and how many inputs matter in it.
SMALL = {
    "toy": (designs.toy, {"d": 20}, 5),
    "toy_weak": (designs.toy_weak, {"d": 40}, 25),
    "experiment1": (designs.experiment1, {"d": 30}, 6),
    "experiment2": (designs.experiment2, {"n": 200, "d": 8, "n_test": 49}, 2),
    "noise": (designs.noise, {"d": 10}, 0),
    "interactions": (designs.interactions, {"d": 12}, 4),
    "ar1": (designs.ar1, {"d": 50}, 5),
    "friedman1": (designs.friedman1, {"d": 15}, 5),
    "step_and_kink": (designs.step_and_kink, {"d": 15}, 4),
    "heavy_tail_inputs": (designs.heavy_tail_inputs, {"d": 15}, 4),
    "binary_inputs": (designs.binary_inputs, {"d": 15}, 4),
    "mixed_frequency": (designs.mixed_frequency, {"d": 15}, 4),
}


@pytest.mark.parametrize("name", SMALL)
def test_shapes_and_truth_agree(name: str) -> None:
    design, sizes, relevant = SMALL[name]
    draw = design(0, **sizes)
    rows, inputs = draw.X.shape
    assert draw.name == name
    assert draw.y.shape == (rows,)
    assert inputs == sizes["d"] == draw.X_test.shape[1]
    assert draw.y_test.shape == draw.f_test.shape == (len(draw.X_test),)
    assert draw.relevant.shape == (inputs,) and draw.relevant.dtype == bool
    assert draw.relevant.sum() == relevant
    assert all(np.isfinite(part).all() for part in (draw.X, draw.y, draw.X_test, draw.y_test))


@pytest.mark.parametrize("name", SMALL)
def test_same_seed_same_draw(name: str) -> None:
    design, sizes, _ = SMALL[name]
    first, again, other = design(3, **sizes), design(np.random.default_rng(3), **sizes), design(4, **sizes)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    np.testing.assert_array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.y, other.y)


@pytest.mark.parametrize(
    ("design", "ratio"),
    [
        (designs.toy, 0.05),
        (designs.toy_weak, 0.05),
        (designs.ar1, 0.1),
        (designs.step_and_kink, 0.1),
        (designs.mixed_frequency, 0.1),
        (designs.binary_inputs, 0.2),
    ],
)
def test_noise_ratio_is_the_stated_one(design, ratio: float) -> None:
    draw = design(2, n=4000, n_test=20_000, d=50)
    found = np.var(draw.y_test - draw.f_test) / np.var(draw.f_test)
    assert found == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize(
    ("design", "noise_sd"),
    [
        (designs.experiment1, 0.05),
        (designs.interactions, 0.3),
        (designs.friedman1, 1.0),
        (designs.noise, 1.0),
    ],
)
def test_noise_has_the_stated_standard_deviation(design, noise_sd: float) -> None:
    draw = design(2, n=10, n_test=20_000, d=10)
    assert np.std(draw.y_test - draw.f_test) == pytest.approx(noise_sd, rel=0.03)


def test_experiment2_has_half_correlation_everywhere_but_in_the_pair() -> None:
    draw = designs.experiment2(0, n=40_000, d=6, n_test=100)
    found = np.corrcoef(draw.X, rowvar=False)
    # Normal scores of correlation 1/2 give uniforms of correlation (6 / pi) arcsin(1/4).
    expected = np.full((6, 6), 6 / np.pi * np.arcsin(0.25))
    expected[0, 1] = expected[1, 0] = 0.0
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert draw.X.min() >= 0.0 and draw.X.max() <= 1.0


def test_experiment2_tests_on_a_grid_with_a_quarter_of_noise() -> None:
    draw = designs.experiment2(0, n=20_000, d=4, n_test=10_000)
    assert len(np.unique(draw.X_test[:, 0])) == len(np.unique(draw.X_test[:, 1])) == 100
    assert np.mean((draw.y_test - draw.f_test) ** 2) / np.var(draw.y_test) == pytest.approx(0.25, abs=0.02)


def test_experiment2_keeps_the_tangent_of_the_product() -> None:
    draw = designs.experiment2(0, n=10, d=2, n_test=4)
    corner = np.all(draw.X_test == 1.0, axis=1)
    assert draw.f_test[corner] == pytest.approx(3 * np.tan(1.0) + np.cos(4 * np.pi**2))


def test_experiment2_in_single_precision_and_with_a_wrong_grid() -> None:
    assert designs.experiment2(0, n=50, d=5, n_test=25, dtype=np.float32).X.dtype == np.float32
    with pytest.raises(ValueError, match="square"):
        designs.experiment2(0, n=50, d=5, n_test=26)


def test_ar1_inputs_are_correlated_and_true_places_separated() -> None:
    draw = designs.ar1(0, n=20_000, d=100)
    found = np.corrcoef(draw.X, rowvar=False)
    assert found[10, 11] == pytest.approx(0.9, abs=0.01)
    assert found[10, 15] == pytest.approx(0.9**5, abs=0.03)
    for seed in range(20):
        assert np.diff(np.flatnonzero(designs.ar1(seed, n=5).relevant)).min() >= 10


def test_interactions_have_no_main_effects() -> None:
    draw = designs.interactions(0, n=10, d=4, n_test=50_000)
    assert np.all(np.abs(draw.X_test.T @ draw.f_test) / len(draw.f_test) < 0.03)


def test_printed_numbers_of_the_paper_are_readable() -> None:
    paper = json.loads((Path(designs.__file__).parent / "paper.json").read_text())
    assert paper["toy"]["methods"]["SSVGP+BMA"]["mcc"] == {"mean": 0.98, "sd": 0.04}
    assert paper["experiment1"]["mean_sd"]["methods"]["SSVGP(m=n/2)"]["mse"]["mean"] == 0.0187
    assert len(paper["average_pip_by_v"]["v"]) == len(paper["average_pip_by_v"]["average_pip"]) == 5
