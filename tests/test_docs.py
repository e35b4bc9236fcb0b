"""The documents tell the truth: their code runs, and what they name exists."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ssvgp.gp.kernels.compose import KERNELS, READERS
from ssvgp.model.likelihoods import LIKELIHOODS
from ssvgp.model.terms import BACKGROUNDS
from ssvgp.search.proposer import _PROPOSERS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LIBRARIES = ("jax", "torch")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
BENCHMARK = re.compile(r"make bench-(\w+)")
# `model` is also what a fitted model is called
MODEL = r"model(?=\.(?:coordinates|inputs|likelihoods|priors|terms)\b)"
PARTS = f"gp|{MODEL}|evidence|search|large|method|explain|data|records|settings|estimator|store|report|tables|run|peers"
# An array that a comment promises: print(...)  # [0 1 2]
PROMISE = re.compile(r"^print\(.*\)  # (\[[\d .'\w]*\](?: \[[\d .]*\])*)$", re.MULTILINE)
NAME = re.compile(rf"`((?:{PARTS})(?:\.\w+)+)`")


def blocks(document: Path) -> list[tuple[int, str]]:
    """The Python blocks of a document, each with the number of its first line."""
    text = document.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)) + 1, found[1]) for found in BLOCK.finditer(text)]


def library_of(code: str) -> str | None:
    """The optional library that a block imports, if any."""
    found = re.search(rf"^(?:import|from) ({'|'.join(LIBRARIES)})\b", code, re.MULTILINE)
    return found[1] if found else None


def run(document: Path, library: str | None) -> None:
    """Run the blocks of a document in one namespace: those without a library, and those of the one given.

    What a comment says a line prints must be printed.
    """
    namespace = sys.modules["document"].__dict__
    for line, code in blocks(document):
        if library_of(code) in (None, library):
            # empty lines before it make a traceback point at the line of the document
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (line - 1) + code, str(document), "exec"), namespace)
            said = printed.getvalue().splitlines()
            assert [promise for promise in PROMISE.findall(code) if promise not in said] == [], said


@pytest.fixture(autouse=True)
def as_if_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A document is a module while it runs, and what it registers is forgotten afterwards."""
    monkeypatch.setitem(sys.modules, "document", ModuleType("document"))
    registries: tuple[dict[str, Any], ...] = (KERNELS, READERS, BACKGROUNDS.kinds, LIKELIHOODS.kinds, _PROPOSERS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, old in zip(registries, before, strict=True):
        registry.clear()
        registry.update(old)


WITH_CODE = [document for document in DOCUMENTS if blocks(document)]
WITH_LIBRARY = [
    pytest.param(document, library, id=f"{document.stem}-{library}")
    for document in WITH_CODE
    for library in LIBRARIES
    if any(library_of(code) == library for _, code in blocks(document))
]


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.stem)
def test_the_code_of_a_document_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(document, None)


@pytest.mark.autodiff
@pytest.mark.parametrize(("document", "library"), WITH_LIBRARY)
def test_the_code_with_an_optional_library_runs(
    document: Path, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    run(document, library)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_links_lead_to_files(document: Path) -> None:
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_tests_that_are_named_exist(document: Path) -> None:
    named = TEST.findall(document.read_text(encoding="utf-8"))
    missing = [f"{path}::{name}" for path, name in named if not _defines(ROOT / path, name)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_benchmarks_that_are_named_exist(document: Path) -> None:
    named = set(BENCHMARK.findall(document.read_text(encoding="utf-8"))) - {"NAME"}
    assert [name for name in sorted(named) if not (ROOT / "benchmarks" / f"{name}.py").exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_code_that_is_named_exists(document: Path) -> None:
    named = NAME.findall(document.read_text(encoding="utf-8"))
    assert [name for name in named if not _exists(name)] == []


def _defines(path: Path, name: str) -> bool:
    return path.exists() and f"def {name}(" in path.read_text(encoding="utf-8")


def _exists(dotted: str) -> bool:
    """Whether a name such as evidence.laplace.fit, counted from the package, is a module or something inside one."""
    names = dotted.split(".")
    depth = len(names)
    while depth and not _is_module(".".join(["ssvgp", *names[:depth]])):
        depth -= 1
    here: Any = importlib.import_module(".".join(["ssvgp", *names[:depth]]))
    for name in names[depth:]:
        # a field of a dataclass without a default is no attribute of the class
        if not hasattr(here, name) and name not in getattr(here, "__dataclass_fields__", {}):
            return False
        here = getattr(here, name, None)
    return True


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what would be its package is a module
        return False
