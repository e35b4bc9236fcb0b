"""The fake experiment, here and in the processes that the runner starts; and lines of results made by hand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import methods, trial
from experiments.processes import Workers
from experiments.runner import Experiment
from ssvgp import peers


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Experiment]:
    """The fake experiment; its rival is registered for the time of a test."""
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", here)
    before, rivals = dict(methods.METHODS), dict(peers.PEERS)
    module = importlib.import_module("fake_experiment")
    yield module.EXPERIMENT
    for registry, old in ((methods.METHODS, before), (peers.PEERS, rivals)):
        registry.clear()
        registry.update(old)
    for name in ("fake_experiment", "ssvgp.peers.fake_average"):
        sys.modules.pop(name, None)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Trials run in this process, which is quicker; the list tells which did."""
    ran: list[tuple[str, int]] = []

    def result(self: Workers, job: Any) -> dict[str, Any]:
        ran.append((job["method"], job["trial"]))
        return trial.run(job)

    monkeypatch.setattr(Workers, "result", result)
    return ran


@pytest.fixture
def stored_line() -> Callable[..., dict[str, Any]]:
    """Makes the line of a trial from a few numbers."""

    def make(experiment: str, design: str, method: str, trial: int, **scores: float) -> dict[str, Any]:
        usual = {"nmse": 0.5, "nlpd": 1.0, "selected": 2.0, "coverage95": 0.9, "seconds": 1.0, "peak_mb": 100.0}
        return {
            "experiment": experiment,
            "design": design,
            "method": method,
            "trial": trial,
            "seed": 1000 + trial,
            "settings": {},
            "n": 20,
            "rows": 20,
            "d": 4,
            "scores": usual | scores,
            "notes": {},
            "profiles": {},
            "machine": {"cpu": "slide rule", "cores": 1},
            "unit_seconds": 0.001,
            "versions": {"numpy": "2.0"},
        }

    return make
