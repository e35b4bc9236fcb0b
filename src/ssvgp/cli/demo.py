"""The tables of a first look: made-up records of a chemical reactor with 60 sensors, of which few matter.

Four sensors decide the yield of 120 runs, three whether each of 300 batches is good, and three the number of faults in
240 shifts; the functions say how. The command `ssvgp demo` fits the first, `--classes` and `--counts` the others.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

ROWS, SEED = 120, 20240501
TARGET, VERDICT, FAULTS, HOURS = "yield_percent", "batch", "faults", "shift_hours"
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
    """Names (d,) of the inputs, rows X (n, d) and target y (n,) with its name."""

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    target: str = TARGET


@dataclass(frozen=True)
class Demo:
    """A bundled table: its file, what is predicted, what is said of it, and the column of exposures of counts."""

    file: str
    target: str
    said: str
    exposure: str = ""

    def content(self) -> bytes:
        """The file as it is."""
        return (files("ssvgp.cli") / self.file.replace("demo", "demo_table")).read_bytes()


@dataclass(frozen=True)
class Readings:
    """Names (d,) of sensors, their readings (n, d), and the same standardised."""

    names: tuple[str, ...]
    rounded: np.ndarray
    z: np.ndarray

    def of(self, name: str) -> np.ndarray:
        """The standardised readings (n,) of a sensor."""
        return self.z[:, self.names.index(name)]


def readings(rng: np.random.Generator, rows: int) -> Readings:
    """Correlated sensors: common causes make them go together."""
    names = tuple(f"{place}_{quantity}" for place in PLACES for quantity in QUANTITIES)
    weather = rng.normal(size=(rows, 3))
    loadings = rng.normal(size=(3, len(names))) / 3.0
    z = weather @ loadings + rng.normal(size=(rows, len(names)))
    z /= np.sqrt(1.0 + (loadings**2).sum(axis=0))
    scales = [QUANTITIES[name.split("_")[1]] for name in names]
    columns = [np.round(mean + sd * z[:, j], digits) for j, (mean, sd, digits) in enumerate(scales)]
    return Readings(names, np.column_stack(columns), z)


def make_table(seed: int = SEED) -> Table:
    """The bundled table: correlated sensors, and a yield that four of them decide, not in straight lines.

    Temperature has an optimum, the dose saturates and works best at a low pH, flow costs ever more yield.
    """
    rng = np.random.default_rng(seed)
    found = readings(rng, ROWS)
    temperature, dose, ph, flow = (found.of(name) for name in DECISIVE)
    effect = -3.0 * temperature**2 + 4.0 * np.tanh(1.2 * dose) * (1.0 - 0.6 * ph) - 2.0 * np.exp(0.6 * flow)
    return Table(found.names, found.rounded, np.round(82.0 + effect + 0.8 * rng.normal(size=ROWS), 2))


def make_classes(seed: int = SEED + 1) -> Table:
    """Batches that are good or bad: a warm reactor is good up to an optimum, and stirring saves what turbidity spoils.

    The log odds have a standard deviation of about 3: one batch of ten or so is on the wrong side by chance.
    """
    rng = np.random.default_rng(seed)
    found = readings(rng, 300)
    warm, dose, cloud = (found.of(f"reactor_{name}") for name in ("temperature", "dose", "turbidity"))
    odds = 3.0 - 2.5 * warm**2 + 2.0 * dose - 2.0 * np.maximum(cloud, 0.0) * (1.0 - np.tanh(dose))
    good = rng.random(300) < 1.0 / (1.0 + np.exp(-odds))
    return Table(found.names, found.rounded, np.where(good, "good", "bad"), VERDICT)


def make_counts(seed: int = SEED + 2) -> Table:
    """Faults in shifts of four to twelve hours: more at high pressure, and in cold feed where the flow is large."""
    rng = np.random.default_rng(seed)
    found = readings(rng, 240)
    hours = np.round(rng.uniform(4.0, 12.0, size=240))
    pressure, cold, flow = found.of("column_pressure"), -found.of("feed_temperature"), found.of("feed_flow")
    rate = np.exp(-1.0 + 0.7 * pressure + 0.5 * cold * flow)
    faults = rng.poisson(hours * rate * rng.gamma(8.0, 1.0 / 8.0, size=240)).astype(float)
    return Table((*found.names, HOURS), np.column_stack([found.rounded, hours]), faults, FAULTS)


def write_table(table: Table, path: Path) -> None:
    """Save a table as CSV, the target last; this is how the bundled ones came to be."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*table.names, table.target))
        for row, y in zip(table.X, table.y, strict=True):
            writer.writerow([*(f"{value:g}" for value in row), y if isinstance(y, str) else f"{y:g}"])


def read_table(kind: str = "numbers") -> Table:
    """A bundled table."""
    demo = DEMOS[kind]
    names, *rows = list(csv.reader(demo.content().decode().splitlines()))
    y = np.array([row[-1] for row in rows])
    X = np.array([row[:-1] for row in rows], dtype=float)
    return Table(tuple(names[:-1]), X, y if kind == "classes" else y.astype(float), demo.target)


DEMOS = {
    "numbers": Demo(
        "demo.csv",
        TARGET,
        f"120 runs of a reactor; its yield depends on {', '.join(DECISIVE)}, and on none of 56 more sensors",
    ),
    "classes": Demo(
        "demo_classes.csv",
        VERDICT,
        "300 batches of a reactor, good or bad by its temperature, dose and turbidity, and by none of 57 more sensors",
    ),
    "counts": Demo(
        "demo_counts.csv",
        FAULTS,
        "faults in 240 shifts, by the pressure of the column and by temperature and flow of the feed together, and by"
        " none of 57 more sensors",
        HOURS,
    ),
}
