"""Draw images/example.png, the picture of the first page, from the code of that page: python docs/draw_example.py"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

from ssvgp import plots

HERE = Path(__file__).resolve().parent


def draw() -> None:
    """Inclusion probabilities on the left, the effect of the input with a bend on the right."""
    names: dict[str, Any] = {}
    code = re.search(r"^```python\n(.*?)^```$", (HERE / "index.md").read_text(encoding="utf-8"), re.M | re.S)
    assert code is not None, "the first page has an example"
    exec(code[1], names)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    plots.inclusion(names["model"], k=10, ax=left)
    plots.effect(names["model"], 2, target="y", ax=right)
    figure.savefig(HERE / "images" / "example.png", dpi=130)


if __name__ == "__main__":
    draw()
