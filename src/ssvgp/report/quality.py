"""The second half of a report: how good the fit is, what was averaged, and what the data look like."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ssvgp.report import page, pictures, profiles, style, words
from ssvgp.report.page import Section, figure, figures, name, paragraph, table
from ssvgp.report.story import Story

SETS, LISTED = 10, 12  # sets, and inputs of one, that are listed
OBSERVED = "Predicted against observed"
SKEWED = 1.0  # skewness from which a transform is worth a try
OVER_V: tuple[tuple[Any, str, str, float], ...] = (
    (
        profiles.pips_over_v,
        "Inclusion probabilities over v",
        "inputs whose line stays up over many v matter whatever v is; grey lines are other inputs.",
        4.2,
    ),
    (
        profiles.inverse_lengthscales_over_v,
        "Inverse lengthscales over v",
        "an input is in where its line lies above the dashed one.",
        4.2,
    ),
    (
        profiles.members_over_v,
        "Inputs in, and weight, over v",
        "height is the number of inputs that a v keeps, the size of a disc its weight in the average.",
        3.2,
    ),
)
SIDE = 4.0  # inches of the square pictures


def fit(story: Story) -> Section:
    """How well rows are predicted that were left out, and whether intervals hold what they promise."""
    model, check = story.model, story.model.check()
    coverage, r = float(check.coverage(0.9)), check.rows.size
    rows = "Each row" if r == check.n else f"Each of {r:,} rows, a random sample of {check.n:,},"
    intro = (
        f"{rows} was predicted from the others. The predictions explain {words.percent(max(check.r2, 0.0))} of the "
        f"variation (R² {check.r2:.2f}), with a typical error of {words.number(check.rmse)}. Intervals of 90% hold "
        f"{coverage:.0%} of the rows, {words.verdict(0.9, coverage, r)}. This is somewhat optimistic, since inputs "
        f"were selected with all rows at hand."
    )
    shares = {name: share for name, share in model.variance_shares_.items() if share > 0 or name != "background"}
    said = {"sparse": "inputs that count one by one", "background": "all inputs a little each", "noise": "noise"}
    parts = ", ".join(f"{said.get(part, part)} {words.percent(share)}" for part, share in shares.items())
    whole = paragraph(intro) + paragraph(f"Variation of {story.y}: {parts}.")
    return Section("fit", "How good the fit is", whole + figures((_observed(story), _honest(story))))


def _observed(story: Story) -> str:
    draw = partial(pictures.predicted_against_observed, story.model, story.plain_y)
    text = "How to read it: each dot is a row; the nearer to the line, the better it was predicted."
    return figure(style.svg(draw, SIDE, SIDE, "observed"), OBSERVED, text, OBSERVED)


def _honest(story: Story) -> str:
    text = (
        "How to read it: the blue line should follow the grey one, within the shade that chance allows. Below it, the "
        "model is too sure; above it, too cautious."
    )
    svg = style.svg(partial(pictures.calibration, story.model), SIDE, SIDE, "calibration")
    return figure(svg, "Calibration", text, "How honest intervals are")


def sets(story: Story) -> Section:
    """The sets of inputs that were averaged, with their weights."""
    found = pictures.weighed_sets(story.model)
    intro = (
        "Not one set of inputs is trusted but many, each by its weight; every number in this report is an average over "
        "them. A single heavy set means that the data decide; many light ones mean that they leave it open."
    )
    rows = []
    for one in found[:SETS]:
        inputs = words.listing([name(each) for each in one.names], LISTED) or "none"
        rows.append((f"{one.weight:.2f}", inputs, page.safe(words.listing(list(one.kernels), 4))))
    out = paragraph(intro) + table(("weight", "inputs", "kernels"), rows, numbers=(0,))
    if len(found) > SETS:
        rest = sum(one.weight for one in found[SETS:])
        out += paragraph(f"and {len(found) - SETS} more, with a weight of {rest:.2f} between them.", "soft")
    return Section("sets", "The sets that were averaged", out)


def over_v(story: Story) -> Section:
    """How the answer of the paper's method depends on the spike precision."""
    model = story.model
    text = (
        "The spike precision v says how small an effect must be to be called none. The method of the paper fits one "
        "model for each v and averages them by how well they predict rows that are left out."
    )
    parts = []
    for draw, heading, caption, height in OVER_V:
        svg = style.svg(partial(draw, model), height=height, salt=heading)
        parts.append(figure(svg, heading, f"How to read it: {caption}", heading))
    return Section("profiles", "How the answer depends on v", paragraph(text) + figures(parts))


def data(story: Story) -> Section:
    """What the table is like, and what was done to it."""
    model, d = story.model, len(story.names)
    items = [f"{words.counted(model.train_.n, 'row')}, {words.counted(d, 'input')}."]
    items += [page.safe(note[:1].upper() + note[1:]) + "." for note in story.notes]
    constant = [story.of(j) for j in model.fitted_.inputs.constant.tolist()]
    if constant and not any(note.startswith("constant") for note in story.notes):
        items.append(f"Constant columns were left out: {words.listing(constant)}.")
    copies = [f"{story.of(j)} (of {story.of(first)})" for j, first in model.duplicate_of_.items()]
    if copies and not any(note.startswith("copies") for note in story.notes):
        items.append(f"Copies of other columns were left out: {words.listing(copies)}.")
    items.append(_target_note(story))
    if story.model.train_.n < 30:
        items.append("With so few rows, what was believed before weighs as much as the data.")
    return Section("data", "The data", page.bullets(items))


def _target_note(story: Story) -> str:
    """What the target looks like, and what was done about it."""
    target, y = story.model.fitted_.target, story.model.fitted_.observed
    if target.constant:
        return f"{story.y} is the same in all rows: there is nothing to explain."
    text = f"{story.y} runs from {words.number(float(y.min()))} to {words.number(float(y.max()))}"
    if target.curved:
        how = page.safe(story.model.target_curve_)
        return f"{text}; it passed a curve for the fit ({how}), and everything here is in its own units again."
    if said := words.noise(story.model.fitted_.likelihood):
        exposed = np.any(getattr(story.model.fitted_.train.noise, "log_exposure", 0.0))
        return f"{text}; {said}{'; effects are those at an exposure of one' if exposed else ''}."
    skew = float(np.mean(((y - y.mean()) / y.std()) ** 3))
    if abs(skew) <= SKEWED:
        return f"{text}."
    way = "log" if y.min() > 0 and skew > 0 else "yeo-johnson"
    return f"{text}, with a long tail to one side (skewness {skew:.1f}): try a fit with the target transform {way}."
