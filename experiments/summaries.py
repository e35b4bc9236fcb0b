"""What is stored, asked by experiment, design, method and score; and how ours compares with a printed number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments import store
from experiments.methods import METHODS
from experiments.store import Line

EXPERIMENTS = ("toy", "experiment1", "experiment2", "real", "league", "outcomes_league")
LOW_IS_GOOD = frozenset({"nmse", "nlpd"})
RESAMPLES = 400
LEAST_TRIALS = 3  # fewer say nothing of their own spread
ALONE, PAUSE = 1.25, 0.1  # a trial alone takes no more by the clock than so many times its processor time, and seconds


@dataclass(frozen=True)
class Stored:
    """The lines of every experiment."""

    lines: Mapping[str, Sequence[Line]]

    def good(self, experiment: str, design: str, method: str) -> list[Line]:
        """Trials without an error, by number."""
        return sorted((one for one in self._of(experiment, design, method) if "error" not in one), key=_trial)

    def failed(self, experiment: str, design: str, method: str) -> list[Line]:
        """Trials with an error, by number."""
        return sorted((one for one in self._of(experiment, design, method) if "error" in one), key=_trial)

    def values(self, experiment: str, design: str, method: str, score: str) -> np.ndarray:
        """One score over the trials (draws,); empty where nothing is stored, NaN where a trial does not have it.

        "mcc_best" is the MCC at the threshold that the truth chose, for methods that select by a threshold (B.2), and
        the MCC of a method's own selection for all others.
        """
        lines = self.good(experiment, design, method)
        if score == "mcc_best":
            swept = [line["notes"].get("mcc_by_threshold") for line in lines]
            if lines and all(swept):
                return best_threshold(np.array(swept, dtype=float))
            score = "mcc"
        if score in TIMES and any(map(_timed, lines)):  # the others ran beside other work
            return np.array([_number(line, score) if _timed(line) else np.nan for line in lines])
        return np.array([_number(line, score) for line in lines], dtype=float)

    def measured(self, at: tuple[str, str], method: str, score: str, of: Statistic) -> Measured | None:
        """A statistic of a score over the trials; that of a time knows whether most of them ran beside other work."""
        found = of(self.values(*at, method, score))
        if found is None or score not in TIMES:
            return found
        lines = self.good(*at, method)
        quoted = [line for line in lines if _timed(line)] or lines
        return replace(found, beside=2 * sum(map(_beside, quoted)) > len(quoted))

    def _of(self, experiment: str, design: str, method: str) -> list[Line]:
        lines = self.lines.get(experiment, ())
        return [line for line in lines if line["design"] == design and line["method"] == method]


def load(results: Path = store.RESULTS, smoke: bool = False) -> Stored:
    """All that is stored in a folder."""
    return Stored({name: store.read(store.file_of(name, smoke, results)) for name in EXPERIMENTS})


def best_threshold(swept: np.ndarray) -> np.ndarray:
    """MCC (draws,) at the one threshold whose mean over the draws is best, of MCCs (draws, thresholds) (B.2)."""
    return swept[:, int(np.argmax(swept.mean(axis=0)))]


def _trial(line: Line) -> int:
    return int(line["trial"])


def _number(line: Line, score: str) -> float:
    """A score of a trial, or else a note; `inputs` are those that predictions depend on."""
    if score == "inputs":
        return float(line["notes"].get("inputs_used", line["scores"]["selected"]))
    if score in MINUTES:
        value = _number(line, MINUTES[score])
        return value / 60.0
    if score == "seconds":
        return _quoted_seconds(line)
    value = line["scores"].get(score, line["notes"].get(score))
    return float("nan") if value is None else float(value)


def _timed(line: Line) -> bool:
    """Whether a trial stored its CPU time."""
    return "cpu_seconds" in line["scores"]


def _beside(line: Line) -> bool:
    """Whether a trial ran beside other work, so that its time is too long: by the clock it took more than alone.

    Of a training that went through several processes nobody knows, and of a trial without CPU time neither.
    """
    scores = line["scores"]
    if not _timed(line):
        return True
    by_clock = max(scores["seconds"], line.get("process_seconds", 0.0) if _resumes(line) else 0.0)
    return bool(by_clock > ALONE * scores["cpu_seconds"] + PAUSE)


def _resumes(line: Line) -> bool:
    return line["method"] in METHODS and METHODS[line["method"]].resumes


def _quoted_seconds(line: Line) -> float:
    """CPU time of fit and prediction where it is stored, since it does not depend on what else ran; or else wall time.

    A training that resumes counts its own time over all its processes, which CPU time of the last one does not.
    """
    scores = line["scores"]
    return float(scores["seconds"] if _resumes(line) else scores.get("cpu_seconds", scores["seconds"]))


MINUTES = {
    "minutes": "seconds",
    "train_minutes": "train_seconds",
    "loo_minutes": "loo_seconds",
    "predict_minutes": "predict_seconds",
}
TIMES = frozenset(MINUTES) | frozenset(MINUTES.values())


@dataclass(frozen=True)
class Measured:
    """A statistic of ours with its spread over `count` trials, and the standard error of the statistic.

    One that is `exact` comes from a formula, so that its error is zero, whatever the count. A time is `beside` where
    most of its trials ran beside other work.
    """

    value: float
    sd: float
    error: float
    count: int
    exact: bool = False
    beside: bool = False


@dataclass(frozen=True)
class Printed:
    """A number of the paper; `sd` is None where it prints none."""

    value: float
    sd: float | None = None


Statistic = Callable[[np.ndarray], Measured | None]


def mean_of(values: np.ndarray) -> Measured | None:
    """Mean and sd over trials; None where nothing was measured."""
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return Measured(float(values.mean()), sd, sd / np.sqrt(values.size), values.size)


def percentile_of(values: np.ndarray, percent: float, high_is_good: bool) -> Measured | None:
    """A percentile that counts from the good end, its standard error by resampling; None where nothing was measured."""
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    percent = 100.0 - percent if high_is_good else percent
    rng = np.random.default_rng(0)
    again = np.percentile(rng.choice(values, (RESAMPLES, values.size)), percent, axis=1)
    return Measured(float(np.percentile(values, percent)), 0.0, float(again.std()), values.size)


def apart(ours: Measured, printed: Printed, trials: int, rounding: float) -> float:
    """How many standard errors ours lies above the printed number, half a unit of its last digit forgiven.

    Where the paper prints no sd, its error is taken to be ours at its number of trials. Where ours has too few trials
    to know its spread, that is taken to be the printed one; NaN where there is none either.
    """
    error = _error_of_gap(ours, printed, trials)
    gap = ours.value - printed.value
    gap = np.sign(gap) * max(abs(gap) - 0.5 * rounding, 0.0)
    if error < 1e-12:  # rounding
        return 0.0 if abs(gap) < 1e-12 else float(np.copysign(np.inf, gap))
    return float(gap / error)


def _error_of_gap(ours: Measured, printed: Printed, trials: int) -> float:
    """Standard error of the difference between ours and a number printed over so many trials."""
    if ours.exact:
        return 0.0
    if ours.count < LEAST_TRIALS:
        return float("nan") if printed.sd is None else printed.sd * float(np.sqrt(1.0 / ours.count + 1.0 / trials))
    own_sd = ours.error * np.sqrt(ours.count)
    theirs = (own_sd if printed.sd is None else printed.sd) / np.sqrt(trials)
    return float(np.hypot(ours.error, theirs))


def printed_of(value: Any) -> Printed | None:
    """A number of paper.json in any of its forms."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return Printed(float(value["mean"]), float(value["sd"]))
    return Printed(float(value))
