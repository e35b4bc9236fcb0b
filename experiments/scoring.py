"""From what a method answers to the numbers that are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.problems import Problem
from experiments.scores import baseline_negative_log_density, coverage, log_normal, nmse, selection_scores

SURFACE = 25  # points along each side of a stored surface
DIGITS = 4
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Answer:
    """What a method says of t test rows and d inputs; `profiles` are named vectors (d,) worth drawing."""

    mean: np.ndarray
    log_density: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    selected: np.ndarray
    fit_seconds: float
    predict_seconds: float
    profiles: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


def normal_answer(y_test: np.ndarray, mean: np.ndarray, variance: np.ndarray, **others: Any) -> Answer:
    """The answer of a method that predicts a normal with this mean and variance (t,)."""
    sd = np.sqrt(variance)
    return Answer(mean, log_normal(y_test, mean, sd), mean - NORMAL_95 * sd, mean + NORMAL_95 * sd, **others)


def scores(problem: Problem, answer: Answer) -> dict[str, float]:
    """Error, negative log density, coverage, selection and seconds of an answer."""
    y = problem.y_test
    out = {
        "nmse": nmse(y, answer.mean),
        "nlpd": -float(np.mean(answer.log_density)),
        "nlpd_mean": baseline_negative_log_density(problem.y, y),
        "coverage95": coverage(y, answer.lower, answer.upper),
        "selected": float(answer.selected.sum()),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
        "seconds": answer.fit_seconds + answer.predict_seconds,
    }
    if problem.f_test is not None:
        out["floor"] = nmse(y, problem.f_test)
    if problem.relevant is not None:
        out |= selection_scores(answer.selected, problem.relevant)
    return out


def profile(values: np.ndarray, relevant: np.ndarray | None, most: int) -> dict[str, list[float]]:
    """Values (d,) in falling order, those of relevant inputs first (B.1), of the others the `most` largest."""
    truth = np.zeros(values.size, bool) if relevant is None else relevant
    falling = {"relevant": np.sort(values[truth])[::-1], "others": np.sort(values[~truth])[::-1][:most]}
    return {name: rounded(part) for name, part in falling.items()}


def surface(mean: np.ndarray) -> list[float]:
    """Every so many points of a square grid of predictions (side * side,), about 25 x 25, row by row."""
    side = round(np.sqrt(mean.size))
    if side * side != mean.size:
        raise ValueError(f"{mean.size} predictions do not fill a square grid")
    step = max(1, side // SURFACE)
    return rounded(mean.reshape(side, side)[::step, ::step].ravel())


def rounded(values: np.ndarray) -> list[float]:
    """Numbers with four significant digits, which is what pictures need."""
    return [float(f"{value:.{DIGITS}g}") for value in values]
