"""One seed, one answer: whatever the number of jobs, BLAS threads or earlier fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ssvgp import AutoSettings, PaperSettings, SSVGPRegressor

TOLERANCE = 1e-10
SHORT = PaperSettings(rounds=2, first_steps=40, steps=20, v=(1e3, 1e4, 1e5))
SETTINGS = {"auto": AutoSettings(dense=SHORT, draws=16, components=8), "paper": SHORT}


def table(n: int = 90, d: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, targets and new rows; weak effects, so that several sets carry weight."""
    rng = np.random.default_rng(3)
    X, X_new = rng.normal(size=(n, d)), rng.normal(size=(30, d))
    return X, np.sin(2 * X[:, 1]) + 0.5 * X[:, 4] + 0.2 * X[:, 7] + 0.5 * rng.normal(size=n), X_new


def answer(method: str, **changes: Any) -> np.ndarray:
    """Inclusion probabilities, predictions, draws and leave-one-out figures in one row."""
    X, y, X_new = table()
    model = SSVGPRegressor(method, settings=SETTINGS[method], **({"random_state": 5} | changes)).fit(X, y)
    mean, sd = model.predict(X_new, return_std=True)
    draws = model.sample_y(X_new, 2, random_state=1).ravel()
    quantiles = model.predict_quantiles(X_new, [0.1, 0.9]).ravel()
    return np.concatenate([model.pip_, mean, sd, draws, quantiles, model.loo_.log_density])


@pytest.fixture(scope="module", params=["auto", "paper"])
def method(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def expected(method: str) -> np.ndarray:
    return answer(method)


def test_the_same_seed_gives_the_same_answer(method: str, expected: np.ndarray) -> None:
    np.random.default_rng(0).normal(size=10)
    assert np.array_equal(answer(method), expected)


def test_the_number_of_jobs_changes_nothing(method: str, expected: np.ndarray) -> None:
    assert np.allclose(answer(method, n_jobs=2), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_blas_threads_changes_nothing(method: str, expected: np.ndarray, threads: int) -> None:
    with threadpool_limits(limits=threads):
        assert np.allclose(answer(method), expected, rtol=0, atol=TOLERANCE)


def test_a_generator_or_random_state_may_stand_for_a_seed(method: str, expected: np.ndarray) -> None:
    assert np.array_equal(answer(method, random_state=np.random.RandomState(5)), expected)
    first = answer(method, random_state=np.random.default_rng(5))
    assert np.array_equal(answer(method, random_state=np.random.default_rng(5)), first)


def test_a_fit_leaves_the_global_generator_alone(method: str) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    answer(method)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_order_of_an_array_in_memory_changes_nothing() -> None:
    X, y, X_new = table()
    model = SSVGPRegressor(settings=SETTINGS["auto"], random_state=0)
    first = model.fit(X, y).predict(X_new)
    assert np.array_equal(model.fit(np.asfortranarray(X), y).predict(np.asfortranarray(X_new)), first)
