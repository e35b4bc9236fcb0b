"""`Classified`: what a fit to classes has left, one `Fitted` for two classes and else one for each against the rest.

With p_c the probability that the model of class c gives against the rest, exactly one of the classes must be true:

    P(c) = p_c prod_{k != c} (1 - p_k) / sum_l (...), in proportion to the odds p_c / (1 - p_c).

Against p_c / sum_k p_k, on half of the rows of wine, iris and two made-up sets of 3 and 4 classes, the log loss of the
other half is 0.09, 0.16, 0.35, 0.35 in place of 0.22, 0.25, 0.49, 0.50. An input matters for some class with the
probability 1 - prod_c (1 - PIP_c), the models of the classes being fitted apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssvgp.data.inputs import Inputs, listed
from ssvgp.explain import calibration, effects
from ssvgp.explain.correlated import Relative
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.fitted import Fitted
from ssvgp.explain.sobol import Shares, cached_shares

SCALES = ("probability", "logit")
LEAST = float(np.finfo(float).eps)  # probability: a log loss stays finite


@dataclass(frozen=True)
class Classified:
    """Labels (c,) in rising order and the fits of their models: the second class against the first, or each by itself.

    All fits are of the same table, and count its rows alike.
    """

    classes: np.ndarray
    parts: tuple[Fitted, ...]

    @property
    def first(self) -> Fitted:
        """A fit that knows the table."""
        return self.parts[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names (d,) of the columns."""
        return self.first.names

    @property
    def inputs(self) -> Inputs:
        """The columns of the table, and which of them were kept."""
        return self.first.inputs

    @property
    def threshold(self) -> float:
        """Inputs whose inclusion probability lies above it are selected."""
        return self.first.threshold

    @property
    def pip_by_class(self) -> np.ndarray:
        """Inclusion probabilities (c, d) for each class; for two classes both rows are the same."""
        each = np.stack([part.pip for part in self.parts])
        return np.repeat(each, 2, axis=0) if len(self.parts) == 1 else each

    @property
    def pip(self) -> np.ndarray:
        """Probabilities (d,) that an input matters for any class."""
        if len(self.parts) == 1:
            return self.parts[0].pip
        return 1.0 - np.prod([1.0 - part.pip for part in self.parts], axis=0)

    @property
    def support(self) -> np.ndarray:
        """Whether each column (d,) is selected for any class."""
        return self.pip > self.threshold

    @property
    def relatives(self) -> Mapping[int, tuple[Relative, ...]]:
        """Columns that correlate with one that may matter."""
        return {j: found for part in self.parts for j, found in part.relatives.items()}

    @property
    def lengthscales(self) -> np.ndarray:
        """Lengthscales (d,) in units of the columns, from the class for which the input is most probable."""
        lengths = np.stack([part.lengthscales for part in self.parts])
        best = np.argmax([part.pip for part in self.parts], axis=0)
        return lengths[best, np.arange(best.size)]

    def values_of(self, index: int, most: int = 1000) -> np.ndarray:
        """Values (r,) of a column over a fixed sample of rows, from a model that looks at it."""
        found = [part.values_of(index, most) for part in self.parts]
        return max(found, key=len)

    def numbered(self, label: Any) -> int:
        """The place of a label among the classes; None is for the second of two."""
        if label is None:
            if self.classes.size == 2:
                return 1
            raise ValueError(f"say of which class: of=..., one of {listed(self.classes.tolist(), 20)}")
        place = np.flatnonzero(self.classes == label)
        if not place.size:
            raise ValueError(f"there is no class {label!r}: the classes are {listed(self.classes.tolist(), 20)}")
        return int(place[0])

    def part_of(self, label: Any) -> tuple[Fitted, float]:
        """The fit that speaks of a class, and the sign of its f: minus for the first of two classes."""
        place = self.numbered(label)
        if len(self.parts) > 1:
            return self.parts[place], 1.0
        return self.first, 1.0 if place == 1 else -1.0

    def probabilities(self, rows: Any) -> np.ndarray:
        """Probabilities (t, c) at standardised rows (t, p)."""
        return together([part.target.moments(part.predict(rows)).mean for part in self.parts])


def together(each: list[np.ndarray]) -> np.ndarray:
    """Probabilities (t, c) of all classes from those (t,) of the models, one or c of them."""
    columns = np.clip(np.column_stack(each), LEAST, 1.0 - LEAST)
    if len(each) == 1:
        return np.hstack([1.0 - columns, columns])
    odds = columns / (1.0 - columns)
    return odds / odds.sum(axis=1, keepdims=True)


# --- rows that are left out ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassCheck:
    """Rows (r,) of n with the places (r,) of their labels among the classes, and what the others predict (r, c)."""

    classes: np.ndarray
    rows: np.ndarray
    observed: np.ndarray
    probabilities: np.ndarray
    n: int

    @property
    def predicted(self) -> np.ndarray:
        """The places (r,) of the most probable classes."""
        return np.argmax(self.probabilities, axis=1)

    @property
    def accuracy(self) -> float:
        """Share of rows whose most probable class is the right one."""
        return float(np.mean(self.predicted == self.observed))

    @property
    def log_loss(self) -> float:
        """Mean of minus the log of the probability of the right class."""
        return float(-np.mean(np.log(self.probabilities[np.arange(self.observed.size), self.observed])))

    @property
    def base_log_loss(self) -> float:
        """The log loss of who always gives the shares of the classes."""
        shares = np.bincount(self.observed, minlength=self.classes.size) / self.observed.size
        return float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))

    @property
    def confusion(self) -> np.ndarray:
        """Counts (c, c) of rows by their class, down, and by the most probable one, across."""
        out = np.zeros((self.classes.size, self.classes.size), dtype=int)
        np.add.at(out, (self.observed, self.predicted), 1)
        return out

    def roc(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the other rows, and of the rows of a class, whose probability of it lies above each cut."""
        score, own = self.probabilities[:, place], self.observed == place
        order = np.argsort(-score, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1)  # equal probabilities are one step
        hits, alarms = np.cumsum(own[order])[ends], np.cumsum(~own[order])[ends]
        return np.append(0.0, alarms / max(int((~own).sum()), 1)), np.append(0.0, hits / max(int(own.sum()), 1))

    def auc_of(self, place: int) -> float:
        """The chance that a row of the class has a larger probability of it than a row of another; ties half."""
        alarms, hits = self.roc(place)
        return float(np.sum(0.5 * (hits[1:] + hits[:-1]) * np.diff(alarms)))

    @property
    def auc(self) -> float:
        """That of the second of two classes; of more, the mean over all."""
        if self.classes.size == 2:
            return self.auc_of(1)
        return float(np.mean([self.auc_of(place) for place in range(self.classes.size)]))

    def calibration(self, place: int, bins: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean probability of a class, share of rows that have it, and number of rows, in bins of equal counts."""
        score, own = self.probabilities[:, place], self.observed == place
        parts = np.array_split(np.argsort(score, kind="stable"), min(bins, score.size))
        stated, found = (np.array([values[part].mean() for part in parts]) for values in (score, own.astype(float)))
        return stated, found, np.array([part.size for part in parts])

    @property
    def calibration_error(self) -> float:
        """Mean gap of stated and found shares over ten equal bins of the probability of the second class, or of all."""
        places = [1] if self.classes.size == 2 else range(self.classes.size)
        score = np.concatenate([self.probabilities[:, place] for place in places])
        own = np.concatenate([self.observed == place for place in places])
        bins = np.minimum((score * 10).astype(int), 9)
        return float(np.abs(np.bincount(bins, score - own, 10)).sum() / score.size)


def class_check(fitted: Classified) -> ClassCheck:
    """Rows predicted from the others, beside their classes: all rows, or a sample of a large table."""
    each = [calibration.check(part) for part in fitted.parts]
    seen = np.column_stack([one.observed for one in each])
    observed = np.round(seen[:, 0]).astype(int) if len(each) == 1 else np.argmax(seen, axis=1)
    return ClassCheck(fitted.classes, each[0].rows, observed, together([one.mean for one in each]), each[0].n)


def left_out(fitted: Classified) -> np.ndarray:
    """Probabilities (n, c) of the classes of each of the user's rows from the other rows."""
    return together([calibration.leave_one_out(part).mean for part in fitted.parts])


# --- effects -----------------------------------------------------------------------------------------------------


def class_effect(fitted: Classified, feature: int | str, of: Any, scale: str, grid: Any, level: float) -> Effect:
    """What one input does to the log odds of a class, or to its probability: the same curve through the link.

    For the probability, `average` is that at the mean of f over the rows, and the change is counted from it.
    """
    if scale not in SCALES:
        raise ValueError(f"scale is {' or '.join(map(repr, SCALES))}, not {scale!r}")
    part, sign = fitted.part_of(of)
    found = effects.effect(part, feature, grid, level, "latent" if scale == "logit" else "response")
    if sign > 0:
        return found
    whole = 0.0 if scale == "logit" else 1.0  # the two probabilities sum to one, the two log odds to zero
    return replace(
        found,
        mean=-found.mean,
        lower=-found.upper,
        upper=-found.lower,
        average=whole - found.average,
        average_lower=whole - found.average_upper,
        average_upper=whole - found.average_lower,
    )


def class_interaction(fitted: Classified, a: Any, b: Any, of: Any, grids: Any, level: float) -> Interaction:
    """What two inputs do together to the log odds of a class, beyond what each does alone."""
    part, sign = fitted.part_of(of)
    found = effects.interaction(part, a, b, grids, level, "latent")
    return found if sign > 0 else replace(found, mean=-found.mean, lower=-found.upper, upper=-found.lower)


def class_shares(fitted: Classified, of: Any) -> Shares:
    """How much of the variation of the log odds of a class each of its selected inputs explains."""
    return cached_shares(fitted.part_of(of)[0])
