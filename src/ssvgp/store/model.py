"""A fitted model as a file of arrays, and back: what prediction, leave-one-out and effects need, and no more.

Members without a background look at their active inputs alone, so only these columns of the standardised table are
kept, in double precision. A background looks at all inputs; then the whole table is kept in single precision, which
is how the fitted model itself holds it (`data.view.kept_rows`). Either way predictions are the same bit for bit.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvgp.data.curves import BoxCox, Curve, Straight, YeoJohnson
from ssvgp.data.inputs import Inputs
from ssvgp.data.target import Target
from ssvgp.data.view import Columns, needs_whole_table
from ssvgp.estimator import SSVGPRegressor
from ssvgp.explain.correlated import Relative
from ssvgp.gp.background import KINDS
from ssvgp.records import Ensemble, Layout, Member, Parameters, Train
from ssvgp.store.container import Content, StoreError, read, write
from ssvgp.store.kernels import expression_of, kernel_of
from ssvgp.store.settings import parameters_from, parameters_of

CURVES = {"straight": Straight, "box-cox": BoxCox, "yeo-johnson": YeoJohnson}
SCALARS = ("scale", "noise", "background", "mean")
PROFILE = ("v", "inclusion", "theta", "intersection", "kept", "v_weights")  # of the paper's method over v


def save(model: SSVGPRegressor, path: str | PathLike[str]) -> None:
    """Write a fitted model to a file that runs no code when it is read."""
    check_is_fitted(model)
    if type(model) is not SSVGPRegressor:
        raise StoreError(f"only SSVGPRegressor itself can be saved, not its subclass {type(model).__name__}")
    header, arrays = _fit_parts(model)
    for part_header, part_arrays in (
        _member_parts(model.ensemble_),
        _table_parts(model.train_, model.ensemble_),
        _target_parts(model._target),
        _story_parts(model),
    ):
        header |= part_header
        arrays |= part_arrays
    write(Path(path), Content(header, arrays))


def load(path: str | PathLike[str]) -> SSVGPRegressor:
    """The model that `save` wrote; `StoreError` where the file is damaged, newer, or no such file."""
    content = read(Path(path))
    try:
        return _model(content.header, content.arrays)
    except StoreError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise StoreError(f"{path} does not hold what a model is made of: {error!r}") from error


# --- writing ---------------------------------------------------------------------------------------------------


def _version() -> str:
    try:
        return version("ssvgp")
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"


def _fit_parts(model: SSVGPRegressor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    inputs, notes = model._inputs, model.ensemble_.notes
    names = getattr(model, "feature_names_in_", None)
    header = {
        "ssvgp": _version(),
        "parameters": parameters_of(model.get_params(deep=False)),
        "names": None if names is None else [str(name) for name in names],
        "d": inputs.d,
        "shares": {name: float(value) for name, value in notes["shares"].items()} if "shares" in notes else None,
    }
    copies = np.array(list(inputs.duplicate_of.items()), dtype=np.int64).reshape(-1, 2)
    arrays = {"kept": inputs.kept, "centre": inputs.centre, "spread": inputs.spread, "constant": inputs.constant}
    return header, arrays | {"copies": copies, "pip": model.ensemble_.pip, "weights": model.ensemble_.weights}


def _member_parts(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """All members side by side: numbers in arrays, active inputs and what goes with them end to end."""
    members = ensemble.members
    expressions = [expression_of(member.kernel) for member in members]
    distinct = [one for i, one in enumerate(expressions) if one not in expressions[:i]]
    header = {
        "kernels": distinct,
        "kernel_of_member": [distinct.index(one) for one in expressions],
        "backgrounds": [member.parameters.background_kind for member in members],
        "units": [member.layout is not None for member in members],
    }
    at = [member.parameters for member in members]
    arrays = {
        "scalars": np.array([[getattr(one, name) for name in SCALARS] for one in at]),
        "sizes": np.array([member.active.size for member in members]),
        "active": np.concatenate([member.active for member in members]),
        "theta": np.concatenate([one.theta for one in at]),
        "inclusion": np.concatenate([member.inclusion for member in members]),
    }
    evened = [member.layout for member in members if member.parameters.background_kind == "evened"]
    if evened and evened[0] is not None and evened[0].axes is not None:
        arrays["axes"] = evened[0].axes  # one for all: they belong to the table
    return header, arrays


def _table_parts(train: Train, ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if needs_whole_table(ensemble.members):
        return {"table": "whole"}, {"X": np.asarray(train.X).astype(np.float32), "y": train.y}
    stored = np.unique(np.concatenate([member.active for member in ensemble.members]))
    values = np.ascontiguousarray(train.X[:, stored]) if stored.size else np.empty((train.n, 0))
    return {"table": "columns"}, {"X": values, "y": train.y, "stored": stored}


def _target_parts(target: Target) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    kind = next(name for name, curve in CURVES.items() if type(target.curve) is curve)
    numbers = [target.centre, target.spread, target.low, target.high]
    if not isinstance(target.curve, Straight):
        numbers += [target.curve.unit, target.curve.power]  # type: ignore[attr-defined]
    return {"curve": kind, "constant_target": target.constant}, {"target": np.array(numbers, dtype=float)}


def _story_parts(model: SSVGPRegressor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What no prediction needs, but a report does: columns that go together, profiles over v, an interrupted fit."""
    notes = model.ensemble_.notes
    pairs = [(one, *other) for one, others in model.relatives_.items() for other in others]
    arrays = {f"profile_{name}": np.asarray(notes[name]) for name in PROFILE if name in notes}
    arrays["relatives"] = np.array([pair[:2] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    arrays["correlations"] = np.array([pair[2] for pair in pairs], dtype=float)
    return {"interrupted": bool(notes.get("interrupted"))}, arrays


# --- reading ---------------------------------------------------------------------------------------------------


def _model(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> SSVGPRegressor:
    model = SSVGPRegressor(**parameters_from(header["parameters"]))
    inputs = _inputs(header, arrays)
    model._inputs, model._target = inputs, _target(header, arrays["target"])
    model.train_ = _train(header, arrays, inputs)
    model.n_features_in_ = inputs.d
    if header["names"] is not None:
        _expect(len(header["names"]) == inputs.d, "as many names as inputs")
        model.feature_names_in_ = np.array(header["names"], dtype=object)
    notes = _notes(header, arrays, inputs)
    model.relatives_ = _relatives(arrays, inputs)
    members, weights, pip = _members(header, arrays, inputs), arrays["weights"], arrays["pip"]
    _expect(weights.shape == (len(members),) and pip.shape == inputs.kept.shape, "a weight for each member")
    model._publish(Ensemble(members, weights, pip, notes))
    return model


def _notes(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> dict[str, Any]:
    notes = {} if header["shares"] is None else {"shares": header["shares"]}
    if header.get("interrupted"):
        notes["interrupted"] = True
    if "profile_v" not in arrays:
        return notes
    profile = {name: arrays[f"profile_{name}"] for name in PROFILE}
    shape = (profile["v"].size, inputs.kept.size)
    _expect(profile["theta"].shape == profile["inclusion"].shape == shape, "a profile of each input over v")
    _expect(profile["intersection"].shape == profile["v"].shape == shape[:1], "an intersection for each v")
    profile["kept"] = _whole_numbers(profile["kept"], shape[0], "the numbers of the v that were kept")
    _expect(profile["v_weights"].shape == profile["kept"].shape, "a weight for each v that was kept")
    return notes | profile


def _relatives(arrays: dict[str, np.ndarray], inputs: Inputs) -> dict[int, tuple[Relative, ...]]:
    """Columns that go together; files of the first versions have none."""
    found: dict[int, tuple[Relative, ...]] = {}
    if "relatives" not in arrays:
        return found
    pairs, correlations = arrays["relatives"], arrays["correlations"]
    _expect(pairs.ndim == 2 and pairs.shape == (correlations.size, 2), "a correlation for each pair of columns")
    _whole_numbers(pairs.ravel(), inputs.d, "the numbers of columns that go together")
    for (one, other), value in zip(pairs.tolist(), correlations.tolist(), strict=True):
        found[one] = (*found.get(one, ()), Relative(other, float(value)))
    return found


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise StoreError(f"the file does not hold {what}: it was not written by ssvgp as it is")


def _whole_numbers(values: np.ndarray, below: int, what: str) -> np.ndarray:
    """Indices (a,) that lie in a range, as this machine counts."""
    _expect(values.ndim == 1 and values.dtype.kind in "iu", what)
    _expect(not values.size or bool((values >= 0).all() and (values < below).all()), what)
    return values.astype(np.intp)


def _inputs(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Inputs:
    d = int(header["d"])
    kept = _whole_numbers(arrays["kept"], d, "the numbers of its columns")
    constant = _whole_numbers(arrays["constant"], d, "the numbers of its constant columns")
    copies = _whole_numbers(arrays["copies"].ravel(), d, "the numbers of its copied columns").reshape(-1, 2)
    centre, spread = arrays["centre"], arrays["spread"]
    _expect(centre.shape == spread.shape == kept.shape, "a mean and a standard deviation for each column")
    return Inputs(d, kept, centre, spread, constant, {int(copy): int(first) for copy, first in copies})


def _target(header: dict[str, Any], numbers: np.ndarray) -> Target:
    centre, spread, low, high, *shape = (float(number) for number in numbers)
    curve: Curve = CURVES[header["curve"]](*shape)
    return Target(curve, centre, spread, low, high, bool(header["constant_target"]))


def _train(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> Train:
    X, y, p = arrays["X"], arrays["y"], inputs.kept.size
    _expect(X.ndim == 2 and y.shape == X.shape[:1] and y.dtype == np.float64, "a target for each row")
    if header["table"] == "whole":
        _expect(X.shape[1] == p and X.dtype == np.float32, "its table")
        return Train(X.astype(float), y, Layout(inputs.spread))
    stored = _whole_numbers(arrays["stored"], p, "the numbers of its active columns")
    _expect(X.shape[1] == stored.size and X.dtype == np.float64, "its active columns")
    return Train(Columns(X, stored, p), y, Layout(inputs.spread))


def _members(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> tuple[Member, ...]:
    kernels = [kernel_of(expression) for expression in header["kernels"]]
    ends = np.cumsum(_whole_numbers(arrays["sizes"], inputs.kept.size + 1, "the sizes of its members"))
    active = _whole_numbers(arrays["active"], inputs.kept.size, "the active inputs of its members")
    theta, inclusion, scalars = arrays["theta"], arrays["inclusion"], arrays["scalars"]
    _expect(ends.size > 0 and scalars.shape == (ends.size, len(SCALARS)), "the parameters of its members")
    _expect(theta.shape == inclusion.shape == active.shape == (ends[-1],), "an inverse lengthscale for each input")
    _expect(set(header["backgrounds"]) <= set(KINDS), "a background that this version knows")
    layout, out = _layout(header, arrays, inputs), []
    for k, end in enumerate(ends):
        at = slice(ends[k - 1] if k else 0, end)
        numbers = {name: float(value) for name, value in zip(SCALARS, scalars[k], strict=True)}
        parameters = Parameters(theta[at], **numbers, background_kind=header["backgrounds"][k])
        kernel = kernels[header["kernel_of_member"][k]]
        out.append(Member(active[at], parameters, kernel, inclusion[at], layout if header["units"][k] else None))
    return tuple(out)


def _layout(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> Layout:
    """What backgrounds know of the columns; axes are there where one is evened."""
    axes = arrays.get("axes")
    if axes is None:
        _expect("evened" not in header["backgrounds"], "the axes of its background")
    else:
        good = axes.ndim == 2 and axes.shape[0] == inputs.kept.size and axes.dtype == np.float64
        _expect(good, "the axes of its background over all columns")
    return Layout(inputs.spread, axes)
