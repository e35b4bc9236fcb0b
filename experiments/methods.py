"""Every method of the comparisons by name: our own estimator with its variants, and the rivals of `ssvgp.peers`.

Settings are plain numbers and texts, so that they can be stored beside the scores.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from experiments.outcomes import OutcomeAnswer, ours, rival
from experiments.problems import Problem
from experiments.scoring import Answer, normal_answer
from ssvgp import SSVGPRegressor, peers
from ssvgp.peers.thresholds import threshold_sweep
from ssvgp.settings import PaperSettings

EXACT_ROWS = 2000  # of training, for methods that factor a matrix of all rows
SAMPLER_ROWS = 500  # likewise for those that factor it many thousand times
OUTCOME_ROWS = 1000  # likewise for those that do so at every step to a mode of f
WARM_SHAPE = (300, 1000)
BY_V = (1e2, 1e3, 1e4, 1e5, 1e6)
QUICK_PAPER = {"rounds": 2, "first_steps": 20, "steps": 10, "extra_steps": 0}


@dataclass(frozen=True)
class Method:
    """One way to answer a problem. `peer` names a rival, and is empty for our own estimator.

    `paper` replaces constants of the paper's method; None stands for the default method. `smoke` settings make the
    method quick. A method trains on at most `most_rows` random rows. One that is `warm` fits another table first, see
    `warm_up`. One that `resumes` trains for so long that it writes checkpoints, and the curve of its error is kept.
    """

    label: str
    peer: str = ""
    paper: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    smoke: Mapping[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    warm: bool = True
    resumes: bool = False


def _paper(label: str, **constants: Any) -> Method:
    return Method(label, paper=constants, smoke=QUICK_PAPER)


ONE_V: dict[str, Any] = {"v": (1e4,), "thin": None}
AS_B1: dict[str, Any] = {**ONE_V, "rounds": 5}  # the steps of table 3 from MF, which has 5 rounds, one at a time
MEAN_FIELD: dict[str, Any] = {**ONE_V, "posterior": "mean-field", "prune": 0.0}

# A.3: kappa = 0.1 on the variances; the jitter and the rounds of B.1.
TEXT_KAPPA: dict[str, Any] = {"kappa": 0.1, "kappa_place": "variance", "loo_jitter": 1e-3, "rounds": 5}

OURS: dict[str, Method] = {
    "ssvgp": Method("ours, default"),
    "paper_n": _paper("ours, paper's method (m=n)", minibatch=1.0),
    "paper_n2": _paper("ours, paper's method (m=n/2)", minibatch=0.5),
    "paper_n4": _paper("ours, paper's method (m=n/4)", minibatch=0.25),
    "paper_n4_log": _paper("ours, paper's method (m=n/4), logs", minibatch=0.25, parametrisation="log", rounds=5),
    "paper_n4_text": _paper("ours, paper's method (m=n/4), kappa as the text has it", minibatch=0.25, **TEXT_KAPPA),
    "paper_n2_standardised": _paper("ours, paper's method (m=n/2), y standardised", minibatch=0.5),
    "paper_256": _paper("ours, paper's method (m=256)", minibatch=256),
    "paper_128": _paper("ours, paper's method (m=128)", minibatch=128),
    "paper_64": _paper("ours, paper's method (m=64)", minibatch=64),
    "mf": _paper("ours, mean field, v=1e4", **MEAN_FIELD),
    "mf_by_v": _paper("ours, mean field, five v", **MEAN_FIELD | {"v": BY_V}),
    "zt": _paper("ours, zero temperature, v=1e4", **AS_B1, prune=0.0, minibatch=1.0),
    "zt_drop": _paper("ours, zero temperature and pruning, v=1e4", **AS_B1, minibatch=1.0),
    "zt_drop_n4": _paper("ours, the same with m=n/4", **AS_B1, minibatch=0.25),
}
CROSS_VALIDATED: dict[str, Any] = {"folds": 3, "penalties": 10}
RIVALS: dict[str, Method] = {
    "mlii": Method("ML-II GP", "mlii", smoke={"iterations": 20}, most_rows=EXACT_ROWS),
    "mlii_lbfgs": Method("ML-II GP by L-BFGS", "mlii_lbfgs", smoke={"iterations": 10}, most_rows=EXACT_ROWS),
    "sgp": Method("SGP(512)", "sgp", smoke={"iterations": 5, "inducing": 32}, resumes=True),
    "svgp": Method("SVGP(1024)", "svgp", smoke={"epochs": 2, "inducing": 32}, resumes=True),
    "saas_map": Method("SAAS, MAP", "saas_map", smoke={"members": 1, "iterations": 10}, most_rows=EXACT_ROWS),
    "saas_nuts": Method(
        "SAAS, NUTS",
        "saas_nuts",
        smoke={"warmup": 4, "samples": 4, "thinning": 2, "tree_depth": 2},
        most_rows=SAMPLER_ROWS,
        warm=False,
    ),
    "gpboost": Method("GPBoost", "gpboost", smoke={"iterations": 3}),
    "mcmc": Method(
        "MCMC spike and slab GP",
        "mcmc",
        smoke={"iterations": 2000, "thin": 10, "predictive": 20},
        most_rows=SAMPLER_ROWS,
    ),
    "pmf_bbvi_10": Method("PMF+BBVI(10)", "pmf_bbvi_10", smoke={"steps": 10}, most_rows=EXACT_ROWS),
    "pmf_bbvi_100": Method("PMF+BBVI(100)", "pmf_bbvi_100", smoke={"steps": 5}, most_rows=SAMPLER_ROWS),
    "lasso": Method("LASSO", "lasso", smoke=CROSS_VALIDATED),
    "mcp": Method("MCP", "mcp", smoke=CROSS_VALIDATED),
    "gam_lasso": Method("GAM LASSO", "gam_lasso", smoke=CROSS_VALIDATED),
    "gam_ssl": Method("GAM SS LASSO", "gam_ssl", smoke={"spikes": 4}),
    "gam_ssl_gic": Method("GAM SS LASSO by GIC", "gam_ssl_gic", smoke={"spikes": 4}),
    "lightgbm": Method("LightGBM", "lightgbm", smoke={"trees": 30, "folds": 3}),
    "sparse_bart": Method("sparse BART", "sparse_bart", smoke={"trees": 10, "burn_in": 20, "draws": 20}, warm=False),
}
# Other readings of how the paper ran its rivals, to explain what it prints; they take no part in the league.
SPARSE_GAM: dict[str, Any] = {"width": 5, "knots": "new"}
READINGS: dict[str, Method] = {
    "mlii_raw": Method("ML-II GP, y as it is", "mlii", settings={"target": "raw"}, smoke={"iterations": 20}),
    "mlii_learned": Method(
        "ML-II GP, y as it is, mean learned",
        "mlii",
        settings={"target": "raw", "mean": "learned"},
        smoke={"iterations": 20},
    ),
    "gam_lasso_r": Method("GAM LASSO, sparseGAM's basis", "gam_lasso", settings=SPARSE_GAM, smoke=CROSS_VALIDATED),
    "gam_ssl_r": Method("GAM SS LASSO, sparseGAM's steps", "gam_ssl_fixed", settings=SPARSE_GAM, smoke={"spikes": 4}),
    "gam_ssl_r5": Method(
        "GAM SS LASSO, sparseGAM's steps, 5 spikes",
        "gam_ssl_fixed",
        settings=SPARSE_GAM | {"spikes": 5},
        smoke={"spikes": 4},
    ),
    "pmf_one_draw": Method(
        "PMF+BBVI(100), one draw",
        "pmf_bbvi_100",
        settings={"predictive": 1, "selection": "draw"},
        smoke={"steps": 5},
    ),
}
# Of classes and counts: experiments/outcomes.py has what they answer.
OUTCOMES: dict[str, Method] = {
    "ssvgp_classes": Method("ours, classes", warm=False),
    "ssvgp_counts": Method("ours, counts", warm=False),
    "logistic_l1": Method("L1 logistic regression", "logistic_l1", smoke=CROSS_VALIDATED, warm=False),
    "poisson_l1": Method("L1 Poisson regression", "poisson_l1", smoke=CROSS_VALIDATED, warm=False),
    "forest_classes": Method("random forest", "forest_classes", smoke={"trees": 30}, warm=False),
    "forest_counts": Method("random forest", "forest_counts", smoke={"trees": 30}, warm=False),
    "lightgbm_classes": Method("LightGBM", "lightgbm_classes", smoke={"trees": 30, "folds": 3}, warm=False),
    "lightgbm_counts": Method("LightGBM", "lightgbm_counts", smoke={"trees": 30, "folds": 3}, warm=False),
    "ebm_classes": Method("EBM", "ebm_classes", smoke={"bags": 1, "pairs": 0, "rounds": 50}, warm=False),
    "ebm_counts": Method("EBM", "ebm_counts", smoke={"bags": 1, "pairs": 0, "rounds": 50}, warm=False),
    "gpboost_classes": Method(
        "GPBoost", "gpboost_classes", smoke={"iterations": 2}, most_rows=OUTCOME_ROWS, warm=False
    ),
    "gpboost_counts": Method("GPBoost", "gpboost_counts", smoke={"iterations": 2}, most_rows=OUTCOME_ROWS, warm=False),
    "bart_classes": Method("BART, probit", "bart_classes", smoke={"trees": 5, "burn_in": 10, "draws": 10}, warm=False),
}
METHODS: dict[str, Method] = OURS | RIVALS | READINGS | OUTCOMES


def missing(name: str) -> str | None:
    """Why a method cannot run here, or None if it can."""
    peer = METHODS[name].peer
    if not peer:
        return None
    if peer not in peers.PEERS:
        return f"there is no rival {peer!r} in ssvgp.peers"
    # Found, not imported: whoever only plans need not load the libraries of all rivals.
    lacking = [library for library in peers.PEERS[peer].libraries if find_spec(library) is None]
    return f"{peer} needs {', '.join(lacking)}: pip install 'ssvgp[peers]'" if lacking else None


def settings_of(name: str, extra: Mapping[str, Any], smoke: bool) -> dict[str, Any]:
    """All settings of a method that differ from its defaults: its own, those of the experiment, of a smoke run."""
    method = METHODS[name]
    own = method.settings if method.paper is None else method.paper
    return {**own, **extra, **(method.smoke if smoke else {})}


def answer(
    name: str, problem: Problem, settings: Mapping[str, Any], seed: int, checkpoint: str | None = None
) -> Answer | OutcomeAnswer:
    """Fit the method of that name and let it predict; `checkpoint` is the file of one that resumes."""
    method = METHODS[name]
    if problem.kind != "numbers":
        return rival(method.peer, problem, settings, seed) if method.peer else ours(problem, settings, seed)
    if method.peer:
        return _rival(method, problem, settings, seed, checkpoint)
    return _ours(method, problem, settings, seed)


def warm_up(name: str, n: int, d: int) -> None:
    """Let a method load, compile and touch the memory that it needs, so that this is no part of its seconds.

    It fits a table of numbers without meaning, of the shape of the one that counts but no larger than `WARM_SHAPE`: the
    first fit of a process at a size is slower than all later ones, by a fifth for one of a third of a second.
    """
    method = METHODS[name]
    if not method.warm:
        return
    rng = np.random.default_rng(0)
    X = rng.standard_normal((min(n, WARM_SHAPE[0]), min(d, WARM_SHAPE[1])))
    y = X[:, 0] + 0.1 * rng.standard_normal(len(X))
    if method.peer:
        peers.make(method.peer, random_state=0, **method.smoke).fit(X, y).predict(X[:5])
    else:
        SSVGPRegressor(random_state=0).fit(X, y).predict(X[:5])


class _Phases:
    """When each phase of a fit was last heard of; the callback of the estimator."""

    def __init__(self) -> None:
        self.last: dict[str, float] = {}

    def __call__(self, event: Any) -> None:
        self.last[event.phase] = time.perf_counter()


def _ours(method: Method, problem: Problem, settings: Mapping[str, Any], seed: int) -> Answer:
    phases = _Phases()
    common = {"random_state": seed, "n_jobs": 1}
    if method.paper is None:
        model = SSVGPRegressor(**common, **settings)
    else:
        constants = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
        model = SSVGPRegressor("paper", settings=PaperSettings(**constants), callback=phases, **common)
    start = time.perf_counter()
    model.fit(problem.X, problem.y)
    fitted = time.perf_counter()
    mean = model.predict(problem.X_test)
    done = time.perf_counter()
    band = model.predict_quantiles(problem.X_test, [0.025, 0.975])
    notes = _notes_of_ours(model)
    if "a-CAVI" in phases.last:
        notes |= {"train_seconds": phases.last["a-CAVI"] - start, "loo_seconds": fitted - phases.last["a-CAVI"]}
    return Answer(
        mean,
        model.log_predictive_density(problem.X_test, problem.y_test),
        band[:, 0],
        band[:, 1],
        selected=model.get_support(),
        fit_seconds=fitted - start,
        predict_seconds=done - fitted,
        profiles={"pip": model.pip_, "inverse_lengthscale": model.inverse_lengthscales_} | _by_v(model),
        notes=notes,
    )


def _by_v(model: SSVGPRegressor) -> dict[str, np.ndarray]:
    """PIPs (d,) at each v, where several were fitted for the sake of comparison (table 2)."""
    v = model.ensemble_.notes.get("v", ())
    if tuple(v) != BY_V:
        return {}
    wide = np.zeros((len(v), model.n_features_in_))
    wide[:, model.kept_] = model.ensemble_.notes["inclusion"]
    return {f"pip_v{value:.0e}".replace("+0", ""): row for value, row in zip(v, wide, strict=True)}


def _notes_of_ours(model: SSVGPRegressor) -> dict[str, Any]:
    """What the tables ask beside scores; a background is a regression on all inputs, so that it uses them all."""
    used = np.unique(np.concatenate([member.active for member in model.members_])).size
    background = float(model.variance_shares_["background"])
    return {
        "average_pip": float(model.pip_.mean()),
        "members": len(model.members_),
        "background": background,
        "inputs_used": int(model.kept_.size if background > 0 else used),
    }


def _rival(method: Method, problem: Problem, settings: Mapping[str, Any], seed: int, checkpoint: str | None) -> Answer:
    long_run = {"checkpoint": checkpoint} if method.resumes else {}
    rival = peers.make(method.peer, random_state=seed, **settings, **long_run)
    if method.resumes:
        rival.monitor = (problem.X_test, problem.y_test)
    rival.fit(problem.X, problem.y)
    start = time.perf_counter()
    forecast = rival.predict(problem.X_test)
    predicted = time.perf_counter() - start
    relevance = rival.relevance()
    notes: dict[str, Any] = dict(rival.notes)
    if method.peer.startswith("mlii") and problem.relevant is not None:
        notes["mcc_by_threshold"] = threshold_sweep(relevance.scores, problem.relevant).mcc.tolist()
    return normal_answer(
        problem.y_test,
        forecast.mean,
        forecast.variance,
        selected=relevance.selected,
        fit_seconds=rival.seconds,
        predict_seconds=predicted,
        profiles={"score": relevance.scores},
        notes=notes,
    )
