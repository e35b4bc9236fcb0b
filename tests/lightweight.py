"""An estimator that is done in a fraction of a second, for tests of what is around a fit."""

from __future__ import annotations

from typing import Any

from ssvgp import AutoSettings, PaperSettings, SearchSettings, SSVGPRegressor

SEARCH = SearchSettings(all_sets=0, groups=0, most_expanded=1, width=2)
SETTINGS = AutoSettings(
    search=SEARCH,
    dense=PaperSettings(first_steps=5),
    dense_sizes=(2,),
    dense_starts=1,
    draws=2,
    components=2,
    proposers=("growth", "background"),
)


def light(**parameters: Any) -> SSVGPRegressor:
    return SSVGPRegressor(**({"kernel": "se", "settings": SETTINGS, "random_state": 0} | parameters))
