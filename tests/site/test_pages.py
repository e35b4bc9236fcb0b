"""The site and the code agree: the reference is whole, links lead somewhere, and faults of a site are found."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ssvgp
from ssvgp import SSVGPRegressor, peers

ROOT = Path(__file__).resolve().parents[2]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def tool(name: str) -> ModuleType:
    """A file of the documentation's own code, which is no package."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / "docs" / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def api() -> ModuleType:
    pytest.importorskip("sphinx.application", reason="needs the site's tools: pip install 'ssvgp[docs]'")
    return tool("extensions/api_pages.py")


@pytest.fixture(scope="module")
def model() -> SSVGPRegressor:
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    return SSVGPRegressor(kernel="linear", random_state=0).fit(X, X["a"] + 0.1 * rng.normal(size=30))


# --- the reference ---------------------------------------------------------------------------------------------------


def named() -> set[str]:
    """What the page asks for."""
    return {name for block in re.findall(r"^```\{api\}\n(.*?)^```$", API, re.M | re.S) for name in block.split()}


@pytest.mark.parametrize(("module", "public"), [("ssvgp", ssvgp.__all__), ("ssvgp.peers", peers.__all__)])
def test_every_public_name_is_in_the_reference(module: str, public: list[str]) -> None:
    values = {"__version__", "PEERS"}  # neither class nor function
    assert {f"{module}.{name}" for name in public if name not in values} - named() == set()


def test_every_picture_is_in_the_reference() -> None:
    pytest.importorskip("matplotlib")
    from ssvgp import plots

    assert {f"ssvgp.plots.{name}" for name in plots.__all__} - named() == set()


def test_every_parameter_of_the_estimator_is_explained(api: ModuleType) -> None:
    _, sections = api.sections_of(inspect.getdoc(SSVGPRegressor))
    assert list(sections["Parameters"]) == list(inspect.signature(SSVGPRegressor).parameters)


def test_every_attribute_of_a_fit_is_explained_and_there(api: ModuleType, model: SSVGPRegressor) -> None:
    _, sections = api.sections_of(inspect.getdoc(SSVGPRegressor))
    left_by_fit = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    own = [part for part in SSVGPRegressor.__mro__ if part.__module__.startswith("ssvgp.estimator")]
    properties = [name for part in own for name, one in vars(part).items() if isinstance(one, property)]
    answered = {name for name in properties if name.endswith("_") and not name.startswith("_")}
    elsewhere = {"targets_", "errors_", "sampling_"}  # that fits of many targets, or of rows on disk, have
    assert left_by_fit | answered | elsewhere == set(sections["Attributes"])
    assert {name for name in sections["Attributes"] if not hasattr(model, name)} == elsewhere


def test_every_method_of_the_estimator_has_a_docstring() -> None:
    ours = [kind for kind in SSVGPRegressor.__mro__ if kind.__module__.startswith("ssvgp")]
    public = [(name, one) for kind in ours for name, one in vars(kind).items() if not name.startswith("_")]
    assert [name for name, one in public if inspect.isfunction(one) and not one.__doc__] == []


def test_the_reference_says_what_the_code_says(api: ModuleType) -> None:
    text = api.described("ssvgp.SSVGPRegressor")
    assert "exact_limit: int = 2000" in text and "#### SSVGPRegressor.predict_quantiles" in text
    assert "| `get_support` | Get a mask, or integer index, of the features selected. |" in text
    prior = api.described("ssvgp.Prior")
    assert "| `b` | `float \\| None` | `None` | None: d^1.5 / 10 but at least 1, which keeps noise out" in prior
    named = api.described("ssvgp.kernel_named")
    assert named.startswith("### kernel_named\n\n```py\nkernel_named(kernel: str | Kernel) -> Kernel\n```")


def test_what_has_no_docstring_or_does_not_exist_is_an_error(api: ModuleType) -> None:
    with pytest.raises(AttributeError, match="nobody"):
        api.described("ssvgp.nobody")
    with pytest.raises(ValueError, match="an entry of a docstring is 'name : text'"):
        api.sections_of("What.\n\nParameters\n----------\nnothing of the kind\n")


# --- equations and links ---------------------------------------------------------------------------------------------


def test_equations_that_cannot_be_set_are_an_error() -> None:
    pytest.importorskip("sphinx.application")
    pytest.importorskip("latex2mathml")
    equations = tool("extensions/equations.py")
    assert "<mfrac>" in equations.mathml(r"\frac{a}{b}", "block")
    assert '<mo lspace="0.16em" rspace="0.16em">log</mo><mi>p</mi>' in equations.mathml(r"\log p", "inline")
    with pytest.raises(ValueError, match="no MathML"):
        equations.mathml(r"\unheardof x", "block")


def test_the_site_builds_without_warnings_and_all_its_links_lead_somewhere(site: Path) -> None:
    found = tool("check_site.py").check(site)
    assert found.faults == []
    assert found.pages >= len(list((ROOT / "docs").glob("*.md"))) and found.links > 100


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="gone.html">x</a>', "index.html: no page gone.html"),
        ('<a href="#gone">x</a>', "index.html: no anchor #gone"),
        ('<a href="other.html#gone">x</a>', "index.html: no anchor other.html#gone"),
        ('<img src="gone.png">', "index.html: no file gone.png"),
        ('<script src="https://example.org/a.js"></script>', "index.html: fetches https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "index.html: fetches //example.org/a.css"),
    ],
)
def test_a_fault_of_a_site_is_found(tmp_path: Path, page: str, fault: str) -> None:
    check_site = tool("check_site.py")
    (tmp_path / "other.html").write_text('<h1 id="here">x</h1><a href="index.html">back</a>', encoding="utf-8")
    (tmp_path / "index.html").write_text('<a href="other.html#here">x</a>' + page, encoding="utf-8")
    assert check_site.check(tmp_path).faults == [fault]
    assert check_site.main(tmp_path) == 1


def test_fonts_of_a_style_from_elsewhere_are_found_and_links_elsewhere_are_only_listed(tmp_path: Path) -> None:
    check_site = tool("check_site.py")
    (tmp_path / "index.html").write_text('<a href="https://example.org">x</a>', encoding="utf-8")
    assert check_site.check(tmp_path).external == ["https://example.org"] and check_site.main(tmp_path) == 0
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff2') }", encoding="utf-8")
    assert check_site.check(tmp_path).faults == ["a.css: fetches https://example.org/a.woff2"]


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert tool("check_site.py").main(tmp_path) == 1
