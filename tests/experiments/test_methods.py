"""Methods by name: their settings are real ones, and ours answer a small problem."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest

from experiments import designs, experiment1, experiment2, league, methods, real, toy
from experiments.problems import drawn
from ssvgp import peers
from ssvgp.settings import PaperSettings

EXPERIMENTS = [one.EXPERIMENT for one in (toy, experiment1, experiment2, real, league)]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_every_name_in_an_experiment_is_known(experiment) -> None:
    named = {name for group in experiment.methods.values() for name in group}
    assert named <= set(methods.METHODS) and set(experiment.methods) == set(experiment.designs)
    places = {key.rpartition("/")[2] for key in (*experiment.settings, *experiment.except_for)}
    assert places <= named and set(experiment.smoke_designs or ()) <= set(experiment.designs)


@pytest.mark.parametrize("name", [name for name, one in methods.OURS.items() if one.paper is not None])
def test_settings_of_the_papers_variants_are_constants_of_the_paper(name: str) -> None:
    for smoke in (False, True):
        PaperSettings(**methods.settings_of(name, {}, smoke))


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # of the libraries that are imported
@pytest.mark.parametrize("name", sorted(methods.RIVALS))
def test_settings_of_a_rival_are_settings_it_has(name: str) -> None:
    reason = methods.missing(name)
    if reason:
        pytest.skip(reason)
    entry = peers.PEERS[methods.METHODS[name].peer]
    known = set(inspect.signature(getattr(import_module(f"ssvgp.peers.{entry.module}"), entry.name)).parameters)
    used = set(methods.METHODS[name].settings) | set(methods.METHODS[name].smoke)
    for experiment in EXPERIMENTS:
        for key, settings in experiment.settings.items():
            used |= set(settings) if key.rpartition("/")[2] == name else set()
    assert used <= known


@pytest.mark.parametrize("name", ["paper_n4", "mf_by_v"])
def test_ours_answers_with_profiles_parts_of_time_and_inputs_used(name: str) -> None:
    problem = drawn(designs.toy(0, n=40, d=8, n_test=11))
    answer = methods.answer(name, problem, methods.settings_of(name, {}, smoke=True), seed=0)
    assert answer.mean.shape == answer.lower.shape == answer.log_density.shape == (11,)
    assert np.all(answer.lower < answer.upper) and answer.profiles["pip"].shape == (8,)
    assert answer.notes["train_seconds"] + answer.notes["loo_seconds"] == pytest.approx(answer.fit_seconds)
    assert 0 <= answer.notes["inputs_used"] <= 8
    if name == "mf_by_v":
        powers = [answer.profiles[f"pip_v1e{power}"].mean() for power in range(2, 7)]
        assert powers == sorted(powers)


def test_a_rival_that_is_not_there_is_told() -> None:
    assert methods.missing("ssvgp") is None
    if "mlii" not in peers.PEERS:
        assert "no rival 'mlii'" in (methods.missing("mlii") or "")
