"""The layout is a rule: imports point down only, and factorisations have one home."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "ssvgp"

# Rank by first name below the package. A part may import those of lower rank and itself, nothing else: neither when it
# is loaded nor when a function of it is called.
RANK = {
    "records": 0,
    "settings": 0,
    "run": 0,
    "data": 1,
    "gp": 1,
    "model": 2,
    "evidence": 3,
    "search": 4,  # the search asks the evidence, never the other way round
    "large": 4,
    "explain": 4,
    "method": 5,  # it ends in the record `Fitted` of explain, which the next three read
    "store": 5,
    "report": 5,
    "tables": 5,
    "many": 6,  # many fits of the method, kept in files of the store
    "disk": 7,
    "estimator": 8,
    "classifier": 9,  # it fits regressors of zeros and ones
    "plots": 9,
    "peers": 9,
    # The edges of the package: its public names, its commands, and `python -m ssvgp`.
    "__init__": 10,
    "cli": 11,
    "__main__": 12,
}
READERS = {"store", "report", "explain", "cli", "plots"}  # of a fitted model: by its public names alone
METHOD = {"search", "evidence", "large", "method"}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The first name below the package: `gp` for gp/linalg.py, `records` for records.py."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The dotted name that a `from ... import` reads, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = ("ssvgp", *path.relative_to(PACKAGE).parts[:-1])
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, node.module) if node.module else base)


def imported(tree: ast.AST, path: Path) -> set[str]:
    """Every dotted name that a file imports, in functions too; `from a import b` counts as a.b: b may be a module."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{absolute(node, path)}.{alias.name}" for alias in node.names}
    return names


def parts_imported(tree: ast.AST, path: Path) -> set[str]:
    """The parts of the package that a file imports; names from the package itself count as `__init__`."""
    found = set()
    for name in imported(tree, path):
        root, *rest = name.split(".")
        if root == "ssvgp":
            found.add(rest[0] if rest and rest[0] in RANK else "__init__")
    return found


def uses_linalg(tree: ast.AST, path: Path) -> bool:
    """Whether a file reaches numpy.linalg or scipy.linalg, by import or by attribute."""
    if any(name.startswith(("numpy.linalg", "scipy.linalg")) for name in imported(tree, path)):
        return True
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "linalg"
        and isinstance(node.value, ast.Name)
        and node.value.id in {"np", "numpy", "scipy"}
        for node in ast.walk(tree)
    )


def read(path: Path) -> ast.AST:
    return ast.parse(path.read_text(), filename=str(path))


def label(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def faults(tree: ast.AST, path: Path) -> list[str]:
    """The parts that a file imports against the rule."""
    own = part_of(path)
    others = sorted(parts_imported(tree, path) - {own})
    return [other for other in others if RANK[other] >= RANK[own] or other == "peers"]


def modules_imported(tree: ast.AST, path: Path) -> set[str]:
    """The modules of the package that a file imports, by their dotted names."""
    return {module for name in imported(tree, path) if (module := module_of(name)) is not None}


def module_of(name: str) -> str | None:
    """The module that a dotted name stands for, or whose content it is."""
    for known in (name, name.rpartition(".")[0]):
        if known in MODULES:
            return known
    return None


def name_of(path: Path) -> str:
    """The dotted name of a file, that of its package for an `__init__`."""
    parts = ("ssvgp", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """The names along one cycle of imports, none if there is no cycle."""
    done: set[str] = set()

    def walk(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return trail[trail.index(name) :]
        if name not in done:
            for other in sorted(edges.get(name, set()) - {name}):
                if found := walk(other, [*trail, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in sorted(edges) if (found := walk(name, []))), [])


def private_accesses(tree: ast.AST) -> list[str]:
    """Private names that a file reads of anything but itself, such as `model._target`."""
    return [
        f"{ast.unparse(node)} in line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
    ]


@pytest.mark.parametrize("path", FILES, ids=label)
def test_every_part_has_a_layer(path: Path) -> None:
    assert part_of(path) in RANK, f"give {part_of(path)!r} a rank in {Path(__file__).name}"


@pytest.mark.parametrize("path", FILES, ids=label)
def test_imports_point_down_only(path: Path) -> None:
    if part_of(path) in RANK:
        wrong = faults(read(path), path)
        assert not wrong, f"{label(path)} imports {wrong}, which lie beside or above it"


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycle({name: modules_imported(read(path), path) for name, path in MODULES.items()}) == []


def test_a_cycle_is_seen() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("path", [path for path in FILES if part_of(path) in READERS], ids=label)
def test_a_fitted_model_is_read_by_its_public_names(path: Path) -> None:
    assert private_accesses(read(path)) == []


def test_a_private_name_of_another_is_seen() -> None:
    lines = "model._target.restore(y)\nself._names\nmodel.fitted_.target\nstory.model._inputs"
    assert sorted(private_accesses(ast.parse(lines))) == ["model._target in line 1", "story.model._inputs in line 4"]


@pytest.mark.parametrize("path", FILES, ids=label)
def test_factorisations_have_one_home(path: Path) -> None:
    if path.parent != PACKAGE / "gp" or path.name not in ("linalg.py", "lapack.py"):
        assert not uses_linalg(read(path), path), f"{label(path)} must call gp/linalg.py instead"


def test_kernels_never_factor_a_matrix() -> None:
    for path in (path for path in FILES if path.parent == PACKAGE / "gp" / "kernels"):
        assert not any("gp.linalg" in name or "gp.lapack" in name for name in imported(read(path), path))


def test_the_prior_never_sees_the_data() -> None:
    for path in (path for path in FILES if path == PACKAGE / "method" / "paper" / "spike_slab.py"):
        names = {node.arg for node in ast.walk(read(path)) if isinstance(node, ast.arg)}
        assert not names & {"X", "y"}


def test_store_and_report_run_no_method_code() -> None:
    for path in (path for path in FILES if part_of(path) in {"store", "report"}):
        assert not parts_imported(read(path), path) & METHOD, label(path)


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("gp/marginal.py", "from ssvgp.search import screen", ["search"]),
        ("gp/marginal.py", "from ..evidence.loo import exact", ["evidence"]),
        ("evidence/laplace.py", "from ..search import moves", ["search"]),
        ("data.py", "from .estimator import SSVGPRegressor", ["estimator"]),
        ("store.py", "import ssvgp.report", ["report"]),
        ("cli/demo.py", "from ssvgp.peers import lasso", ["peers"]),
        ("gp/kernels/families.py", "from ssvgp import SSVGPRegressor", ["__init__"]),
        ("gp/predict.py", "from . import linalg\nfrom ..records import Train", []),
        ("estimator.py", "from ssvgp.method.auto import fit\nimport numpy", []),
        ("estimator.py", "def save():\n    from ssvgp.store import save", []),
        ("store/model.py", "def load():\n    from ssvgp.estimator import SSVGPRegressor", ["estimator"]),
        ("report/html.py", "from ssvgp.store import load", ["store"]),
        ("estimator.py", "def run():\n    from ssvgp.cli import main", ["cli"]),
        ("explain/effects.py", "def save():\n    from ssvgp.store import save", ["store"]),
        ("cli/demo.py", "from ssvgp import SSVGPRegressor", []),
    ],
)
def test_the_rule_tells_right_from_wrong(file: str, line: str, wrong: list[str]) -> None:
    assert faults(ast.parse(line), PACKAGE / file) == wrong


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("import numpy as np\nnp.linalg.norm(1)", True),
        ("from scipy import linalg", True),
        ("import scipy.linalg", True),
        ("from numpy.linalg import solve", True),
        ("from ssvgp.gp import linalg\nlinalg.factor(1)", False),
        ("from scipy.special import ndtr", False),
    ],
)
def test_the_home_of_factorisations_is_watched(line: str, used: bool) -> None:
    assert uses_linalg(ast.parse(line), PACKAGE / "data.py") is used


def test_the_drawing_of_the_rooms_is_true() -> None:
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = page[page.index("```text") : page.index("```", page.index("```text") + 3)].splitlines()
    height = {room: -line for line, text in enumerate(drawing) for room in re.findall(r"\[(\w+)\]", text)}
    height["__init__"] = height.pop("ssvgp")
    assert set(height) == set(RANK) - {"__main__"}
    for upper, lower in ((a, b) for a in height for b in height if height[a] > height[b]):
        assert RANK[upper] >= RANK[lower], f"{upper} is drawn above {lower}"
