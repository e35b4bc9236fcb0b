"""Named places: every place has one name, parts come back as they went in, and what survives is what was asked for."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from ssvgp.model.coordinates import Coordinates
from ssvgp.model.priors import Candidate

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "ssvgp"
WALK = Coordinates(3, ("scale", "noise"), ("theta", "log_sd"))


def test_stretches_and_slots_fill_the_vector_without_gap_or_overlap() -> None:
    places = np.zeros(len(WALK))
    for name in WALK.stretches:
        places[WALK.stretch(name)] += 1
    for name in WALK.slots:
        places[WALK.slot(name)] += 1
    assert np.array_equal(places, np.ones(8))
    assert np.array_equal(np.arange(8)[WALK.rest], [WALK.slot(name) for name in WALK.slots])


def test_a_vector_has_its_parts_where_their_names_say() -> None:
    z = WALK.vector(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), noise=8.0, scale=7.0)
    assert np.array_equal(z, np.arange(1.0, 9.0))
    assert np.array_equal(z[WALK.theta], [1.0, 2.0, 3.0])
    assert z[WALK.slot("noise")] == 8.0
    assert Coordinates.of_length(z.size, WALK.slots, WALK.stretches) == WALK
    with pytest.raises(ValueError, match="unknowns are"):
        WALK.vector(np.zeros(3), noise=0.0, scale=0.0)
    with pytest.raises(ValueError, match="unknowns are"):
        WALK.vector(np.zeros(3), np.zeros(3), noise=0.0)


def test_what_survives_pruning_is_every_number_of_the_inputs_that_stay() -> None:
    mask = WALK.surviving(np.array([True, False, True]))
    assert np.array_equal(np.flatnonzero(mask), [0, 2, 3, 5, 6, 7])


@pytest.mark.parametrize(
    ("candidate", "slots"),
    [
        (Candidate(()), ("noise",)),
        (Candidate((), "linear"), ("noise", "background")),
        (Candidate((4, 7)), ("scale", "noise")),
        (Candidate((4, 7), "smooth"), ("scale", "noise", "background")),
    ],
)
def test_a_candidate_has_the_slots_that_it_needs(candidate: Candidate, slots: tuple[str, ...]) -> None:
    where = candidate.coordinates
    assert where.slots == slots
    assert len(where) == candidate.size + len(slots)
    assert ("theta" in where) == bool(candidate.active)
    assert where.labels(candidate.active) == [*candidate.active, *slots]


def counted_places(tree: ast.AST) -> list[int]:
    """Lines that index a vector of unknowns by counting: z[-1], unknowns[:-2], z[size + 1]."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in {"z", "unknowns"}:
            parts = [part for part in ast.walk(node.slice) if isinstance(part, (ast.UnaryOp, ast.BinOp))]
            found += [node.lineno] if parts else []
    return found


@pytest.mark.parametrize("room", ["model", "evidence", "search", "large", "method"])
def test_nobody_else_counts_places(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        if path.name != "coordinates.py":
            assert not counted_places(ast.parse(path.read_text())), path.name


def test_counting_is_seen() -> None:
    assert counted_places(ast.parse("a = z[-1]\nb = unknowns[: size + 1]\nc = z[where.theta]\nd = y[-1]")) == [1, 2]
