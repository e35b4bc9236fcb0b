"""Classes: selection, log loss beside a classifier that is given the right inputs, calibration, and labels by coin.

classes_toy, classes_products, classes_wide: the designs of experiments/outcome_designs.py, logits of standard deviation
3. `ratio` is the log loss over that of the same classifier given the inputs that matter.
coin_*: labels that no input decides, balanced or 1:9. `clean` is 1 where nothing is selected, `ratio` the log loss over
that of the share of the classes in the training rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.metrics import log_loss

from experiments import outcome_designs as designs
from experiments.cases import Case, main
from experiments.problems import Problem, seeds
from experiments.scores import HIGH_IS_GOOD, ece, selection_scores
from ssvgp import SSVGPClassifier

GOOD = HIGH_IS_GOOD
N_TEST = 4000  # a calibration error of few rows is mostly chance


def fitted(X: np.ndarray, y: np.ndarray) -> tuple[SSVGPClassifier, float]:
    """The default classifier, and the processor seconds of its fit."""
    start = time.process_time()
    return SSVGPClassifier(random_state=0).fit(X, y), time.process_time() - start


def told(problem: Problem) -> Mapping[str, float]:
    """Selection, losses and calibration of a draw whose truth is known."""
    model, seconds = fitted(problem.X, problem.y)
    found = model.predict_proba(problem.X_test)
    loss = float(log_loss(problem.y_test, found, labels=model.classes_))
    right = problem.relevant
    assert right is not None
    oracle, _ = fitted(problem.X[:, right], problem.y)
    best = float(log_loss(problem.y_test, oracle.predict_proba(problem.X_test[:, right]), labels=oracle.classes_))
    return {
        **selection_scores(model.get_support(), right),
        "log_loss": loss,
        "oracle": best,
        "ratio": loss / best,
        "ece": ece(found[:, 1], problem.y_test == model.classes_[1]),
        "seconds": seconds,
    }


def drawn(design: designs.Design, seed: int) -> Mapping[str, float]:
    """The numbers of one draw of a design."""
    return told(design.draw(seed, N_TEST))


def coin(n: int, d: int, share: float, seed: int) -> Mapping[str, float]:
    """Labels that nothing decides, with this share of the second class."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n + 1000, d)), rng.random(n + 1000) < share
    model, seconds = fitted(X[:n], y[:n])
    # both are scored by the true share: test labels by chance would only add noise
    stated, base = model.predict_proba(X[n:])[:, 1], float(y[:n].mean())
    loss = float(-np.mean(share * np.log(stated) + (1.0 - share) * np.log1p(-stated)))
    alone = -share * np.log(base) - (1.0 - share) * np.log1p(-base)
    return {
        "clean": float(not model.get_support().any()),
        "false": float(model.get_support().sum()),
        "largest_pip": float(model.pip_.max()),
        "ratio": loss / alone,
        "seconds": seconds,
    }


DRAWS = {"classes_toy": 20, "classes_products": 20, "classes_wide": 10}
COINS = [(n, d, share) for n, d in ((300, 100), (100, 1000)) for share in (0.5, 0.1)]


def of_design(name: str, draws: int) -> Case:
    """A design of which all is known."""
    design = designs.SYNTHETIC[name]
    return Case(name, partial(drawn, design), seeds(draws), partial(drawn, replace(design, n=150, d=12)), GOOD)


def of_coins(n: int, d: int, share: float) -> Case:
    """Labels by chance."""
    name = f"coin_{n}_{d}_{round(100 * share)}"
    return Case(name, partial(coin, n, d, share), seeds(20), partial(coin, 60, 20, share), GOOD)


CASES = [*(of_design(*one) for one in DRAWS.items()), *(of_coins(*one) for one in COINS)]

if __name__ == "__main__":
    main(*CASES)
