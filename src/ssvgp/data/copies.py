"""Rows of a table that are equal, and whether these were measured several times or are copies of one measurement.

Two measurements of a quantity that is not rounded never agree in all digits: rows that do are copies, and a weight on a
row is as good as copies of it. Taken for measurements they would show that there is no noise, and that whatever is left
of y is a rough function of many inputs. Copies count for more than other rows, and all rows together for no more than
there are. Where y is rounded, and the same x has other values of y too, equal rows may well be measurements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.data.rounding import grid_of


def equal_rows(X: Any, own: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows `numbers` (r,) the first of each that are equal in X (n, d) and `own` (n, q), and the place of all.

    One column after the other, among the rows that were alike in all before: of a table of numbers that are not rounded
    hardly more than the first is looked at.
    """
    firsts = np.arange(numbers.size)
    left, groups = firsts, np.zeros(numbers.size, dtype=np.intp)
    for column in (*own.T, *(X[:, j] for j in range(X.shape[1]))):
        left, groups = _still_alike(left, groups, np.asarray(column)[numbers[left]])
        if not left.size:
            break
    if left.size:
        firsts[left] = left[np.unique(groups, return_index=True)[1]][groups]
    distinct, places = np.unique(firsts, return_inverse=True)
    return numbers[distinct], places


def measured_again(X: Any, y: np.ndarray, numbers: np.ndarray) -> bool:
    """Whether equal rows among `numbers` may be measurements: y is rounded, and some x has several values of it."""
    if grid_of(y[numbers]) == 0.0:
        return False
    nothing = np.empty((y.size, 0))
    return equal_rows(X, nothing, numbers)[0].size < equal_rows(X, y[:, None], numbers)[0].size


def _still_alike(left: np.ndarray, groups: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows left (m,) in groups (m,) those that are alike in these values (m,) too, in rising order, and groups."""
    number = np.unique(values, return_inverse=True)[1]
    both = groups * (int(number.max(initial=0)) + 1) + number
    _, groups, counts = np.unique(both, return_inverse=True, return_counts=True)
    kept = counts[groups] > 1
    return left[kept], np.unique(groups[kept], return_inverse=True)[1]
