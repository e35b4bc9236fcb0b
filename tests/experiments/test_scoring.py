"""Scores, profiles and surfaces at values known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from experiments import scoring, trial
from experiments.problems import Problem
from ssvgp.peers import thresholds


def test_a_normal_answer_has_the_density_and_the_band_of_a_normal() -> None:
    y, mean, variance = np.array([0.0, 2.0, 9.0]), np.array([0.5, 2.0, 1.0]), np.array([1.0, 4.0, 0.25])
    X = np.zeros((3, 2))
    none = np.zeros(2, bool)
    answer = scoring.normal_answer(y, mean, variance, selected=none, fit_seconds=1.0, predict_seconds=0.5)
    problem = Problem("p", X, np.array([0.0, 1.0, 2.0]), X, y, f_test=y, relevant=np.array([True, False]))
    found = scoring.scores(problem, answer)
    assert found["nlpd"] == pytest.approx(-norm.logpdf(y, mean, np.sqrt(variance)).mean())
    assert found["coverage95"] == pytest.approx(2.0 / 3.0)
    assert found["nmse"] == pytest.approx(((0.25 + 0.0 + 64.0) / 3.0) / np.var(y))
    assert (found["floor"], found["missed"], found["false"], found["seconds"]) == (0.0, 1.0, 0.0, 1.5)


def test_the_sweep_tries_the_five_thresholds_of_the_paper() -> None:
    truth = np.array([True, True, False, False])
    assert thresholds.THRESHOLDS == pytest.approx((1.0, 0.316228, 0.1, 0.0316228, 0.01))
    found = thresholds.threshold_sweep(np.array([0.5, 0.2, 0.05, 0.001]), truth).mcc
    assert found == pytest.approx([0.0, 1.0 / np.sqrt(3.0), 1.0, 1.0 / np.sqrt(3.0), 1.0 / np.sqrt(3.0)])


def test_a_profile_puts_relevant_inputs_first_and_keeps_the_largest_others() -> None:
    values = np.array([0.1, 0.9, 0.123456, 0.5, 0.3])
    found = scoring.profile(values, np.array([True, False, True, False, False]), most=2)
    assert found == {"relevant": [0.1235, 0.1], "others": [0.9, 0.5]}
    assert scoring.profile(values, None, most=1) == {"relevant": [], "others": [0.9]}


def test_a_surface_is_a_coarse_part_of_the_grid() -> None:
    grid = np.arange(2500.0)
    assert np.array(scoring.surface(grid)).reshape(25, 25)[1, 2] == 2 * 50 + 4
    assert len(scoring.surface(np.zeros(10_000))) == 625
    with pytest.raises(ValueError, match="square"):
        scoring.surface(np.zeros(10))


def test_what_json_cannot_hold_becomes_none() -> None:
    found = trial.finite({"a": np.float64(np.inf), "b": [np.nan, np.float32(1.5)], "c": (True, "x", None)})
    assert found == {"a": None, "b": [None, 1.5], "c": [True, "x", None]}
