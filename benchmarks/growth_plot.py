"""Draw docs/images/growth.png, time of a fit against rows and inputs, from the stored results of benchmarks/growth.py.

python -m benchmarks.growth_plot            needs matplotlib: pip install 'ssvgp[plots]'
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
import numpy as np

from experiments.cases import RESULTS

matplotlib.use("Agg")
TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "growth.png"
PANELS = {
    "growth_exact": ("rows, all at once (d = 100)", "n"),
    "growth_rows": ("rows, in blocks (d = 100)", "n"),
    "growth_inputs": ("inputs (n = 10 000)", "d"),
}


def sizes_and_seconds(name: str, letter: str) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (s,) and the seconds of every draw (draws, s)."""
    lines = [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]
    draws = [line for line in lines if "seed" in line]
    keys = sorted((k for k in draws[0] if k.startswith(f"seconds_{letter}")), key=lambda k: int(k[9:]))
    return np.array([int(k[9:]) for k in keys]), np.array([[draw[k] for k in keys] for draw in draws])


def main() -> None:
    """One panel for each way to grow."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(PANELS), figsize=(9.6, 3.2), sharey=True, constrained_layout=True)
    for ax, (name, (label, letter)) in zip(axes, PANELS.items(), strict=True):
        sizes, seconds = sizes_and_seconds(name, letter)
        ax.loglog(sizes, seconds.T, "o", color="#9ecae1", markersize=5)
        ax.loglog(sizes, np.median(seconds, axis=0), "-", color="#08519c")
        ax.set_xlabel(label)
        ax.set_xticks(sizes, [f"{size:,}".replace(",", " ") for size in sizes], minor=False)
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("seconds of one fit, two jobs")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET, dpi=110)
    print(TARGET)


if __name__ == "__main__":
    main()
