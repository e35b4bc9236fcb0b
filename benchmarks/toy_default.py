"""Does the default find 5 strong, and 25 weak, of 100 inputs? Asked: MCC >= 0.985 and nmse <= 0.065; MCC >= 0.97.

python -m benchmarks.toy_default            twenty and ten draws
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.selection import measure
from experiments.cases import Case, main
from experiments.designs import toy, toy_weak
from experiments.problems import seeds


def strong(seed: int) -> Mapping[str, float]:
    """One draw of the toy."""
    return measure(toy(seed))


def weak(seed: int) -> Mapping[str, float]:
    """One draw of the toy with 25 weak inputs."""
    return measure(toy_weak(seed))


if __name__ == "__main__":
    main(Case("toy_default", strong, seeds(20)), Case("toy_weak", weak, seeds(10)))
