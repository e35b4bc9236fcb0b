"""Targets and folders on a cluster of which a worker dies: nothing lost, nothing twice, the same bits as without."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import run, said

from ssvgp import SSVGPRegressor

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow


def test_a_worker_that_is_killed_loses_no_target(tmp_path: Path) -> None:
    from benchmarks.cluster import cluster, fit_on, table

    X, Y = table(200)
    with cluster() as place:
        found = fit_on(place, X, Y, kill_after=50, kernel="se", checkpoint=tmp_path)
    alone = SSVGPRegressor(random_state=0, kernel="se").fit(X, Y)
    assert len(found["came"]) == 200 and set(found["came"].values()) == {1} and found["workers"] == 1
    np.testing.assert_array_equal(found["model"].pip_, alone.pip_)
    np.testing.assert_array_equal(found["model"].predict(X), alone.predict(X))
    assert len(list(tmp_path.glob("*.ssvgp"))) == 200


def test_a_folder_is_predicted_by_the_workers(tmp_path: Path) -> None:
    from benchmarks.cluster import cluster

    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    rows["y"] = rows["a"] + 0.1 * rng.normal(size=200)
    (tmp_path / "rows").mkdir()
    for k in range(8):
        rows.iloc[25 * k : 25 * k + 25].to_parquet(tmp_path / "rows" / f"{k}.parquet", index=False)
    model = tmp_path / "m.ssvgp"
    assert run("fit", tmp_path / "rows", "-t", "y", "--kernel", "se", "-o", model, "-q").exit_code == 0
    here, there = tmp_path / "here", tmp_path / "there"
    assert run("predict", model, tmp_path / "rows", "-o", here, "-q").exit_code == 0
    with cluster() as place:
        result = run("predict", model, tmp_path / "rows", "-o", there, "--scheduler", place.address, "--json")
        assert result.exit_code == 0, said(result)
        assert json.loads(result.stdout.splitlines()[-1])["parts"] == 8
        place.kill_one()
        (there / "3.parquet").unlink()
        again = run("predict", model, tmp_path / "rows", "-o", there, "--scheduler", place.address, "--json")
    assert json.loads(again.stdout.splitlines()[-1])["kept"] == 7
    for path in here.glob("*.parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(there / path.name), check_exact=True)
