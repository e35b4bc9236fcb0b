"""The first half of a report: the answer, and what the selected inputs do."""

from __future__ import annotations

from functools import partial

import numpy as np

from ssvgp.report import pictures, style, words
from ssvgp.report.page import Section, figure, figures, name, paragraph, table
from ssvgp.report.story import Story
from ssvgp.report.table import stand_ins

EFFECTS = 12  # inputs whose effect is shown: the first by their share
PAIRS = 4  # surfaces
FEWEST_BARS, OPEN, BARS = 10, 6, 20  # inputs in the first picture: those selected and some beside them
LISTED = 40


def answer(story: Story) -> str:
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
    if model.search_ is not None:
        out += paragraph(str(model.search_), "search")
    if model.ensemble_.notes.get("interrupted"):
        out += paragraph("The fit was interrupted: this is what it had found by then. Fit again to be sure.", "warning")
    return out


def inclusion(story: Story) -> Section:
    """Inclusion probabilities as bars, and the selected inputs as a table."""
    model = story.model
    count = len(story.selected)
    bars = min(max(count + OPEN, FEWEST_BARS), BARS, len(story.names))
    svg = style.svg(lambda ax: pictures.inclusion(model, bars, ax), height=pictures.inclusion_height(bars))
    read = (
        f"How to read it: the longer the bar, the surer it is that the input matters; blue bars reach beyond "
        f"{model.threshold:g}, the dashed line, and are selected. The bar says how sure, not how much."
    )
    doubt = float(sum(1.0 - model.pip_[j] for j in story.selected))
    intro = f"Probability, given the data, that each input has a part in {story.y}"
    more = len(story.names) - bars
    intro += f"; the {bars} most probable are shown, {more:,} more lie below." if more > 0 else "."
    if story.selected:
        wrong = "hardly any is" if doubt < 0.05 else f"about {words.number(round(doubt, 1 if doubt >= 0.1 else 2))} are"
        intro += f" Of those selected, {wrong} expected to be there by mistake."
    parts = [figure(svg, "Inclusion probabilities", read)]
    if story.selected:
        parts.append(f"<div>{_table_of_selected(story)}</div>")
    return Section("inclusion", "Which inputs matter", paragraph(intro) + figures(parts))


def _table_of_selected(story: Story) -> str:
    model, lengths = story.model, story.model.fitted_.lengthscales
    rows = []
    for j in story.selected[:LISTED]:
        length = words.number(float(lengths[j])) if np.isfinite(lengths[j]) else ""
        rows.append((story.of(j), f"{model.pip_[j]:.2f}", f"{min(story.total[j], 1.0):.0%}", length))
    head = ("input", "probability", "part", "lengthscale")
    out = table(head, rows, numbers=(1, 2, 3))
    if len(story.selected) > LISTED:
        out += paragraph(f"and {len(story.selected) - LISTED} more, with smaller parts.", "soft")
    text = (
        "Part: share of the variation of the predictions in which the input has a hand, alone or with others. "
        "Lengthscale: how far it must move, in its own units, before its effect can be quite another."
    )
    return out + paragraph(text, "read")


def effects(story: Story) -> Section:
    """What each selected input does, those with the largest part first."""
    anchor, title = "effects", "What each of them does"
    if not story.selected:
        return Section(anchor, title, paragraph("No input was selected, so there is no effect to show."))
    intro = (
        f"How to read it: the line is the mean change of {story.y} when this input alone is set to a value in all "
        f"rows; the band holds the true change with a probability of 90%; ticks at the foot are rows of the table. "
        f"Where there are few ticks, trust the line less."
    )
    if len(story.selected) > EFFECTS:
        intro += f" Shown are the {EFFECTS} with the largest part in the variation, of {len(story.selected)} selected."
    parts = [_effect(story, j) for j in story.selected[:EFFECTS]]
    return Section(anchor, title, paragraph(intro) + figures(parts))


def _effect(story: Story, j: int) -> str:
    found, rows = story.model.effect(j), story.model.fitted_.values_of(j)
    svg = style.svg(lambda ax: pictures.draw_effect(found, rows, story.plain_y, ax), salt=f"effect {j}")
    caption = f"{words.shape(found, story.y)}. {words.share(story.first[j], story.total[j])}."
    return figure(svg, f"Effect of {story.names[j]}", caption[0].upper() + caption[1:], story.of(j))


def interactions(story: Story) -> Section:
    """What pairs do together beyond what each does alone."""
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
    rows = (story.model.fitted_.values_of(a), story.model.fitted_.values_of(b))
    draw = partial(pictures.draw_interaction, found, rows, story.plain_y)
    alt = f"{story.names[a]} together with {story.names[b]}"
    caption = f"Together, beyond what each does alone, they explain {words.percent(share)} of the variation."
    svg = style.svg(draw, salt=f"pair {a} {b}")
    return figure(svg, alt, caption, f"{story.of(a)} with {story.of(b)}")


def alike(story: Story) -> Section:
    """Columns that could take the place of a selected one."""
    model, copies = story.model, stand_ins(story.model.fitted_)
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
