"""Tables that the paper does not have: what the sign and the scale of y do to its method in experiment 1.

python -m experiments.own_tables            from the stored results
"""

from __future__ import annotations

from experiments.paper_tables import PAPER
from experiments.summaries import Stored, load, mean_of
from experiments.tables import NOT_PRINTED, NOT_RUN, grid

# Name of a row, its name in print, and its methods with y as it is, standardised and reflected.
TARGETS: tuple[tuple[str, str, tuple[str, str, str]], ...] = (
    ("SSVGP(m=n)", "SSVGP(m=n)", ("paper_n", "", "paper_n")),
    ("SSVGP(m=n/2)", "SSVGP(m=n/2)", ("paper_n2", "paper_n2_standardised", "paper_n2")),
    ("SSVGP(m=n/4)", "SSVGP(m=n/4)", ("paper_n4", "", "paper_n4")),
    ("our default", "", ("ssvgp", "", "ssvgp")),
)
DESIGNS = ("experiment1", "experiment1", "reflected")
ALREADY = {"our default": "as y is: it standardises y itself"}


def target_markdown(stored: Stored) -> str:
    """MCC and MSE of the paper's method and of the default by what is done to y: print, as it is, and two others."""
    printed = PAPER["experiment1"]["mean_sd"]["methods"]
    rows = []
    for label, name, methods in TARGETS:
        told = printed.get(name)
        print_cell = f"{told['mcc']['mean']:.2f}; {told['mse']['mean']:.4f}" if told else NOT_PRINTED
        cells = [_cell(stored, design, method) for design, method in zip(DESIGNS, methods, strict=True)]
        if not methods[1]:
            cells[1] = ALREADY.get(label, NOT_RUN)
        rows.append([label, print_cell, *cells])
    return grid(["MCC; MSE", "printed", "y as it is", "y standardised", "y reflected"], rows)


def _cell(stored: Stored, design: str, method: str) -> str:
    mcc, mse = (mean_of(stored.values("experiment1", design, method, score)) for score in ("mcc_best", "nmse"))
    if mcc is None or mse is None:
        return NOT_RUN
    return f"{mcc.value:.2f}; {mse.value:.4f} ({mse.count} trials)"


if __name__ == "__main__":
    print(target_markdown(load()))
