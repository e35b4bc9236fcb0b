"""Pictures of a fitted model for papers, talks and notebooks; they need Matplotlib: pip install 'ssvgp[plots]'.

Every function takes a fitted model, draws on the axes `ax` or on new ones, and returns the axes:

    from ssvgp import plots
    plots.inclusion(model).figure.savefig("inclusion.pdf")
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ssvgp.report import class_pictures, pictures, profiles
from ssvgp.report.style import styled


def _dressed(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The function with our settings for what it draws, which the user's other pictures never see."""

    @wraps(draw)
    def dressed(*given: Any, **named: Any) -> Any:
        with styled():
            return draw(*given, **named)

    return dressed


inclusion = _dressed(pictures.inclusion)
effect = _dressed(pictures.effect)
interaction = _dressed(pictures.interaction)
predicted_against_observed = _dressed(pictures.predicted_against_observed)
calibration = _dressed(pictures.calibration)
places = _dressed(pictures.places)
weights = _dressed(pictures.weights)
pips_over_v = _dressed(profiles.pips_over_v)
inverse_lengthscales_over_v = _dressed(profiles.inverse_lengthscales_over_v)
inclusion_over_v = _dressed(profiles.inclusion_over_v)
members_over_v = _dressed(profiles.members_over_v)
probability = _dressed(class_pictures.probability)
roc = _dressed(class_pictures.roc)
class_calibration = _dressed(class_pictures.class_calibration)
confusion = _dressed(class_pictures.confusion)

__all__ = [
    "calibration",
    "class_calibration",
    "confusion",
    "effect",
    "inclusion",
    "inclusion_over_v",
    "interaction",
    "inverse_lengthscales_over_v",
    "members_over_v",
    "pips_over_v",
    "places",
    "predicted_against_observed",
    "probability",
    "roc",
    "weights",
]
