"""Numeric module constants and settings fields of the engine are counted: their number may fall, not rise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from ssvgp import AutoSettings, PaperSettings, Prior, SearchSettings

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "ssvgp"
ENGINE = ("gp", "model", "evidence", "search", "large", "method", "data", "explain", "settings")
MOST = 183  # a quarter fewer than the 169 + 75 that there were; lower it with every constant that goes


def numeric(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return numeric(node.left) and numeric(node.right)
    parts: list[ast.expr] = []
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = node.elts
    elif isinstance(node, ast.Dict):  # a table of numbers is one constant, as a tuple of them is
        parts = node.values
    elif isinstance(node, ast.Call):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    return bool(parts) and all(numeric(part) for part in parts)


def constants(path: Path) -> Iterator[str]:
    """Names in capitals that a module sets to numbers."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]  # type: ignore[attr-defined]
            for name, number in pairs:
                if isinstance(name, ast.Name) and name.id.isupper() and numeric(number):
                    yield f"{path.relative_to(PACKAGE)}: {name.id}"


def test_constants_of_the_engine_grow_no_more() -> None:
    found = [name for room in ENGINE for path in sorted((PACKAGE / room).rglob("*.py")) for name in constants(path)]
    settings = sum(len(fields(kind)) for kind in (AutoSettings, PaperSettings, Prior, SearchSettings))
    assert len(found) + settings <= MOST, found
