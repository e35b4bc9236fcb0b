"""How many times faster than MCMC is the default on experiment 1, both in one run?

Asked: 1000 times at least, with selection and error no worse. MCMC has a million iterations in the experiment, half in
each of two chains (experiments/experiment1.py); here it has a twentieth of them, and its seconds count twenty times: an
iteration costs the same however long the chain, and the two are measured within seconds of each other.

    python -m benchmarks.mcmc_speed            ten draws, one at a time: run it on a quiet machine
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from benchmarks.runner import Case, main
from benchmarks.selection import seeds
from experiments.designs import experiment1
from ssvgp import SSVGPRegressor, peers

WHOLE = 1_000_000  # iterations
SHARE = 20


def draw(seed: int) -> Mapping[str, float]:
    """Seconds of fit and predictions, ours and MCMC's; ours is the second of two fits, as long chains are warm."""
    data = experiment1(seed)
    for _ in range(2):
        start = time.perf_counter()
        model = SSVGPRegressor(random_state=seed, n_jobs=1).fit(data.X, data.y)
        model.predict(data.X_test)
        ours = time.perf_counter() - start
    rival = peers.make("mcmc", iterations=WHOLE // SHARE, random_state=seed)
    start = time.perf_counter()
    rival.fit(data.X, data.y)
    theirs = SHARE * (time.perf_counter() - start)
    return {"ours": ours, "mcmc": theirs, "ratio": theirs / ours}


if __name__ == "__main__":
    main(Case("mcmc_speed", draw, seeds(10)))
