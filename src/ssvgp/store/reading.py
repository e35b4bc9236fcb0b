"""What a file of arrays holds as a fit again: every part is checked against the others before it is believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.data.curves import BoxCox, Curve, Straight, YeoJohnson
from ssvgp.data.inputs import Inputs
from ssvgp.data.target import Target
from ssvgp.data.view import Columns
from ssvgp.explain.correlated import Relative
from ssvgp.explain.fitted import Fitted
from ssvgp.gp.terms import Background
from ssvgp.gp.weak import Weak
from ssvgp.model.likelihoods import from_plain as likelihood_from
from ssvgp.model.terms import Columns as TableColumns
from ssvgp.model.terms import backgrounds_for, from_plain
from ssvgp.records import Ensemble, Likelihood, Member, Parameters, Searched, Train
from ssvgp.store.container import StoreError
from ssvgp.store.kernels import kernel_of

CURVES = {"straight": Straight, "box-cox": BoxCox, "yeo-johnson": YeoJohnson}
SCALARS = ("scale", "noise", "background", "mean")
PROFILE = ("v", "inclusion", "theta", "intersection", "kept", "v_weights")  # of the paper's method over v


def fitted_from(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fitted:
    """The fit that a file holds; `StoreError` where its parts do not belong together."""
    inputs, names = _inputs(header, arrays), header["names"]
    _expect(names is None or len(names) == inputs.d, "as many names as inputs")
    members, weights, pip = _members(header, arrays, inputs), arrays["weights"], arrays["pip"]
    _expect(weights.shape == (len(members),) and pip.shape == inputs.kept.shape, "a weight for each member")
    return Fitted(
        Ensemble(members, weights, pip, _notes(header, arrays, inputs), _weak(arrays, inputs)),
        _train(header, arrays, inputs),
        inputs,
        _target(header, arrays["target"]),
        _relatives(arrays, inputs),
        None if names is None else tuple(str(name) for name in names),
        *_rows(arrays, arrays["y"].size),
        sampled=bool(header.get("sampled", False)),
        seed=int(header.get("seed", 0)),
    )


def _notes(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> dict[str, Any]:
    notes = {} if header["shares"] is None else {"shares": header["shares"]}
    if header.get("interrupted"):
        notes["interrupted"] = True
    if header.get("search"):
        notes["search"] = Searched.from_plain(header["search"])
    if header.get("reading"):
        notes["reading"] = str(header["reading"])
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


def _weak(arrays: dict[str, np.ndarray], inputs: Inputs) -> Weak | None:
    """The weak part of f; None where there is none, as in files of the first versions."""
    start = "weak "
    own = {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}
    if not own:
        return None
    columns = _whole_numbers(own["columns"], inputs.kept.size, "the columns of its weak part")
    singles, pairs, r = own["singles"], own["pairs"], own["mean"].size
    good = singles.ndim == pairs.ndim == 2 and singles.shape[1] == pairs.shape[1] == 2
    _expect(good and len(singles) + len(pairs) == r, "a coefficient for each shape")
    _expect(own["centres"].shape == own["sizes"].shape == (len(own["centres"]), columns.size), "shapes of each column")
    places = np.concatenate([singles[:, 0], pairs.ravel()])
    _whole_numbers(places, columns.size, "the inputs of its shapes")
    _whole_numbers(singles[:, 1], len(own["centres"]), "the degrees of its shapes")
    _expect(own["covariance"].shape == (r, r) and own["theta"].shape == columns.shape, "how sure its weak part is")
    _expect(own["chance"].shape == columns.shape, "the chance of each input of its weak part")
    return Weak.from_plain(own | {"columns": columns})


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
        return Train(X.astype(float), y, _noise(header, arrays, y.size))
    stored = _whole_numbers(arrays["stored"], p, "the numbers of its active columns")
    _expect(X.shape[1] == stored.size and X.dtype == np.float64, "its active columns")
    return Train(Columns(X, stored, p), y, _noise(header, arrays, y.size))


def _noise(header: dict[str, Any], arrays: dict[str, np.ndarray], n: int) -> Likelihood | None:
    """What ties y to f in each row; None for the learned noise alone."""
    if header.get("likelihood") is None:
        return None
    start = "noise "
    own = {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}
    good = all(values.shape[:1] == (n,) and values.dtype == np.float64 for values in own.values())
    _expect(good, "the noise of each row")
    return likelihood_from(header["likelihood"], own)


def _rows(arrays: dict[str, np.ndarray], n: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The user's rows that took part, and which of the n rows of the fit each is; None where they are the same."""
    if "numbers" not in arrays:
        return None, None
    numbers = _whole_numbers(arrays["numbers"], np.iinfo(np.intp).max, "the numbers of its rows")
    places = _whole_numbers(arrays["places"], n, "the places of its rows")
    _expect(numbers.shape == places.shape, "a place for each of its rows")
    return numbers, places


def _members(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> tuple[Member, ...]:
    kernels = [kernel_of(expression) for expression in header["kernels"]]
    ends = np.cumsum(_whole_numbers(arrays["sizes"], inputs.kept.size + 1, "the sizes of its members"))
    active = _whole_numbers(arrays["active"], inputs.kept.size, "the active inputs of its members")
    theta, inclusion, scalars = arrays["theta"], arrays["inclusion"], arrays["scalars"]
    _expect(ends.size > 0 and scalars.shape == (ends.size, len(SCALARS)), "the parameters of its members")
    _expect(theta.shape == inclusion.shape == active.shape == (ends[-1],), "an inverse lengthscale for each input")
    read = _backgrounds if "terms" in header else _first_backgrounds
    backgrounds, out = read(header, arrays, inputs), []
    _expect(set(header["backgrounds"]) <= set(backgrounds), "a background that this version knows")
    freedom = arrays.get("freedom", np.full(len(ends), np.inf))  # files of the first versions have none
    for k, end in enumerate(ends):
        at = slice(ends[k - 1] if k else 0, end)
        numbers = {name: float(value) for name, value in zip(SCALARS, scalars[k], strict=True)}
        kernel = kernels[header["kernel_of_member"][k]]
        background = backgrounds[header["backgrounds"][k]] if numbers["background"] else None
        out.append(
            Member(
                active[at],
                Parameters(theta[at], **numbers, freedom=float(freedom[k])),
                kernel,
                inclusion[at],
                background,
            )
        )
    return tuple(out)


def _backgrounds(header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs) -> dict[str, Background | None]:
    """The terms over all inputs, by name; whatever they carry has one row for each kept column."""
    found: dict[str, Background | None] = {"": None}
    for name, values in header["terms"].items():
        start = f"term {name} "
        own = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
        for key, array in own.items():
            good = array.ndim >= 1 and array.shape[0] == inputs.kept.size and array.dtype == np.float64
            _expect(good, f"the {key} of its background {name!r} over all columns")
        try:
            found[name] = from_plain(name, values | own)
        except KeyError as error:
            raise StoreError(f"the file does not hold {error} of its background {name!r}") from error
    return found


def _first_backgrounds(
    header: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Inputs
) -> dict[str, Background | None]:
    """The same in files of version 0.1.0, which hold the names of backgrounds and the axes of an evened one."""
    axes = arrays.get("axes")
    if axes is not None:
        good = axes.ndim == 2 and axes.shape[0] == inputs.kept.size and axes.dtype == np.float64
        _expect(good, "the axes of its background over all columns")
    columns = TableColumns(inputs.kept.size, inputs.spread, axes)
    found = {term.name: term for term in backgrounds_for(dict.fromkeys(header["backgrounds"]), columns)}
    _expect(set(found) == set(header["backgrounds"]), "the axes of its background")
    return dict(found)
