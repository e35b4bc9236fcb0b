"""Does the default tell correlated inputs apart, and find Friedman's five among 500?

Asked: mean MCC >= 0.95; mean MCC >= 0.97 and nmse <= 0.055.

    python -m benchmarks.correlated
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import ar1, friedman1
from experiments.problems import seeds


def autoregressive(seed: int) -> Mapping[str, float]:
    """AR(1) inputs with correlation 0.9, 5 of 100 relevant, 300 rows."""
    return measure(ar1(seed))


def friedman(seed: int) -> Mapping[str, float]:
    """Friedman #1 with 500 inputs, 200 rows."""
    return measure(friedman1(seed))


if __name__ == "__main__":
    main(Case("ar1", autoregressive, seeds(20)), Case("friedman1", friedman, seeds(20)))
