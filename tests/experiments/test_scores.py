"""Scores at values known by hand, and the runner that collects them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import matthews_corrcoef

from benchmarks.unit import unit_seconds
from experiments import cases, scores


def test_mcc_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        chosen, truth = rng.random(30) < 0.3, rng.random(30) < 0.2
        assert scores.mcc(chosen, truth) == pytest.approx(matthews_corrcoef(truth, chosen))


def test_mcc_where_the_ratio_is_undefined() -> None:
    none, some, every = np.zeros(4, bool), np.array([1, 0, 0, 0], bool), np.ones(4, bool)
    assert scores.mcc(none, none) == 1.0
    assert scores.mcc(every, every) == 1.0
    assert scores.mcc(none, some) == scores.mcc(some, none) == scores.mcc(every, some) == 0.0


def test_mcc_refuses_probabilities() -> None:
    with pytest.raises(ValueError, match="threshold"):
        scores.mcc([0.2, 0.9], [False, True])


def test_nmse_of_the_mean_is_one_and_of_the_truth_zero() -> None:
    y = np.array([1.0, 2.0, 4.0])
    assert scores.nmse(y, np.full(3, y.mean())) == pytest.approx(1.0)
    assert scores.nmse(y, y) == 0.0
    with pytest.raises(ValueError, match="shapes"):
        scores.nmse(y, y[:, None])


def test_coverage_counts_both_ends() -> None:
    assert scores.coverage([0.0, 1.0, 2.0, 3.0], [0.0] * 4, [2.0] * 4) == 0.75


def test_negative_log_densities_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    y, mean, std = rng.normal(size=9), rng.normal(size=9), rng.uniform(0.5, 2.0, size=9)
    expected = -norm.logpdf(y, mean, std).mean()
    assert scores.negative_log_density(y, mean, std) == pytest.approx(expected)
    weights, means, stds = [0.3, 0.7], np.stack([mean, mean]), np.stack([std, std])
    assert scores.mixture_negative_log_density(y, weights, means, stds) == pytest.approx(expected)
    baseline = scores.negative_log_density(y, np.full(9, y.mean()), np.full(9, y.std(ddof=1)))
    assert scores.baseline_negative_log_density(y, y) == pytest.approx(baseline)


def test_mixture_of_two_different_members() -> None:
    found = scores.mixture_negative_log_density([0.5], [0.25, 0.75], [[0.0], [1.0]], [[1.0], [2.0]])
    assert found == pytest.approx(-np.log(0.25 * norm.pdf(0.5) + 0.75 * norm.pdf(0.5, 1.0, 2.0)))


def test_calibration_error() -> None:
    assert scores.ece([0.0, 1.0, 1.0], [False, True, True]) == 0.0
    assert scores.ece([1.0, 1.0], [False, False]) == 1.0
    # Two bins: probabilities of 0.25 of which none is true, and of 0.75 of which all are.
    assert scores.ece([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1]) == pytest.approx(0.25)
    rng = np.random.default_rng(0)
    pips = rng.random(50_000)
    assert scores.ece(pips, rng.random(50_000) < pips) < 0.01


def test_summary_takes_the_worst_from_the_bad_side() -> None:
    values = [0.9, 1.0, 0.5]
    assert scores.summary(values, better="high").worst == 0.5
    low = scores.summary(values)
    assert (low.worst, low.median, low.count) == (1.0, 0.9, 3)
    assert low.sd == pytest.approx(np.std(values, ddof=1))
    assert np.isnan(scores.summary([1.0, np.nan]).mean)


def test_unit_of_time_is_plausible() -> None:
    assert 1e-5 < unit_seconds(repeats=3) < 1.0


def squares(seed: int) -> dict[str, float]:
    return {"mcc": 1.0 - 0.1 * seed, "square": float(seed**2)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_runner_prints_stores_and_overwrites(jobs: int, tmp_path: Path, capsys) -> None:
    cases.run("squares", squares, range(5), results=tmp_path)
    table = cases.run("squares", squares, [0, 1, 2], jobs=jobs, results=tmp_path)
    assert table["mcc"].worst == pytest.approx(0.8) and table["square"].worst == 4.0
    head, *draws, tail = map(json.loads, (tmp_path / "squares.jsonl").read_text().splitlines())
    assert head["seeds"] == [0, 1, 2]
    assert sorted(row["seed"] for row in draws) == [0, 1, 2]
    assert all(row["units"] > 0 for row in draws)
    assert tail["summary"]["square"]["mean"] == pytest.approx(5 / 3)
    assert "seed    2" in capsys.readouterr().out


def test_runner_command_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["squares", "--smoke"])
    both = cases.Case("squares", squares, seeds=range(10, 20)), cases.Case("again", squares, seeds=[1])
    cases.main(*both, results=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again-smoke.jsonl", "squares-smoke.jsonl"]
    assert "seed   11" in capsys.readouterr().out


def test_what_is_no_number_is_stored_as_null_and_stays_in_the_summary(tmp_path: Path) -> None:
    table = cases.run("hole", lambda seed: {"mcc": float("nan") if seed else 1.0}, [0, 1], results=tmp_path)
    assert np.isnan(table["mcc"].mean)
    rows = [json.loads(row) for row in (tmp_path / "hole.jsonl").read_text().splitlines()]
    assert [row["mcc"] for row in rows[1:3]] == [1.0, None] and rows[-1]["summary"]["mcc"]["mean"] is None
