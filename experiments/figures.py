"""The paper's figures redrawn from stored results, and the league's, as PNG; what was not run is said in its place.

python -m experiments.figures            into docs/images/results; needs matplotlib: pip install 'ssvgp[plots]'
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.designs import experiment2
from experiments.drawing import DARK, DPI, LIGHT, SIGNAL, STYLE, Axes, Figure, logarithmic, not_run, plt
from experiments.methods import METHODS
from experiments.own_figures import accuracy, league, training
from experiments.paper_tables import PAPER, REAL, ROWS, SHAPES
from experiments.scores import HIGH_IS_GOOD
from experiments.scoring import surface
from experiments.summaries import Stored, load
from ssvgp.method.paper.spike_slab import SpikeSlab, intersection_at

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images" / "results"
C = PAPER["intersection_point"]["c"]


def figure1(stored: Stored) -> Figure:
    """Toy profiles: inverse lengthscales of ML-II, PIPs with mean field."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), constrained_layout=True)
    draw_profile(axes[0], stored, ("toy", "toy", "mlii"), "score", "ML-II GP, inverse lengthscales")
    draw_profile(axes[1], stored, ("toy", "toy", "mf"), "pip", "SSVGP+MFG, PIPs")
    return figure


def figure2(stored: Stored) -> Figure:
    """Toy profiles of the averaged model, beside those of the default."""
    figure, axes = plt.subplots(2, 2, figsize=(7, 4.6), constrained_layout=True)
    for row, method, label in ((0, "paper_n4", "SSVGP+BMA"), (1, "ssvgp", "our default")):
        at = ("toy", "toy", method)
        draw_profile(axes[row, 0], stored, at, "inverse_lengthscale", f"{label}, inverse lengthscales")
        draw_profile(axes[row, 1], stored, at, "pip", f"{label}, PIPs")
    return figure


def figure_a0(stored: Stored) -> Figure:
    """The posterior point of intersection over pi, for ten v (eq. 14)."""
    figure, ax = plt.subplots(figsize=(4.6, 3.2), constrained_layout=True)
    pi = np.linspace(0.001, 0.999, 1000)
    for v, shade in zip(np.logspace(0, 7, 10), np.linspace(0.2, 1.0, 10), strict=True):
        points = [intersection_at(SpikeSlab(float(v), C), float(value)) for value in pi]
        ax.semilogy(pi, points, color=plt.get_cmap("Blues")(shade), label=f"{v:.1e}")
    ax.set(xlabel="π", ylabel="point of intersection", title="c = 1e-8")
    ax.legend(title="v", fontsize=7, title_fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def figure_a1(stored: Stored) -> Figure:
    """PIP profiles with 5 relevant inputs at v = 1e4, 1e5, and averaged."""
    return _three_profiles(stored, "toy")


def figure_a2(stored: Stored) -> Figure:
    """PIP profiles with 25 weak relevant inputs."""
    return _three_profiles(stored, "toy_weak")


def _three_profiles(stored: Stored, design: str) -> Figure:
    figure, axes = plt.subplots(1, 4, figsize=(10.5, 2.6), constrained_layout=True, sharey=True)
    by_v, averaged = ("toy", design, "mf_by_v"), ("toy", design, "paper_n4")
    draw_profile(axes[0], stored, by_v, "pip_v1e4", "mean field, v = 1e4")
    draw_profile(axes[1], stored, by_v, "pip_v1e5", "mean field, v = 1e5")
    draw_profile(axes[2], stored, averaged, "pip", "averaged (BMA)")
    draw_profile(axes[3], stored, ("toy", design, "ssvgp"), "pip", "our default")
    return figure


def draw_profile(ax: Axes, stored: Stored, at: tuple[str, str, str], key: str, title: str) -> None:
    """Mean over trials of size-ordered values, relevant inputs to the left of a dashed line (B.1)."""
    ax.set_title(title)
    lines = stored.good(*at)
    if not lines:
        not_run(ax)
        return
    parts = [np.mean([line["profiles"][key][side] for line in lines], axis=0) for side in ("relevant", "others")]
    places = np.arange(1, parts[0].size + parts[1].size + 1)
    ax.bar(places, np.concatenate(parts), width=1.0, color=[SIGNAL] * parts[0].size + [DARK] * parts[1].size)
    ax.axvline(parts[0].size + 0.5, color="black", linestyle="--", linewidth=0.8)
    ax.set(xlabel="inputs in order of size", xlim=(0.0, places[-1] + 1.0))
    if key.startswith("pip"):
        ax.set_ylim(0.0, 1.05)


def figure3(stored: Stored) -> Figure:
    """Experiment 1: median, 25 to 75 and 10 to 90 percentiles; open circles are printed medians."""
    printed = PAPER["experiment1"]["percentiles"]["methods"]
    names = [*printed, "MCMC", "our default"]
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), constrained_layout=True, sharey=True)
    columns = (("nmse", "mse", "MSE"), ("mcc_best", "mcc", "MCC"), ("seconds", "runtime_s", "seconds"))
    for ax, (score, key, title) in zip(axes, columns, strict=True):
        for place, name in enumerate(names):
            values = stored.values("experiment1", "experiment1", ROWS.get(name, "ssvgp"), score)
            if values.size:
                low, first, middle, third, high = np.percentile(values, (10, 25, 50, 75, 90))
                ax.plot([low, high], [place, place], color=LIGHT, linestyle="--", linewidth=1.2)
                ax.plot([first, third], [place, place], color=DARK, linewidth=2.5)
                ax.plot(middle, place, "o", color=DARK)
            if name in printed:
                ax.plot(printed[name]["p50"][key], place, "o", color=SIGNAL, fillstyle="none", markersize=8)
        ax.set_title(title)
        if score not in HIGH_IS_GOOD:
            logarithmic(ax)
        ax.grid(alpha=0.3, axis="x")
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.suptitle("filled: ours, open: printed medians", fontsize=8)
    return figure


def figure4(stored: Stored) -> Figure:
    """Experiment 2, n = d = 10⁴: mean surfaces of predictions beside the true one."""
    truth = experiment2(0, n=4, d=2, n_test=10_000).f_test
    panels = {"truth": np.array(surface(truth)).reshape(25, 25)}
    for method in ("ssvgp", "paper_256", "sgp", "svgp"):
        lines = stored.good("experiment2", "wide", method)
        found = np.mean([line["surface"] for line in lines], axis=0) if lines else np.full(625, np.nan)
        side = round(np.sqrt(found.size))
        panels[METHODS[method].label] = found.reshape(side, side)
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 2.8), constrained_layout=True)
    low, high = panels["truth"].min(), panels["truth"].max()
    for ax, (name, values) in zip(axes, panels.items(), strict=True):
        if np.isnan(values).all():
            not_run(ax)
        else:
            image = ax.imshow(values.T, origin="lower", extent=(0, 1, 0, 1), vmin=low, vmax=high, cmap="viridis")
        ax.set(title=name, xlabel="x1")
        ax.set_box_aspect(1)
    axes[0].set_ylabel("x2")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def figure5(stored: Stored) -> Figure:
    """Experiment 2: mean and sd of error and minutes, both shapes, ours and printed."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 4.6), constrained_layout=True, sharey=True)
    for row, (design, (key, title)) in zip(axes, SHAPES.items(), strict=True):
        printed = PAPER["experiment2"][key]["methods"]
        draw_means(row[0], stored, ("experiment2", design), printed, ("nmse", "mse"), f"MSE, {title}")
        draw_means(row[1], stored, ("experiment2", design), printed, ("minutes", "runtime_min"), "minutes")
    return figure


def figure6(stored: Stored) -> Figure:
    """Real data: mean and sd of error and minutes, ours and printed."""
    sets, rows = _shown_sets(stored), PAPER["real_data"]["UJINDOORLOC"]["methods"]
    shape = {"figsize": (8, 1.9 * len(sets)), "constrained_layout": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(len(sets), 2, **shape)
    for row, (design, key) in zip(axes, sets.items(), strict=True):
        printed = PAPER["real_data"][key]["methods"] if key else dict.fromkeys(rows)
        draw_means(row[0], stored, ("real", design), printed, ("nmse", "mse"), f"MSE, {design}")
        draw_means(row[1], stored, ("real", design), printed, ("minutes", "runtime"), "minutes")
    return figure


def draw_means(ax: Axes, stored: Stored, at: tuple[str, str], printed: Any, keys: tuple[str, str], title: str) -> None:
    """Mean and sd of a score for each row of a printed table and for the default; open circles are printed."""
    names = [*printed, "our default"]
    for place, name in enumerate(names):
        values = stored.values(*at, ROWS.get(name, "ssvgp"), keys[0])
        if values.size:
            sd = values.std(ddof=1) if values.size > 1 else 0.0
            ax.errorbar(values.mean(), place, xerr=sd, fmt="o", color=DARK)
        else:
            ax.text(1.01, place, "not run", transform=ax.get_yaxis_transform(), va="center", color="grey", fontsize=7)
        if printed.get(name):
            number = printed[name][keys[1]]
            ax.errorbar(number["mean"], place, xerr=number["sd"], fmt="o", color=SIGNAL, fillstyle="none", markersize=8)
    ax.set(title=title, ylim=(len(names) - 0.5, -0.5))
    logarithmic(ax)
    ax.set_yticks(range(len(names)), names)
    ax.grid(alpha=0.3, axis="x")


def figure_a3(stored: Stored) -> Figure:
    """Real data: median profile of inverse lengthscales for ours, SGP and SVGP."""
    methods = ("paper_256", "ssvgp", "sgp", "svgp")
    sets = _shown_sets(stored)
    figure, axes = plt.subplots(len(sets), 4, figsize=(10, 1.9 * len(sets)), constrained_layout=True, squeeze=False)
    for row, design in zip(axes, sets, strict=True):
        for ax, method in zip(row, methods, strict=True):
            lines = stored.good("real", design, method)
            ax.set_title(f"{METHODS[method].label}, {design}", fontsize=7)
            if not lines:
                not_run(ax)
                continue
            key = "score" if method in ("sgp", "svgp") else "inverse_lengthscale"
            middle = np.median([line["profiles"][key]["others"] for line in lines], axis=0)
            ax.bar(np.arange(1, middle.size + 1), middle, width=1.0, color=DARK)
            ax.set_xlim(0.0, middle.size + 1.0)
    return figure


def _shown_sets(stored: Stored) -> dict[str, str | None]:
    """The real sets of which something is stored, or else those of the paper."""
    seen = {line["design"] for line in stored.lines.get("real", ())}
    return {design: key for design, key in REAL.items() if (design in seen if seen else key)}


FIGURES: dict[str, Callable[[Stored], Figure]] = {
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
    "figure4": figure4,
    "figure5": figure5,
    "figure6": figure6,
    "figure_a0": figure_a0,
    "figure_a1": figure_a1,
    "figure_a2": figure_a2,
    "figure_a3": figure_a3,
    "accuracy": accuracy,
    "training": training,
    "league": league,
}


def save_all(stored: Stored, folder: Path = IMAGES) -> list[Path]:
    """Draw every figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with plt.rc_context(STYLE):
        for name, draw in FIGURES.items():
            figure = draw(stored)
            paths.append(folder / f"{name}.png")
            # Without the version of the library the same results give the same file.
            figure.savefig(paths[-1], dpi=DPI, metadata={"Software": None})
            plt.close(figure)
    return paths


if __name__ == "__main__":
    for path in save_all(load()):
        print(path)
