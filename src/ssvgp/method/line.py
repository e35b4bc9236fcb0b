"""The line of a fit: standardised data, the method that was asked for, and what it found as one record."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ssvgp.data.curves import Curve
from ssvgp.data.inputs import Inputs
from ssvgp.data.memory import bytes_of, threads
from ssvgp.data.rounding import rounding_variance
from ssvgp.data.rows import Sample
from ssvgp.data.target import Target, robust_target, target_of
from ssvgp.data.view import kept_rows
from ssvgp.explain.correlated import relatives_of
from ssvgp.explain.fitted import Fitted
from ssvgp.method.auto import auto_ensemble, nothing_to_select
from ssvgp.method.paper.ensemble import paper_ensemble
from ssvgp.method.paper.grid import LEAST_NOISE
from ssvgp.method.readings import Reading
from ssvgp.method.request import Request
from ssvgp.method.target_curve import candidates, curve_by_evidence
from ssvgp.model.likelihoods import AS_IT_IS, TAILS, Rows, likelihood_named
from ssvgp.records import Ensemble, Likelihood, Train, has_sites
from ssvgp.run.memo import Memo
from ssvgp.run.progress import Callback
from ssvgp.run.workers import one_blas_thread
from ssvgp.settings import Prior, Regime
from ssvgp.settings.machine import LARGE


def fit_table(
    sample: Sample,
    inputs: Inputs,
    request: Request,
    regime: Regime,
    rng: np.random.Generator,
    callback: Callback | None,
) -> Fitted:
    """All inputs of checked rows X (n, d) and targets y (n,) to what the method finds in them.

    The regime is that of the rows and of the inputs that are kept. Rows are standardised once, or as they are read.
    """
    rows = standardised_rows(sample.X, inputs, request, regime)
    return fit_rows(rows, sample, inputs, request, regime, rng, callback)


def standardised_rows(X: np.ndarray, inputs: Inputs, request: Request, regime: Regime) -> Any:
    """The rows (n, p) as a fit sees them: at once, or standardised as they are read where they are many."""
    limit = bytes_of(request.max_memory)
    most = LARGE if limit is None else min(LARGE, limit // 32)
    return inputs.rows(X, most if regime.in_pieces else X.size)


def fit_rows(
    rows: Any,
    sample: Sample,
    inputs: Inputs,
    request: Request,
    regime: Regime,
    rng: np.random.Generator,
    callback: Callback | None,
    memo: Memo | None = None,
) -> Fitted:
    """The same from standardised rows (n, p); the memo keeps what depends on them alone for other targets."""
    if request.likelihood not in AS_IT_IS:  # classes and counts agree without being copies
        sample = sample.counted()
    with one_blas_thread():
        target = _target(sample, rows, request, regime, rng)
        readings = _readings(sample, rows, target, request, regime, memo)
        train = readings[0].train
        if target.constant or not train.d:
            found = nothing_to_select(train, LEAST_NOISE if target.constant else 1.0)
        else:
            found = _ensemble(readings, request, regime, rng, callback, inputs.spread)
            taken = readings[found.notes.get("reading", 0)]
            target, train = taken.target, taken.train
            found = replace(found, notes={**found.notes, "reading": taken.words})
        sampling, seeding = rng.spawn(2)
        relatives = relatives_of(train, inputs, found.pip, sampling)
    if found.weak is not None:  # predictions of the members are of what it leaves
        train = replace(train, y=train.y - found.weak.at(train.X))
    kept = kept_rows(replace(train, memo=None), found.members)
    seed = int(seeding.integers(2**31))
    return Fitted(found, kept, inputs, target, relatives, numbers=sample.numbers, places=sample.places, seed=seed)


def _readings(
    sample: Sample, rows: Any, target: Target, request: Request, regime: Regime, memo: Memo | None
) -> list[Reading]:
    """The ways to read y: as asked for, and where that is left to the evidence others beside Gaussian noise."""
    auto = request.likelihood == "auto"
    name = "gaussian" if auto else request.likelihood
    out = [_reading("gaussian noise" if auto else name, name, sample, rows, target, request, memo)]
    if not auto or regime.paper is not None or target.constant or target.curved:
        return out
    robust = robust_target(sample.y, sample.weights)
    for words, name in (("heavy tails", "student-t"), ("outliers", "outliers")):
        out.append(_reading(words, name, sample, rows, robust, request, memo))
    if regime.first.exact and request.target_transform == "auto" and sample.known is None:
        curves = candidates(sample.y, sample.weights)[1:]
        bent = [target_of(sample.y, curve, sample.weights) for curve in curves]
        out += [_reading(f"{one.curve.description}", "gaussian", sample, rows, one, request, memo) for one in bent]
    return out


def _reading(
    words: str,
    likelihood: str,
    sample: Sample,
    rows: Any,
    target: Target,
    request: Request,
    memo: Memo | None,
) -> Reading:
    noise = _noise(sample, target, likelihood)
    train = Train(rows, target.standardise(sample.y), noise, memo)
    prior = _with_rounding(request.prior, sample.y, target, noise)
    slopes = target.log_slope(sample.y) if likelihood not in AS_IT_IS else np.zeros(sample.y.size)
    return Reading(words, target, train, prior, slopes if sample.weights is None else sample.weights * slopes)


def _noise(sample: Sample, target: Target, likelihood: str) -> Likelihood | None:
    """What ties y to f in each row, by the likelihood of that name; None for the learned noise alone."""
    n = sample.y.size
    weights = np.ones(n) if sample.weights is None else sample.weights
    known = np.zeros(n) if sample.known is None else sample.known / target.spread**2
    exposure = np.ones(n) if sample.exposure is None else sample.exposure
    return likelihood_named(likelihood).build(Rows(target.standardise(sample.y), weights, known, exposure))


def _with_rounding(prior: Prior, y: np.ndarray, target: Target, noise: Likelihood | None) -> Prior:
    """The prior that knows what rounding adds to the noise; under a curve it would be another in each row.

    Classes and counts are whole numbers, not rounded ones.
    """
    if has_sites(noise):
        prior = noise.adapted(prior)
        if noise.name in AS_IT_IS:
            return replace(prior, rounding=0.0)
    if prior.rounding is not None:
        return prior
    return replace(prior, rounding=0.0 if target.curved else rounding_variance(y) / target.spread**2)


def _target(sample: Sample, rows: Any, request: Request, regime: Regime, rng: np.random.Generator) -> Target:
    """How y is standardised, after the transform that was asked for or the curve that the evidence chooses.

    Where noise is known there is no curve; classes and counts stay as they are.
    """
    if request.likelihood in AS_IT_IS:
        return target_of(sample.y).unscaled()
    curve: str | Curve | None = request.target_transform
    if curve == "auto":
        curve, kernel = None, request.kernels(regime)[0]
        if regime.paper is None and rows.shape[1] and sample.known is None:
            curve = curve_by_evidence(rows, sample.y, kernel, request.prior, regime, rng, sample.weights)
    target = target_of(sample.y, curve, sample.weights)
    if sample.known is not None:
        target.refuse_known_noise()
    if regime.paper is None and request.likelihood in TAILS and not target.curved:
        return robust_target(sample.y, sample.weights)
    # the paper has y neither centred nor scaled in experiment 1
    return target.unscaled() if regime.paper is not None and regime.paper.target == "raw" else target


def _ensemble(
    readings: list[Reading],
    request: Request,
    regime: Regime,
    rng: np.random.Generator,
    callback: Callback | None,
    units: np.ndarray,
) -> Ensemble:
    train, prior = readings[0].train, readings[0].prior
    n_jobs, kernels = threads(request.n_jobs, request.max_memory, regime.rows_together), request.kernels(regime)
    if regime.paper is not None:
        return paper_ensemble(train, kernels[0], regime.paper, rng, n_jobs, callback)
    return auto_ensemble(train, kernels, prior, regime, rng, n_jobs, callback, units, readings=readings)


def warn_of_notes(notes: Mapping[str, Any]) -> None:
    """Say what went otherwise than it should: a fit that was interrupted, a covariance that could not be factored."""
    if notes.get("interrupted"):
        warnings.warn("fit was interrupted: what it had found by then is kept", UserWarning, stacklevel=3)
    jitter = notes.get("jitter", 0.0)
    if jitter > 0.0:
        message = (
            f"a covariance matrix of the fit is not positive definite: {jitter:.1e} of the variance of y was added to"
            " its diagonal; the kernel may be no covariance function, or y free of noise"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)
