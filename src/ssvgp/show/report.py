"""The report: one HTML page for readers who need not know what a Gaussian process is.

It stands alone, with pictures inside; it runs no code and fetches nothing. All text from the table is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ssvgp.show import page, pictures, profiles, style, words
from ssvgp.show.page import Section, figure, figures, name, paragraph, table
from ssvgp.show.table import lengthscales, names_of, stand_ins

EFFECTS, EFFECTS_OF_MANY_ROWS = 12, 8  # inputs whose effect is shown: the first by their share
PAIRS, NOTABLE = 4, 0.01  # surfaces, and the share from which a pair is worth one
BARS, LISTED, SETS = 20, 40, 10
SKEWED = 1.0


@dataclass(frozen=True)
class Story:
    """A model with what its report needs more than once; `target` is its name, `notes` say what became of the table."""

    model: Any
    target: str
    notes: Sequence[str] = ()
    names: list[str] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)  # by falling share
    first: dict[int, float] = field(default_factory=dict)
    total: dict[int, float] = field(default_factory=dict)
    pairs: list[tuple[int, int, float]] = field(default_factory=list)  # strongest first

    @property
    def y(self) -> str:
        return name(self.target) if self.target else "the target"

    @property
    def plain_y(self) -> str:
        return self.target or "target"

    def of(self, j: int) -> str:
        return name(self.names[j])


def write_report(model: Any, path: str | PathLike[str], target: str = "", notes: Sequence[str] = ()) -> None:
    """Write the report of a fitted model; `target` names what it predicts, `notes` what was done to its table."""
    style.library()
    Path(path).write_bytes(report(model, target, notes).encode("utf-8", "replace"))


def report(model: Any, target: str = "", notes: Sequence[str] = ()) -> str:
    """The report as HTML."""
    story = _story(model, target, notes)
    sections = [
        _inclusion(story),
        _effects(story),
        _interactions(story),
        _fit(story),
        _sets(story),
        *([_profiles(story)] if profiles.has_profiles(model) else []),
        _stand_ins(story),
        _data(story),
    ]
    title = f"What decides {story.plain_y}?" if target else "Which inputs decide the target?"
    top = f"<h1>{page.safe(title)}</h1>{_answer(story)}"
    return page.page(title, top, sections, _foot(model))


def _story(model: Any, target: str, notes: Sequence[str]) -> Story:
    names, shares = names_of(model), model.effect_shares()
    indices = shares.indices.tolist()
    order = np.lexsort((-model.pip_[shares.indices], -shares.total))
    first = dict(zip(indices, shares.first.tolist(), strict=True))
    total = dict(zip(indices, shares.total.tolist(), strict=True))
    upper = [(float(shares.pairs[i, j]), i, j) for i in range(len(indices)) for j in range(i)]
    pairs = [(indices[i], indices[j], value) for value, i, j in sorted(upper, reverse=True) if value >= NOTABLE]
    return Story(model, target, tuple(notes), names, [indices[i] for i in order], first, total, pairs)


def _answer(story: Story) -> str:
    """Two sentences, and a warning where the fit did not run to its end."""
    model, check = story.model, story.model.check()
    d, count = len(story.names), len(story.selected)
    explained = f"explains {words.percent(max(check.r2, 0.0))} of its variation in rows that were left out"
    error = f"with a typical error of {words.number(check.rmse)}"
    if count:
        verb = "decides" if count == 1 else "decide"
        listed = words.listing([story.of(j) for j in story.selected], EFFECTS)
        one = f"Of {words.counted(d, 'input')}, {count} {verb} {story.y}: {listed}."
        two = f"The model {explained}, {error}."
    else:
        likeliest = int(np.argmax(model.pip_))
        one = (
            f"None of the {d} inputs can be said to decide {story.y}: the most probable, {story.of(likeliest)}, has a "
            f"probability of {model.pip_[likeliest]:.2f}."
        )
        background = model.variance_shares_.get("background", 0.0)
        two = f"The model {explained}, {error}"
        two += "; all inputs do a little together, none by itself." if background > 0.1 else "."
    out = paragraph(f"{one} {two}", "answer")
    if model.ensemble_.notes.get("interrupted"):
        out += paragraph("The fit was interrupted: this is what it had found by then. Fit again to be sure.", "warning")
    return out


def _inclusion(story: Story) -> Section:
    model = story.model
    bars = min(BARS, len(story.names))
    svg = style.svg(partial(_draw, pictures.inclusion, model, bars), height=pictures.inclusion_height(bars))
    read = (
        f"How to read it: the longer the bar, the surer it is that the input matters; blue bars reach beyond "
        f"{model.threshold:g}, the dashed line, and are selected. The bar says how sure, not how much."
    )
    doubt = float(sum(1.0 - model.pip_[j] for j in story.selected))
    intro = f"Probability, given the data, that each input has a part in {story.y}"
    more = len(story.names) - bars
    intro += f"; the {bars} most probable are shown, {more:,} more lie below." if more > 0 else "."
    if story.selected:
        intro += f" Of those selected, {words.number(round(doubt, 2))} are expected to be there by mistake."
    return Section("inclusion", "Which inputs matter", paragraph(intro) + figure(svg, "Inclusion probabilities", read)
                   + (_table_of_selected(story) if story.selected else ""))  # fmt: skip


def _table_of_selected(story: Story) -> str:
    model, lengths = story.model, lengthscales(story.model)
    rows = []
    for j in story.selected[:LISTED]:
        length = words.number(float(lengths[j])) if np.isfinite(lengths[j]) else ""
        rows.append((story.of(j), f"{model.pip_[j]:.2f}", words.percent(min(story.total[j], 1.0)), length))
    head = ("input", "probability", "part in variation", "lengthscale")
    out = table(head, rows, numbers=(1, 2, 3))
    if len(story.selected) > LISTED:
        out += paragraph(f"and {len(story.selected) - LISTED} more, with smaller parts.", "soft")
    told = "Lengthscale: how far an input must move, in its own units, before its effect can be quite another."
    return out + paragraph(told, "read")


def _draw(picture: Any, *given: Any) -> Any:
    """Call a picture with its axes last."""
    return picture(*given[:-1], ax=given[-1])


def _effects(story: Story) -> Section:
    anchor, title = "effects", "What each of them does"
    if not story.selected:
        return Section(anchor, title, paragraph("No input was selected, so there is no effect to show."))
    model = story.model
    most = EFFECTS if model._neighbours is None else EFFECTS_OF_MANY_ROWS
    intro = (
        f"How to read it: the line is the mean change of {story.y} when this input alone is set to a value in all rows; "
        f"the band holds the true change with a probability of 90%; ticks at the foot are rows of the table. "
        f"Where there are few ticks, trust the line less."
    )
    if len(story.selected) > most:
        intro += f" Shown are the {most} with the largest part in the variation, of {len(story.selected)} selected."
    parts = [_effect(story, j) for j in story.selected[:most]]
    return Section(anchor, title, paragraph(intro) + figures(parts))


def _effect(story: Story, j: int) -> str:
    found, rows = story.model.effect(j), pictures.values_of(story.model, j)
    svg = style.svg(lambda ax: pictures.draw_effect(found, rows, story.plain_y, ax), salt=f"effect {j}")
    caption = f"{words.shape(found, story.y)}. {words.share(story.first[j], story.total[j])}."
    return figure(svg, f"Effect of {story.names[j]}", caption[0].upper() + caption[1:], story.of(j))


def _interactions(story: Story) -> Section:
    anchor, title = "interactions", "What pairs do together"
    if len(story.selected) < 2:
        return Section(anchor, title, paragraph("Fewer than two inputs were selected, so there is no pair to show."))
    if not story.pairs:
        none = "No pair of the selected inputs does notably more together than the two do one by one."
        return Section(anchor, title, paragraph(none))
    intro = (
        f"How to read it: colours show by how much {story.y} is higher or lower, where both inputs have these values, "
        f"than the sum of their effects alone would say; dots are rows of the table. Colours without dots near them "
        f"are guesses."
    )
    if len(story.pairs) > PAIRS:
        intro += f" Shown are the {PAIRS} strongest pairs of {len(story.pairs)}."
    return Section(anchor, title, paragraph(intro) + figures(_pair(story, *one) for one in story.pairs[:PAIRS]))


def _pair(story: Story, a: int, b: int, share: float) -> str:
    found = story.model.interaction(a, b)
    rows = (pictures.values_of(story.model, a), pictures.values_of(story.model, b))
    draw = partial(pictures.draw_interaction, found, rows, story.plain_y)
    alt = f"{story.names[a]} together with {story.names[b]}"
    caption = f"Together, beyond what each does alone, they explain {words.percent(min(share, 1.0))} of the variation."
    svg = style.svg(draw, salt=f"pair {a} {b}")
    return figure(svg, alt, caption, f"{story.of(a)} with {story.of(b)}")


def _fit(story: Story) -> Section:
    model, check = story.model, story.model.check()
    coverage, r = float(check.coverage(0.9)), check.rows.size
    rows = "Each row" if r == check.n else f"Each of {r:,} rows, a random sample of {check.n:,},"
    intro = (
        f"{rows} was predicted from the others. The predictions explain {words.percent(max(check.r2, 0.0))} of the "
        f"variation (R² {check.r2:.2f}), with a typical error of {words.number(check.rmse)}. Intervals of 90% hold "
        f"{coverage:.0%} of the rows, {words.verdict(0.9, coverage, r)}. This is somewhat optimistic, since inputs were "
        f"selected with all rows at hand."
    )
    shares = {name: share for name, share in model.variance_shares_.items() if share > 0 or name != "background"}
    said = {"sparse": "inputs that count one by one", "background": "all inputs a little each", "noise": "noise"}
    parts = ", ".join(f"{said.get(part, part)} {words.percent(share)}" for part, share in shares.items())
    side = style.HEIGHT * 1.15
    seen = style.svg(partial(_draw, pictures.predicted_against_observed, model, story.plain_y), side, side, "observed")
    curve = style.svg(partial(_draw, pictures.calibration, model), side, side, "calibration")
    drawn = figures(
        (
            figure(seen, "Predicted against observed", "How to read it: each dot is a row; the nearer to the line, the "
                   "better it was predicted.", "Predicted against observed"),
            figure(curve, "Calibration", "How to read it: the blue line should follow the grey one, within the shade "
                   "that chance allows. Below it, the model is too sure; above it, too cautious.", "How honest intervals are"),
        )
    )  # fmt: skip
    return Section("fit", "How good the fit is", paragraph(intro) + paragraph(f"Variation of {story.y}: {parts}.") + drawn)


def _sets(story: Story) -> Section:
    found = pictures.weighed_sets(story.model)
    intro = (
        "Not one set of inputs is trusted but many, each by its weight; every number in this report is an average over "
        "them. A single heavy set means that the data decide; many light ones mean that they leave it open."
    )
    rows = []
    for one in found[:SETS]:
        inputs = words.listing([name(each) for each in one.names], EFFECTS) or "none"
        rows.append((f"{one.weight:.2f}", inputs, page.safe(words.listing(list(one.kernels), 4))))
    out = paragraph(intro) + table(("weight", "inputs", "kernels"), rows, numbers=(0,))
    if len(found) > SETS:
        rest = sum(one.weight for one in found[SETS:])
        out += paragraph(f"and {len(found) - SETS} more, with a weight of {rest:.2f} between them.", "soft")
    return Section("sets", "The sets that were averaged", out)


def _profiles(story: Story) -> Section:
    """Only for the paper's method."""
    model = story.model
    told = (
        "The spike precision v says how small an effect must be to be called none. The method of the paper fits one "
        "model for each v and averages them by how well they predict rows that are left out."
    )
    drawings = (
        (profiles.pips_over_v, "Inclusion probabilities over v", "How to read it: inputs whose line stays up over many v "
         "matter whatever v is; grey lines are other inputs.", 4.2),
        (profiles.inverse_lengthscales_over_v, "Inverse lengthscales over v", "How to read it: an input is in where its "
         "line lies above the dashed one.", 4.2),
        (profiles.members_over_v, "Inputs in, and weight, over v", "How to read it: height is the number of inputs that "
         "a v keeps, the size of a disc its weight in the average.", 3.2),
    )  # fmt: skip
    parts = []
    for draw, heading, caption, height in drawings:
        svg = style.svg(partial(_draw, draw, model, *(() if height < 4 else (profiles.NAMED,))), height=height, salt=heading)
        parts.append(figure(svg, heading, caption, heading))
    return Section("profiles", "How the answer depends on v", paragraph(told) + figures(parts))


def _stand_ins(story: Story) -> Section:
    """Columns that could take the place of a selected one."""
    model, copies = story.model, stand_ins(story.model)
    related = getattr(model, "relatives_", {})
    rows = []
    for j in story.selected:
        others = [f"{name(story.names[one])} ({value:+.2f})" for one, value in related.get(j, ())]
        if j in copies:
            twins = [copy for copy, first in model.duplicate_of_.items() if first == j]
            others = [*(f"{story.of(copy)} (a copy)" for copy in twins), *others]
        if others:
            rows.append((story.of(j), words.listing(others, 9)))
    title, anchor = "Stand-ins", "stand-ins"
    if not rows:
        none = "No other column correlates with a selected input by 0.7 or more, of either sign."
        return Section(anchor, title, paragraph(none if story.selected else "No input was selected."))
    intro = (
        "These columns carry nearly the same information as a selected input (correlation in brackets). The data can "
        "hardly tell which of them is at work: what is said of one may be true of the other."
    )
    return Section(anchor, title, paragraph(intro) + table(("selected", "goes together with"), rows))


def _data(story: Story) -> Section:
    model, d = story.model, len(story.names)
    items = [f"{words.counted(model.train_.n, 'row')}, {words.counted(d, 'input')}."]
    items += [page.safe(note[:1].upper() + note[1:]) + "." for note in story.notes]
    constant = [story.of(j) for j in model._inputs.constant.tolist()]
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
    target, y = story.model._target, story.model._target.restore(story.model.train_.y)
    if target.constant:
        return f"{story.y} is the same in all rows: there is nothing to explain."
    told = f"{story.y} runs from {words.number(float(y.min()))} to {words.number(float(y.max()))}"
    if target.curved:
        how = page.safe(str(story.model.target_transform))
        return f"{told}; it was bent by the transform {how} for the fit, and everything here is in its own units again."
    skew = float(np.mean(((y - y.mean()) / y.std()) ** 3))
    if abs(skew) <= SKEWED:
        return f"{told}."
    way = "log" if y.min() > 0 and skew > 0 else "yeo-johnson"
    return f"{told}, with a long tail to one side (skewness {skew:.1f}): try a fit with the target transform {way}."


def _foot(model: Any) -> str:
    seed = model.random_state if isinstance(model.random_state, (int, np.integer)) else "not fixed"
    said = f"method {model.method}, threshold {model.threshold:g}, seed {seed}"
    return paragraph(
        f"Written by ssvgp: a Gaussian process that selects its inputs ({page.safe(said)}). Selection is not cause: an "
        f"input is here because it predicts; what happens when you change it is another question.", "soft",
    )  # fmt: skip
