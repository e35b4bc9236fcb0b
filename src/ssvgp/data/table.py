"""A user's table, checked: numbers, finite, of the right shape, and never copied where it can be read as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from ssvgp.data.inputs import row_pieces, text_columns
from ssvgp.settings.machine import LARGE

KINDS = {"dtype": [np.float64, np.float32]}


def training_table(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y (n,) as arrays of floats; errors name the columns that hold text."""
    try:
        X, y = validate_data(estimator, X, y, **KINDS, **_finite(X), y_numeric=True, ensure_min_samples=2)
    except ValueError as error:
        if "could not convert string" not in str(error) or not (listed := text_columns(X)):
            raise
        raise ValueError(f"{error}; encode or leave out the columns with text: {listed}") from error
    return _checked(X, estimator), y


def training_rows(estimator: Any, X: Any) -> np.ndarray:
    """X (n, d) as an array of floats, where targets are looked at one by one."""
    try:
        X = validate_data(estimator, X, **KINDS, **_finite(X), ensure_min_samples=2)
    except ValueError as error:
        if "could not convert string" not in str(error) or not (listed := text_columns(X)):
            raise
        raise ValueError(f"{error}; encode or leave out the columns with text: {listed}") from error
    return _checked(X, estimator)


def new_rows(estimator: Any, X: Any) -> np.ndarray:
    """Rows X (t, d) as an array of floats with the columns of the fit."""
    return _checked(validate_data(estimator, X, **KINDS, **_finite(X), reset=False), estimator)


def _finite(X: Any) -> dict[str, bool]:
    """Whether scikit-learn looks for NaN, which reads the whole table at once: a large one is left to `_checked`."""
    return {"ensure_all_finite": not (isinstance(X, np.ndarray) and X.size > LARGE)}


def _checked(X: np.ndarray, estimator: Any) -> np.ndarray:
    if X.size > LARGE:
        for part in row_pieces(X):
            assert_all_finite(part, estimator_name=type(estimator).__name__, input_name="X")
    return X
