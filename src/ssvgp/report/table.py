"""The answer as a table: one record for each input, most probable first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvgp.explain.classes import Classified
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.several import Several
from ssvgp.explain.sobol import cached_shares
from ssvgp.run.optional import require


def stand_ins(fitted: Fitted) -> dict[int, str]:
    """For a copied column the name of the one that stands for it, and for that one the names of its copies."""
    names, copied = fitted.names, fitted.inputs.duplicate_of
    out = {copy: f"see {names[first]}" for copy, first in copied.items()}
    for first in set(copied.values()):
        copies = [names[copy] for copy, other in copied.items() if other == first]
        out[first] = f"also for {', '.join(copies)}"
    return out


def records(fitted: Fitted, with_shares: bool = True) -> list[dict[str, Any]]:
    """One record for each input of the table, by falling inclusion probability.

    name, index, pip, selected, lengthscale and inverse_lengthscale in units of the column (None where no member has
    the input), variance_share and total_share of what the model predicts (None where the input was not selected, or
    without shares), and stand_in: copies that the column stands for, or the column that stands for it.
    """
    names, pip, support, lengths = fitted.names, fitted.pip, fitted.support, fitted.lengthscales
    first, total = _shares(fitted) if with_shares else ({}, {})
    alike = stand_ins(fitted)
    out = []
    for j in np.argsort(-pip, kind="stable").tolist():
        length = float(lengths[j]) if np.isfinite(lengths[j]) else None
        out.append(
            {
                "name": names[j],
                "index": j,
                "pip": float(pip[j]),
                "selected": bool(support[j]),
                "lengthscale": length,
                "inverse_lengthscale": 1.0 / length if length else None,
                "variance_share": first.get(j),
                "total_share": total.get(j),
                "stand_in": alike.get(j, ""),
            }
        )
    return out


def _shares(fitted: Fitted) -> tuple[dict[int, float], dict[int, float]]:
    """First and total share of each selected input."""
    shares = cached_shares(fitted)
    indices = shares.indices.tolist()
    first = dict(zip(indices, shares.first.tolist(), strict=True))
    return first, dict(zip(indices, shares.total.tolist(), strict=True))


def long_frame(several: Several) -> Any:
    """A row for each target and each input, by target and falling probability: the index has both names."""
    pandas = require("pandas", "summary()")
    parts = [
        {"target": target, **one}
        for target, fitted in several
        if fitted is not None
        for one in records(fitted, with_shares=False)
    ]
    table = pandas.DataFrame(parts).drop(columns=["variance_share", "total_share"]).set_index(["target", "name"])
    return table.astype(dict.fromkeys(["pip", "lengthscale", "inverse_lengthscale"], float))


def frame(fitted: Fitted) -> Any:
    """The records as a pandas DataFrame with the names as its index."""
    pandas = require("pandas", "summary()")
    table = pandas.DataFrame(records(fitted)).set_index("name")
    numbers = ["pip", "lengthscale", "inverse_lengthscale", "variance_share", "total_share"]
    return table.astype(dict.fromkeys(numbers, float))


def class_records(fitted: Classified, with_shares: bool = True) -> list[dict[str, Any]]:
    """The same for classes: of two classes that of their one model, and shares are those of the log odds.

    Of more classes `pip` is for any of them, `pips` has it for each, and shares are the largest over the classes that
    select the input.
    """
    if len(fitted.parts) == 1:
        return records(fitted.first, with_shares)
    shares = [_shares(part) if with_shares else ({}, {}) for part in fitted.parts]
    names, support, lengths, alike = fitted.names, fitted.support, fitted.lengthscales, stand_ins(fitted.first)
    labels, out = [str(label) for label in fitted.classes], []
    for j in np.argsort(-fitted.pip, kind="stable").tolist():
        length = float(lengths[j]) if np.isfinite(lengths[j]) else None
        first, total = ([one[place][j] for one in shares if j in one[place]] for place in (0, 1))
        out.append(
            {
                "name": names[j],
                "index": j,
                "pip": float(fitted.pip[j]),
                "selected": bool(support[j]),
                "lengthscale": length,
                "inverse_lengthscale": 1.0 / length if length else None,
                "variance_share": max(first, default=None),
                "total_share": max(total, default=None),
                "stand_in": alike.get(j, ""),
                "pips": dict(zip(labels, fitted.pip_by_class[:, j].tolist(), strict=True)),
            }
        )
    return out


def class_frame(fitted: Classified) -> Any:
    """The records of classes as a pandas DataFrame; of more than two, a column `pip LABEL` for each."""
    if len(fitted.parts) == 1:
        return frame(fitted.first)
    pandas = require("pandas", "summary()")
    rows = class_records(fitted)
    flat = [
        {name: value for name, value in row.items() if name != "pips"}
        | {f"pip {label}": value for label, value in row["pips"].items()}
        for row in rows
    ]
    numbers = ["pip", "lengthscale", "inverse_lengthscale", "variance_share", "total_share"]
    return pandas.DataFrame(flat).set_index("name").astype(dict.fromkeys(numbers, float))
