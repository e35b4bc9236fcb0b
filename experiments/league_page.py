"""The league on the results page: standings, accuracy against time, every design, and where the default is behind."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.league_tables import (
    REAL,
    SYNTHETIC,
    behind,
    entered,
    scores_markdown,
    standings_markdown,
    thinned_rows,
)
from experiments.methods import METHODS
from experiments.summaries import Stored
from experiments.tables import folded
from experiments.verdicts import MissingRemark, remark_of

RULES = """A rank of 1 is best, ties share their mean, a method that failed on a design is last there, and one that
was not run takes no part. Slow methods ran fewer trials: ranks, and who is within 5% of the best, compare two methods
in the trials that both have; the tables by design show the mean over all trials of each. How the sets were chosen is
said in `experiments/league.py`."""
SCORES = (
    ("nmse, synthetic designs", tuple(SYNTHETIC), "nmse", False),
    ("nmse, real sets", REAL, "nmse", False),
    ("negative log density, synthetic designs", tuple(SYNTHETIC), "nlpd", False),
    ("negative log density, real sets", REAL, "nlpd", False),
    ("MCC of the selection, synthetic designs", tuple(SYNTHETIC), "mcc", True),
    ("seconds of fit and prediction, real sets", REAL, "seconds", False),
)


def league(stored: Stored, remarks: Mapping[str, str]) -> list[str]:
    """The section of the league."""
    thinned = thinned_rows(stored)
    failed = [
        f"- {METHODS[one['method']].label}, {one['design']}, trial {one['trial']}: {one['error']}"
        for one in stored.lines.get("league", ())
        if "error" in one
    ]
    details = [folded(title, scores_markdown(stored, *asked)) for title, *asked in SCORES]
    return [
        "## The league",
        f"{len(entered(stored))} methods on {len(SYNTHETIC)} synthetic designs and {len(REAL)} real sets: three draws "
        "or random 4:1 splits of each; of the small real sets ten, and thirty where the test part has at most 20 rows, "
        "for quick methods and for rivals that were ahead on fewer.",
        "![Accuracy against time, mean rank over all designs](images/results/league.png)",
        folded("Standings of all methods", standings_markdown(stored)),
        RULES,
        *_where_behind(stored, remarks),
        "Every design by itself:",
        *details,
        *([folded("Trained on a random part of the rows", "; ".join(thinned) + ".")] if thinned else []),
        *([folded(f"{len(failed)} trials that failed", "\n".join(failed))] if failed else []),
    ]


def _where_behind(stored: Stored, remarks: Mapping[str, str]) -> list[str]:
    """On which real sets the default is more than 5% behind, by how much, and why."""
    found = behind(stored)
    missing = [f"league/{one.design}" for one in found if not remark_of(remarks, "league", one.design)]
    if missing:
        raise MissingRemark(f"the default is behind; say why in experiments/remarks.json: {', '.join(missing)}")
    rows = [
        f"- {one.design}: {METHODS[one.rival].label} {one.theirs:.3f}, ours {one.ours:.3f} in {one.count} common "
        f"trials. {remark_of(remarks, 'league', one.design)}"
        for one in found
    ]
    return ["Real sets on which the default is not within 5% of the best mean nmse:", "\n".join(rows)] if rows else []
