"""Figures that the paper does not have: accuracy against time, and the error of long trainings on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments import experiment2, real
from experiments.drawing import DARK, OTHER, SIGNAL, Axes, Figure, logarithmic, name_points, not_run, plt
from experiments.league_tables import standings
from experiments.methods import METHODS
from experiments.paper_tables import PAPER
from experiments.summaries import Stored

# Of experiment 1, with the names that stand beside their points.
SHOWN = {
    "ssvgp": "ssvgp, default",
    "paper_n2": "the paper's method (m=n/2)",
    "mcmc": "MCMC, spike and slab GP",
    "mlii": "ML-II GP",
    "mlii_lbfgs": "ML-II GP by L-BFGS",
    "gam_ssl": "additive, spike and slab LASSO",
    "gam_lasso": "additive, LASSO",
    "lasso": "LASSO",
    "mcp": "MCP",
}


@plt.rc_context({"font.size": 14})
def accuracy(stored: Stored) -> Figure:
    """Experiment 1, 6 of 1000 inputs from 100 rows: test error against time, and MCC of the selection in brackets."""
    figure, ax = plt.subplots(figsize=(9.6, 7.8), constrained_layout=True)  # large, since it is shown small
    points = []
    for method, name in SHOWN.items():
        at = ("experiment1", "experiment1", method)
        nmse, seconds, mcc = (stored.values(*at, score) for score in ("nmse", "seconds", "mcc_best"))
        if nmse.size:
            points.append((float(np.nanmean(seconds)), float(nmse.mean()), f"{name} ({mcc.mean():.2f})"))
            ax.plot(*points[-1][:2], "o", markersize=11, color=DARK if METHODS[method].peer else SIGNAL)
    if not points:
        not_run(ax)
        return figure
    ax.set(xlabel="seconds of fit and prediction", ylabel="squared error / variance of the test targets")
    ax.set_title("6 of 1000 inputs from 100 rows\nin brackets the MCC of the selection, 1 is faultless", fontsize=15)
    for which in ("x", "y"):
        logarithmic(ax, which)
    ax.margins(x=0.12, y=0.12)
    ax.grid(alpha=0.3)
    name_points(ax, points, size=14.0)
    return figure


def league(stored: Stored) -> Figure:
    """Accuracy against time: mean rank by nmse over all designs, and the geometric mean of seconds."""
    figure, ax = plt.subplots(figsize=(7.2, 4.6), constrained_layout=True)
    found = [one for one in standings(stored) if np.isfinite(one.seconds)]
    if not found:
        not_run(ax)
        return figure
    for one in found:
        ours = not METHODS[one.method].peer
        ax.plot(one.seconds, one.mean_rank, "o", color=SIGNAL if ours else DARK)
    ax.set(xlabel="seconds of fit and prediction, geometric mean", ylabel="mean rank by nmse (1 is best)")
    logarithmic(ax)
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.grid(alpha=0.3)
    name_points(ax, [(one.seconds, one.mean_rank, METHODS[one.method].label) for one in found])
    return figure


# A panel for each long training: where its lines are, what the paper prints, and where its settings are.
PANELS: tuple[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]], ...] = (
    (
        "experiment 2, n = d = 10⁴",
        "experiment2",
        "wide",
        PAPER["experiment2"]["n1e4_d1e4"]["methods"],
        experiment2.EXPERIMENT.settings,
    ),
    (
        "experiment 2, n = 10⁶, d = 100",
        "experiment2",
        "tall",
        PAPER["experiment2"]["n1e6_d1e2"]["methods"],
        experiment2.EXPERIMENT.settings,
    ),
    (
        "UJIndoorLoc, n = 16839, d = 520",
        "real",
        "ujiindoorloc",
        PAPER["real_data"]["UJINDOORLOC"]["methods"],
        real.EXPERIMENT.settings,
    ),
)
TRAINED = {"sgp": ("SGP(512)", "iterations", DARK), "svgp": ("SVGP(1024)", "epochs", SIGNAL)}


def training(stored: Stored) -> Figure:
    """SGP and SVGP: test error over their training, the printed end points (open circles), and our default (dashed)."""
    figure, axes = plt.subplots(1, len(PANELS), figsize=(10.5, 3.2), constrained_layout=True)
    for ax, (title, experiment, design, printed, settings) in zip(axes, PANELS, strict=True):
        for method, (name, unit, colour) in TRAINED.items():
            length = settings.get(f"{design}/{method}", settings.get(method, {}))[unit]
            draw_curve(ax, stored, (experiment, design, method), f"{name}, {unit}", colour)
            number = printed[name]["mse"]
            ax.errorbar(
                length, number["mean"], yerr=number["sd"], fmt="o", color=colour, fillstyle="none", markersize=8
            )
        ours = stored.values(experiment, design, "ssvgp", "nmse")
        if ours.size:
            ax.axhline(ours.mean(), color=OTHER, linestyle="--", linewidth=1.0, label="our default")
        ax.plot([], [], "o", color=OTHER, fillstyle="none", label="printed, at the end of training")
        ax.set(title=title, xlabel="iterations or epochs")
        ax.set_xlim(left=0.0)
        ax.margins(y=0.15)
        ax.set_ylim(bottom=0.0)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7, frameon=False)
    axes[0].set_ylabel("squared error / variance")
    return figure


def draw_curve(ax: Axes, stored: Stored, at: tuple[str, str, str], label: str, colour: str) -> None:
    """The error of every stored trial over iterations or epochs, and a dot where it ended."""
    curves = [line["notes"]["curve"] for line in stored.good(*at) if line["notes"].get("curve")]
    if not curves:
        ax.plot([], [], color=colour, label=f"{label}: not run")
    for place, curve in enumerate(curves):
        laps, _, errors = np.array(curve, dtype=float).T
        ax.plot(laps, errors, color=colour, label=None if place else label)
        ax.plot(laps[-1], errors[-1], "o", color=colour)
