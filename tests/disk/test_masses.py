"""Models of a sample predict masses of rows through a few of its rows, and so do their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ssvgp import SSVGPRegressor, load
from ssvgp.gp.inducing import Inducing


def test_a_model_of_a_sample_predicts_through_inducing_rows_and_so_does_its_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, 4))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    y = f + 0.3 * rng.standard_normal(4000)
    model = SSVGPRegressor(kernel="se", sample_rows=2500, random_state=0, likelihood="gaussian").fit(X, y)
    ready = model.fitted_.prepared()
    assert ready is not None
    assert all(isinstance(one, Inducing) for one in ready)
    mean, sd = model.predict_latent(X, return_std=True)
    near = replace(model.fitted_, sampled=False, cache=type(model.fitted_.cache)())  # by neighbours
    by_neighbours = near.predict(model.fitted_.train.X[:200])
    through = model.fitted_.predict(model.fitted_.train.X[:200])
    assert np.abs(by_neighbours.means - through.means).max() < 0.5 * np.sqrt(through.noises.max())
    assert np.mean((mean - f) ** 2) < 1.2 * np.mean(sd**2) + 1e-3
    model.save(tmp_path / "sampled.ssvgp")
    again = load(tmp_path / "sampled.ssvgp")
    assert np.array_equal(again.predict(X[:50]), model.predict(X[:50]))
