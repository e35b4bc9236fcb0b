"""The answer as a table: one record for each input, most probable first."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def require(library: str, what: str, extra: str | None = None) -> Any:
    """An optional library, or an error that says how to get it, by itself or by an extra of ours."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        ways = f"pip install {library}, or pip install 'ssvgp[{extra or library}]'"
        raise ImportError(f"{what} needs {library}, which is not installed: {ways}") from error


def names_of(model: Any) -> list[str]:
    """Names (d,) of the columns: those of the training table, or x0, x1 and so on."""
    check_is_fitted(model)
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(name) for name in given]


def lengthscales(model: Any) -> np.ndarray:
    """Lengthscales (d,) in units of the columns, NaN for inputs that no member has.

    One over the mean |theta| of the members that have the input, by their weights.
    """
    weight = np.zeros(model.n_features_in_)
    for member, share in zip(model.members_, model.weights_, strict=True):
        weight[member.active] += share
    spread = model._inputs.widen(model._inputs.spread)
    out = np.full(weight.size, np.nan)
    theta = model.inverse_lengthscales_
    np.divide(spread * weight, theta, out=out, where=(weight > 0) & (theta > 0))
    return out


def stand_ins(model: Any) -> dict[int, str]:
    """For a copied column the name of the one that stands for it, and for that one the names of its copies."""
    names = names_of(model)
    out = {copy: f"see {names[first]}" for copy, first in model.duplicate_of_.items()}
    for first in set(model.duplicate_of_.values()):
        copies = [names[copy] for copy, other in model.duplicate_of_.items() if other == first]
        out[first] = f"also for {', '.join(copies)}"
    return out


def records(model: Any) -> list[dict[str, Any]]:
    """One record for each input of the table, by falling inclusion probability.

    name, index, pip, selected, lengthscale and inverse_lengthscale in units of the column (None where no member has
    the input), variance_share and total_share of what the model predicts (None where the input was not selected), and
    stand_in: copies that the column stands for, or the column that stands for it.
    """
    names, support, lengths = names_of(model), model.get_support(), lengthscales(model)
    shares = model.effect_shares()
    first = dict(zip(shares.indices.tolist(), shares.first.tolist(), strict=True))
    total = dict(zip(shares.indices.tolist(), shares.total.tolist(), strict=True))
    alike = stand_ins(model)
    out = []
    for j in np.argsort(-model.pip_, kind="stable").tolist():
        length = float(lengths[j]) if np.isfinite(lengths[j]) else None
        out.append(
            {
                "name": names[j],
                "index": j,
                "pip": float(model.pip_[j]),
                "selected": bool(support[j]),
                "lengthscale": length,
                "inverse_lengthscale": 1.0 / length if length else None,
                "variance_share": first.get(j),
                "total_share": total.get(j),
                "stand_in": alike.get(j, ""),
            }
        )
    return out


def frame(model: Any) -> Any:
    """The records as a pandas DataFrame with the names as its index."""
    pandas = require("pandas", "summary()")
    table = pandas.DataFrame(records(model)).set_index("name")
    numbers = ["pip", "lengthscale", "inverse_lengthscale", "variance_share", "total_share"]
    return table.astype(dict.fromkeys(numbers, float))
