"""The answer as a table: one record for each input, most probable first."""

from __future__ import annotations

from typing import Any

import numpy as np

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
