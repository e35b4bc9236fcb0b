"""benchmarks/ asks questions with what experiments/ measures by, and not the other way round."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNIT = "benchmarks.unit"  # the definition of the unit of time, below both


def imported(path: Path) -> set[str]:
    """Names of the modules that a file imports, lazily too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{one.name}" for one in node.names}
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.py")), ids=lambda path: path.stem)
def test_experiments_know_nothing_of_benchmarks_but_the_unit(path: Path) -> None:
    named = {name for name in imported(path) if name.split(".")[0] == "benchmarks"}
    assert all(name == "benchmarks" or name == UNIT or name.startswith(f"{UNIT}.") for name in named), named


def test_the_unit_stands_on_nothing_of_either() -> None:
    assert not {name.split(".")[0] for name in imported(ROOT / "benchmarks" / "unit.py")} & {
        "benchmarks",
        "experiments",
    }
