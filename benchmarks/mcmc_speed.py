"""How many times faster than MCMC is the default on experiment 1, both in one run?

Asked: 1000 times at least, with selection and error no worse. In the experiment MCMC has two chains of 8 * 10^5
iterations each, the length that Savitsky et al. needed on this design (experiments/experiment1.py). Here it has a
fortieth of them, and its seconds count forty times: an iteration costs the same however long the chain, and the two are
measured within seconds of each other. `one_chain` is the ratio for a single chain, `one_short_chain` for one of the
5 * 10^5 iterations whose time the paper quotes.

    python -m benchmarks.mcmc_speed            ten draws, one at a time: run it on a quiet machine
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from experiments.cases import Case, main
from experiments.designs import experiment1
from experiments.problems import seeds
from ssvgp import SSVGPRegressor, peers

WHOLE = 1_600_000  # iterations
SHARE = 40


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
    ratio = theirs / ours
    return {
        "ours": ours,
        "mcmc": theirs,
        "ratio": ratio,
        "one_chain": ratio / 2.0,
        "one_short_chain": ratio * 500_000 / WHOLE,
    }


if __name__ == "__main__":
    main(Case("mcmc_speed", draw, seeds(10)))
