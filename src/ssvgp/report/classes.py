"""The report of a classifier: which inputs tell the classes apart, how well, and what each does to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ssvgp.report import class_pictures, findings, page, pictures, style, words
from ssvgp.report.page import Section, figure, figures, name, paragraph, table
from ssvgp.report.quality import LISTED, SETS, SIDE
from ssvgp.report.story import NOTABLE, Story

LABELS = 12  # classes that a sentence lists


class Pair(NamedTuple):
    """Two inputs that act together on the log odds of a class, and how much of their variation that is."""

    a: int
    b: int
    share: float
    label: Any


def sections(story: Story, pairs: Sequence[Pair]) -> list[Section]:
    """All sections of the report of a classifier."""
    return [
        _inclusion(story),
        _effects(story),
        _pairs(story, pairs),
        _told_apart(story),
        _sets(story),
        findings.alike(story),
        _data(story),
    ]


def class_story(model: Any, target: str, notes: Sequence[str]) -> tuple[Story, list[Pair]]:
    """What the report needs more than once: shares of log odds, of each input those of its strongest class."""
    fitted = model.fitted_
    labels = model.classes_[1:] if model.classes_.size == 2 else model.classes_
    first: dict[int, float] = {}
    total: dict[int, float] = {}
    pairs: dict[tuple[int, int], Pair] = {}
    for label in labels:
        shares = model.effect_shares(of=label)
        indices = shares.indices.tolist()
        for i, j in enumerate(indices):
            if shares.total[i] >= total.get(j, 0.0):
                first[j], total[j] = float(shares.first[i]), float(shares.total[i])
            for k in range(i):
                found, key = float(shares.pairs[i, k]), (j, indices[k])
                if found >= max(NOTABLE, pairs[key].share if key in pairs else 0.0):
                    pairs[key] = Pair(*key, found, label)
    chosen = np.flatnonzero(fitted.support).tolist()
    selected = sorted(chosen, key=lambda j: (-total.get(j, 0.0), -model.pip_[j]))
    story = Story(
        model, target, tuple(notes), list(fitted.names), selected,
        {j: first.get(j, 0.0) for j in selected}, {j: total.get(j, 0.0) for j in selected},
    )  # fmt: skip
    return story, sorted(pairs.values(), key=lambda pair: -pair.share)


def answer(story: Story) -> str:
    """Two sentences: which inputs, and how well they tell the classes apart."""
    model, check = story.model, story.model.check()
    d, count = len(story.names), len(story.selected)
    how = (
        f"Of rows that were left out, {check.accuracy:.0%} are put into the right class"
        f" ({_share_of_most(check):.0%} by always naming the most frequent one)"
    )
    if count:
        verb = "decides" if count == 1 else "decide"
        listed = words.listing([story.of(j) for j in story.selected], findings.EFFECTS)
        one = f"Of {words.counted(d, 'input')}, {count} {verb} {story.y}: {listed}."
    else:
        likeliest = int(np.argmax(model.pip_))
        one = (
            f"None of the {d} inputs can be said to decide {story.y}: the most probable, {story.of(likeliest)}, has a "
            f"probability of {model.pip_[likeliest]:.2f}."
        )
    out = paragraph(f"{one} {how}.", "answer")
    searched = [part.ensemble.notes.get("search") for part in model.fitted_.parts]
    if len(searched) == 1 and searched[0] is not None:
        out += paragraph(str(searched[0]), "search")
    if any(part.ensemble.notes.get("interrupted") for part in model.fitted_.parts):
        out += paragraph("The fit was interrupted: this is what it had found by then. Fit again to be sure.", "warning")
    return out


def _share_of_most(check: Any) -> float:
    return float(np.bincount(check.observed).max() / check.observed.size)


def _inclusion(story: Story) -> Section:
    """As for numbers, with the probabilities for each of more than two classes."""
    found, model = findings.inclusion(story), story.model
    if model.classes_.size == 2 or not story.selected:
        return found
    labels = model.classes_.tolist()[:LABELS]
    rows = [
        (story.of(j), *(f"{model.pip_by_class_[k, j]:.2f}" for k in range(len(labels))))
        for j in story.selected[: findings.LISTED]
    ]
    text = (
        "For which class each of them matters: the probability that it helps to tell this class from all others. The "
        "bars above show the probability for any class."
    )
    heads = ("input", *(page.safe(str(label)) for label in labels))
    return Section(
        found.anchor, found.title,
        found.html + paragraph(text) + table(heads, rows, numbers=tuple(range(1, len(heads)))),
    )  # fmt: skip


def _effects(story: Story) -> Section:
    anchor, title = "effects", "What each of them does"
    if not story.selected:
        return Section(anchor, title, paragraph("No input was selected, so there is no effect to show."))
    intro = (
        "How to read it: the line is the probability of the class when this input alone is set to a value, and all "
        "else is as it is on average; the band holds it with a probability of 90%; ticks at the foot are rows of the "
        "table. Where there are few ticks, trust the line less."
    )
    if len(story.selected) > findings.EFFECTS:
        intro += f" Shown are the {findings.EFFECTS} with the largest part, of {len(story.selected)} selected."
    parts = [_effect(story, j) for j in story.selected[: findings.EFFECTS]]
    return Section(anchor, title, paragraph(intro) + figures(parts))


def _effect(story: Story, j: int) -> str:
    model, places = story.model, class_pictures.shown_classes(story.model)
    labels = [model.classes_[place] for place in places]
    found = [model.effect(j, of=label) for label in labels]
    rows, names = model.fitted_.values_of(j), [str(label) for label in labels]
    draw = partial(class_pictures.draw_probability, found, names, rows)
    svg = style.svg(lambda ax: draw(ax=ax), salt=f"effect {j}", height=style.HEIGHT + 0.5 * (len(found) > 1))
    best = max(range(len(found)), key=lambda k: float(np.ptp(found[k].mean)))
    caption = f"{_course(found[best], page.safe(names[best]))}. {_share(story, j)}."
    return figure(svg, f"Effect of {story.names[j]}", caption[0].upper() + caption[1:], story.of(j))


def _course(found: Any, label: str) -> str:
    """The course of a probability, in percent."""
    if not ((found.lower > 0) | (found.upper < 0)).any():
        return f"the probability of {label} hardly changes"
    values = found.average + found.mean
    ends = f"As it goes from {words.number(found.grid[0])} to {words.number(found.grid[-1])}"
    course = f"from {values[0]:.0%} to {values[-1]:.0%}, between {values.min():.0%} and {values.max():.0%}"
    return f"{ends}, the probability of {label} goes {course}"


def _share(story: Story, j: int) -> str:
    return words.share(story.first[j], story.total[j]).replace("the predictions", "the log odds")


def _pairs(story: Story, pairs: Sequence[Pair]) -> Section:
    anchor, title = "interactions", "What pairs do together"
    if len(story.selected) < 2:
        return Section(anchor, title, paragraph("Fewer than two inputs were selected, so there is no pair to show."))
    if not pairs:
        none = "No pair of the selected inputs does notably more together than the two do one by one."
        return Section(anchor, title, paragraph(none))
    intro = (
        "How to read it: colours show by how much the log odds of the class are higher or lower, where both inputs "
        "have these values, than the sum of their effects alone would say (one more of log odds is 2.7 times the "
        "odds); dots are rows of the table. Colours without dots near them are guesses."
    )
    return Section(anchor, title, paragraph(intro) + figures(_pair(story, one) for one in pairs[: findings.PAIRS]))


def _pair(story: Story, pair: Pair) -> str:
    model = story.model
    found = model.interaction(pair.a, pair.b, of=pair.label)
    rows = (model.fitted_.values_of(pair.a), model.fitted_.values_of(pair.b))
    draw = partial(pictures.draw_interaction, found, rows, f"log odds of {pair.label}")
    alt = f"{story.names[pair.a]} together with {story.names[pair.b]}"
    caption = (
        f"Together, beyond what each does alone, they explain {words.percent(pair.share)} of the variation of the log "
        f"odds of {name(str(pair.label))}."
    )
    svg = style.svg(draw, salt=f"pair {pair.a} {pair.b}")
    return figure(svg, alt, caption, f"{story.of(pair.a)} with {story.of(pair.b)}")


def _told_apart(story: Story) -> Section:
    """ROC, calibration and confusion of rows that were left out."""
    model, check = story.model, story.model.check()
    r = check.rows.size
    rows = "Each row" if r == check.n else f"Each of {r:,} rows, a random sample of {check.n:,},"
    better = 1.0 - check.log_loss / check.base_log_loss if check.base_log_loss > 0 else 0.0
    loss = (
        f"{words.percent(better)} less than that of the shares of the classes alone"
        if better > 0
        else "no less than that of the shares of the classes alone"
    )
    intro = (
        f"{rows} was predicted from the others: {check.accuracy:.0%} have the right class as the most probable. A row "
        f"of a class has a larger probability of it than a row of another in {check.auc:.0%} of all pairs. The log "
        f"loss is {check.log_loss:.2f}, {loss}. Stated and found probabilities differ by {check.calibration_error:.1%} "
        f"on average. This is somewhat optimistic, since inputs were selected with all rows at hand."
    )
    parts = (
        _square(class_pictures.roc, model, "ROC curve", "How well classes are told apart",
                "the nearer the line comes to the upper left corner, the better; on the grey one a coin does as well."),
        _square(class_pictures.class_calibration, model, "Calibration of probabilities", "How honest probabilities are",
                "dots should lie on the grey line, within the bars that chance allows. Below it, the class came less "
                "often than was stated."),
        _square(class_pictures.confusion, model, "Confusion", "Which class is taken for which",
                "a line is a class, a column what its rows were taken for; what is right lies on the diagonal."),
    )  # fmt: skip
    return Section("fit", "How well classes are told apart", paragraph(intro) + figures(parts))


def _square(draw: Any, model: Any, alt: str, heading: str, read: str) -> str:
    svg = style.svg(partial(draw, model), SIDE, SIDE, alt)
    return figure(svg, alt, f"How to read it: {read}", heading)


def _sets(story: Story) -> Section:
    """The sets of inputs that were averaged, with their weights, for each model."""
    model = story.model
    out = paragraph(
        "Not one set of inputs is trusted but many, each by its weight; every number in this report is an average over "
        "them. A single heavy set means that the data decide; many light ones mean that they leave it open."
    )
    many = len(model.fitted_.parts) > 1
    for place, part in enumerate(model.fitted_.parts):
        rows = []
        for one in pictures.sets_of(part)[: 3 if many else SETS]:
            inputs = words.listing([name(each) for each in one.names], LISTED) or "none"
            rows.append((f"{one.weight:.2f}", inputs, page.safe(words.listing(list(one.kernels), 4))))
        if many:
            out += paragraph(f"{name(str(model.classes_[place]))} against all others:")
        out += table(("weight", "inputs", "kernels"), rows, numbers=(0,))
    return Section("sets", "The sets that were averaged", out)


def _data(story: Story) -> Section:
    model, fitted = story.model, story.model.fitted_
    check = model.check()
    counts = np.bincount(check.observed, minlength=model.classes_.size)
    said = [f"{name(str(label))} ({count / check.observed.size:.0%})" for label, count in
            zip(model.classes_, counts, strict=True)]  # fmt: skip
    items = [f"{words.counted(check.n, 'row')}, {words.counted(len(story.names), 'input')}."]
    items += [page.safe(note[:1].upper() + note[1:]) + "." for note in story.notes]
    items.append(f"{story.y} has {model.classes_.size} classes: {words.listing(said, LABELS)}.")
    constant = [story.of(j) for j in fitted.inputs.constant.tolist()]
    if constant and not any(note.startswith("constant") for note in story.notes):
        items.append(f"Constant columns were left out: {words.listing(constant)}.")
    rare = int(counts.min())
    if rare < 10:
        items.append(f"The rarest class has {words.counted(rare, 'row')}: what is said of it rests on little.")
    return Section("data", "The data", page.bullets(items))
