"""`ssvgp fit`: a table read, a model fitted and written, the answer given."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.classifier import SSVGPClassifier
from ssvgp.cli.answer import answer_lines, answer_record, several_lines, several_record
from ssvgp.cli.files import Model, ModelFile, check_output, notes_of, report_writer, save
from ssvgp.cli.progress import Progress, duration
from ssvgp.cli.voice import Interrupted, Voice
from ssvgp.data.inputs import inputs_of
from ssvgp.estimator import SSVGPRegressor
from ssvgp.many.targets import Targets
from ssvgp.tables.columns import TableError, listed
from ssvgp.tables.dialect import Asked
from ssvgp.tables.prepare import Choice, Prepared, prepare
from ssvgp.tables.several import PreparedSeveral, prepare_several, targets_in
from ssvgp.tables.source import Table, open_table


@dataclass(frozen=True)
class FitOrder:
    """What `ssvgp fit` is asked to do."""

    table: Path
    choice: Choice
    model: Path
    report: Path | None = None
    asked: Asked = field(default_factory=Asked)
    options: dict[str, Any] = field(default_factory=dict)  # of SSVGPRegressor; a classifier takes those that it has
    sample_rows: int | None = None  # of a folder


def fit(order: FitOrder, voice: Voice) -> bool:
    """Carry out an order; whether the fit ran to its end."""
    for path in (order.model, order.report):
        check_output(path, order.table)
    write_report = None if order.report is None else report_writer()
    table = opened(order, voice)
    if len(targets_in(table, order.choice.target)) > 1:
        return fit_several(order, table, voice, write_report)
    prepared = read(order, table, voice)
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


def opened(order: FitOrder, voice: Voice) -> Table:
    """The table of an order, a folder as a sample of its rows."""
    voice.step(f"reading {order.table}")
    if order.table.is_dir():
        from ssvgp.cli.folders import SAMPLE_ROWS, sampled_folder  # here, since a single file needs none of it

        rows = SAMPLE_ROWS if order.sample_rows is None else order.sample_rows
        table: Table = sampled_folder(order.table, rows, order.options.get("random_state") or 0, order.choice)
    else:
        table = open_table(order.table, order.asked)
    if not order.choice.target:
        raise TableError(f"which column is to be predicted? --target NAME; the table has {listed(table.names)}")
    return table


def sample_in(table: Table, prepared: Prepared | PreparedSeveral, y: np.ndarray) -> tuple[Any, list[str]]:
    """What is fitted to, X itself or a sample that stands for more rows, and what is said of that."""
    if not hasattr(table, "moments"):
        return prepared.X, []
    from ssvgp.cli.folders import sample_of, sampling_notes
    from ssvgp.disk.tables import SampledTable

    assert isinstance(table, SampledTable)
    sample = sample_of(table, prepared, y)
    return sample, sampling_notes(sample)


def read(order: FitOrder, table: Table, voice: Voice) -> Prepared:
    """The table of an order, prepared, with its notes said."""
    prepared = prepare(table, order.choice)
    data, more = sample_in(table, prepared, prepared.y)
    prepared = replace(prepared, data=data, notes=(*prepared.notes, *more))
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
        data = prepared.X if prepared.data is None else prepared.data
        return model.fit(data, prepared.y, prepared.weights, prepared.noise, **known)
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


# --- many targets ------------------------------------------------------------------------------------------------


def fit_several(order: FitOrder, table: Table, voice: Voice, write_report: Any) -> bool:
    """Carry out an order of many targets: one model file, one report, a line for each target."""
    prepared = prepare_several(table, order.choice)
    data, more = sample_in(table, prepared, prepared.Y)
    notes = [*prepared.notes, *more]
    for note in notes:
        voice.note(note)
    (n, d), q = prepared.X.shape, len(prepared.targets)
    voice.step(f"fitting {q} targets to {n} rows of {d} inputs")
    started = time.monotonic()
    model = _fitted_several(prepared, data, order, voice)
    seconds = time.monotonic() - started
    notes += _notes(model) + [f"target {name} failed: {reason}" for name, reason in model.errors_.items()]
    for note in notes[len(prepared.notes) + len(more) :]:
        voice.note(note)
    save(ModelFile(model, prepared.recipe, tuple(notes)), order.model)
    if order.report is not None and write_report is not None:
        voice.step(f"writing {order.report}")
        write_report(model, order.report, prepared.recipe.target, notes)
    record = several_record(model)
    lines = [*several_lines(record), "", f"fitted in {duration(seconds)}; models in {order.model}"]
    if order.report is not None:
        lines.append(f"report in {order.report}")
    written = {"model": str(order.model), "report": str(order.report) if order.report else None}
    voice.answer({"command": "fit", **record, "seconds": round(seconds, 3), "notes": notes, **written}, lines)
    return True


def _fitted_several(prepared: PreparedSeveral, data: Any, order: FitOrder, voice: Voice) -> SSVGPRegressor:
    def report(done: Any) -> None:
        voice.step(str(done))

    Y = Targets(prepared.Y, prepared.targets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said by name afterwards
        model = SSVGPRegressor(callback=report, **order.options)
        try:
            model.fit(data, Y, prepared.weights, prepared.noise)
        except KeyboardInterrupt:
            where = order.options.get("checkpoint")
            if where is None:
                raise
            raise Interrupted(f"interrupted; finished targets are in {where}, the same command goes on") from None
    model.callback = None
    model.feature_names_in_ = np.array(prepared.recipe.inputs, dtype=object)
    return model
