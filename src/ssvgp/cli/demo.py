"""The table of a first look: a made-up record of 120 runs of a chemical reactor with 60 sensors.

Four of them decide the yield; `make_table` says how. The command `ssvgp demo` fits it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

ROWS, SEED = 120, 20240501
TARGET = "yield_percent"
DECISIVE = ("reactor_temperature", "reactor_dose", "reactor_ph", "feed_flow")
PLACES = ("feed", "solvent", "reactor", "jacket", "cooler", "column", "separator", "dryer", "stack", "tank")
# quantity: mean, standard deviation and decimals of its readings
QUANTITIES = {
    "temperature": (80.0, 6.0, 1),
    "pressure": (2.4, 0.3, 2),
    "flow": (35.0, 5.0, 1),
    "ph": (7.0, 0.5, 2),
    "dose": (4.0, 1.0, 2),
    "turbidity": (12.0, 3.0, 1),
}


@dataclass(frozen=True)
class Table:
    """Names (d,) of the inputs, rows X (n, d) and target y (n,)."""

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray


def make_table(seed: int = SEED) -> Table:
    """The bundled table: correlated sensors, and a yield that four of them decide, not in straight lines.

    Temperature has an optimum, the dose saturates and works best at a low pH, flow costs ever more yield.
    """
    rng = np.random.default_rng(seed)
    names = tuple(f"{place}_{quantity}" for place in PLACES for quantity in QUANTITIES)
    weather = rng.normal(size=(ROWS, 3))  # common causes, which make sensors go together
    loadings = rng.normal(size=(3, len(names))) / 3.0
    z = weather @ loadings + rng.normal(size=(ROWS, len(names)))
    z /= np.sqrt(1.0 + (loadings**2).sum(axis=0))
    scales = [QUANTITIES[name.split("_")[1]] for name in names]
    columns = [np.round(mean + sd * z[:, j], digits) for j, (mean, sd, digits) in enumerate(scales)]
    temperature, dose, ph, flow = (z[:, names.index(name)] for name in DECISIVE)
    effect = -3.0 * temperature**2 + 4.0 * np.tanh(1.2 * dose) * (1.0 - 0.6 * ph) - 2.0 * np.exp(0.6 * flow)
    return Table(names, np.column_stack(columns), np.round(82.0 + effect + 0.8 * rng.normal(size=ROWS), 2))


def write_table(table: Table, path: Path) -> None:
    """Save a table as CSV, the target last; this is how the bundled one came to be."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*table.names, TARGET))
        for row in np.column_stack([table.X, table.y]):
            writer.writerow([f"{value:g}" for value in row])


def read_table() -> Table:
    """The bundled table."""
    with (files("ssvgp.cli") / "demo_table.csv").open() as file:
        names, *rows = list(csv.reader(file))
    values = np.array(rows, dtype=float)
    return Table(tuple(names[:-1]), values[:, :-1], values[:, -1])
