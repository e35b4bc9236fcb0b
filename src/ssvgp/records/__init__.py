"""The records that travel down the line: frozen, with shapes fixed by letters.

n rows, d inputs, p active inputs, m neighbours, k members, t test rows.
"""

from ssvgp.records.likelihood import (
    Derivatives,
    Likelihood,
    Parameters,
    Response,
    RowNoise,
    Settling,
    Sites,
    Working,
    has_sites,
    row_noise,
)
from ssvgp.records.mixture import Ensemble, Member, Prediction, Train
from ssvgp.records.search import Rested, Searched

__all__ = [
    "Derivatives",
    "Ensemble",
    "Likelihood",
    "Member",
    "Parameters",
    "Prediction",
    "Response",
    "Rested",
    "RowNoise",
    "Searched",
    "Settling",
    "Sites",
    "Train",
    "Working",
    "has_sites",
    "row_noise",
]
