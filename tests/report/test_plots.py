"""Every picture draws where it is told to, says what it shows, and leaves the user's settings alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="pictures need Matplotlib: pip install 'ssvgp[plots]'")
matplotlib.use("agg")

from matplotlib import pyplot  # noqa: E402
from report_models import ALL, NAMES, constant, demo, large, odd, paper  # noqa: E402

from ssvgp import plots  # noqa: E402
from ssvgp.report import pictures, style  # noqa: E402

OF_ALL = ("inclusion", "predicted_against_observed", "calibration", "places", "weights")
OVER_V = ("pips_over_v", "inverse_lengthscales_over_v", "inclusion_over_v", "members_over_v")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def drawn(ax: Any) -> Any:
    ax.figure.canvas.draw()  # what cannot be drawn fails here, not before
    return ax


def test_every_public_picture_is_tested() -> None:
    classes = {"probability", "roc", "class_calibration", "confusion"}  # tests/test_classifier.py has these
    assert set(plots.__all__) == {*OF_ALL, *OVER_V, *classes, "effect", "interaction"}


@pytest.mark.parametrize("picture", OF_ALL)
@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in ("odd", "curved")])
def test_pictures_of_every_kind_of_model(picture: str, kind: str) -> None:
    given = pyplot.subplots()[1]
    assert drawn(getattr(plots, picture)(ALL[kind](), ax=given)) is given


def test_without_axes_a_figure_is_made() -> None:
    before = len(pyplot.get_fignums())
    assert plots.calibration(demo()).figure is not None and len(pyplot.get_fignums()) == before + 1


def test_bars_are_the_inclusion_probabilities_and_the_selected_stand_out() -> None:
    model = demo()
    ax = plots.inclusion(model, k=6)
    top = np.argsort(-model.pip_, kind="stable")[:6]
    assert np.allclose([bar.get_width() for bar in ax.patches], model.pip_[top])
    assert [text.get_text() for text in ax.get_yticklabels()] == [model.feature_names_in_[j] for j in top]
    blue = matplotlib.colors.to_rgba(style.BLUE)
    assert [bar.get_facecolor() == blue for bar in ax.patches] == model.get_support()[top].tolist()
    assert ax.lines[0].get_xdata()[0] == model.threshold


def test_an_effect_is_the_one_of_the_model() -> None:
    model = demo()
    ax = drawn(plots.effect(model, "feed_flow", target="yield"))
    line = max(ax.lines, key=lambda one: len(one.get_xdata()))
    assert np.array_equal(line.get_ydata(), model.effect("feed_flow").mean)
    assert ax.get_xlabel() == "feed_flow" and ax.get_ylabel() == "change of yield"


def test_an_input_of_few_values_is_shown_at_each() -> None:
    assert drawn(plots.effect(odd(), "binary")).get_xticks().tolist() == [0.0, 1.0]


def test_a_surface_has_its_names_on_its_sides() -> None:
    ax = drawn(plots.interaction(large(), 1, 2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")


def test_values_are_those_of_the_table() -> None:
    table = odd()
    found = table.fitted_.values_of(NAMES.index("twin"))  # a copy has those of the column that stands for it
    assert found.size == 80 and np.allclose(np.sort(found), np.sort(table.fitted_.values_of(3)))
    assert table.fitted_.values_of(7).size == 0  # constant


def test_sets_are_members_by_their_inputs() -> None:
    found = pictures.weighed_sets(demo())
    assert sum(one.weight for one in found) == pytest.approx(1.0)
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    assert len({one.names for one in found}) == len(found)
    assert pictures.weighed_sets(constant())[0].names == ()


@pytest.mark.parametrize("picture", OVER_V)
def test_profiles_are_of_the_papers_method_alone(picture: str) -> None:
    drawn(getattr(plots, picture)(paper()))
    with pytest.raises(ValueError, match="method='paper'"):
        getattr(plots, picture)(demo())


def test_an_input_is_in_where_it_lies_above_the_intersection() -> None:
    notes = paper().ensemble_.notes
    above = notes["theta"] > notes["intersection"][:, None]
    assert np.array_equal(above, notes["inclusion"] > 0.5) and above.any()


def test_names_are_never_read_as_mathematics() -> None:
    names = [r"$\frac{1}{0$", "$x$", "a$b", r"\$", "价格", "x" * 99, "line\nbreak"]
    figure = matplotlib.figure.Figure()
    for name in names:
        text = figure.text(0, 0, style.label(name))
        shown, mathematics = text._preprocess_math(text.get_text())
        assert not mathematics and "\n" not in shown and len(shown) <= style.LONGEST
        assert len(name) > style.LONGEST or shown == name.replace("\n", " ")


def test_settings_of_the_user_stay_as_they_are() -> None:
    with matplotlib.rc_context({"font.size": 31.0}):
        plots.inclusion(demo())
        assert matplotlib.rcParams["font.size"] == 31.0


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
from ssvgp import plots
try:
    plots.inclusion(None)
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'ssvgp[plots]'" in said
