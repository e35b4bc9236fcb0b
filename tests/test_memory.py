"""Limits on memory: how they are written, what they change, and that they are kept."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import textwrap
from itertools import pairwise

import numpy as np
import pytest

from ssvgp import SSVGPRegressor
from ssvgp.data.inputs import inputs_of
from ssvgp.data.mapped import let_go, take_rows
from ssvgp.data.memory import MemoryLimitWarning, bytes_of, threads, warn_of_memory
from ssvgp.gp.batches import BATCH_BYTES, Work


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 6))
    return X, np.sin(5.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=4000)


@pytest.fixture(scope="module")
def model(data) -> SSVGPRegressor:
    return SSVGPRegressor(kernel="se", random_state=0).fit(*data)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), (2**30, 2**30), (3e8, 3 * 10**8), ("2GB", 2 * 10**9), ("1.5 gb", 15 * 10**8), ("512MiB", 2**29)],
)
def test_a_limit_is_bytes_or_text_with_a_unit(given, expected) -> None:
    assert bytes_of(given) == expected


@pytest.mark.parametrize("given", ["", "much", "2 GB or so", "-2GB", "GB", True, [1], float("nan"), float("inf"), 1j])
def test_other_limits_are_refused(given) -> None:
    with pytest.raises(ValueError, match="max_memory is None, bytes, or text"):
        bytes_of(given)


@pytest.mark.parametrize("given", [0, -1, 1000, "1MB"])
def test_a_limit_without_room_for_anything_is_refused_by_fit(given, data) -> None:
    with pytest.raises(ValueError, match="a fit needs 100000000 or more"):
        SSVGPRegressor(max_memory=given).fit(*data)


def test_what_cannot_be_met_is_said() -> None:
    with pytest.warns(MemoryLimitWarning, match="needs about 400 MB beside X, more than max_memory='200MB'"):
        warn_of_memory(4 * 10**8, "200MB", "a prediction")
    warn_of_memory(4 * 10**8, "400MB", "a prediction")
    warn_of_memory(4 * 10**8, None, "a prediction")


def test_threads_have_room_for_their_matrices() -> None:
    assert threads(8, None, 2000) == 8
    assert threads(8, "1GB", 2000) == 3
    assert threads(8, "100MB", 2000) == 1


@pytest.mark.parametrize("memory", [None, 2**20, 2**27, 2**30])
def test_batches_cover_all_rows_in_order_whatever_the_limit(memory) -> None:
    seen = Work(3, memory).over_batches(lambda at: (at.start, at.stop), 100_000, 4096, 256)
    assert seen[0][0] == 0 and seen[-1][1] == 100_000
    assert all(left[1] == right[0] for left, right in pairwise(seen))
    assert all(start % 256 == 0 for start, _ in seen)
    most = BATCH_BYTES if memory is None else min(BATCH_BYTES, memory // 4)
    assert (seen[0][1] - seen[0][0]) * 4096 <= max(most, 256 * 4096)


def test_predictions_depend_neither_on_threads_nor_on_batches(model, data) -> None:
    X = np.random.default_rng(1).uniform(size=(3000, 6))
    expected = model.predict(X, return_std=True)
    for change in ({"n_jobs": 3}, {"max_memory": "100MB"}, {"n_jobs": 2, "max_memory": 10**8}):
        other = pickle.loads(pickle.dumps(model)).set_params(**change)
        for left, right in zip(other.predict(X, return_std=True), expected, strict=True):
            np.testing.assert_array_equal(left, right)


def test_searches_are_prepared_once_and_left_out_of_pickles(model, data, monkeypatch) -> None:
    X = data[0][:50]
    expected = model.predict(X)
    assert ("prepared", 256) in model.fitted_.cache
    monkeypatch.setattr("ssvgp.explain.fitted.prepared", None)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert not pickle.loads(pickle.dumps(model)).fitted_.cache


def test_the_order_of_a_table_in_memory_changes_nothing(data, model) -> None:
    X, y = data
    other = SSVGPRegressor(kernel="se", random_state=0).fit(np.asfortranarray(X), y)
    np.testing.assert_array_equal(other.pip_, model.pip_)
    np.testing.assert_array_equal(other.predict(np.asfortranarray(X[:99])), model.predict(X[:99]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_tables_are_neither_copied_nor_taken_otherwise(order, data, monkeypatch) -> None:
    X, y = data
    plain = SSVGPRegressor(kernel="se", random_state=0).fit(X, y)
    monkeypatch.setattr("ssvgp.data.inputs.LARGE", 1000)
    monkeypatch.setattr("ssvgp.method.line.LARGE", 1000)
    monkeypatch.setattr("ssvgp.data.table.LARGE", 1000)
    table = np.asarray(X, order=order)
    table.flags.writeable = False
    large = SSVGPRegressor(kernel="se", random_state=0).fit(table, y)
    assert np.shares_memory(large.train_.X.raw, table)
    np.testing.assert_allclose(large.predict(table), plain.predict(X), rtol=1e-9)
    table = table.copy(order=order)
    table[7, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        large.predict(table)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_letting_go_of_a_mapped_table_loses_nothing(mode, tmp_path) -> None:
    np.save(tmp_path / "X.npy", np.arange(6000.0).reshape(1000, 6))
    X = np.load(tmp_path / "X.npy", mmap_mode=mode)
    expected = np.array(X)
    if mode != "r":
        X[5] = expected[5] = -1.0
    let_go(X[3:])
    np.testing.assert_array_equal(X, expected)
    rows = np.random.default_rng(0).permutation(1000)
    for some in (rows, list(rows[:70]), rows > 500, 3, slice(2, 9)):
        np.testing.assert_array_equal(take_rows(X, some), expected[some])


def test_columns_of_a_view_come_in_the_order_asked_for(data) -> None:
    X = data[0][:50, :2]
    view = inputs_of(X).view(X)
    np.testing.assert_array_equal(view[np.arange(5), [1, 0]], view[np.arange(5)][:, ::-1])


PEAK = """
    import json, resource, sys
    import numpy as np
    from ssvgp import SSVGPRegressor
    rng = np.random.default_rng(0)
    X = rng.random((400_000, 40), dtype=np.float32)
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(400_000)
    peak = lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = peak()
    model = SSVGPRegressor(kernel="se", random_state=0, n_jobs=2, max_memory=sys.argv[1]).fit(X, y)
    fitted = peak()
    mean = model.predict(X)
    correlation = np.corrcoef(mean, np.sin(6.0 * X[:, 0]) + X[:, 1])[0, 1]
    print(json.dumps([fitted - before, peak() - before, float(correlation)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["150MB", "400MB"])
def test_the_peak_of_a_process_stays_within_the_limit(limit) -> None:
    command = [sys.executable, "-c", textwrap.dedent(PEAK), limit]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    fit, both, correlation = json.loads(answer.stdout)
    assert fit <= bytes_of(limit)
    assert both <= bytes_of(limit)
    assert correlation > 0.999
