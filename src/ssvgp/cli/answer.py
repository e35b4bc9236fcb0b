"""What a model found, as a record for machines and as lines for people."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ssvgp.classifier import SSVGPClassifier
from ssvgp.cli.files import Model
from ssvgp.estimator import SSVGPRegressor
from ssvgp.report import words
from ssvgp.report.table import class_records, records

LINES = 12  # inputs that are listed for a person where not more are selected
WIDEST, NARROW = 40, 14  # characters of a name, and of a class in a table of them
NAMED = 5  # selected inputs of one of many targets that are named
AT_ONCE = 2000  # rows up to which shares and leave-one-out figures take no time worth mentioning


def answer_record(model: Model, target: str | None) -> dict[str, Any]:
    """Selection, one record for each input, shares of variance and fit of a model, ready for JSON."""
    if isinstance(model, SSVGPClassifier):
        return _record_of_classes(model, target)
    inputs = records(model.fitted_, with_shares=model.train_.n <= AT_ONCE)
    return {
        "target": target,
        "method": model.method,
        "rows": model.train_.n,
        "columns": model.n_features_in_,
        "threshold": model.threshold,
        "selected": [one["name"] for one in inputs if one["selected"]],
        "inputs": inputs,
        "likelihood": model.fitted_.likelihood,
        "variance_shares": {name: float(share) for name, share in model.variance_shares_.items()},
        "noise_sd": float(model.noise_variance_) ** 0.5,
        "leave_one_out": leave_one_out(model),
    }


def _record_of_classes(model: SSVGPClassifier, target: str | None) -> dict[str, Any]:
    fitted = model.fitted_
    n = fitted.first.train.n
    inputs = class_records(fitted, with_shares=n <= AT_ONCE)
    return {
        "target": target,
        "method": "auto",
        "likelihood": model.likelihood,
        "classes": [str(label) for label in model.classes_],
        "rows": n,
        "columns": model.n_features_in_,
        "threshold": model.threshold,
        "selected": [one["name"] for one in inputs if one["selected"]],
        "inputs": inputs,
        "leave_one_out": _classes_left_out(model) if n <= AT_ONCE else None,
    }


def _classes_left_out(model: SSVGPClassifier) -> dict[str, Any]:
    check = model.check()
    numbers = {name: float(getattr(check, name)) for name in ("accuracy", "log_loss", "base_log_loss", "auc")}
    return {**numbers, "confusion": check.confusion.tolist()}


def leave_one_out(model: SSVGPRegressor) -> dict[str, float] | None:
    """How well rows are predicted from the others; None for a large table, where this takes long."""
    if model.train_.n > AT_ONCE:
        return None
    check = model.check()
    return {"r2": check.r2, "rmse": check.rmse, "coverage_95": float(check.coverage(0.95))}


def answer_lines(record: dict[str, Any]) -> list[str]:
    """The same for a person: the inputs that matter, how sure that is, and how well the model predicts."""
    inputs, selected = record["inputs"], record["selected"]
    shown = inputs[: max(LINES, len(selected))]
    wide = min(WIDEST, max(len("input"), *(len(one["name"]) for one in shown)))
    lines = [f"{len(selected)} of {len(inputs)} inputs selected (probability above {record['threshold']:g})", ""]
    shares = any(one["total_share"] is not None for one in inputs)
    lines.append(f"{'input':<{wide}}  probability{'  share of variance' if shares else ''}  lengthscale")
    for one in shown:
        name = one["name"] if len(one["name"]) <= wide else one["name"][: wide - 3] + "..."
        lines.append(f"{name:<{wide}}  {one['pip']:>11.3f}{_if_selected(one, shares)}")
    if len(inputs) > len(shown):
        lines.append(f"... and {len(inputs) - len(shown)} more with probability up to {inputs[len(shown)]['pip']:.3f}")
    return [*lines, "", *(_class_lines(record) if "classes" in record else _number_lines(record))]


def _number_lines(record: dict[str, Any]) -> list[str]:
    parts = ", ".join(f"{name} {share:.1%}" for name, share in record["variance_shares"].items())
    lines = [f"variance: {parts}; noise standard deviation {record['noise_sd']:.4g}"]
    if said := words.noise(record["likelihood"]):
        lines = [f"variance: {parts}", f"target: {said}"]
    if (loo := record["leave_one_out"]) is not None:
        lines.append(
            f"leave-one-out: R2 {loo['r2']:.3f}, root mean square error {loo['rmse']:.4g}, "
            f"{loo['coverage_95']:.0%} of rows within the 95% interval"
        )
    return lines


def several_record(model: SSVGPRegressor) -> dict[str, Any]:
    """What many targets have selected, a record for each, and the inputs that matter for most of them."""
    targets: list[dict[str, Any]] = []
    counts = Counter[str]()
    for name, fitted in model.several_:
        if fitted is None:
            targets.append({"target": name, "error": model.errors_.get(name, "")})
            continue
        found = [one for one in records(fitted, with_shares=False) if one["selected"]]
        counts.update(one["name"] for one in found)
        chosen = [{"name": one["name"], "pip": one["pip"], "lengthscale": one["lengthscale"]} for one in found]
        shares = {part: float(share) for part, share in fitted.variance_shares.items()}
        targets.append({"target": name, "rows": fitted.train.n, "selected": chosen, "variance_shares": shares})
    return {
        "targets": targets,
        "method": model.method,
        "columns": model.n_features_in_,
        "threshold": model.threshold,
        "inputs": [{"name": name, "targets": count} for name, count in counts.most_common()],
        "failed": len(model.errors_),
    }


def several_lines(record: dict[str, Any]) -> list[str]:
    """The same for a person: a line for each target, and the inputs that matter for most."""
    targets, inputs = record["targets"], record["inputs"]
    wide = min(WIDEST, max(len("target"), *(len(one["target"]) for one in targets)))
    lines = [f"{'target':<{wide}}  {'noise':>6}  {'selected':>8}  inputs"]
    for one in targets:
        label = one["target"] if len(one["target"]) <= wide else one["target"][: wide - 3] + "..."
        if "error" in one:
            lines.append(f"{label:<{wide}}  {'-':>6}  {'-':>8}  failed: {one['error']}")
            continue
        named = ", ".join(f"{each['name']} {each['pip']:.2f}" for each in one["selected"][:NAMED])
        more = f" and {len(one['selected']) - NAMED} more" if len(one["selected"]) > NAMED else ""
        noise = one["variance_shares"]["noise"]
        lines.append(f"{label:<{wide}}  {noise:>6.1%}  {len(one['selected']):>8}  {named}{more}".rstrip())
    fitted = len(targets) - record["failed"]
    lines += ["", f"{fitted} of {len(targets)} targets fitted; {len(inputs)} of {record['columns']} inputs selected"]
    for one in inputs[:LINES]:
        lines.append(f"{one['name']} matters for {one['targets']} of {fitted}")
    return lines


def _class_lines(record: dict[str, Any]) -> list[str]:
    """How well the classes are told apart, with a table of rows by their class and by the one that was predicted."""
    lines = [f"classes: {', '.join(record['classes'])}"]
    if (loo := record["leave_one_out"]) is None:
        return lines
    lines.append(
        f"leave-one-out: {loo['accuracy']:.1%} right, area under the ROC curve {loo['auc']:.3f}, "
        f"log loss {loo['log_loss']:.3f} ({loo['base_log_loss']:.3f} by the shares of the classes alone)"
    )
    names = [name if len(name) <= NARROW else name[: NARROW - 3] + "..." for name in record["classes"]]
    wide = max(len("predicted"), *(len(name) for name in names))
    lines += ["", " ".join([" " * wide, *(f"{name:>{wide}}" for name in names), " <- predicted"])]
    for name, row in zip(names, loo["confusion"], strict=True):
        lines.append(" ".join([f"{name:<{wide}}", *(f"{count:>{wide}}" for count in row)]))
    return lines


def _if_selected(one: dict[str, Any], shares: bool) -> str:
    """Share and lengthscale of an input that was selected; of others they say little."""
    if not one["selected"]:
        return ""
    share = "-" if one["total_share"] is None else f"{one['total_share']:.1%}"
    length = "-" if one["lengthscale"] is None else f"{one['lengthscale']:.4g}"
    return f"  {share:>17}  {length:>11}" if shares else f"  {length:>11}"
