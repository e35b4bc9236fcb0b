"""How much of the paper's method on experiment 1 is luck: the draws of the results page, m = n/2, by other states.

State 0 is that of the results page. States 1 to 3 leave the data and change the rows of minibatches alone.

    python -m benchmarks.paper_luck            three states of 50 draws, two seconds each
    python -m benchmarks.paper_luck --smoke    two draws of a thirtieth of the inputs
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from experiments import designs
from experiments.cases import Case, main
from experiments.scores import nmse, selection_scores
from ssvgp import SSVGPRegressor
from ssvgp.settings import PaperSettings

SEEDS = range(1000, 1050)
STATES = (1, 2, 3)
HALF = PaperSettings(minibatch=0.5, target="raw")  # as in experiments/experiment1.py


def one_fit(seed: int, state: int, smoke: bool = False) -> Mapping[str, float]:
    """Error and selection of one draw, and seconds of the processor."""
    drawn = designs.experiment1(seed, n=50, d=30) if smoke else designs.experiment1(seed)
    start = time.process_time()
    model = SSVGPRegressor("paper", settings=HALF, random_state=seed + 100_000 * state, n_jobs=1)
    mean = model.fit(drawn.X, drawn.y).predict(drawn.X_test)
    seconds = time.process_time() - start
    walks = sum(model.ensemble_.notes["inclusion"][:, 4] > 0)  # that end with x5, of eleven
    scores = selection_scores(model.get_support(), drawn.relevant)
    return {"nmse": nmse(drawn.y_test, mean), **scores, "walks_with_x5": float(walks), "seconds": seconds}


CASES = tuple(
    Case(f"paper_luck_{state}", partial(one_fit, state=state), SEEDS, smoke=partial(one_fit, state=state, smoke=True))
    for state in STATES
)

if __name__ == "__main__":
    main(*CASES)
