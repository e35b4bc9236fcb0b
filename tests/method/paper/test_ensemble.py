"""The paper's method as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssvgp.data.view import Standardised
from ssvgp.evidence import loo
from ssvgp.gp.kernels.compose import kernel_named
from ssvgp.method.paper import ensemble as paper
from ssvgp.method.paper import weights
from ssvgp.method.paper.ensemble import paper_ensemble
from ssvgp.method.paper.grid import climb_on, grid
from ssvgp.records import Ensemble, Train
from ssvgp.settings import AutoSettings, Blur, PaperSettings
from ssvgp.settings import paper as paper_settings

SE = kernel_named("se")
PLACES = ("variance", "noise", "instead")
QUICK = PaperSettings(v=(1e2, 1e3, 1e4, 1e5), first_steps=60, steps=30, rounds=3)


def two_of_eight(n: int = 60, seed: int = 0) -> Train:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    y = np.sin(1.5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    return Train((X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std())


def ensemble(settings: PaperSettings, train: Train | None = None, seed: int = 0, n_jobs: int = 1) -> Ensemble:
    return paper_ensemble(train or two_of_eight(), SE, settings, np.random.default_rng(seed), n_jobs)


def test_the_relevant_inputs_get_high_pips() -> None:
    found = ensemble(QUICK)
    assert np.array_equal(np.flatnonzero(found.pip > 0.5)[:2], [0, 1])
    assert found.pip[:2] == pytest.approx(1.0, abs=1e-6)
    assert found.pip[2:].mean() < 0.5
    assert found.weights.sum() == pytest.approx(1.0)
    assert np.all(found.weights > 0)


def test_permuting_columns_permutes_pips() -> None:
    train, order = two_of_eight(), np.array([3, 1, 7, 0, 2, 6, 5, 4])
    settings = replace(QUICK, minibatch=1.0, thin=None)
    plain, permuted = ensemble(settings, train), ensemble(settings, Train(train.X[:, order], train.y))
    assert permuted.pip == pytest.approx(plain.pip[order], abs=1e-6)


def test_the_notes_tell_of_every_v() -> None:
    notes = ensemble(QUICK).notes
    assert notes["average_pip"] == pytest.approx(notes["inclusion"].mean(1))
    assert notes["elbo"].shape == notes["sizes"].shape == (4, 3)
    assert notes["loo"].shape == notes["v_weights"].shape == notes["kept"].shape == (4,)
    assert notes["loo_rows"][0].mean.shape == (60,)


def test_average_pips_grow_with_v() -> None:
    notes = ensemble(replace(QUICK, v=(1.0, 1e2, 1e4, 1e8), minibatch=1.0)).notes
    assert np.all(np.diff(notes["average_pip"]) >= 0)
    assert notes["average_pip"][0] == 0.0


def test_the_best_member_alone_has_all_weight() -> None:
    found = ensemble(replace(QUICK, best_only=True))
    assert len(found.members) == 1
    assert found.weights == pytest.approx([1.0])
    best = found.notes["inclusion"][np.argmax(found.notes["loo"])]
    assert found.pip == pytest.approx(best)


@pytest.mark.parametrize("neighbours", [None, 20])
def test_collapsing_leaves_one_member_for_each_set(neighbours: int | None) -> None:
    settings = replace(QUICK, v=(1e3, 1.1e3, 1e4), collapse=True, thin=None, loo_neighbours=neighbours)
    found = ensemble(settings)
    sets = [tuple(member.active) for member in found.members]
    assert len(set(sets)) == len(sets) < 3


def test_mean_field_members_share_the_weight_of_their_fit() -> None:
    settings = replace(QUICK, v=(1e4,), posterior="mean-field", prune=0.0, predictive_samples=7)
    found = ensemble(settings)
    assert found.weights == pytest.approx(np.full(7, 1 / 7))
    assert found.pip == pytest.approx(found.notes["inclusion"][0])
    assert not np.array_equal(found.members[0].parameters.theta, found.members[1].parameters.theta)


def test_the_ensemble_does_not_depend_on_the_number_of_jobs() -> None:
    one, two = ensemble(QUICK), ensemble(QUICK, n_jobs=2)
    assert np.array_equal(one.pip, two.pip)
    assert np.array_equal(one.weights, two.weights)


def test_pruning_everything_leaves_a_constant_and_no_pips() -> None:
    found = ensemble(replace(QUICK, v=(1e-2, 1e-1)))
    assert not found.pip.any()
    assert all(member.active.size == 0 for member in found.members)


def test_kappa_in_the_noise_is_a_different_score() -> None:
    places = [replace(QUICK, kappa=1.0, kappa_place=place) for place in PLACES]
    variance, noise, instead = (ensemble(settings) for settings in places)
    assert np.array_equal(variance.notes["inclusion"], noise.notes["inclusion"])
    assert np.array_equal(variance.notes["inclusion"], instead.notes["inclusion"])
    assert not np.allclose(variance.notes["loo"], noise.notes["loo"])
    assert not np.allclose(instead.notes["loo"], noise.notes["loo"])
    with pytest.raises(ValueError, match="'variance', 'noise' or 'instead'"):
        ensemble(replace(QUICK, kappa_place="mean"))


def test_constants_that_the_text_leaves_open_are_those_that_give_its_numbers() -> None:
    assert PaperSettings().blur(2000) == Blur(1.0, "noise", 1e-2)
    assert PaperSettings().blur(2001) == Blur(0.1, "variance", 1e-3)
    assert PaperSettings(kappa=0.2, kappa_place="variance", loo_jitter=0.3).blur(100) == Blur(0.2, "variance", 0.3)
    assert PaperSettings().target == "standardised"
    assert [PaperSettings().for_data(n).parametrisation for n in (2000, 2001)] == ["root", "log"]
    assert PaperSettings(parametrisation="root").for_data(10**6).parametrisation == "root"


def test_the_jitter_of_leave_one_out_takes_the_place_of_that_of_training() -> None:
    train = two_of_eight()
    member = ensemble(QUICK, train).members[0]
    settings = replace(QUICK, kappa=0.3, kappa_place="noise", loo_jitter=0.05)
    noise = member.parameters.noise - QUICK.jitter + 0.05 + 0.3
    expected = loo.exact(train, replace(member, parameters=replace(member.parameters, noise=noise)))
    assert paper.leave_one_out(train, member, settings).total == pytest.approx(expected.total)


def test_kappa_instead_of_the_noise_judges_the_kernel_alone() -> None:
    train = two_of_eight()
    member = ensemble(QUICK, train).members[0]
    settings = replace(QUICK, kappa=0.3, kappa_place="instead", loo_jitter=0.05)
    expected = loo.exact(train, replace(member, parameters=replace(member.parameters, noise=0.35)))
    noisier = replace(member, parameters=replace(member.parameters, noise=7.0))
    for one in (member, noisier):
        assert paper.leave_one_out(train, one, settings).total == pytest.approx(expected.total)
    plain = [
        paper.leave_one_out(train, member, replace(settings, kappa=0.0, kappa_place=place)).total for place in PLACES
    ]
    assert plain == pytest.approx([plain[0]] * 3)


def test_inclusion_probabilities_rest_on_all_weights_and_predictions_on_the_thinned() -> None:
    settings = replace(QUICK, thin=1)
    whole, thinned = ensemble(settings), ensemble(replace(settings, thinned_pip=True))
    assert len(whole.members) == len(thinned.members) == 1
    totals, inclusion = whole.notes["loo"], whole.notes["inclusion"]
    assert whole.pip == pytest.approx(weights.score_weights(totals) @ inclusion)
    assert thinned.pip == pytest.approx(inclusion[int(np.argmax(thinned.notes["v_weights"]))])
    assert not np.allclose(whole.pip, thinned.pip)


def test_the_dense_start_of_the_default_keeps_its_own_constants() -> None:
    dense = AutoSettings().dense
    assert (dense.parametrisation, dense.first_steps, dense.learning_rate) == ("log", 100, None)
    assert replace(dense, parametrisation=None, first_steps=200, candidates=10_000) == PaperSettings()


def test_large_data_is_scored_by_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_settings, "SMALL_ROWS", 30)
    exact = ensemble(replace(QUICK, loo_neighbours=59)).notes["loo"]
    assert ensemble(QUICK).notes["loo"] == pytest.approx(exact)  # 64 neighbours are more than there are


def test_a_sample_of_rows_stands_for_all_of_them() -> None:
    settings = replace(QUICK, v=(1e2, 1e4), thin=None, loo_neighbours=20)
    whole, part = ensemble(settings), ensemble(replace(settings, loo_rows=40))
    rows = [score.rows for score in part.notes["loo_rows"]]
    assert all(np.array_equal(rows[0], other) and other.size == 40 for other in rows)
    for all_rows, some in zip(whole.notes["loo_rows"], part.notes["loo_rows"], strict=True):
        np.testing.assert_allclose(some.log_density, all_rows.log_density[some.rows])
        assert abs(some.total - all_rows.total) < 4.0 * some.standard_error


def test_the_shortcuts_of_experiment_2_are_those_of_large_tables() -> None:
    small, large = PaperSettings().for_data(9999), PaperSettings().for_data(10_000)
    for name in ("best_only", "collapse", "shared_first_round"):
        assert getattr(small, name) is False
        assert getattr(large, name) is True
        assert getattr(replace(PaperSettings(), **{name: False}).for_data(10**6), name) is False
        assert getattr(replace(PaperSettings(), **{name: True}).for_data(100), name) is True
    assert (small.extra_steps, large.extra_steps) == (0, 1200)
    assert PaperSettings(extra_steps=0).for_data(10**6).extra_steps == 0


def test_a_large_table_is_raced_to_one_member_on_a_part_of_its_rows() -> None:
    train = two_of_eight(n=12_000)
    settings = replace(QUICK, minibatch=64, loo_rows=2000)
    found = ensemble(settings, train)
    assert len(found.members) == 1
    assert np.array_equal(found.members[0].active, [0, 1])
    notes = found.notes
    assert max(score.rows.size for score in notes["loo_rows"]) <= 2000
    assert notes["loo_error"][np.argmax(notes["loo"])] == 0.0
    assert np.array_equal(ensemble(settings, train, n_jobs=2).pip, found.pip)


def test_extra_steps_are_kept_where_left_out_rows_are_predicted_better() -> None:
    train = two_of_eight(n=300)
    short = replace(QUICK, v=(1e4,), best_only=True, learning_rate=0.01, parametrisation="log")  # which is slower
    cut_off, climbed = (ensemble(replace(short, extra_steps=steps), train) for steps in (0, 600))
    assert np.array_equal(cut_off.pip, climbed.pip)
    before, after = (loo.exact(train, found.members[0]).total for found in (cut_off, climbed))
    assert after > before + 10.0


def test_a_fit_that_more_steps_would_spoil_stays_as_it_is() -> None:
    train = two_of_eight(n=300)
    spoiling = replace(QUICK, v=(1e4,), best_only=True, extra_steps=600)
    fit = grid(train, SE, spoiling, np.random.default_rng(0))[0]
    wild = replace(spoiling, learning_rate=3.0)
    found = paper._climbed(train, fit, SE, wild, np.random.default_rng(1))
    assert np.array_equal(found.theta, fit.theta)
    assert found.parameters == fit.parameters


def test_a_member_without_inputs_climbs_on_as_well() -> None:
    found = ensemble(replace(QUICK, v=(1e-2,), extra_steps=300, best_only=True))
    assert found.members[0].active.size == 0
    assert np.isfinite([found.members[0].parameters.scale, found.members[0].parameters.noise]).all()


def test_climbing_on_by_no_steps_changes_nothing() -> None:
    train = two_of_eight()
    fit = grid(train, SE, QUICK, np.random.default_rng(0))[2]
    same = climb_on(fit, train, SE, QUICK, 0, np.random.default_rng(1))
    assert np.array_equal(same.theta, fit.theta)
    assert same.parameters.noise == pytest.approx(fit.parameters.noise)
    assert same.parameters.scale == pytest.approx(fit.parameters.scale)


def test_a_view_of_a_table_gives_the_answer_of_the_table() -> None:
    train = two_of_eight(n=2500)
    view = Standardised(2.0 * train.X + 1.0, np.arange(8), np.ones(8), np.full(8, 2.0))
    settings = replace(QUICK, v=(1e2, 1e4), minibatch=64)
    plain, lazy = ensemble(settings, Train(view[:], train.y)), ensemble(settings, Train(view, train.y))
    assert np.array_equal(plain.pip, lazy.pip)
    assert np.array_equal(plain.notes["loo"], lazy.notes["loo"])
