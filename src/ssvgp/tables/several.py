"""From a table to the inputs and the many targets of a fit: the targets are all columns that a pattern names."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvgp.tables.columns import choose, listed
from ssvgp.tables.prepare import Choice, inputs_beside, of_rows, one_pass, read_rows, treated
from ssvgp.tables.recipe import Recipe
from ssvgp.tables.source import Table


@dataclass(frozen=True)
class PreparedSeveral:
    """Inputs X (n, d), targets Y (n, q) with NaN where a value is missing, their names, the recipe, and notes.

    Weights and known noise variances of the rows (n,) where the table has them.
    """

    X: np.ndarray
    Y: np.ndarray
    targets: tuple[str, ...]
    recipe: Recipe
    notes: tuple[str, ...]
    weights: np.ndarray | None = None
    noise: np.ndarray | None = None


def targets_in(table: Table, target: str) -> list[int]:
    """Places of the columns that a name, a pattern with * or ?, or several with commas stand for."""
    return choose((target,), table.names)


def prepare_several(table: Table, choice: Choice) -> PreparedSeveral:
    """Read a table for a fit of many targets; rows without a value of any of them are left out."""
    wanted = targets_in(table, choice.target)
    names = tuple(table.names[j] for j in wanted)
    goals, _ = one_pass(table, wanted, {}, stop=True)
    reading = read_rows(table, [*inputs_beside(table, wanted, choice), wanted[0]], choice)
    # the last column stands for all targets: there where one of them is
    reading.values[:, -1] = np.where(np.isnan(goals.values).all(axis=1), np.nan, 0.0)
    recipe = treated(reading, choice)
    X = recipe.encode(reading.values[:, :-1]).X
    Y = goals.values[np.searchsorted(goals.lines, reading.lines)]
    weights, noise = (of_rows(reading, name) for name in (choice.weight, choice.noise))
    notes = [*table.notes, *reading.notes]
    gaps = [name for name, y in zip(names, Y.T, strict=True) if np.isnan(y).any()]
    if gaps:
        notes.append(f"rows without a value of a target are left out of its fit alone: {listed(gaps)}")
    return PreparedSeveral(X, Y, names, replace(recipe, target=choice.target), tuple(notes), weights, noise)
