"""How methods answer problems of classes and counts, and how the answers are scored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import mean_poisson_deviance, roc_auc_score

from experiments.problems import Problem
from experiments.scores import coverage, ece, selection_scores
from ssvgp import SSVGPClassifier, SSVGPRegressor, peers

LEAST = 1e-6  # probability and mean: one surprise does not decide a whole league


@dataclass(frozen=True)
class OutcomeAnswer:
    """Probabilities (t, c) of `labels` (c,), or means (t,) of counts with their 95% intervals where there are any."""

    selected: np.ndarray
    fit_seconds: float
    predict_seconds: float
    labels: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    mean: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    profiles: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


def ours(problem: Problem, settings: Mapping[str, Any], seed: int) -> OutcomeAnswer:
    """The answer of our own estimators."""
    start = time.perf_counter()
    if problem.kind == "classes":
        model = SSVGPClassifier(random_state=seed, n_jobs=1, **settings).fit(problem.X, problem.y)
        fitted = time.perf_counter()
        found: dict[str, Any] = {"labels": model.classes_, "probabilities": model.predict_proba(problem.X_test)}
        done = time.perf_counter()
    else:
        options = {"likelihood": "negative-binomial", **settings}
        model = SSVGPRegressor(random_state=seed, n_jobs=1, **options).fit(problem.X, problem.y)
        fitted = time.perf_counter()
        found = {"mean": model.predict(problem.X_test)}
        done = time.perf_counter()
        band = model.predict_quantiles(problem.X_test, [0.025, 0.975])
        found |= {"lower": band[:, 0], "upper": band[:, 1]}
    seconds = {"fit_seconds": fitted - start, "predict_seconds": done - fitted}
    return OutcomeAnswer(model.get_support(), profiles={"pip": model.pip_}, **seconds, **found)


def rival(name: str, problem: Problem, settings: Mapping[str, Any], seed: int) -> OutcomeAnswer:
    """The answer of a rival of `ssvgp.peers`."""
    peer = peers.make(name, random_state=seed, **settings).fit(problem.X, problem.y)
    start = time.perf_counter()
    forecast = peer.predict(problem.X_test)
    seconds = {"fit_seconds": peer.seconds, "predict_seconds": time.perf_counter() - start}
    relevance = peer.relevance()
    common = {"profiles": {"score": relevance.scores}, "notes": dict(peer.notes), **seconds}
    if problem.kind == "classes":
        return OutcomeAnswer(relevance.selected, labels=forecast.classes, probabilities=forecast.values, **common)
    return OutcomeAnswer(relevance.selected, mean=forecast.mean, **common)


def outcome_scores(problem: Problem, answer: OutcomeAnswer) -> dict[str, float]:
    """Loss (log loss, or Poisson deviance), that of the base rate, AUC, calibration, selection and seconds."""
    found = _class_scores(problem, answer) if problem.kind == "classes" else _count_scores(problem, answer)
    found |= {
        "selected": float(answer.selected.sum()),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
        "seconds": answer.fit_seconds + answer.predict_seconds,
    }
    if problem.relevant is not None:
        found |= selection_scores(answer.selected, problem.relevant)
    return found


def _class_scores(problem: Problem, answer: OutcomeAnswer) -> dict[str, float]:
    assert answer.labels is not None and answer.probabilities is not None
    labels, codes = np.unique(problem.y, return_inverse=True)
    assert np.array_equal(labels, answer.labels)
    # a label that no training row has cannot be foretold by anybody
    seen = np.isin(problem.y_test, labels)
    truth = np.searchsorted(labels, problem.y_test[seen])
    found = np.clip(answer.probabilities[seen], LEAST, 1.0)
    found /= found.sum(axis=1, keepdims=True)
    base = np.bincount(codes) / codes.size
    out = {
        "loss": float(-np.mean(np.log(found[np.arange(truth.size), truth]))),
        "base": float(-np.mean(np.log(base[truth]))),
        "accuracy": float(np.mean(found.argmax(axis=1) == truth)),
        "ece": ece(found[:, 1], truth == 1) if labels.size == 2 else ece(found, np.eye(labels.size)[truth] == 1),
    }
    if np.unique(truth).size == labels.size:
        score = found[:, 1] if labels.size == 2 else found
        out["auc"] = float(roc_auc_score(truth, score, multi_class="ovr"))
    return out


def _count_scores(problem: Problem, answer: OutcomeAnswer) -> dict[str, float]:
    assert answer.mean is not None
    y, mean = problem.y_test, np.maximum(answer.mean, LEAST)
    base = np.full(y.size, max(float(problem.y.mean()), LEAST))
    out = {"loss": float(mean_poisson_deviance(y, mean)), "base": float(mean_poisson_deviance(y, base))}
    if answer.lower is not None and answer.upper is not None:
        out["coverage95"] = coverage(y, answer.lower, answer.upper)
    return out
