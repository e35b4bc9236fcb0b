"""`ssvgp fit`: a table read, a model fitted and written, the answer given."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.classifier import SSVGPClassifier
from ssvgp.cli.answer import answer_lines, answer_record
from ssvgp.cli.files import Model, ModelFile, check_output, notes_of, report_writer, save
from ssvgp.cli.progress import Progress, duration
from ssvgp.cli.voice import Voice
from ssvgp.data.inputs import inputs_of
from ssvgp.estimator import SSVGPRegressor
from ssvgp.tables.columns import TableError, listed
from ssvgp.tables.dialect import Asked
from ssvgp.tables.prepare import Choice, Prepared, prepare
from ssvgp.tables.source import open_table


@dataclass(frozen=True)
class FitOrder:
    """What `ssvgp fit` is asked to do."""

    table: Path
    choice: Choice
    model: Path
    report: Path | None = None
    asked: Asked = field(default_factory=Asked)
    options: dict[str, Any] = field(default_factory=dict)  # of SSVGPRegressor; a classifier takes those that it has


def fit(order: FitOrder, voice: Voice) -> bool:
    """Carry out an order; whether the fit ran to its end."""
    for path in (order.model, order.report):
        check_output(path, order.table)
    write_report = None if order.report is None else report_writer()
    prepared = read(order, voice)
    started = time.monotonic()
    model = fitted(prepared, order, voice)
    seconds = time.monotonic() - started
    interrupted = any(bool(one.get("interrupted")) for one in notes_of(model))
    notes = [*prepared.notes, *_notes(model)]
    if interrupted:
        notes.append("interrupted: the model holds what was found by then")
    for note in notes[len(prepared.notes) :]:
        voice.note(note)
    save(ModelFile(model, prepared.recipe, tuple(notes)), order.model)
    if order.report is not None and write_report is not None:
        voice.step(f"writing {order.report}")
        write_report(model, order.report, prepared.recipe.target, notes)
    written = {"model": str(order.model), "report": str(order.report) if order.report else None}
    record = answer_record(model, prepared.recipe.target)
    lines = [*answer_lines(record), "", f"fitted in {duration(seconds)}; model in {order.model}"]
    if order.report is not None:
        lines.append(f"report in {order.report}")
    extra = {"seconds": round(seconds, 3), "interrupted": interrupted, "notes": notes}
    voice.answer({"command": "fit", **record, **extra, **written}, lines)
    return not interrupted


def read(order: FitOrder, voice: Voice) -> Prepared:
    """The table of an order, with its notes said."""
    voice.step(f"reading {order.table}")
    table = open_table(order.table, order.asked)
    if not order.choice.target:
        raise TableError(f"which column is to be predicted? --target NAME; the table has {listed(table.names)}")
    prepared = prepare(table, order.choice)
    for note in prepared.notes:
        voice.note(note)
    n, d = prepared.X.shape
    voice.step(f"fitting {n} rows of {d} inputs; Ctrl-C stops and keeps what was found")
    return prepared


def fitted(prepared: Prepared, order: FitOrder, voice: Voice) -> Model:
    """The model of a table, its inputs named: a classifier where the target was taken for classes."""
    names = prepared.recipe.inputs

    def counted_names() -> Sequence[str]:  # reports count inputs among those that are not left out
        return [names[j] for j in inputs_of(prepared.X).kept]

    with Progress(voice, counted_names) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said by name afterwards, see _notes
        model = _fit(prepared, order.options, progress)
    model.callback = None  # it holds an open terminal, and is of no use later
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _fit(prepared: Prepared, options: dict[str, Any], progress: Progress) -> Model:
    outcome = prepared.outcome
    if not outcome.labels:
        if outcome.likelihood != "auto":
            options = {**options, "likelihood": outcome.likelihood}
        known = {} if prepared.exposure is None else {"exposure": prepared.exposure}
        model = SSVGPRegressor(callback=progress, **options)
        return model.fit(prepared.X, prepared.y, prepared.weights, prepared.noise, **known)
    if options.get("method") == "paper":
        raise TableError("the paper's method is for numbers: leave out --method, or --likelihood gaussian")
    for option, given in (("--noise", prepared.noise), ("--exposure", prepared.exposure)):
        if given is not None:
            raise TableError(f"{option} is for numbers and counts, and the target was taken for classes")
    own = {name: value for name, value in options.items() if name in SSVGPClassifier().get_params()}
    return SSVGPClassifier(outcome.likelihood, callback=progress, **own).fit(prepared.X, prepared.y, prepared.weights)


def _notes(model: Model) -> list[str]:
    """What the fit left out, by name, and what it had to repair."""
    names, kept = model.feature_names_in_, set(model.kept_.tolist())
    constant = [names[j] for j in range(len(names)) if j not in kept and j not in model.duplicate_of_]
    copies = [f"{names[j]} (copy of {names[first]})" for j, first in model.duplicate_of_.items()]
    notes = [f"constant columns are left out: {listed(constant)}"] if constant else []
    if copies:
        notes.append(f"copies of other columns are left out: {listed(copies)}")
    if any(one.get("jitter", 0.0) > 0.0 for one in notes_of(model)):
        notes.append("a covariance matrix was repaired: the kernel may be no covariance function, or y free of noise")
    return notes
