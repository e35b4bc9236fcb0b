"""A first look: fit the estimator to the bundled table and print what it selects.

The table is a made-up record of 120 runs of a chemical reactor with 60 sensors, of which four decide the
yield; `make_table` says how. Run it with `python -m ssvgp.demo`.
"""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from ssvgp import SSVGPRegressor

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
SHOWN = 10
OUTPUT = "ssvgp_demo_pip.csv"


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
    with (files("ssvgp") / "demo_table.csv").open() as file:
        names, *rows = list(csv.reader(file))
    values = np.array(rows, dtype=float)
    return Table(tuple(names[:-1]), values[:, :-1], values[:, -1])


def report(model: SSVGPRegressor, table: Table) -> str:
    """What the fit found: inputs by inclusion probability, quality of the fit, shares of variance."""
    order = np.argsort(-model.pip_, kind="stable")
    lines = [f"{'input':<24}{'PIP':>7}  lengthscale", "-" * 44]
    for j in order[:SHOWN]:
        deviation = float(table.X[:, j].std())
        chosen = model.pip_[j] > model.threshold
        # mean |theta| over all members, so that of a member with the input is this over the PIP
        length = f"{deviation * model.pip_[j] / model.inverse_lengthscales_[j]:.3g}" if chosen else "-"
        mark = "  selected" if chosen else ""
        lines.append(f"{table.names[j]:<24}{model.pip_[j]:>7.3f}  {length:>11}{mark}")
    lines.append(f"... and {order.size - SHOWN} more with PIP up to {model.pip_[order[SHOWN]]:.3f}")
    error = float(np.mean((model.loo_.mean - table.y) ** 2))
    sd = np.sqrt(model.loo_.variance)
    inside = float(np.mean(np.abs(model.loo_.mean - table.y) <= 1.96 * sd))
    shares = ", ".join(f"{name} {share:.1%}" for name, share in model.variance_shares_.items())
    return "\n".join(
        [
            *lines,
            "",
            f"leave-one-out: R2 {1.0 - error / table.y.var():.3f}, root mean square error {error**0.5:.2f},"
            f" {inside:.0%} of rows within the 95% interval",
            f"variance: {shares}; noise standard deviation {model.noise_variance_**0.5:.2f} (0.8 is true)",
        ]
    )


def write_pips(model: SSVGPRegressor, table: Table, path: Path) -> None:
    """Save name, inclusion probability and mean inverse lengthscale of every input as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("input", "pip", "inverse_lengthscale"))
        for name, pip, theta in zip(table.names, model.pip_, model.inverse_lengthscales_, strict=True):
            writer.writerow((name, f"{pip:.6f}", f"{theta:.6f}"))


def main() -> None:
    """Fit, print, and save the inclusion probabilities in the current directory."""
    table = read_table()
    n, d = table.X.shape
    print(f"{n} runs of a reactor, {d} sensors; the yield depends on {', '.join(DECISIVE)}\n")
    start = time.perf_counter()
    model = SSVGPRegressor(random_state=0).fit(table.X, table.y)
    print(f"fitted in {time.perf_counter() - start:.1f} s\n")
    print(report(model, table))
    path = Path.cwd() / OUTPUT
    write_pips(model, table, path)
    print(f"\ninclusion probabilities of all inputs are in {path}")


if __name__ == "__main__":
    main()
