"""A run that was killed goes on where it was, and a folder of something else is refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ssvgp import SSVGPRegressor
from ssvgp.many import fitting
from ssvgp.many.checkpoint import CheckpointError

N, D, Q = 40, 5, 6


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, X[:, [0, 1, 2, 3, 4, 0]] + 0.5 * rng.normal(size=(N, Q))


def light(**parameters: object) -> SSVGPRegressor:
    return SSVGPRegressor(kernel="se", random_state=0, **parameters)  # type: ignore[arg-type]


class Killed(BaseException):
    """What ends a run in the middle, as far as a test in one process can have it."""


def stop_after(count: int) -> object:
    def report(done: object) -> None:
        if done.finished == count:  # type: ignore[attr-defined]
            raise Killed

    return report


def test_a_killed_run_goes_on_and_fits_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = table()
    undisturbed = light().fit(X, Y)
    with pytest.raises(Killed):
        light(checkpoint=tmp_path, callback=stop_after(3)).fit(X, Y)
    assert len(list(tmp_path.glob("*.ssvgp"))) == 3
    fitted, original = [], fitting.fit_rows
    monkeypatch.setattr(fitting, "fit_rows", lambda *a, **k: fitted.append(1) or original(*a, **k))
    again = light(checkpoint=tmp_path).fit(X, Y)
    assert len(fitted) == 3
    np.testing.assert_array_equal(again.pip_, undisturbed.pip_)
    np.testing.assert_array_equal(again.predict(X), undisturbed.predict(X))
    np.testing.assert_array_equal(again.inverse_lengthscales_, undisturbed.inverse_lengthscales_)
    assert again.summary().equals(undisturbed.summary())
    light(checkpoint=tmp_path, n_jobs=1, threshold=0.9).fit(X, Y)  # what no fit depends on may change
    names = [f"y{k}" for k in range(Q)]
    light(checkpoint=tmp_path).fit(X, pd.DataFrame(Y, columns=names)[names[::-1]])  # and so may the order
    assert len(fitted) == 3


def test_a_process_that_is_killed_leaves_whole_files(tmp_path: Path) -> None:
    code = f"""
    import os, signal, sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import test_checkpoint as t
    X, Y = t.table()
    def report(done):
        if done.finished == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    t.light(checkpoint={str(tmp_path)!r}, callback=report).fit(X, Y)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert ended.returncode == -9, ended.stderr
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.ssvgp")}
    assert len(files) == 2
    (tmp_path / "y3-0.ssvgpabc.part").write_bytes(b"half")  # of a write that was cut short
    X, Y = table()
    np.testing.assert_array_equal(light(checkpoint=tmp_path).fit(X, Y).pip_, light().fit(X, Y).pip_)
    assert all((tmp_path / name).stat().st_mtime_ns == when for name, when in files.items())
    assert not list(tmp_path.glob("*.part"))


def test_a_damaged_file_is_fitted_again(tmp_path: Path) -> None:
    X, Y = table()
    whole = light(checkpoint=tmp_path).fit(X, Y[:, :2])
    path = sorted(tmp_path.glob("*.ssvgp"))[0]
    path.write_bytes(path.read_bytes()[:-20])
    np.testing.assert_array_equal(light(checkpoint=tmp_path).fit(X, Y[:, :2]).pip_, whole.pip_)
    assert light(checkpoint=tmp_path).fit(X, Y[:, :2]).errors_ == {}


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    X, Y = table()
    folder = tmp_path / "run"
    light(checkpoint=folder).fit(X, Y[:, :2])
    for model, rows, weights in (
        (light(checkpoint=folder), X + 1e-9, None),
        (light(checkpoint=folder).set_params(kernel="matern52"), X, None),
        (light(checkpoint=folder).set_params(random_state=1), X, None),
        (light(checkpoint=folder), X, np.linspace(1.0, 2.0, N)),
    ):
        with pytest.raises(CheckpointError, match="another table or to other settings"):
            model.fit(rows, Y[:, :2], weights)
    with pytest.raises(CheckpointError, match="is not empty and no checkpoint"):
        light(checkpoint=tmp_path).fit(X, Y[:, :2])
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(CheckpointError, match="is a file"):
        light(checkpoint=file).fit(X, Y[:, :2])


def test_targets_with_rows_of_their_own_are_kept_with_them(tmp_path: Path) -> None:
    X, Y = table()
    Y[:4, 1] = np.nan
    with pytest.warns(UserWarning, match="left out"):
        first = light(checkpoint=tmp_path).fit(X, Y[:, :2])
    with pytest.warns(UserWarning, match="left out"):
        again = light(checkpoint=tmp_path).fit(X, Y[:, :2])
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    np.testing.assert_array_equal(again.pip_, first.pip_)
